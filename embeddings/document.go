package embeddings

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/ranking"
)

// BM25's constants. The average length is fixed, in words: a stored vector cannot follow the corpus it is in.
const (
	saturation    = 1.2 // k1
	lengthPenalty = 0.5 // b
	averageLength = 30
	passageBytes  = 4_000
)

// weigh makes the vector of one passage. A term that occurs f times among n words has the value
//
//	f·(k1+1) / (f + k1·(1 − b + b·n/averageLength))
//
// which is BM25 without IDF: that belongs to the query, since it depends on what is searched.
func weigh(text string) Passage {
	words := ranking.Words(text)
	language := guess(words)
	terms := make([]int32, 0, 8*len(words))
	for _, word := range words {
		terms = appendGrams(terms, word)
		terms = appendStem(terms, word, language)
	}
	slices.Sort(terms)
	norm := float32(saturation * (1 - lengthPenalty + lengthPenalty*float64(len(words))/averageLength))
	passage := Passage{Terms: terms[:0], Values: make([]float32, 0, len(terms))}
	for i := 0; i < len(terms); {
		term, f := terms[i], float32(0)
		for ; i < len(terms) && terms[i] == term; i++ {
			f++
		}
		passage.Terms = append(passage.Terms, term)
		passage.Values = append(passage.Values, f*(saturation+1)/(f+norm))
	}
	return passage.capped()
}

// capped drops the last n-grams of a vector that is too long for the database.
func (p Passage) capped() Passage {
	n := min(len(p.Terms), MaxNonZero)
	return Passage{Terms: slices.Clip(p.Terms[:n]), Values: slices.Clip(p.Values[:n])}
}

// split cuts a text into parts of at most passageBytes, after white space where there is any.
func split(text string) []string {
	var parts []string
	for len(text) > passageBytes {
		cut := passageBytes
		if i := strings.LastIndexFunc(text[:cut], unicode.IsSpace); i > 0 {
			cut = i
		} else {
			cut = wholeRunes(text, cut)
		}
		parts = append(parts, text[:cut])
		text = text[cut:]
	}
	return append(parts, text)
}

// wholeRunes moves a cut back so that it does not divide a rune; invalid UTF-8 is cut anywhere.
func wholeRunes(text string, cut int) int {
	for i := cut; i > cut-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return cut
}
