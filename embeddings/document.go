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
)

// passageBytes is the longest passage. One has fewer than 16,000 different terms, except where compatibility forms
// unfold into many characters.
const passageBytes = 4_000

// passage makes the vector of one passage. A term that occurs f times in a passage of n words has the value
//
//	f·(k1+1) / (f + k1·(1 − b + b·n/averageLength))
//
// which is BM25 without IDF: that belongs to the query, since it depends on what is searched. Terms are the stems
// of all words, and, function words left out, pairs of stems that follow each other, concepts and character 4-grams.
func passage(text string, vocabulary *vocabulary) Passage {
	words := spaced(ranking.Words(text))
	in := guess(words).one()
	terms, keys := make([]int32, 0, 8*len(words)), make([]int32, 0, len(words))
	previous := ""
	for _, text := range words {
		word := vocabulary.word(text, in)
		terms = append(terms, word.term)
		if word.key {
			keys = append(keys, word.term)
		}
		if word.empty {
			continue
		}
		if previous != "" {
			terms = append(terms, pairTerm(previous, word.stem))
		}
		previous = word.stem
		terms = append(terms, word.parts...)
	}
	p := weighed(terms, len(words))
	p.Keys = unique(keys)
	return p
}

func weighed(terms []int32, words int) Passage {
	slices.Sort(terms)
	norm := float32(saturation * (1 - lengthPenalty + float64(lengthPenalty*float64(words))/averageLength))
	p := Passage{Terms: terms[:0], Values: make([]float32, 0, len(terms))}
	for i := 0; i < len(terms) && len(p.Terms) < MaxNonZero; {
		term, f := terms[i], float32(0)
		for ; i < len(terms) && terms[i] == term; i++ {
			f++
		}
		p.Terms = append(p.Terms, term)
		p.Values = append(p.Values, float32(f*(saturation+1))/(f+norm))
	}
	return p
}

// split cuts a text into parts of at most passageBytes, at white space where there is any.
func split(text string) []string {
	var parts []string
	for len(text) > passageBytes {
		cut := strings.LastIndexFunc(text[:passageBytes], unicode.IsSpace)
		if cut <= 0 {
			cut = wholeRunes(text, passageBytes)
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
