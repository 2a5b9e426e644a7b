package token

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Kinds of characters, as the patterns of the encodings have them.
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

// splitter cuts a text into the pieces that an encoding merges each for itself: as its pattern does. The kinds of most characters
// are looked up.
type splitter struct{ kinds [1 << 16]uint8 }

// theSplitter is made once, for all encodings.
var theSplitter = sync.OnceValue(func() *splitter {
	s := &splitter{}
	for r := range s.kinds {
		s.kinds[r] = kindOf(rune(r))
	}
	return s
})

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

// o200k gives where the first piece of a text ends in o200k_base, whose pattern is
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func (s *splitter) o200k(text string) int {
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
		return s.digits(text)
	}
	if end := s.signs(text); end > 0 {
		for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
			end++
		}
		return end
	}
	return s.white(text)
}

// cl100k gives where the first piece of a text ends in cl100k_base, whose pattern is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func (s *splitter) cl100k(text string) int {
	if end := contraction(text, 0, folded); end > 0 {
		return end
	}
	kind, second := s.kind(text, 0)
	if kind&(letter|number|newline) == 0 {
		if end := s.run(text, second, letter); end > second {
			return end
		}
	}
	if end := s.run(text, 0, letter); end > 0 {
		return end
	}
	if kind&number != 0 {
		return s.digits(text)
	}
	if end := s.signs(text); end > 0 {
		return s.run(text, end, newline)
	}
	return s.white(text)
}

// p50k gives where the first piece of a text ends in p50k_base, p50k_edit and r50k_base, whose pattern is
//
//	's|'t|'re|'ve|'m|'ll|'d
//	 ?\p{L}+
//	 ?\p{N}+
//	 ?[^\s\p{L}\p{N}]+
//	\s+(?!\S)
//	\s+
func (s *splitter) p50k(text string) int {
	if end := contraction(text, 0, asIs); end > 0 {
		return end
	}
	from := afterBlank(text)
	if end := s.run(text, from, letter); end > from {
		return end
	}
	if end := s.run(text, from, number); end > from {
		return end
	}
	if end := s.signs(text); end > 0 {
		return end
	}
	return s.beforeLast(text, s.run(text, 0, blank))
}

// afterBlank is where what a blank may stand before begins.
func afterBlank(text string) int {
	if text[0] == ' ' {
		return 1
	}
	return 0
}

// digits ends up to three.
func (s *splitter) digits(text string) (end int) {
	for range 3 {
		if kind, next := s.kind(text, end); next > 0 && kind&number != 0 {
			end = next
		}
	}
	return end
}

// signs ends what is no letter, digit or white space, perhaps behind a blank; 0: nothing is.
func (s *splitter) signs(text string) int {
	from := afterBlank(text)
	end := from
	for {
		kind, next := s.kind(text, end)
		if next < 0 || kind&(blank|letter|number) != 0 {
			break
		}
		end = next
	}
	if end == from {
		return 0
	}
	return end
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
		return contraction(text, end, folded)
	}
	if last > 0 {
		return contraction(text, last, folded)
	}
	return 0
}

// capitals ends a word that has none.
func (s *splitter) capitals(text string, at int) int {
	end := s.run(text, at, upper)
	if end == at {
		return 0
	}
	return contraction(text, s.run(text, end, lower), folded)
}

// Whether contractions may be in capitals, too.
const (
	asIs   = 0
	folded = 'a' - 'A'
)

// contraction ends a contraction at a place, or gives the place.
func contraction(text string, at int, fold byte) int {
	if at+1 >= len(text) || text[at] != '\'' {
		return at
	}
	switch text[at+1] | fold {
	case 's', 't', 'm', 'd':
		return at + 2
	}
	if at+2 < len(text) {
		switch string([]byte{text[at+1] | fold, text[at+2] | fold}) {
		case "re", "ve", "ll":
			return at + 3
		}
	}
	if fold != asIs && strings.HasPrefix(text[at+1:], "ſ") { // which is a small s to whoever makes no difference
		return at + 1 + len("ſ")
	}
	return at
}

// white ends white space: behind the first ends of lines in a row, or before the blank that belongs to what follows. The codec
// does not go on to the last of the ends of lines, though the pattern would; counts are the codec's.
func (s *splitter) white(text string) int {
	at := 0
	for {
		kind, next := s.kind(text, at)
		if kind&newline != 0 {
			return s.run(text, at, newline)
		}
		if next < 0 || kind&blank == 0 {
			return s.beforeLast(text, at)
		}
		at = next
	}
}

// beforeLast gives where white space that ends at a place is cut: before its last character, which belongs to what follows, unless
// it is the only one or nothing follows.
func (s *splitter) beforeLast(text string, end int) int {
	if end < len(text) {
		if _, n := utf8.DecodeLastRuneInString(text[:end]); end > n {
			return end - n
		}
	}
	return max(end, 1)
}
