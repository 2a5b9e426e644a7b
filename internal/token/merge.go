package token

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tiktoken-go/tokenizer"
)

// fast counts in one encoding, several times as fast as the codec, and exactly what that counts. That of o200k_base takes 0.3 s to
// make, and 19 MB, half a megabyte of which are for pieces that are remembered; that of cl100k_base half of it, and the others a quarter.
type fast struct {
	split  func(text string) int // where the first piece ends
	merger *merger
	known  [knownPieces]atomic.Uint64
	seed   maphash.Seed
}

// A piece that was counted is remembered, in the place that its hash gives it: words come again and again, and to count one anew goes
// through tables that no longer are at hand when somebody asks next. The hash stands for the text, and holds the count in its last
// bits, so that all of it is one word in memory. Nobody outside can tell which texts have one hash, and of those that come to one
// place, one in 2^48 would be taken for the one before.
const (
	knownPieces  = 1 << 16 // at most
	longestKnown = 32      // bytes
	countBits    = 6       // which longestKnown fits into
	countMask    = 1<<countBits - 1
)

// newFast makes the counter of an encoding that splitOf knows.
func newFast(encoding tokenizer.Encoding, codec tokenizer.Codec) *fast {
	return &fast{split: splitOf(encoding), merger: newMerger(vocabularyOf(codec)), seed: maphash.MakeSeed()}
}

// splitOf gives how an encoding splits a text, nil for one that is not known.
func splitOf(encoding tokenizer.Encoding) func(text string) int {
	switch s := theSplitter(); encoding {
	case tokenizer.O200kBase:
		return s.o200k
	case tokenizer.Cl100kBase:
		return s.cl100k
	case tokenizer.P50kBase, tokenizer.P50kEdit, tokenizer.R50kBase:
		return s.p50k
	}
	return nil
}

// count gives how many tokens a text of valid UTF-8 has.
func (f *fast) count(text string) (total int) {
	for text != "" {
		end := f.split(text)
		total, text = total+f.countPiece(text[:end]), text[end:]
	}
	return total
}

// countPiece is merger.count, or what that gave before.
func (f *fast) countPiece(piece string) int {
	if len(piece) > longestKnown {
		return f.merger.count(piece)
	}
	hash := maphash.String(f.seed, piece)
	place := &f.known[hash%knownPieces]
	if known := place.Load(); known != 0 && known&^countMask == hash&^countMask {
		return int(known & countMask)
	}
	n := f.merger.count(piece)
	place.Store(hash&^countMask | uint64(n))
	return n
}

// merger counts the tokens that byte pairs of a piece are merged into, in time that grows with the piece's length. Merging pair
// by pair, in the order of their ranks, takes some five times as long, and may be asked for a long piece by anybody.
//
// A sequence of tokens is what merging gives exactly if each two in a row are (joins), so the sequence is found from the left:
// the longest token that goes with the one before, and shorter ones where nothing else follows. The idea and its proof are those
// of github.com/github/rust-gems, crates/bpe.
type merger struct {
	lengths []uint8        // of tokens, by their number, which is their rank; 0: none
	prefix  []int32        // the longest other token that each begins with, -1: none
	splits  [][2]int32     // of what each is merged
	pairs   pairTable      // what pairs are merged into
	nodes   nodeTable      // the tokens' prefixes: node and byte to node
	one     [256]int32     // the token of a byte, -1: none
	two     [1 << 16]int32 // the node of two bytes, 0: none
	ends    []int32        // the token that ends at a node, -1: none
}

// newMerger makes that of a vocabulary.
func newMerger(tokens []string) *merger {
	size := bits.Len(uint(len(tokens))) + 1
	m := &merger{
		lengths: make([]uint8, len(tokens)), prefix: slices.Repeat([]int32{-1}, len(tokens)), splits: make([][2]int32, len(tokens)),
		pairs: newPairTable(size), nodes: newNodeTable(size + 1), one: [256]int32(slices.Repeat([]int32{-1}, 256)), ends: []int32{-1},
	}
	for i, text := range tokens {
		id := int32(i)
		m.splits[id] = [2]int32{id, id}
		if text == "" || len(text) > 1 && !m.split(id, text) {
			continue // merging never gives it: there is none such
		}
		m.lengths[id] = uint8(len(text))
		m.add(id, text)
	}
	// Prefixes are known when all tokens are.
	for id, text := range tokens {
		if m.lengths[id] > 0 {
			m.prefix[id], _ = m.longest(text[:len(text)-1])
		}
	}
	return m
}

// split finds of which two tokens one of a higher rank is merged.
func (m *merger) split(id int32, text string) bool {
	node := int32(0)
	for i := range len(text) - 1 {
		if node = m.nodes.get(node, text[i]); node < 0 {
			return false
		}
		left := m.ends[node]
		if left < 0 {
			continue
		}
		if right := m.whole(text[i+1:]); right >= 0 && m.joins(left, right) {
			m.splits[id] = [2]int32{left, right}
			m.pairs.put(left, right, id)
			return true
		}
	}
	return false
}

func (m *merger) add(id int32, text string) {
	node := int32(0)
	for i := range len(text) {
		next := m.nodes.get(node, text[i])
		if next < 0 {
			next = int32(len(m.ends))
			m.ends = append(m.ends, -1)
			m.nodes.put(node, text[i], next)
			if i == 1 {
				m.two[uint16(text[0])<<8|uint16(text[1])] = next
			}
		}
		node = next
	}
	if m.ends[node] = id; len(text) == 1 {
		m.one[text[0]] = id
	}
}

