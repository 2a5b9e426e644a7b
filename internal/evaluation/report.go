package evaluation

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/ingest"
)

// Report is what an evaluation found.
type Report struct {
	Overall       Share        `json:"overall"`
	Categories    []Share      `json:"categories"`    // by LoCoMo's number
	Conversations []Share      `json:"conversations"` // in the order of the file
	Skipped       int          `json:"skipped"`       // questions without evidence
	Missing       []Missing    `json:"missing"`       // evidence that no message is: it counts as not found
	Latency       Latency      `json:"latency"`
	Imported      ImportCounts `json:"imported"`
}

// Share is the mean over questions of the share of their evidence that was found.
type Share struct {
	Name      string        `json:"name"`
	Questions int           `json:"questions"`
	Found     []FoundWithin `json:"found"` // one for each of Depths
}

// FoundWithin is the share, 0 to 1, that was among the first messages.
type FoundWithin struct {
	First int     `json:"first"`
	Share float64 `json:"share"`
}

// Missing is a question's evidence that no message of its conversation is.
type Missing struct {
	Conversation string `json:"conversation"`
	Evidence     string `json:"evidence"`
}

// Latency is how long the questions took, in milliseconds: percentiles by nearest rank, so each is a measured value.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	Max float64 `json:"max_ms"`
}

// ImportCounts is what the file brought into the log.
type ImportCounts struct {
	Messages int `json:"messages"`
	Present  int `json:"present"`
}

// The categories of LoCoMo's questions, by its numbers.
var categories = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

func categoryName(number int) string {
	if name, ok := categories[number]; ok {
		return name
	}
	return "category " + strconv.Itoa(number)
}

func newReport(summary ingest.Summary, samples []sample, results []result) *Report {
	r := &Report{
		Overall:  mean("overall", results, func(result) bool { return true }),
		Missing:  []Missing{},
		Imported: ImportCounts{Messages: summary.Messages, Present: summary.Present},
	}
	var numbers []int
	var took []time.Duration
	for _, one := range results {
		if !slices.Contains(numbers, one.category) {
			numbers = append(numbers, one.category)
		}
		for _, id := range one.missing {
			r.Missing = append(r.Missing, Missing{Conversation: one.sample, Evidence: id})
		}
		took = append(took, one.took)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		r.Categories = append(r.Categories, mean(categoryName(n), results, func(one result) bool { return one.category == n }))
	}
	for _, s := range samples {
		r.Skipped += s.skipped
		if len(s.questions) > 0 {
			r.Conversations = append(r.Conversations, mean(s.id, results, func(one result) bool { return one.sample == s.id }))
		}
	}
	slices.Sort(took)
	r.Latency = Latency{P50: percentile(took, 50), P95: percentile(took, 95), Max: percentile(took, 100)}
	return r
}

func mean(name string, results []result, include func(result) bool) Share {
	s := Share{Name: name}
	var sums [len(Depths)]float64
	for _, one := range results {
		if !include(one) {
			continue
		}
		s.Questions++
		for i, share := range one.recall {
			sums[i] += share
		}
	}
	for i, depth := range Depths {
		s.Found = append(s.Found, FoundWithin{First: depth, Share: sums[i] / float64(max(s.Questions, 1))})
	}
	return s
}

// percentile is the smallest of the sorted values that p % of them do not exceed, in milliseconds.
func percentile(sorted []time.Duration, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return float64(sorted[max(rank, 1)-1].Microseconds()) / 1000
}

// WriteTable writes the report for people, shares in percent.
func (r *Report) WriteTable(w io.Writer) error {
	width := len("conversation")
	for _, s := range slices.Concat(r.Categories, r.Conversations) {
		width = max(width, len(s.Name))
	}
	var b strings.Builder
	b.WriteString("Evidence found among the first\n\n")
	for _, group := range []struct {
		title string
		rows  []Share
	}{{"category", r.Categories}, {"conversation", r.Conversations}, {"", []Share{r.Overall}}} {
		if group.title != "" {
			fmt.Fprintf(&b, "%-*s  questions", width, group.title)
			for _, depth := range Depths {
				fmt.Fprintf(&b, " %8d", depth)
			}
			b.WriteByte('\n')
		}
		for _, s := range group.rows {
			fmt.Fprintf(&b, "%-*s  %9d", width, s.Name, s.Questions)
			for _, f := range s.Found {
				fmt.Fprintf(&b, "  %5.1f %%", 100*f.Share)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	r.writeRest(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (r *Report) writeRest(b *strings.Builder) {
	fmt.Fprintf(b, "latency: p50 %.1f ms, p95 %.1f ms, slowest %.1f ms\n", r.Latency.P50, r.Latency.P95, r.Latency.Max)
	fmt.Fprintf(b, "messages: %d imported, %d there already\n", r.Imported.Messages, r.Imported.Present)
	if r.Skipped > 0 {
		fmt.Fprintf(b, "skipped: %d without evidence\n", r.Skipped)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(b, "not found: no message of conversation %s is %s\n", m.Conversation, m.Evidence)
	}
}

// WriteJSON writes the report for programs, shares from 0 to 1.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, report any) error {
	if err := json.MarshalWrite(w, report, jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
