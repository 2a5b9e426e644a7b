package token

import (
	"unicode"
	"unicode/utf8"
)

// Kinds of characters, as the pattern of o200k_base has them.
const (
	upper   = 1 << iota // Lu, Lt, Lm, Lo, M
	lower               // Ll, Lm, Lo, M
	letter              // L
	number              // N
	blank               // white space
	newline             // \r or \n
)

func kindOf(r rune) (kind uint8) {
	if unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M) {
		kind |= upper
	}
	if unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M) {
		kind |= lower
	}
	if unicode.IsLetter(r) {
		kind |= letter
	}
	if unicode.In(r, unicode.N) {
		kind |= number
	}
	if unicode.IsSpace(r) {
		kind |= blank
	}
	if r == '\r' || r == '\n' {
		kind |= newline
	}
	return kind
}

// splitter cuts a text into the pieces that o200k_base merges each for itself: as its pattern does, which is
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
type splitter struct{ kinds [1 << 16]uint8 }

func newSplitter() *splitter {
	s := &splitter{}
	for r := range s.kinds {
		s.kinds[r] = kindOf(rune(r))
	}
	return s
}

// kind gives the kind of the character at a place, and where the next one begins; beyond the text -1.
func (s *splitter) kind(text string, at int) (kind uint8, next int) {
	if at >= len(text) {
		return 0, -1
	}
	if c := text[at]; c < utf8.RuneSelf {
		return s.kinds[c], at + 1
	}
	r, n := utf8.DecodeRuneInString(text[at:])
	if int(r) < len(s.kinds) {
		return s.kinds[r], at + n
	}
	return kindOf(r), at + n
}

// run gives where characters of a kind end.
func (s *splitter) run(text string, at int, of uint8) int {
	for {
		kind, next := s.kind(text, at)
		if next < 0 || kind&of == 0 {
			return at
		}
		at = next
	}
}

// next gives where the first piece of a text ends.
func (s *splitter) next(text string) int {
	kind, second := s.kind(text, 0)
	before := kind&(letter|number|newline) == 0 // may stand before a word
	if before {
		if end := s.word(text, second); end > 0 {
			return end
		}
	}
	if end := s.word(text, 0); end > 0 {
		return end
	}
	if before {
		if end := s.capitals(text, second); end > 0 {
			return end
		}
	}
	if end := s.capitals(text, 0); end > 0 {
		return end
	}
	if kind&number != 0 {
		end := second
		for range 2 {
			if kind, next := s.kind(text, end); next > 0 && kind&number != 0 {
				end = next
			}
		}
		return end
	}
	from := 0
	if text[0] == ' ' {
		from = 1
	}
	end := from
	for {
		kind, next := s.kind(text, end)
		if next < 0 || kind&(blank|letter|number) != 0 {
			break
		}
		end = next
	}
	if end > from {
		for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
			end++
		}
		return end
	}
	return s.white(text)
}

// word ends a word that has a lower letter at its end.
func (s *splitter) word(text string, at int) int {
	last := -1 // behind the last that is upper and lower
	for {
		kind, next := s.kind(text, at)
		if next < 0 || kind&upper == 0 {
			break
		}
		if at = next; kind&lower != 0 {
			last = at
		}
	}
	if end := s.run(text, at, lower); end > at {
		return contraction(text, end)
	}
	if last > 0 {
		return contraction(text, last)
	}
	return 0
}

// capitals ends a word that has none.
func (s *splitter) capitals(text string, at int) int {
	end := s.run(text, at, upper)
	if end == at {
		return 0
	}
	return contraction(text, s.run(text, end, lower))
}

func contraction(text string, at int) int {
	if at+1 >= len(text) || text[at] != '\'' {
		return at
	}
	switch text[at+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return at + 2
	}
	if at+2 < len(text) {
		switch string([]byte{text[at+1] | 0x20, text[at+2] | 0x20}) {
		case "re", "ve", "ll":
			return at + 3
		}
	}
	return at
}

// white ends white space: behind the first ends of lines in a row, or before the blank that belongs to what follows. The codec
// does not go on to the last of the ends of lines, though the pattern would; counts are the codec's.
func (s *splitter) white(text string) int {
	at, before := 0, 0
	for {
		kind, next := s.kind(text, at)
		if kind&newline != 0 {
			return s.run(text, at, newline)
		}
		if next < 0 || kind&blank == 0 {
			break
		}
		before, at = at, next
	}
	if at < len(text) && before > 0 {
		return before
	}
	return max(at, 1)
}
