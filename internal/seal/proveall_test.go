package seal_test

import (
	"crypto/sha256"
	"math/bits"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// Any leaves of a tree, with what is given of the rest, make its root; and no hash is given that they do not need.
func TestProveAllOfAnyLeaves(t *testing.T) {
	t.Parallel()
	const most = 11
	log := sealtest.New(t, "log.example.org").Grow(most)
	for size := int64(1); size <= most; size++ {
		for set := range 1 << size {
			var indexes []int64
			for i := range size {
				if set>>i&1 == 1 {
					indexes = append(indexes, i)
				}
			}
			path, err := seal.ProveAll(size, indexes, log)
			if err != nil {
				t.Fatalf("ProveAll(%d, %v): %v", size, indexes, err)
			}
			root, rest := rebuilt(log, 0, size, indexes, path)
			if root != log.Head(int(size)).Root || len(rest) > 0 {
				t.Fatalf("%v of %d leaves give the root %s with %d hashes left, want %s and none", indexes, size, root, len(rest), log.Head(int(size)).Root)
			}
		}
	}
	for _, indexes := range [][]int64{{-1}, {3}, {1, 1}, {2, 1}} {
		if path, err := seal.ProveAll(3, indexes, log); err == nil {
			t.Errorf("ProveAll(3, %v) = %v, want an error", indexes, path)
		}
	}
}

// rebuilt gives the hash of a part of the tree, and what is left of the path.
func rebuilt(log *sealtest.Log, from, to int64, indexes []int64, path []chain.Hash) (chain.Hash, []chain.Hash) {
	n := to - from
	within := false
	for _, i := range indexes {
		within = within || from <= i && i < to
	}
	if !within && bits.OnesCount64(uint64(n)) == 1 {
		return path[0], path[1:]
	}
	if n == 1 {
		return chain.Hash(log.Leaves[from].Hash()), path
	}
	k := int64(1)
	for 2*k < n {
		k *= 2
	}
	left, path := rebuilt(log, from, from+k, indexes, path)
	right, path := rebuilt(log, from+k, to, indexes, path)
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...)), path
}
