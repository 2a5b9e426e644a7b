package providertest

import (
	"math"
	"slices"
	"testing"
)

func TestVectorsOfTextsThatShareWordsAreClose(t *testing.T) {
	t.Parallel()
	cosine := func(a, b string) float64 {
		sum := 0.0
		for i, value := range Vector(a, 64) {
			sum += float64(value) * float64(Vector(b, 64)[i])
		}
		return sum
	}
	const ferry = "The ferry leaves at nine from the north quay"
	if equal, shared, none := cosine(ferry, "the FERRY leaves: at nine, from the north quay!"), cosine(ferry, "nine o'clock, the ferry at the quay"), cosine(ferry, "bread rises overnight"); equal < 0.999 || shared < 0.3 || shared < none+0.3 {
		t.Errorf("cosines %v, %v, %v, want equal words at 1, shared ones close, others far", equal, shared, none)
	}
	for _, text := range []string{"", "…", "a", ferry} {
		for _, dimensions := range []int{1, 2, 384} {
			vector := Vector(text, dimensions)
			sum := 0.0
			for _, value := range vector {
				sum += float64(value) * float64(value)
			}
			if len(vector) != dimensions || math.Abs(sum-1) > 1e-6 || !slices.Equal(vector, Vector(text, dimensions)) {
				t.Errorf("Vector(%q, %d) has length² %v, want 1, and always the same", text, dimensions, sum)
			}
		}
	}
}
