package token

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Longest is how many bytes a token has at most, in any encoding: those are runs of blanks and the like.
const Longest = 128

// Least gives a number of tokens that a text has at least, in an encoding, some hundred times as fast as they are counted. It
// cuts the text into as few pieces as can be of which each might be part of a token:
//
//	no longer than Longest; each two, three and five bytes in a row, and each byte in a row as often, are in some token
//
// Each token is such a piece, and cutting as late as can be gives the fewest of them.
func Least(encoding, text string) int {
	if encoding == "" {
		encoding = DefaultEncoding
	}
	p, err := partsOf(encoding)
	if err != nil {
		return (len(text) + Longest - 1) / Longest
	}
	return p.fewest(text)
}

// parts is what stands in the tokens of a vocabulary.
type parts struct {
	runs  [256]int // how often a byte stands in a row at most
	twos  []uint64 // a bit for each two bytes
	three []uint64 // and each three
	five  []uint64 // and for those of each five that have the same hash
}

const fiveBits = 22

// known are the parts of the vocabularies that were asked for, by encoding.
var known sync.Map

// partsOf goes through a vocabulary once, for a tenth of a second.
func partsOf(encoding string) (*parts, error) {
	once, ok := known.Load(encoding)
	if !ok {
		once, _ = known.LoadOrStore(encoding, sync.OnceValues(func() (*parts, error) {
			codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
			if err != nil {
				return nil, err
			}
			p := &parts{twos: make([]uint64, 1<<16/64), three: make([]uint64, 1<<24/64), five: make([]uint64, 1<<fiveBits/64)}
			for _, text := range vocabularyOf(codec) {
				p.add(text)
			}
			return p, nil
		}))
	}
	return once.(func() (*parts, error))()
}

// mostTokens is more than any vocabulary has.
const mostTokens = 210_000

// vocabularyOf gives the tokens of a codec by their numbers, of which some are of none: "".
func vocabularyOf(codec tokenizer.Codec) []string {
	tokens, n := make([]string, mostTokens), 0
	for id := range uint(mostTokens) {
		if text, err := codec.Decode([]uint{id}); err == nil {
			tokens[id], n = text, int(id)+1
		}
	}
	return tokens[:n]
}

func (p *parts) add(token string) {
	run := 0
	var last uint64 // bytes, the latest lowest
	for i := range len(token) {
		b := token[i]
		if run++; i > 0 && token[i-1] != b {
			run = 1
		}
		p.runs[b] = max(p.runs[b], run)
		last = last<<8 | uint64(b)
		if i >= 1 {
			set(p.twos, last&0xffff)
		}
		if i >= 2 {
			set(p.three, last&0xffffff)
		}
		if i >= 4 {
			set(p.five, hashOfFive(last))
		}
	}
}

// fewest gives how few pieces a text has.
func (p *parts) fewest(text string) int {
	pieces, length, run := 0, 0, 0
	var last uint64
	for i := range len(text) {
		b := text[i]
		if b == 0x7f {
			b = 2 // see readable
		}
		if run++; uint64(b) != last&0xff || i == 0 {
			run = 1
		}
		last = last<<8 | uint64(b)
		if length == 0 || length == Longest || run > p.runs[b] || !has(p.twos, last&0xffff) ||
			length >= 2 && !has(p.three, last&0xffffff) || length >= 4 && !has(p.five, hashOfFive(last)) {
			pieces, length, run = pieces+1, 0, 1
		}
		length++
	}
	return pieces
}

func hashOfFive(last uint64) uint64 {
	return last << 24 * 0x9e3779b97f4a7c15 >> (64 - fiveBits)
}

func set(bits []uint64, at uint64) { bits[at/64] |= 1 << (at % 64) }

func has(bits []uint64, at uint64) bool { return bits[at/64]&(1<<(at%64)) != 0 }
