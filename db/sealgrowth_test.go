package db

import (
	"testing"
	"time"
)

// The pace is that of the last minute, and the lag that of the oldest message that is not in the tree.
func TestGrowth(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds float64) time.Time {
		return began.Add(time.Duration(seconds * float64(time.Second)))
	}
	for name, c := range map[string]struct {
		looks []look
		want  Pace
	}{
		"no look":        {nil, Pace{}},
		"one look":       {[]look{{at(0), 10, 10}}, Pace{}},
		"a steady log":   {[]look{{at(0), 10, 10}, {at(50), 10, 10}, {at(100), 10, 10}}, Pace{}},
		"since it looks": {[]look{{at(90), 0, 0}, {at(100), 50, 50}}, Pace{PerSecond: 5}},
		"over a minute":  {[]look{{at(0), 0, 0}, {at(30), 1000, 1000}, {at(40), 1000, 1000}, {at(100), 1600, 1600}}, Pace{PerSecond: 10}},
		"one waits":      {[]look{{at(80), 10, 10}, {at(90), 10, 11}, {at(99), 10, 11}}, Pace{PerSecond: 1.0 / 19, Waiting: 1, Lag: 20 * time.Second}},
		"never all":      {[]look{{at(80), 10, 10}, {at(90), 10, 20}, {at(99), 20, 38}}, Pace{PerSecond: 28.0 / 19, Waiting: 18, Lag: 10 * time.Second}},
		"it is another":  {[]look{{at(80), 10, 10}, {at(90), 5, 5}}, Pace{}},
	} {
		var g growth
		for _, l := range c.looks {
			g.add(l)
		}
		if got := g.pace(at(100)); got != c.want {
			t.Errorf("%s: pace() = %+v, want %+v", name, got, c.want)
		}
	}
}

// However long it goes on, the looks of two minutes at most are kept.
func TestGrowthForgets(t *testing.T) {
	t.Parallel()
	var g growth
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 10_000 {
		g.add(look{at: began.Add(time.Duration(i) * 100 * time.Millisecond), leaves: int64(i), total: int64(i)})
	}
	if most := int(growthSpan/growthStep) + 2; len(g.looks) > most {
		t.Errorf("%d looks are kept, want at most %d", len(g.looks), most)
	}
	if got := g.pace(began.Add(1000 * time.Second)).PerSecond; got < 9.9 || got > 10.1 {
		t.Errorf("PerSecond = %v, want 10", got)
	}
}
