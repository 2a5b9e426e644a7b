package seal

import (
	"errors"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
)

// ProveAll gives what makes the root of a tree out of some of its leaves, at ascending indexes: the hashes of the largest
// full subtrees that hold none of them, from left to right. Neighbours share nearly all of it, so that it is short where a
// proof of each would not be. The hashes come from reader, which may know a larger tree, and is asked once.
func ProveAll(size int64, indexes []int64, reader tlog.HashReader) ([]chain.Hash, error) {
	for i, index := range indexes {
		if index < 0 || index >= size || i > 0 && index <= indexes[i-1] {
			return nil, errors.New("the leaves are not in the tree, or not in order")
		}
	}
	if size > MaxSize {
		return nil, errors.New("the tree's size is out of reach")
	}
	found, err := reader.ReadHashes(without(nil, 0, size, indexes))
	if err != nil {
		return nil, err
	}
	hashes := make([]chain.Hash, len(found))
	for i, h := range found {
		hashes[i] = chain.Hash(h)
	}
	return hashes, nil
}

// without appends the places of the full subtrees of from..to that hold none of the leaves, as tlog numbers them.
func without(places []int64, from, to int64, indexes []int64) []int64 {
	n := to - from
	full := n&(n-1) == 0
	switch {
	case n == 0 || n == 1 && len(indexes) == 1:
		return places
	case full && len(indexes) == 0:
		level := bits.TrailingZeros64(uint64(n))
		return append(places, tlog.StoredHashIndex(level, from>>level))
	}
	middle := from + int64(1)<<(bits.Len64(uint64(n-1))-1)
	left := 0
	for left < len(indexes) && indexes[left] < middle {
		left++
	}
	places = without(places, from, middle, indexes[:left])
	return without(places, middle, to, indexes[left:])
}
