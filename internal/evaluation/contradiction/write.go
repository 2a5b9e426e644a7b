package contradiction

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	width := len("language")
	for _, list := range [][]Count{r.Kinds, r.Languages} {
		for _, c := range list {
			width = max(width, len(c.Name))
		}
	}
	var b strings.Builder
	for _, group := range []struct {
		title string
		rows  []Count
	}{{"kind", r.Kinds}, {"language", r.Languages}, {"", []Count{r.Overall}}} {
		if group.title != "" {
			fmt.Fprintf(&b, "%-*s  pairs  found  missed  false  precision  recall     F1\n", width, group.title)
		}
		for _, c := range group.rows {
			fmt.Fprintf(&b, "%-*s  %5d  %5d  %6d  %5d  %9.3f  %6.3f  %5.3f\n",
				width, c.Name, c.Pairs, c.TruePositives, c.FalseNegatives, c.FalsePositives, c.Precision, c.Recall, c.F1)
		}
		b.WriteByte('\n')
	}
	for _, by := range r.Judges {
		fmt.Fprintf(&b, "judged by %s: %d", by.Name, by.Pairs)
		if by.Fallback > 0 {
			fmt.Fprintf(&b, ", of which %d since another judge failed", by.Fallback)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "time per pair: %.3f ms\n", r.PairTime)
	for _, m := range r.Mistakes {
		what := "missed"
		if !m.Contradicts {
			what = "false"
		}
		fmt.Fprintf(&b, "%s, pair %d (%s, %s):\n  known: %s\n  new:   %s\n", what, m.Line, m.Kind, m.Language, m.Known, m.New)
		if m.Reason != "" {
			fmt.Fprintf(&b, "  said:  %s\n", m.Reason)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	if err := json.MarshalWrite(w, r, jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
