package embeddings

import (
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/ranking"
)

const (
	gramRunes   = 4
	longestWord = 64 // bytes; what is longer is data rather than language, and is not stemmed
)

// appendStem adds the dimension of a word's stem. Words of one letter carry nothing; a run of a script written
// without spaces counts as its single characters and their pairs.
func appendStem(terms []int32, word string, language language) []int32 {
	if unspaced(word) {
		return appendPairs(terms, word)
	}
	if len(word) == 1 && word[0] > '9' {
		return terms
	}
	return append(terms, wordTerm(stem(word, language)))
}

// appendGrams adds the dimensions of a word's character 4-grams, the word's ends marked by "_".
func appendGrams(terms []int32, word string) []int32 {
	if len(word) == 1 || len(word) > longestWord || unspaced(word) {
		return terms
	}
	padded := "_" + ranking.Plain(word) + "_"
	if len(padded) == utf8.RuneCountInString(padded) {
		for i := 0; i+gramRunes <= len(padded); i++ {
			terms = append(terms, gramTerm(padded[i:i+gramRunes]))
		}
		return terms
	}
	runes := []rune(padded)
	for i := 0; i+gramRunes <= len(runes); i++ {
		terms = append(terms, gramTerm(string(runes[i:i+gramRunes])))
	}
	return terms
}

func appendPairs(terms []int32, word string) []int32 {
	previous := ""
	for i, r := range word {
		one := word[i : i+utf8.RuneLen(r)]
		terms = append(terms, wordTerm(one))
		if previous != "" {
			terms = append(terms, wordTerm(previous+one))
		}
		previous = one
	}
	return terms
}

// unspaced says whether a word is of a script that puts no spaces between words.
func unspaced(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func wordTerm(stem string) int32 { return 1 + int32(fnv1a(stem)%wordDimensions) }

func gramTerm(gram string) int32 { return 1 + wordDimensions + int32(fnv1a(gram)%wordDimensions) }

// fnv1a is hash/fnv's New64a without an allocation, finished by folding the halves together.
func fnv1a(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}
