// Package embeddings turns texts into vectors. Its default, Lexical, needs no model: it writes BM25 as sparse
// vectors, so that the inner product of a query and a passage is their BM25 score and a database can rank by it.
//
// Everything here is a pure function of its arguments: the same text gives the same vector in every process and on
// every machine. It never reads the log or the clock. All methods are safe for concurrent use.
package embeddings

import (
	"slices"
	"strconv"
)

// Model names the way Lexical makes vectors. It changes whenever a vector would, so that stored vectors of another
// model are known to need making again.
const Model = "lexical-v2"

const (
	// Dimensions is the width of every vector. Indices run from 1 to Dimensions, as in pgvector's text form; words
	// have the lower half; pairs of words, concepts and character n-grams share the upper.
	Dimensions = 1 << 29
	// MaxNonZero is how many non-zeros pgvector's sparsevec can hold; no vector made here has more.
	MaxNonZero = 16_000

	// MaxKeys is how many keys a passage has at most. Only one whose characters unfold into many words reaches it.
	MaxKeys = 4_000

	wordDimensions = Dimensions / 2
)

// Lexical is the default embedder. The zero value is ready to use.
type Lexical struct{}

// Passage is a piece of a text as a sparse vector: Values[i] stands at index Terms[i]. Terms are ascending and
// unique, in 1 … Dimensions; Values are positive.
//
// Keys are those of Terms by which an inverted index finds the passage: its words, without function words and such as
// any message may have. They are ascending, unique, in 1 … Dimensions/2, and at most MaxKeys.
type Passage struct {
	Terms  []int32
	Values []float32
	Keys   []int32
}

// Document gives the passages of a text, in order, at least one: a text of some thousand bytes is one passage, a
// longer one is cut at white space. A text without words gives a passage without terms.
func (Lexical) Document(text string) []Passage { return NewDocuments().Document(text) }

// Words gives the terms that are single words: a prefix of Terms.
func (p Passage) Words() []int32 {
	n, _ := slices.BinarySearch(p.Terms, wordDimensions+1)
	return p.Terms[:n]
}

// String gives the passage in the text form of pgvector's sparsevec.
func (p Passage) String() string { return sparse(p.Terms, p.Values) }

func sparse(terms []int32, values []float32) string {
	b := make([]byte, 0, 24*len(terms)+16)
	b = append(b, '{')
	for i, term := range terms {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(term), 10)
		b = append(b, ':')
		b = strconv.AppendFloat(b, float64(values[i]), 'g', -1, 32)
	}
	b = append(b, '}', '/')
	return string(strconv.AppendInt(b, Dimensions, 10))
}
