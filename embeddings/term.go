package embeddings

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/ranking"
)

const gramRunes = 4

// The three kinds of terms, each hashed apart from the others. Words have the lower half of the dimensions.

func wordTerm(stem string) int32 { return 1 + int32(hash(stem)%wordDimensions) }

func gramTerm(gram string) int32 { return 1 + wordDimensions + int32(hash(gram)%wordDimensions) }

func pairTerm(first, second string) int32 {
	h := hash(first, " ", second)
	return 1 + wordDimensions + int32(h%wordDimensions)
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

// spaced replaces each word of a script that puts no spaces between words by its single characters and their pairs.
func spaced(words []string) []string {
	if !slices.ContainsFunc(words, unspaced) {
		return words
	}
	var out []string
	for _, word := range words {
		if !unspaced(word) {
			out = append(out, word)
			continue
		}
		before := -1
		for i, r := range word {
			end := i + utf8.RuneLen(r)
			out = append(out, word[i:end])
			if before >= 0 {
				out = append(out, word[before:end])
			}
			before = i
		}
	}
	return out
}

// unspaced says whether a word is of a script written without spaces.
func unspaced(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
