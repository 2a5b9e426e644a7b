package ranking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Words splits a text into its words: runs of letters, digits and marks, in compatibility form (NFKC) and lower
// case, accents kept. Anything else, invalid UTF-8 included, separates. The words share one string in memory.
func Words(text string) []string {
	text = fold(text)
	words := make([]string, 0, len(text)/6+1)
	eachWord(text, func(word string) bool {
		words = append(words, word)
		return true
	})
	return words
}

// eachWord calls yield with the words of a folded text until it says false.
func eachWord(folded string, yield func(string) bool) {
	start := -1
	for i, r := range folded {
		switch inside := wordRune(r); {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			if !yield(folded[start:i]) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		yield(folded[start:])
	}
}

// Plain takes the accents off a word that Words gave: "canción" becomes "cancion". Letters that are not an
// accented form of another one, such as "ø", stay.
func Plain(word string) string {
	if ascii(word) {
		return word
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(word) {
		if r < 0x0300 || r > 0x036F { // combining diacritical marks
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

func fold(text string) string {
	if !ascii(text) {
		text = norm.NFKC.String(text) // which leaves invalid bytes, and those are no word's
	}
	return strings.ToLower(text)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark)
}
