// Package sealtest makes whole logs in memory, their checkpoints and proofs, and witnesses, for tests. What it makes of a
// name is always the same, but for the times in cosignatures. Its trees are tlog's own, not those of package seal, so
// that one checks the other.
package sealtest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// Log is a log that grows. Not safe for concurrent use while it does.
type Log struct {
	Signer note.Signer
	Public string // its verifier key, name+id+key
	Leaves []seal.Leaf

	t      testing.TB
	branch string
	stored []tlog.Hash // as tlog numbers them
}

// New makes an empty log of a name.
func New(t testing.TB, origin string) *Log {
	t.Helper()
	seed := sha256.Sum256([]byte("log " + origin))
	key := ed25519.NewKeyFromSeed(seed[:])
	public, err := note.NewEd25519VerifierKey(origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(public, "+")
	id, _, _ = strings.Cut(id, "+")
	signer, err := note.NewSigner("PRIVATE+KEY+" + origin + "+" + id + "+" + base64.StdEncoding.EncodeToString(append([]byte{1}, seed[:]...)))
	if err != nil {
		t.Fatal(err)
	}
	return &Log{Signer: signer, Public: public, t: t, branch: "main"}
}

// Grow appends leaves until there are n.
func (l *Log) Grow(n int) *Log {
	l.t.Helper()
	for i := len(l.Leaves); i < n; i++ {
		l.Append(seal.Leaf{
			Session: chain.Sum([]byte(fmt.Sprint("session ", i%7))), Sequence: int64(1 + i/7),
			Message: chain.Sum([]byte(fmt.Sprint(l.branch, " message ", i))),
		})
	}
	return l
}

// Append appends a leaf.
func (l *Log) Append(leaf seal.Leaf) {
	l.t.Helper()
	hashes, err := tlog.StoredHashes(int64(len(l.Leaves)), leaf.Bytes(), l)
	if err != nil {
		l.t.Fatal(err)
	}
	l.stored, l.Leaves = append(l.stored, hashes...), append(l.Leaves, leaf)
}

// Fork gives another log with the same key and the same first leaves, and others from there on.
func (l *Log) Fork(size int, branch string) *Log {
	return &Log{
		Signer: l.Signer, Public: l.Public, Leaves: append([]seal.Leaf(nil), l.Leaves[:size]...), t: l.t, branch: branch,
		stored: append([]tlog.Hash(nil), l.stored[:tlog.StoredHashCount(int64(size))]...),
	}
}

// ReadHashes gives hashes as tlog numbers them.
func (l *Log) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index < 0 || index >= int64(len(l.stored)) {
			return nil, fmt.Errorf("there is no hash %d", index)
		}
		hashes[i] = l.stored[index]
	}
	return hashes, nil
}

// Head gives the head of the tree as it was with size leaves.
func (l *Log) Head(size int) seal.Head {
	l.t.Helper()
	root, err := tlog.TreeHash(int64(size), l)
	if err != nil {
		l.t.Fatal(err)
	}
	return seal.Head{Size: int64(size), Root: chain.Hash(root)}
}

// Checkpoint gives the signed head.
func (l *Log) Checkpoint(size int) string {
	l.t.Helper()
	text, err := seal.Sign(l.Signer, l.Head(size))
	if err != nil {
		l.t.Fatal(err)
	}
	return text
}

// Verifier checks the log's signatures.
func (l *Log) Verifier() note.Verifier {
	l.t.Helper()
	verifier, err := note.NewVerifier(l.Public)
	if err != nil {
		l.t.Fatal(err)
	}
	return verifier
}

// Policy asks for the log's signature and for those of all the witnesses.
func (l *Log) Policy(witnesses ...*Witness) seal.Policy {
	l.t.Helper()
	policy := seal.Policy{Origin: l.Signer.Name(), Log: l.Verifier(), Quorum: len(witnesses)}
	for _, w := range witnesses {
		policy.Witnesses = append(policy.Witnesses, w.Signer.Verifier())
	}
	return policy
}

// Proof gives the tlog-proof of a leaf under a checkpoint of size leaves, as it is signed.
func (l *Log) Proof(checkpoint string, size, index int) string {
	l.t.Helper()
	text, err := seal.Prove(checkpoint, l.Head(size), int64(index), l)
	if err != nil {
		l.t.Fatal(err)
	}
	return text
}

// Consistency gives the proof that the tree of to leaves extends the one of from.
func (l *Log) Consistency(from, to int) []chain.Hash {
	l.t.Helper()
	hashes, err := seal.ProveConsistency(int64(from), int64(to), l)
	if err != nil {
		l.t.Fatal(err)
	}
	return hashes
}

// Witness cosigns whatever it is given.
type Witness struct {
	Signer *cosign.Signer
	Public string // its verifier key, of the kind cosignature/v1
	t      testing.TB
}

// NewWitness makes a witness of a name.
func NewWitness(t testing.TB, name string) *Witness {
	t.Helper()
	seed := sha256.Sum256([]byte("witness " + name))
	public := append([]byte{4}, ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte(name+"\n"), public...))
	id := fmt.Sprintf("%08x", binary.BigEndian.Uint32(sum[:]))
	signer, err := cosign.NewSignerForCosignatureV1("PRIVATE+KEY+" + name + "+" + id + "+" + base64.StdEncoding.EncodeToString(append([]byte{4}, seed[:]...)))
	if err != nil {
		t.Fatal(err)
	}
	return &Witness{Signer: signer, Public: name + "+" + id + "+" + base64.StdEncoding.EncodeToString(public), t: t}
}

// Cosign gives the line of the witness's signature on a checkpoint.
func (w *Witness) Cosign(checkpoint string) string {
	w.t.Helper()
	text, _, _ := strings.Cut(checkpoint, "\n\n")
	signed, err := note.Sign(&note.Note{Text: text + "\n"}, w.Signer)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimPrefix(string(signed), text+"\n\n")
}
