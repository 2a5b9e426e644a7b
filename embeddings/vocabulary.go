package embeddings

import (
	"slices"
	"strings"

	"github.com/tzzr/context-manager/internal/ranking"
)

// maxVocabulary is half of how many words a vocabulary remembers, at about 230 bytes each. Conversations of 26,000 words have fewer than
// 3,000 different ones, and what comes once, as numbers and names of orders do, is not worth the room.
const maxVocabulary = 1 << 13

// vocabulary finds the terms of words, and remembers them: a few words make up most of any text. It is not safe for
// concurrent use.
type vocabulary struct {
	stems stemmer
	known map[spelling]word
	older map[spelling]word // those of before known was full: what is not met again until it is full once more is forgotten
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
	if len(text) > longestWord { // data, which would take much room
		return v.find(spelling{text, in})
	}
	if w, ok := v.known[spelling{text, in}]; ok {
		return w
	}
	key := spelling{strings.Clone(text), in} // which does not hold on to the text that it stands in
	w, ok := v.older[key]
	if !ok {
		w = v.find(key)
	}
	if len(v.known) == maxVocabulary {
		v.known, v.older = make(map[spelling]word), v.known
	}
	v.known[key] = w
	return w
}

func (v *vocabulary) find(of spelling) (w word) {
	w.stem = v.stems.stem(of.text, of.in)
	w.term = wordTerm(w.stem)
	languages := of.in.of(of.text)
	if w.empty = functionWord(of.text)&languages != 0; !w.empty {
		w.parts = appendGrams(slices.Clone(concepts[spelling{w.stem, of.in}]), of.text)
	}
	w.key = !empty(of.text, languages)
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
