package judge

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/window"
)

// page is a text of 50 words that says five things of hotel n.
func page(n int) string {
	return fmt.Sprintf("Hotel Number%d is in Paris, near the river and the station. The room costs 12%d euros per night, and breakfast is included in the price. "+
		"Ana says that she liked it there. The museum next to it opens at 9 and closes at 18:00 in winter. The user prefers quiet hotels.", n, n%10)
}

// BenchmarkJudge judges one new text against 200 known ones of 50 words, as the server does before each write: one that each
// of them contradicts, one about what none of them is about, and one that claims nothing.
func BenchmarkJudge(b *testing.B) {
	if n := len(strings.Fields(page(0))); n < 48 || n > 52 {
		b.Fatalf("%d words, want 50", n)
	}
	for name, test := range map[string]struct {
		given string
		want  window.Relation
	}{
		"contradiction": {"The flight to Lima leaves on May 3. The user prefers noisy hotels.", contradicts},
		"other subject": {"The flight to Lima leaves on May 3. The ticket costs 700 euros.", unrelated},
		"no claim":      {"Can you find me a quiet hotel near the river?", unrelated},
	} {
		b.Run(name, func(b *testing.B) {
			var pairs []window.Pair
			for n := range 200 {
				pairs = append(pairs, window.Pair{Known: page(n), New: test.given})
			}
			rules := New()
			b.ReportAllocs()
			for b.Loop() {
				verdicts, err := rules.Judge(context.Background(), pairs)
				if err != nil || verdicts[0].Relation != test.want || verdicts[199].Relation != test.want {
					b.Fatalf("%v, %v, want %v", verdicts[0], err, test.want)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(pairs)), "µs/pair")
		})
	}
}
