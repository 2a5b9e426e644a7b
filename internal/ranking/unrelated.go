package ranking

import (
	"math"
	"slices"
)

// Unrelated says which cosines a dense model gives for texts that have nothing to do with each other: one model's are
// about 0.1, another's about 0.75, so that a cosine alone says nothing.
type Unrelated struct {
	Median float64 `json:"median"`
	Spread float64 `json:"spread"` // half of what is between the median and what one pair in fifty exceeds; over 0
}

// Of what Measure gives.
const (
	LeastVectors = 16   // that can be measured
	leastSpread  = 0.02 // however alike the cosines are
	figures      = 1e4  // they are rounded to four digits
)

// Measure compares vectors of one model, each of texts that do not go together, with each other. Few pairs that do go
// together make no difference. It gives the same for the same vectors in any order; ok is false if they are too few.
func Measure(vectors [][]float32) (of Unrelated, ok bool) {
	if len(vectors) < LeastVectors {
		return Unrelated{}, false
	}
	lengths := make([]float64, len(vectors))
	for i, v := range vectors {
		lengths[i] = math.Sqrt(product(v, v))
	}
	cosines := make([]float64, 0, len(vectors)*(len(vectors)-1)/2)
	for i, v := range vectors {
		for j, w := range vectors[:i] {
			cosines = append(cosines, product(v, w)/float64(lengths[i]*lengths[j]))
		}
	}
	slices.Sort(cosines)
	median, high := cosines[len(cosines)/2], cosines[len(cosines)*49/50]
	return Unrelated{
		Median: math.Round(float64(median*figures)) / figures,
		Spread: max(leastSpread, math.Round(float64((high-median)/2*figures))/figures),
	}, true
}

func product(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(float64(x) * float64(b[i]))
	}
	return sum
}

// meaning turns a cosine into how likely it is that of what was asked for:
//
//	1 − 0.3^(beyond/SemanticMiddle), beyond = max(0, (cosine − Median)/Spread − SemanticFloor)
//
// so that 0.7 is as likely as not, as for words. It never falls as the cosine rises.
func (p Policy) meaning(cosine float64) float64 {
	if p.Unrelated == nil {
		return 0
	}
	beyond := (cosine-p.Unrelated.Median)/p.Unrelated.Spread - p.SemanticFloor
	return likelihood(max(0, beyond) / p.SemanticMiddle)
}
