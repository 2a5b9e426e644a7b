package seal

import (
	"crypto/sha256"
	"encoding/binary"
)

// Tally stands for a multiset of leaves, whatever their order: the sum, in four lanes of 64 bits, of
// SHA-256(secret ‖ leaf) over its leaves. Two tallies under one secret are equal if the multisets are; if they are not,
// nobody who did not know the secret can have made them so. So take a secret that is drawn for each use.
// Not safe for concurrent use.
type Tally struct {
	secret [32]byte
	count  int64
	sum    [4]uint64
	buffer []byte
}

// NewTally gives the tally of no leaves.
func NewTally(secret [32]byte) *Tally {
	return &Tally{secret: secret, buffer: make([]byte, 0, len(secret)+LeafBytes)}
}

// Add takes a leaf in.
func (t *Tally) Add(l Leaf) {
	t.buffer = l.append(append(t.buffer[:0], t.secret[:]...))
	h := sha256.Sum256(t.buffer)
	for i := range t.sum {
		t.sum[i] += binary.BigEndian.Uint64(h[8*i:])
	}
	t.count++
}

// Count is how many leaves were added.
func (t *Tally) Count() int64 { return t.count }

// Equal tells whether the same leaves were added to both, each as often.
func (t *Tally) Equal(other *Tally) bool {
	return t.secret == other.secret && t.count == other.count && t.sum == other.sum
}
