package embeddings

import (
	"slices"

	"github.com/tzzr/context-manager/internal/ranking"
)

// maxVocabulary is how many words a vocabulary remembers before it begins anew.
const maxVocabulary = 1 << 14

// vocabulary finds the terms of words, and remembers them: a few words make up most of any text. It is not safe for
// concurrent use.
type vocabulary struct {
	stems stemmer
	known map[spelling]word
}

// spelling is a word as it stands in a text of a language.
type spelling struct {
	text string
	in   language
}

type word struct {
	stem  string
	term  int32
	parts []int32 // its concepts and its n-grams
	empty bool    // a function word of its text's language
	key   bool    // tells something of what a text is about
}

func newVocabulary() *vocabulary {
	return &vocabulary{stems: newStemmer(), known: make(map[spelling]word)}
}

func (v *vocabulary) word(text string, in language) word {
	key := spelling{text, in}
	w, ok := v.known[key]
	if ok {
		return w
	}
	w.stem = v.stems.stem(text, in)
	w.term = wordTerm(w.stem)
	if w.empty = functionWord(text)&in.of(text) != 0; !w.empty {
		w.parts = appendGrams(slices.Clone(concepts[spelling{w.stem, in}]), text)
	}
	w.key = !empty(text, in.of(text))
	if len(v.known) == maxVocabulary {
		clear(v.known)
	}
	v.known[key] = w
	return w
}

// Documents makes the passages of many texts, faster than Lexical one at a time, and the same. It is not safe for
// concurrent use.
type Documents struct{ words *vocabulary }

// NewDocuments gives one that has seen no text.
func NewDocuments() Documents { return Documents{newVocabulary()} }

// Document is Lexical's.
func (d Documents) Document(text string) []Passage {
	parts := split(text)
	passages := make([]Passage, len(parts))
	for i, part := range parts {
		passages[i] = passage(part, d.words)
	}
	return passages
}

// Keys gives the keys of all passages of a text, ascending and unique, which takes a fraction of making the passages.
func (d Documents) Keys(text string) []int32 {
	var keys []int32
	for _, part := range split(text) {
		words := spaced(ranking.Words(part))
		in := guess(words).one()
		of := make([]int32, 0, len(words))
		for _, text := range words {
			if word := d.words.word(text, in); word.key {
				of = append(of, word.term)
			}
		}
		keys = append(keys, unique(of)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// unique gives the keys of a passage from those of its words.
func unique(keys []int32) []int32 {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return keys[:min(len(keys), MaxKeys)]
}
