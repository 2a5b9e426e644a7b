package embeddings

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/ranking"
)

const gramRunes = 4

// The four kinds of terms, each hashed apart from the others. Words have the lower half of the dimensions.

func wordTerm(stem string) int32 { return 1 + int32(hash(stem)%wordDimensions) }

func gramTerm(gram string) int32 { return 1 + wordDimensions + int32(hash(gram)%wordDimensions) }

func pairTerm(first, second string) int32 {
	h := hash(first, " ", second)
	return 1 + wordDimensions + int32(h%wordDimensions)
}

func conceptTerm(name string) int32 {
	return 1 + wordDimensions + int32(hash("=", name)%wordDimensions)
}

// hash is FNV-1a over the parts one after another, its halves folded together.
func hash(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
	}
	return h ^ h>>32
}

// appendGrams adds the terms of a word's runs of four characters, its ends marked: "_cat_" is "_cat" and "cat_".
func appendGrams(terms []int32, word string) []int32 {
	if len(word) < 2 || len(word) > longestWord || unspaced(word) {
		return terms
	}
	padded := "_" + ranking.Plain(word) + "_"
	var starts [longestWord*utf8.UTFMax + 4]int // of the runes; Plain may lengthen a word's bytes
	n := 0
	for i := range padded {
		if n == len(starts) {
			break
		}
		starts[n] = i
		n++
	}
	for i := 0; i+gramRunes <= n; i++ {
		end := len(padded)
		if i+gramRunes < n {
			end = starts[i+gramRunes]
		}
		terms = append(terms, gramTerm(padded[starts[i]:end]))
	}
	return terms
}

// spaced replaces each run of a script that puts no spaces between words by its single characters and their pairs.
func spaced(words []string) []string {
	if !slices.ContainsFunc(words, func(word string) bool { return strings.ContainsFunc(word, unspacedRune) }) {
		return words
	}
	var out []string
	for _, word := range words {
		for word != "" {
			run := runOf(word)
			if out = append(out, word[:run]); unspaced(word) {
				out = appendPairs(out[:len(out)-1], word[:run])
			}
			word = word[run:]
		}
	}
	return out
}

// runOf gives how many bytes of a word are written with spaces, or without, as its first character is. Marks and
// characters of no script of their own go with what is before them.
func runOf(word string) int {
	first := unspaced(word)
	for i, r := range word {
		if i > 0 && unspacedRune(r) != first && !joins(r) {
			return i
		}
	}
	return len(word)
}

func joins(r rune) bool { return unicode.In(r, unicode.Mark, unicode.Lm) }

func appendPairs(out []string, run string) []string {
	before := -1
	for i, r := range run {
		end := i + utf8.RuneLen(r)
		out = append(out, run[i:end])
		if before >= 0 {
			out = append(out, run[before:end])
		}
		before = i
	}
	return out
}

// unspaced says whether a word begins with a character of a script written without spaces.
func unspaced(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unspacedRune(r)
}

// unspacedRune says whether a character is of a script written without spaces, or, as Korean is, with endings on its
// words that are longer than they are.
func unspacedRune(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
