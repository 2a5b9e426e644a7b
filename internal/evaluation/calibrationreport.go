package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/selection"
)

// Calibration is how well the default threshold tells what the log can answer from what it cannot.
type Calibration struct {
	Threshold     float64       `json:"threshold"`
	Overall       Separation    `json:"overall"`
	Conversations []Separation  `json:"conversations"` // in the order of the file
	Lengths       [2]Separation `json:"lengths"`       // the shorter half of the questions and the longer
	Latency       Latency       `json:"latency"`
}

// Separation is how some of the questions went.
type Separation struct {
	Name  string `json:"name"`
	Own   int    `json:"own"`   // questions that were asked of their own conversation
	Other int    `json:"other"` // and of another one
	// Selected is the share of Own whose selection is not empty, Empty that of Other whose selection is.
	Selected float64 `json:"selected"`
	Empty    float64 `json:"empty"`
	// Area is the area under the curve, over all thresholds: 1 if every question of Own gets a better best score than
	// any of Other, 0.5 by chance.
	Area float64 `json:"area"`
}

func newCalibration(samples []sample, all []trial) *Calibration {
	c := &Calibration{
		Threshold: selection.DefaultThreshold,
		Overall:   separate("overall", all, func(trial) bool { return true }),
	}
	for _, s := range samples {
		c.Conversations = append(c.Conversations, separate(s.id, all, func(t trial) bool { return t.conversation == s.id }))
	}
	words := middle(all)
	c.Lengths = [2]Separation{
		separate(fmt.Sprintf("up to %d words", words), all, func(t trial) bool { return t.words <= words }),
		separate("longer", all, func(t trial) bool { return t.words > words }),
	}
	var took []time.Duration
	for _, t := range all {
		took = append(took, t.took)
	}
	slices.Sort(took)
	c.Latency = Latency{P50: percentile(took, 50), P95: percentile(took, 95), Max: percentile(took, 100)}
	return c
}

func separate(name string, all []trial, include func(trial) bool) Separation {
	s := Separation{Name: name}
	var own, other []float64
	selected, empty := 0, 0
	for _, t := range all {
		switch {
		case !include(t):
		case t.own:
			own = append(own, t.best)
			if t.selected > 0 {
				selected++
			}
		default:
			other = append(other, t.best)
			if t.selected == 0 {
				empty++
			}
		}
	}
	s.Own, s.Other, s.Area = len(own), len(other), area(own, other)
	s.Selected, s.Empty = float64(selected)/float64(max(s.Own, 1)), float64(empty)/float64(max(s.Other, 1))
	return s
}

// WriteTable writes the calibration for people, shares in percent.
func (c *Calibration) WriteTable(w io.Writer) error {
	rows := append(slices.Clone(c.Conversations), c.Lengths[0], c.Lengths[1], c.Overall)
	width := 0
	for _, s := range rows {
		width = max(width, len(s.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Selected at the default threshold, %v\n\n", c.Threshold)
	fmt.Fprintf(&b, "%-*s  own questions  not empty  another's  empty    area\n", width, "")
	for i, s := range rows {
		if i == len(c.Conversations) || i == len(rows)-1 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%-*s  %13d  %7.1f %%  %9d  %5.1f %%  %.3f\n", width, s.Name, s.Own, 100*s.Selected, s.Other, 100*s.Empty, s.Area)
	}
	fmt.Fprintf(&b, "\nlatency: p50 %.1f ms, p95 %.1f ms, slowest %.1f ms\n", c.Latency.P50, c.Latency.P95, c.Latency.Max)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write calibration: %w", err)
	}
	return nil
}

// WriteJSON writes the calibration for programs, shares from 0 to 1.
func (c *Calibration) WriteJSON(w io.Writer) error { return writeJSON(w, c) }
