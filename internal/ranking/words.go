package ranking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Words splits a text into its words: runs of letters, digits and marks, in compatibility form (NFKC) and lower
// case, accents kept. A symbol beyond ASCII, such as an emoji, is a word of its own, as a flag's two halves are
// together; repeated at once, it counts once. Anything else, invalid UTF-8 included, separates. Skin tones and
// variation selectors are lost. The words share one string in memory.
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
	symbol, end := "", 0 // the last symbol, and where it ended
	for i := 0; i < len(folded); {
		size := letters(folded[i:])
		if size > 0 {
			if !yield(folded[i : i+size]) {
				return
			}
			i += size
			continue
		}
		r, size := utf8.DecodeRuneInString(folded[i:])
		if symbolRune(r) {
			size = symbolBytes(folded[i:], r, size)
			repeated := end == i && symbol == folded[i:i+size]
			symbol, end = folded[i:i+size], i+size
			if !repeated && !yield(symbol) {
				return
			}
		}
		i += size
	}
}

// letters gives how many bytes of a folded text's beginning are letters, digits and marks.
func letters(folded string) int {
	for i, r := range folded {
		if !wordRune(r) {
			return i
		}
	}
	return len(folded)
}

// symbolBytes gives how many bytes the symbol has that a text begins with: a flag has two runes, others one.
func symbolBytes(text string, first rune, size int) int {
	if next, more := utf8.DecodeRuneInString(text[size:]); regional(first) && regional(next) {
		return size + more
	}
	return size
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
		text = strings.ReplaceAll(text, "\uFE0F", "") // asks for colour: "❤" with it and without is the same
		text = norm.NFKC.String(text)                 // which leaves invalid bytes, and those are no word's
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
	if r == '\uFE0E' || r == '\u20E3' { // of a symbol without colour, and of a key around a digit
		return false
	}
	return unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark)
}

// symbolRune says whether a character stands for something by itself: emoji, arrows, signs of currency and mathematics.
func symbolRune(r rune) bool {
	if r < utf8.RuneSelf || r == utf8.RuneError || r == '\uFFFC' { // those stand for what could not be shown
		return false
	}
	return unicode.In(r, unicode.So, unicode.Sm, unicode.Sc)
}

// regional says whether a character is half of a flag.
func regional(r rune) bool { return 0x1F1E6 <= r && r <= 0x1F1FF }
