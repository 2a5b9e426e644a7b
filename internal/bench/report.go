package bench

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Report is what a run found.
type Report struct {
	Processors int      `json:"processors"`
	Go         string   `json:"go"`
	Postgres   string   `json:"postgres"`
	Figures    []Figure `json:"figures"`
}

// Figure is one measurement beside its limit.
type Figure struct {
	Name       string  `json:"name"`
	Size       int     `json:"size"`     // of the log when measuring began
	Messages   int     `json:"messages"` // in the log when this figure began
	Unit       string  `json:"unit"`
	Value      float64 `json:"value"`
	Limit      string  `json:"limit,omitzero"`
	LimitValue float64 `json:"limit_value,omitzero"`
	Ratio      float64 `json:"ratio,omitzero"`    // value to limit
	Target     float64 `json:"target"`            // of the ratio or, without a limit, of the value; 0: none, it is there to compare with
	AtLeast    bool    `json:"at_least,omitzero"` // whether the target is to be reached, and not to be kept below
	P50        float64 `json:"p50_ms"`            // of a request, a check, a proof, a message's wait
	P99        float64 `json:"p99_ms"`
	LimitP50   float64 `json:"limit_p50_ms,omitzero"`
	LimitP99   float64 `json:"limit_p99_ms,omitzero"`
	Behind     float64 `json:"behind_ms,omitzero"` // after a turn of appending, until all was sealed and had search vectors

	Memory       uint64 `json:"memory_bytes,omitzero"` // of the process at most
	MemoryTarget uint64 `json:"memory_target_bytes,omitzero"`
}

// Reached tells whether the figure is what it must be.
func (f Figure) Reached() bool {
	got := f.Ratio
	if f.Limit == "" {
		got = f.Value
	}
	if f.AtLeast {
		return got >= f.Target
	}
	return got <= f.Target && f.Memory <= f.MemoryTarget
}

// WriteJSONFile writes the report to a file as JSON.
func (r Report) WriteJSONFile(name string) error {
	text, err := json.Marshal(r, jsontext.Multiline(true))
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// WriteTable writes the report for people. The column "then" says how long, after appending, it took until everything was
// sealed and had search vectors, which appending does not wait for.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d processors, %s, Postgres %s\n\n", r.Processors, r.Go, r.Postgres)
	fmt.Fprintln(t, "figure\tlog\tmeasured\tp50 ms\tp99 ms\tthen ms\tlimit\tmeasured\tp50 ms\tp99 ms\tratio\tmust be\t")
	for _, f := range r.Figures {
		verdict := "missed"
		if f.Reached() {
			verdict = "reached"
		}
		bound, ratio, target := "≤", fmt.Sprintf("%.2f", f.Ratio), fmt.Sprintf("%.1f", f.Target)
		if f.AtLeast {
			bound = "≥"
		}
		limit := fmt.Sprintf("%s\t%.4g\t%.2f\t%.2f", f.Limit, f.LimitValue, f.LimitP50, f.LimitP99)
		if f.Limit == "" {
			limit, ratio, target = "–\t–\t–\t–", "–", fmt.Sprintf("%.0f ms", f.Target)
		}
		if f.Target == 0 {
			bound, target, verdict = "", "–", "–"
		}
		if f.Memory > 0 {
			target += fmt.Sprintf(", %d of %d MB", f.Memory>>20, f.MemoryTarget>>20)
		}
		behind := "–"
		if f.Behind > 0 {
			behind = fmt.Sprintf("%.0f", f.Behind)
		}
		fmt.Fprintf(t, "%s\t%d\t%.4g %s\t%.2f\t%.2f\t%s\t%s\t%s\t%s %s\t%s\n",
			f.Name, f.Messages, f.Value, f.Unit, f.P50, f.P99, behind, limit, ratio, bound, target, verdict)
	}
	return t.Flush()
}
