package embeddings

import (
	"math"
	"slices"

	"github.com/tzzr/context-manager/internal/ranking"
)

const (
	// maxQueryWords is how many different words of a query count; the first ones do.
	maxQueryWords = 200
	gramWeight    = 0.3 // of one n-gram, beside 1 of a word
)

// Stats is what a query has to know of the passages it searches.
type Stats struct {
	Passages  int           // how many there are
	Frequency map[int32]int // in how many of them a term occurs, for each of Query.Terms; absent is none
}

// Query is a parsed query that still has to learn, by Weigh, how rare its terms are in what is searched.
type Query struct {
	words []queryWord
	grams []int32
}

// queryWord is one word of a query: the stems that it may have been stored under, by language.
type queryWord struct {
	text  string
	terms []int32
}

// QueryVector is a query as a sparse vector: its inner product with a passage is that passage's BM25 score.
type QueryVector struct {
	Terms  []int32   // ascending, unique, in 1 … Dimensions
	Values []float32 // positive
	// Max is what a passage with every word of the query would reach at most. It is never 0.
	Max float32
	// Readable gives the query's word behind a term. N-grams have none.
	Readable map[int32]string
}

// Parse reads a query. The stems of both languages stand for each word, since the passages may be in either.
func (Lexical) Parse(text string) Query {
	var query Query
	seen := map[string]bool{}
	for _, word := range ranking.Words(text) {
		if seen[word] || len(query.words) == maxQueryWords {
			continue
		}
		seen[word] = true
		terms := appendStem(appendStem(nil, word, inEnglish), word, inSpanish)
		query.grams = appendGrams(query.grams, word)
		if len(terms) > 0 {
			slices.Sort(terms)
			query.words = append(query.words, queryWord{word, slices.Compact(terms)})
		}
	}
	slices.Sort(query.grams)
	query.grams = slices.Compact(query.grams)
	return query
}

// Terms gives every term of the query, ascending: those whose frequencies Weigh needs.
func (q Query) Terms() []int32 {
	terms := slices.Clone(q.grams)
	for _, word := range q.words {
		terms = append(terms, word.terms...)
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// Weigh gives the query's vector. A term found in n of N passages weighs ln(1 + (N − n + ½)/(n + ½)), an n-gram
// a part of that.
func (q Query) Weigh(stats Stats) QueryVector {
	weights := map[int32]float32{}
	vector := QueryVector{Readable: map[int32]string{}}
	for _, word := range q.words {
		n := 0
		for _, term := range word.terms {
			n += stats.Frequency[term]
		}
		weight := idf(stats.Passages, n)
		for _, term := range word.terms {
			weights[term] += weight
			if vector.Readable[term] == "" {
				vector.Readable[term] = word.text
			}
		}
	}
	for _, gram := range q.grams {
		weights[gram] += gramWeight * idf(stats.Passages, stats.Frequency[gram])
	}
	for term := range weights {
		vector.Terms = append(vector.Terms, term)
	}
	slices.Sort(vector.Terms)
	for _, term := range vector.Terms {
		vector.Values = append(vector.Values, weights[term])
		vector.Max += weights[term] * (saturation + 1)
	}
	if vector.Max == 0 {
		vector.Max = 1
	}
	return vector
}

// Share turns an inner product with the query into a share of what it could reach, in [0, 1].
func (v QueryVector) Share(product float64) float64 {
	return min(1, max(0, product/float64(v.Max)))
}

// Matched gives the query's words that a passage has, by the passage's terms, alphabetically.
func (v QueryVector) Matched(terms []int32) []string {
	words := []string{}
	for _, term := range terms {
		if word := v.Readable[term]; word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// String gives the vector in the text form of pgvector's sparsevec.
func (v QueryVector) String() string { return sparse(v.Terms, v.Values) }

func idf(passages, frequency int) float32 {
	n := min(frequency, passages)
	return float32(math.Log(1 + (float64(passages-n)+0.5)/(float64(n)+0.5)))
}
