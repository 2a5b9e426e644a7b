package retrieval

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Report is what a run found.
type Report struct {
	Processors int        `json:"processors"`
	Go         string     `json:"go"`
	Postgres   string     `json:"postgres"`
	Vector     string     `json:"pgvector"`
	Figures    []Figure   `json:"figures"`
	Relations  []Relation `json:"relations"`
	Builds     []Build    `json:"builds"`
}

// Figure is one measurement beside its limit.
type Figure struct {
	Name         string  `json:"name"`
	Messages     int     `json:"messages"` // in the log when measuring began
	Limit        string  `json:"limit"`
	Ours         Times   `json:"ours"`
	Theirs       Times   `json:"theirs"`
	Rate         float64 `json:"rate,omitzero"`       // messages a second, where that is what is compared
	LimitRate    float64 `json:"limit_rate,omitzero"` //
	Ratio        float64 `json:"ratio"`               // of the medians, or of the rates
	Target       float64 `json:"target"`
	Recall       float64 `json:"recall,omitzero"` // of the exact first ten
	RecallTarget float64 `json:"recall_target,omitzero"`
}

// Times are of single requests, in milliseconds.
type Times struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

// Relation is a table or an index of what search needs, at a size of the log.
type Relation struct {
	Messages int    `json:"messages"`
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
}

// Build is how long something took that is made of the log.
type Build struct {
	Messages int     `json:"messages"`
	Name     string  `json:"name"`
	Seconds  float64 `json:"seconds"`
}

// Reached tells whether the figure is what it must be.
func (f Figure) Reached() bool {
	if f.Rate > 0 {
		return f.Ratio >= f.Target
	}
	return f.Ratio <= f.Target && f.Recall >= f.RecallTarget
}

func times(list []time.Duration) Times {
	return Times{P50: percentile(list, 0.5), P95: percentile(list, 0.95)}
}

// percentile gives the nearest rank, in milliseconds.
func percentile(list []time.Duration, p float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	rank := int(p*float64(len(list)) + 0.999999)
	return float64(list[min(max(rank, 1), len(list))-1].Microseconds()) / 1000
}

// WriteJSONFile writes the report to a file as JSON.
func (r Report) WriteJSONFile(name string) error {
	text, err := json.Marshal(r, jsontext.Multiline(true))
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// WriteTable writes the report for people.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d processors, %s, Postgres %s, pgvector %s\n\n", r.Processors, r.Go, r.Postgres, r.Vector)
	fmt.Fprintln(t, "figure\tlog\tp50 ms\tp95 ms\tmessages/s\tlimit\tp50 ms\tp95 ms\tmessages/s\tratio\tmust be\trecall\tmust be\t")
	for _, f := range r.Figures {
		verdict := "missed"
		if f.Reached() {
			verdict = "reached"
		}
		bound, rate, limitRate, recall := "≤", "–", "–", "–\t–"
		if f.Rate > 0 {
			bound, rate, limitRate = "≥", fmt.Sprintf("%.0f", f.Rate), fmt.Sprintf("%.0f", f.LimitRate)
		}
		if f.RecallTarget > 0 {
			recall = fmt.Sprintf("%.3f\t≥ %.2f", f.Recall, f.RecallTarget)
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%s\t%s\t%.2f\t%.2f\t%s\t%.2f\t%s %.1f\t%s\t%s\n", f.Name, f.Messages, f.Ours.P50, f.Ours.P95, rate,
			f.Limit, f.Theirs.P50, f.Theirs.P95, limitRate, f.Ratio, bound, f.Target, recall, verdict)
	}
	fmt.Fprintln(t, "\ntable or index\tlog\tMB")
	for _, x := range r.Relations {
		fmt.Fprintf(t, "%s\t%d\t%.1f\n", x.Name, x.Messages, float64(x.Bytes)/1e6)
	}
	fmt.Fprintln(t, "\nmade\tlog\tseconds")
	for _, x := range r.Builds {
		fmt.Fprintf(t, "%s\t%d\t%.1f\n", x.Name, x.Messages, x.Seconds)
	}
	return t.Flush()
}
