// Package seal is the Merkle tree over the whole log and what is signed of it: leaves, the growing tree, checkpoints,
// and proofs that a message is in the tree or that one tree extends another. The tree is that of RFC 6962, the formats
// are those of C2SP (signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof, tlog-tiles); docs/seal.md says what a
// verifier needs.
//
// It is pure: it never reads a clock, a database, a file or the network.
package seal

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
)

// Label begins every leaf, so that no other thing's bytes are those of a leaf.
const Label = "context-manager/leaf/v1\n"

// LeafBytes is how long a leaf is.
const LeafBytes = len(Label) + 32 + 8 + 32

// Leaf is one message's entry in the tree: enough to rebuild every session's head and to see a gap, and nothing of
// what was said.
type Leaf struct {
	Session  chain.Hash
	Sequence int64 // from 1
	Message  chain.Hash
}

// Bytes gives Label ‖ session_hash ‖ sequence ‖ message hash: 32 bytes, 8 bytes big-endian, 32 bytes.
func (l Leaf) Bytes() []byte { return l.append(make([]byte, 0, LeafBytes)) }

func (l Leaf) append(b []byte) []byte {
	b = append(b, Label...)
	b = append(b, l.Session[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Sequence))
	return append(b, l.Message[:]...)
}

// ParseLeaf reads what Bytes gives, and nothing else.
func ParseLeaf(b []byte) (Leaf, error) {
	if len(b) != LeafBytes || string(b[:len(Label)]) != Label {
		return Leaf{}, fmt.Errorf("a leaf is %d bytes that begin with %q", LeafBytes, Label)
	}
	b = b[len(Label):]
	l := Leaf{
		Session: chain.Hash(b[:32]), Sequence: int64(binary.BigEndian.Uint64(b[32:40])), Message: chain.Hash(b[40:72]),
	}
	if l.Sequence < 1 {
		return Leaf{}, errors.New("a leaf's sequence begins at 1")
	}
	return l, nil
}

// Hash gives the leaf's hash in the tree: SHA-256(00 ‖ Bytes).
func (l Leaf) Hash() tlog.Hash { return tlog.RecordHash(l.Bytes()) }
