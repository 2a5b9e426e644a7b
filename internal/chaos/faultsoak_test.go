package chaos

import (
	"math"
	"testing"
	"time"
)

// A leak of one a minute is found in an hour, whatever comes and goes besides; what only comes and goes is none.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		held func(minute float64, i int) float64
		ok   bool
	}{
		{"level", func(float64, int) float64 { return 100 }, true},
		{"comes and goes", func(_ float64, i int) float64 { return 100 + 15*float64(i%3) }, true},
		{"fills at first", func(minute float64, _ int) float64 { return 100 + min(100, 20*minute) }, true},
		{"one a minute", func(minute float64, _ int) float64 { return 100 + minute }, false},
		{"one a minute, and some that come and go", func(minute float64, i int) float64 { return 100 + minute + 15*float64(i%3) }, false},
		{"some burst out late", func(minute float64, _ int) float64 { return 100 + 60*math.Floor(minute/40) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var list []sample
			for i := range 240 {
				at := time.Duration(i) * 15 * time.Second
				held := test.held(at.Minutes(), i)
				list = append(list, sample{at: at, goroutines: held, descriptors: held})
			}
			s := &stage{Harness: &Harness{}}
			s.level("soak", list)
			for i, row := range s.rows[2:] {
				if len(row.Series) != len(list) {
					t.Errorf("%s: %d samples are kept, want all %d", levels[2+i].name, len(row.Series), len(list))
				}
				if row.OK != test.ok {
					t.Errorf("%s: %s: ok = %t, want %t", levels[2+i].name, row.Measured, row.OK, test.ok)
				}
			}
			if grown := growth(list, func(x sample) float64 { return x.at.Minutes() }); math.Abs(grown-59.75) > 1e-6 {
				t.Errorf("growth of the minutes = %v, want 59.75", grown)
			}
		})
	}
}
