package embeddings

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/portable"
	"github.com/tzzr/context-manager/internal/ranking"
)

// Weights of a query's terms, beside 1 for a word.
const (
	pairWeight    = 0.5
	conceptWeight = 0.6
	gramWeight    = 0.15
	nameWeight    = 0.3 // of a word that names an owner: who is asked about says "I", and the others say the name
)

// What a query has to carry to be sure of anything.
const (
	background     = 1_000       // passages at least: a smaller log does not tell how common a word is
	tellingIDF     = 4.605170186 // ln 100: that of a word which is enough by itself
	minInformation = 1e-3
)

// Stats is what a query has to know of the passages it searches.
type Stats struct {
	Passages  int           // how many there are
	Frequency map[int32]int // in how many of them each of Query.Terms occurs; absent is none
	// Names of those who own messages in what is searched. Optional: with them, a query's words that name an owner
	// weigh less, since ranking knows whose message it is.
	Names []string
}

// Query is a parsed query that still has to learn, by Weigh, how rare its terms are in what is searched.
type Query struct {
	terms []queryTerm
	cut   bool // not all of it counts
}

type queryTerm struct {
	kind  kind
	word  string  // that it comes from; of a pair, none
	dims  []int32 // under which a passage may have it, by the passage's language; ascending, at least one
	tells bool    // is a word that tells something of what the query is after
}

type kind int

const (
	isWord kind = iota
	isPair
	isConcept
	isGram
)

// Parse reads a query. Function words of its language are left out, unless it has no others. The stems of every
// language stand for each word, since a passage may be in any: so a name is found in all of them. Of a query longer than
// 4,000 bytes, or 200 words then, the beginning and the end count.
func (Lexical) Parse(text string) Query { return (*Queries)(nil).Parse(text) }

// Parse is Lexical's.
func (q *Queries) Parse(text string) Query {
	whole := len(text)
	text = QueryText(text)
	words := spaced(ranking.Words(text))
	in := guess(words)
	words = content(words, in)
	p := parser{words: q, stems: newStemmer(), in: in, known: map[int32]int{}}
	cut := len(words) > maxQueryWords
	if cut {
		const end = maxQueryWords * endParts / parts
		for _, word := range words[:maxQueryWords-end] {
			p.read(word)
		}
		p.before, words = nil, words[len(words)-end:]
	}
	for _, word := range words {
		p.read(word)
	}
	return Query{p.terms, cut || len(text) < whole}
}

// content gives the words without the function words of their languages, or all of them if nothing else is left.
func content(words []string, in language) []string {
	if in == 0 {
		in = inEnglish
	}
	kept := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return functionWord(word)&in != 0 })
	if len(kept) == 0 {
		return words
	}
	return kept
}

// Terms gives every term of the query, ascending: those whose frequencies Weigh needs.
func (q Query) Terms() []int32 {
	dims := make([]int32, 0, 2*len(q.terms))
	for _, term := range q.terms {
		dims = append(dims, term.dims...)
	}
	slices.Sort(dims)
	return slices.Compact(dims)
}

// Keys gives, for each word of the query that tells what it is after, the keys that a passage with this word has: one
// of them, by the passage's language. Every group is ascending and holds at least one key. A query of function words
// alone has none. Of a script without spaces, pairs of characters stand for the longer words that hold them.
func (q Query) Keys() [][]int32 { return q.words(true) }

// Idle gives the same for its other words: they are no keys of a passage, but terms.
func (q Query) Idle() [][]int32 { return q.words(false) }

func (q Query) words(tell bool) [][]int32 {
	var groups [][]int32
	for i, term := range q.terms {
		if term.kind == isWord && term.tells == tell && !q.paired(i) {
			groups = append(groups, slices.Clone(term.dims))
		}
	}
	return groups
}

// paired says whether a word is a single character of a script without spaces that is also part of a pair.
func (q Query) paired(at int) bool {
	character := q.terms[at].word
	return unspaced(character) && utf8.RuneCountInString(character) == 1 &&
		slices.ContainsFunc(q.terms, func(t queryTerm) bool {
			return t.kind == isWord && len(t.word) > len(character) && unspaced(t.word) && strings.Contains(t.word, character)
		})
}

// Weigh gives the query's vector. A term found in n of N passages weighs ln(1 + (N − n + ½)/(n + ½)), times the
// weight of its kind; the stems of one word count together. What no passage has weighs like what one has, so that
// in a small log a word that is missing does not outweigh those that are there.
//
// A query is as sure as its words carry information. That is, in [0.001, 1],
//
//	Σ (idf/ln 100)² over the words that are not empty
//
// where idf is ln(1 + (N' − n + ½)/(n + ½)) and N' = max(N, 1000). Max is divided by it, and so every share is damped.
func (q Query) Weigh(stats Stats) QueryVector {
	names := map[string]bool{}
	for _, name := range stats.Names {
		for _, word := range ranking.Words(name) {
			names[ranking.Plain(word)] = true
		}
	}
	weights, readable, sum, information := map[int32]float32{}, map[int32]string{}, float32(0), 0.0
	for _, term := range q.terms {
		n := stats.count(term.dims)
		if term.tells {
			idf := idf(n, max(background, stats.Passages)) / tellingIDF
			information += float64(idf * idf)
		}
		weight := float32(term.weight(names[ranking.Plain(term.word)]) * float32(idf(n, stats.Passages)))
		if weight == 0 {
			continue
		}
		sum += weight
		for _, dim := range term.dims {
			weights[dim] = max(weights[dim], weight)
			if term.kind == isWord && readable[dim] == "" {
				readable[dim] = term.word
			}
		}
	}
	return newQueryVector(weights, readable, sum/float32(min(1, max(minInformation, information))))
}

func (t queryTerm) weight(named bool) float32 {
	switch {
	case t.kind == isPair:
		return pairWeight
	case (t.kind == isGram || t.kind == isConcept) && named:
		return 0
	case t.kind == isConcept:
		return conceptWeight
	case t.kind == isGram:
		return gramWeight
	case named:
		return nameWeight
	}
	return 1
}

// count gives in how many passages one of the terms occurs, as far as is known: at least 1.
func (s Stats) count(dims []int32) int {
	n := 0
	for _, dim := range dims {
		n += s.Frequency[dim]
	}
	return max(1, min(n, s.Passages))
}

func idf(n, passages int) float64 {
	return portable.Log(1 + (float64(passages-n)+0.5)/(float64(n)+0.5))
}