// longest gives the longest token that a text begins with, -1: none.
func (m *merger) longest(text string) (token int32, length int) {
	node, begin := int32(0), 0
	token = -1
	if len(text) > 1 {
		if m.one[text[0]] >= 0 {
			token, length = m.one[text[0]], 1
		}
		if node, begin = m.two[uint16(text[0])<<8|uint16(text[1])], 2; node == 0 {
			return token, length
		}
		if end := m.ends[node]; end >= 0 {
			token, length = end, 2
		}
	}
	for i := begin; i < len(text); i++ {
		if node = m.nodes.get(node, text[i]); node < 0 {
			break
		}
		if end := m.ends[node]; end >= 0 {
			token, length = end, i+1
		}
	}
	return token, length
}

// whole gives the token that a text is, -1: none.
func (m *merger) whole(text string) int32 {
	if token, length := m.longest(text); length == len(text) {
		return token
	}
	return -1
}

// joins tells whether merging a text of two tokens gives these: whether no pair across their border is merged before what is
// on both sides of it is.
func (m *merger) joins(left, right int32) bool {
	limit := int32(1<<31 - 1)
	for {
		if merged := m.pairs.get(left, right); merged >= 0 && merged < limit {
			return false
		}
		if left > right {
			limit = left
			if left = m.splits[left][1]; left != limit {
				continue
			}
			limit = right + 1
			if right = m.splits[right][0]; right+1 == limit {
				return true
			}
			continue
		}
		limit = right + 1
		if right = m.splits[right][0]; right+1 != limit {
			continue
		}
		limit = left
		if left = m.splits[left][1]; left == limit {
			return true
		}
	}
}

// count gives how many tokens a piece has.
func (m *merger) count(piece string) int {
	if len(piece) <= Longest {
		if _, length := m.longest(piece); length == len(piece) {
			return 1
		}
	}
	dead := make([]uint64, len(piece)/64+1) // a bit for each place from which nothing follows
	latest := 0                             // the furthest of these
	tokens := make([]int32, 0, len(piece)/2+1)
	at := 0
	next, _ := m.longest(piece)
	for at < len(piece) {
		last := int32(-1)
		if len(tokens) > 0 {
			last = tokens[len(tokens)-1]
		}
		if n := len(tokens); n > 1 && last == tokens[n-2] {
			length := int(m.lengths[last])
			if far := max(latest, at) - (at - length) + Longest; goesOn(piece, at, length, far) && !has(dead, uint64(at+length)) {
				if latest > at-length {
					latest += length
				}
				tokens, at = append(tokens, last), at+length
				next, _ = m.longest(piece[at:])
				continue
			}
		}
		for next >= 0 {
			if end := at + int(m.lengths[next]); !has(dead, uint64(end)) && (last < 0 || m.joins(last, next)) {
				break
			}
			next = m.prefix[next]
		}
		if next >= 0 {
			tokens, at = append(tokens, next), at+int(m.lengths[next])
			next, _ = m.longest(piece[at:])
			continue
		}
		set(dead, uint64(at))
		latest = max(latest, at)
		tokens, next = tokens[:len(tokens)-1], last
		at -= int(m.lengths[last])
	}
	return len(tokens)
}

// goesOn tells whether a piece goes on at a place as it did so many bytes before, as far as was looked when a token was chosen there:
// then that comes next again, for what rules out a longer one is the same. So it is in long runs of blanks.
func goesOn(piece string, at, before, far int) bool {
	return far <= 4*Longest && at+far <= len(piece) && piece[at:at+far] == piece[at-before:at-before+far]
}

// pairTable and nodeTable are hash tables of what is never taken out, which is looked up for each byte.
type pairTable struct {
	keys   []uint64
	values []int32
	shift  uint
	filter []uint64 // a bit for those of each hash: most pairs that are asked for are none, and this much the processor has at hand
}

const filterBits = 22

func newPairTable(bits int) pairTable {
	return pairTable{make([]uint64, 1<<bits), make([]int32, 1<<bits), uint(64 - bits), make([]uint64, 1<<filterBits/64)}
}

func (t *pairTable) at(left, right int32) (key uint64, at uint64) {
	key = uint64(left)<<32 | uint64(right) + 1
	at = key * 0x9e3779b97f4a7c15 >> t.shift
	for t.keys[at] != 0 && t.keys[at] != key {
		at = (at + 1) & uint64(len(t.keys)-1)
	}
	return key, at
}

func (t *pairTable) get(left, right int32) int32 {
	if hash := (uint64(left)<<32 | uint64(right) + 1) * 0x9e3779b97f4a7c15 >> (64 - filterBits); !has(t.filter, hash) {
		return -1
	}
	if _, at := t.at(left, right); t.keys[at] != 0 {
		return t.values[at]
	}
	return -1
}

func (t *pairTable) put(left, right, merged int32) {
	key, at := t.at(left, right)
	t.keys[at], t.values[at] = key, merged
	set(t.filter, key*0x9e3779b97f4a7c15>>(64-filterBits))
}

type nodeTable struct {
	slots []uint64 // node and byte above, the node that follows below
	shift uint
}

func newNodeTable(bits int) nodeTable { return nodeTable{make([]uint64, 1<<bits), uint(64 - bits)} }

func (t *nodeTable) at(node int32, b byte) (key, at uint64) {
	key = uint64(node)<<8 | uint64(b)
	at = (key + 1) * 0x9e3779b97f4a7c15 >> t.shift
	for t.slots[at] != 0 && t.slots[at]>>32 != key {
		at = (at + 1) & uint64(len(t.slots)-1)
	}
	return key, at
}

func (t *nodeTable) get(node int32, b byte) int32 {
	_, at := t.at(node, b)
	if t.slots[at] == 0 {
		return -1
	}
	return int32(t.slots[at] & 0xffffffff)
}

func (t *nodeTable) put(node int32, b byte, next int32) {
	key, at := t.at(node, b)
	t.slots[at] = key<<32 | uint64(next)
}
