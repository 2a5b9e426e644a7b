package portable

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near says whether two numbers differ by so many units in the last place at most.
func near(a, b float64, units uint64) bool {
	x, y := math.Float64bits(a), math.Float64bits(b)
	return max(x, y)-min(x, y) <= units
}

func TestLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(1e-300, 1e300), rapid.Float64Range(1, 1e9), rapid.Float64Range(0.5, 2)).Draw(t, "x")
		if got, want := Log(x), math.Log(x); !near(got, want, 2) {
			t.Fatalf("Log(%v) = %v, want %v", x, got, want)
		}
	})
}

func TestExp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(-700, 0), rapid.Float64Range(-5, 0)).Draw(t, "x")
		if got, want := Exp(x), math.Exp(x); !near(got, want, 2) {
			t.Fatalf("Exp(%v) = %v, want %v", x, got, want)
		}
	})
	for x, want := range map[float64]float64{0: 1, -1e300: 0, math.Inf(-1): 0} {
		if got := Exp(x); got != want {
			t.Errorf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
}

// The digits are these on every processor: this test is what fails on another.
func TestDigits(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]uint64{
		2: 0x3fe62e42fefa39ef, 100: 0x40126bb1bbb55516, 667.6666666666666: 0x401a03e146a3c0ae, 1.0000001: 0x3e7ad7f2847b6492, 0.75: 0xbfd269621134db92,
	} {
		if got := math.Float64bits(Log(x)); got != want {
			t.Errorf("bits of Log(%v) = %#x, want %#x", x, got, want)
		}
	}
	for x, want := range map[float64]uint64{
		-0.1: 0x3fecf46d99d52b3a, -1.2039728043259361: 0x3fd3333333333332, -3.7: 0x3f99511fc6871044, -20: 0x3e21b48655f37267,
	} {
		if got := math.Float64bits(Exp(x)); got != want {
			t.Errorf("bits of Exp(%v) = %#x, want %#x", x, got, want)
		}
	}
}
