package embeddings

import (
	"maps"
	"slices"
)

// QueryVector is a query as a sparse vector: its inner product with a passage is that passage's BM25 score.
type QueryVector struct {
	Terms  []int32   // ascending, unique, in 1 … Dimensions
	Values []float32 // positive
	// Max is what a passage would reach that repeats every term of the query without end, divided by the information
	// that the query carries, as Weigh tells: more than can be reached if that is little. It is never 0.
	Max float32
	// Readable gives the query's word behind a term. Pairs and n-grams have none.
	Readable map[int32]string
}

func newQueryVector(weights map[int32]float32, readable map[int32]string, sum float32) QueryVector {
	v := QueryVector{Terms: slices.Sorted(maps.Keys(weights)), Max: 1, Readable: readable}
	for _, term := range v.Terms {
		v.Values = append(v.Values, weights[term])
	}
	if sum > 0 {
		v.Max = float32(sum * (saturation + 1))
	}
	return v
}

// Product is the inner product with a passage whose Values[i] stand at the ascending Terms[i]. It is reckoned as pgvector
// reckons it, in single precision and in the order of the terms, each step rounded, so that both give the same digits.
func (v QueryVector) Product(terms []int32, values []float32) float64 {
	sum := float32(0)
	eachCommon(v.Terms, terms, func(i, at int) { sum += float32(v.Values[i] * values[at]) })
	return float64(sum)
}

// Count adds one to the frequency of each of the query's terms that a passage holds. Both are ascending.
func (s Stats) Count(query, passage []int32) {
	eachCommon(query, passage, func(i, _ int) { s.Frequency[query[i]]++ })
}

// eachCommon goes through what two ascending lists have in common, and tells where it stands in each.
func eachCommon(one, other []int32, f func(i, j int)) {
	for i, j := 0, 0; i < len(one) && j < len(other); {
		switch {
		case one[i] < other[j]:
			i++
		case one[i] > other[j]:
			j++
		default:
			f(i, j)
			i, j = i+1, j+1
		}
	}
}

// Share turns an inner product with the query into a share of what it could reach, in [0, 1].
func (v QueryVector) Share(product float64) float64 {
	return min(1, max(0, product/float64(v.Max)))
}

// Matched gives the query's words that a passage has, by the passage's terms, in alphabetical order.
func (v QueryVector) Matched(terms []int32) []string {
	words := []string{}
	for _, term := range terms {
		if word := v.Readable[term]; word != "" {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// String gives the vector in the text form of pgvector's sparsevec.
func (v QueryVector) String() string { return sparse(v.Terms, v.Values) }
