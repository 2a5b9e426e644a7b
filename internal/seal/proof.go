package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
)

// MaxProofHashes is how many hashes a proof can have, for any tree.
const MaxProofHashes = 63

// Prove gives the proof that the leaf at index is in the tree of a checkpoint, as a C2SP tlog-proof. The hashes come
// from reader, which may know a larger tree.
func Prove(checkpoint string, head Head, index int64, reader tlog.HashReader) (string, error) {
	if head.Size > MaxSize {
		return "", errors.New("the tree's size is out of reach")
	}
	path, err := tlog.ProveRecord(head.Size, index, reader)
	if err != nil {
		return "", err
	}
	p := proof.TLogProof{Index: uint64(index), Checkpoint: []byte(checkpoint)}
	for _, h := range path {
		p.Hashes = append(p.Hashes, h)
	}
	return string(p.Marshal()), nil
}

// Inclusion is what a checked proof shows: the leaf is the index-th of the checkpoint's tree.
type Inclusion struct {
	Checkpoint Checkpoint
	Index      int64
}

// CheckInclusion checks a tlog-proof for a leaf. The text must be the one that the format prescribes, to the byte.
func CheckInclusion(text string, leaf Leaf, policy Policy) (Inclusion, error) {
	p, err := ParseProof(text)
	if err != nil {
		return Inclusion{}, err
	}
	checkpoint, err := Open(p.Checkpoint, policy)
	if err != nil {
		return Inclusion{}, err
	}
	if err := p.Check(leaf, checkpoint.Head); err != nil {
		return Inclusion{}, err
	}
	return Inclusion{Checkpoint: checkpoint, Index: p.Index}, nil
}

// Proof is a tlog-proof that was read and not yet checked: for whoever checks many against one checkpoint, whose
// signatures are then checked once.
type Proof struct {
	Index      int64
	Checkpoint string // a signed note, which is for Open to check
	path       tlog.RecordProof
}

// ParseProof reads a tlog-proof. The text must be the one that the format prescribes, to the byte.
func ParseProof(text string) (Proof, error) {
	if len(text) > MaxNote+MaxProofHashes*64 {
		return Proof{}, fmt.Errorf("the proof has %d bytes, more than any has", len(text))
	}
	var p proof.TLogProof
	if err := p.Unmarshal([]byte(text)); err != nil {
		return Proof{}, err
	}
	if len(p.Hashes) > MaxProofHashes || p.ExtraData != nil || !bytes.Equal(p.Marshal(), []byte(text)) {
		return Proof{}, errors.New("the proof is not written the one way that it is")
	}
	if p.Index > math.MaxInt64 {
		return Proof{}, errors.New("the proof's index is out of reach")
	}
	path := make(tlog.RecordProof, len(p.Hashes))
	for i, h := range p.Hashes {
		path[i] = h
	}
	return Proof{Index: int64(p.Index), Checkpoint: string(p.Checkpoint), path: path}, nil
}

// Check checks that the leaf is the Index-th of the tree of a head, which is that of the proof's checkpoint.
func (p Proof) Check(leaf Leaf, head Head) error {
	if head.Size > MaxSize {
		return errors.New("the tree's size is out of reach")
	}
	if p.Index >= head.Size {
		return fmt.Errorf("leaf %d is not in a tree of %d", p.Index, head.Size)
	}
	if err := tlog.CheckRecord(p.path, head.Size, tlog.Hash(head.Root), p.Index, leaf.Hash()); err != nil {
		return fmt.Errorf("the proof does not lead from the leaf to the checkpoint's root: %w", err)
	}
	return nil
}

// ProveConsistency gives the hashes that show that the tree of size to extends the one of size from (RFC 6962,
// section 2.1.2). None are needed from an empty tree, nor from a tree to itself.
func ProveConsistency(from, to int64, reader tlog.HashReader) ([]chain.Hash, error) {
	if from == 0 || from == to {
		return nil, nil
	}
	if to > MaxSize {
		return nil, errors.New("the tree's size is out of reach")
	}
	path, err := tlog.ProveTree(to, from, reader)
	if err != nil {
		return nil, err
	}
	hashes := make([]chain.Hash, len(path))
	for i, h := range path {
		hashes[i] = chain.Hash(h)
	}
	return hashes, nil
}

// CheckConsistency checks what ProveConsistency gives: the newer head's tree extends the older's.
func CheckConsistency(path []chain.Hash, older, newer Head) error {
	switch {
	case older.Size < 0:
		return errors.New("no tree has fewer than no leaves")
	case newer.Size > MaxSize:
		return errors.New("the tree's size is out of reach")
	case older.Size > newer.Size:
		return fmt.Errorf("a tree of %d leaves does not extend one of %d", newer.Size, older.Size)
	case older.Size == newer.Size && older.Root != newer.Root:
		return fmt.Errorf("two trees of %d leaves have different roots", older.Size)
	case older.Size == 0 && older.Root != chain.Sum(nil):
		return errors.New("the empty tree's root is another")
	case older.Size == 0, older.Size == newer.Size:
		if len(path) > 0 {
			return errors.New("the proof has hashes where none are needed")
		}
		return nil
	case len(path) > MaxProofHashes:
		return fmt.Errorf("the proof has %d hashes, more than any has", len(path))
	}
	p := make(tlog.TreeProof, len(path))
	for i, h := range path {
		p[i] = tlog.Hash(h)
	}
	if err := tlog.CheckTree(p, newer.Size, tlog.Hash(newer.Root), older.Size, tlog.Hash(older.Root)); err != nil {
		return fmt.Errorf("the newer tree does not extend the older: %w", err)
	}
	return nil
}

// Base64 gives hashes as the lines of C2SP's formats have them.
func Base64(hashes []chain.Hash) []string {
	lines := make([]string, len(hashes))
	for i, h := range hashes {
		lines[i] = base64.StdEncoding.EncodeToString(h[:])
	}
	return lines
}
