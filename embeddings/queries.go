package embeddings

import (
	"strings"
	"sync"
)

// maxQueryVocabulary is how many words of queries are remembered before that begins anew: some megabytes.
const maxQueryVocabulary = 1 << 13

// Queries parses queries as Lexical does, and remembers their words: a word's stems in all languages are most of the work.
// It is safe for concurrent use, and nil remembers nothing.
type Queries struct {
	mu    sync.Mutex
	known map[spelling]queryWord
}

// queryWord is what a word of a query in a language stands for. It never changes.
type queryWord struct {
	dims    []int32  // of its stems, that of the query's language first
	aligned []string // stems by which pairs are looked for
	grams   []int32
}

// NewQueries gives one that has seen no query.
func NewQueries() *Queries { return &Queries{known: map[spelling]queryWord{}} }

// word gives what a word stands for; find finds it out.
func (q *Queries) word(text string, in language, find func() queryWord) queryWord {
	if q == nil || len(text) > longestWord {
		return find()
	}
	q.mu.Lock()
	w, known := q.known[spelling{text, in}]
	q.mu.Unlock()
	if known {
		return w
	}
	w = find()
	for i, stem := range w.aligned { // a word shares its memory with the whole query
		w.aligned[i] = strings.Clone(stem)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.known) >= maxQueryVocabulary {
		clear(q.known)
	}
	q.known[spelling{strings.Clone(text), in}] = w
	return w
}

// newWord finds out what a word stands for. A phrase is looked for in the query's language, and in the two that are most
// likely otherwise.
func (p *parser) newWord(text string) queryWord {
	stems := p.stems.all(text, p.in.one())
	w := queryWord{
		dims: make([]int32, len(stems)), grams: appendGrams(nil, text),
		aligned: []string{stems[0], p.stems.stem(text, inEnglish), p.stems.stem(text, inSpanish)},
	}
	for i, stem := range stems {
		w.dims[i] = wordTerm(stem)
	}
	return w
}
