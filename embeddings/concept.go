package embeddings

import (
	_ "embed" // for the words
	"slices"
	"strings"
)

//go:embed concepts.txt
var conceptLines string

// concepts tells the terms of the concepts that a word belongs to, by its stem in a language. Only English and Spanish
// have any, and they share them.
var concepts = readConcepts(conceptLines)

func readConcepts(lines string) map[spelling][]int32 {
	terms, stems := map[spelling][]int32{}, newStemmer()
	for line := range strings.Lines(lines) {
		name, words, found := strings.Cut(line, ": ")
		english, spanish, both := strings.Cut(words, " | ")
		if !found || !both {
			continue // a comment
		}
		term := conceptTerm(name)
		for in, list := range map[language]string{inEnglish: english, inSpanish: spanish} {
			for word := range strings.FieldsSeq(list) {
				key := spelling{stems.stem(word, in), in}
				if !slices.Contains(terms[key], term) {
					terms[key] = append(terms[key], term)
				}
			}
		}
	}
	return terms
}
