package verifier

import (
	"maps"
	"math/bits"
	"slices"
)

// Leaves are kept in pages of 2^16. A page holds up to sparsePage of them one by one, and a bit each beyond: so a whole
// log takes a bit a leaf, and a few leaves anywhere in a huge tree take little.
const (
	pageBits   = 16
	sparsePage = 1 << 11
)

// leafSet is a set of places in the tree.
type leafSet struct {
	pages map[int64]*leafPage
	count int64
}

type leafPage struct {
	few  []uint16 // ascending
	many *[1 << pageBits / 64]uint64
}

// add adds a leaf, and tells whether it was new.
func (s *leafSet) add(leaf int64) bool {
	if s.pages == nil {
		s.pages = map[int64]*leafPage{}
	}
	page := s.pages[leaf>>pageBits]
	if page == nil {
		page = new(leafPage)
		s.pages[leaf>>pageBits] = page
	}
	if !page.add(uint16(leaf)) {
		return false
	}
	s.count++
	return true
}

func (p *leafPage) add(at uint16) bool {
	if p.many == nil {
		place, there := slices.BinarySearch(p.few, at)
		if there {
			return false
		}
		if p.few = slices.Insert(p.few, place, at); len(p.few) > sparsePage {
			p.many = new([1 << pageBits / 64]uint64)
			for _, one := range p.few {
				p.many[one>>6] |= 1 << (one & 63)
			}
			p.few = nil
		}
		return true
	}
	if p.many[at>>6]&(1<<(at&63)) != 0 {
		return false
	}
	p.many[at>>6] |= 1 << (at & 63)
	return true
}

// has tells whether a leaf is in the set.
func (s *leafSet) has(leaf int64) bool {
	page := s.pages[leaf>>pageBits]
	if page == nil {
		return false
	}
	at := uint16(leaf)
	if page.many == nil {
		_, there := slices.BinarySearch(page.few, at)
		return there
	}
	return page.many[at>>6]&(1<<(at&63)) != 0
}

// missing gives the leaves of a tree of a size that are not in the set, at most limit ranges of them.
func (s *leafSet) missing(size int64, limit int) (ranges []Range) {
	next := int64(0)
	before := func(leaf int64) bool { // notes what is missing before a leaf that is there
		if leaf > next {
			ranges = append(ranges, Range{next, leaf - 1})
		}
		next = leaf + 1
		return len(ranges) < limit
	}
	for _, number := range slices.Sorted(maps.Keys(s.pages)) {
		if !s.pages[number].each(number<<pageBits, before) {
			return ranges
		}
	}
	before(size)
	return ranges
}

// each calls f with the leaves of the page in order, until it gives false.
func (p *leafPage) each(base int64, f func(leaf int64) bool) bool {
	for _, at := range p.few {
		if !f(base + int64(at)) {
			return false
		}
	}
	if p.many == nil {
		return true
	}
	for i, word := range p.many {
		for ; word != 0; word &= word - 1 {
			if !f(base + int64(i)<<6 + int64(bits.TrailingZeros64(word))) {
				return false
			}
		}
	}
	return true
}
