package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/window"
)

// Retention is what is left of questions' evidence in summaries.
type Retention struct {
	Summariser Retained  `json:"summariser"`
	Whole      Retained  `json:"whole_messages"` // for comparison
	Skipped    int       `json:"skipped"`        // questions without evidence
	Missing    []Missing `json:"missing"`        // evidence that no message is: it counts as lost
}

// Retained is what is left by one summariser.
type Retained struct {
	Overall       Kept    `json:"overall"`
	Categories    []Kept  `json:"categories"`    // by LoCoMo's number
	Conversations []Kept  `json:"conversations"` // in the order of the file
	Sessions      int     `json:"sessions"`
	Said          int     `json:"tokens_said"` // of all sessions
	Budget        int     `json:"tokens_allowed"`
	Tokens        int     `json:"tokens_used"`
	Over          int     `json:"over_budget"` // summaries that had more tokens than they were allowed
	By            []By    `json:"by"`          // who made them, in the order in which they first did
	Latency       Latency `json:"latency"`     // of a summary

	took []time.Duration
}

// Kept is the share of questions, 0 to 1, of whose evidence a summary holds a message: half of what it says at least, and all
// of it.
type Kept struct {
	Name      string  `json:"name"`
	Questions int     `json:"questions"`
	Half      float64 `json:"half"`
	All       float64 `json:"all"`

	half, all int
}

// By is how many summaries somebody made.
type By struct {
	Name      string `json:"name"`
	Summaries int    `json:"summaries"`
	Fallback  int    `json:"fallback"` // of those, how many another summariser was asked for first
}

func newRetention(samples []sample) *Retention {
	r := &Retention{Missing: []Missing{}}
	var numbers []int
	for _, s := range samples {
		for _, q := range s.questions {
			if !slices.Contains(numbers, q.category) {
				numbers = append(numbers, q.category)
			}
		}
	}
	slices.Sort(numbers)
	for _, to := range []*Retained{&r.Summariser, &r.Whole} {
		to.Overall.Name, to.By = "overall", []By{}
		for _, n := range numbers {
			to.Categories = append(to.Categories, Kept{Name: categoryName(n)})
		}
	}
	return r
}

// finish computes what all summaries have to be there for.
func (r *Retained) finish() {
	slices.Sort(r.took)
	r.Latency = Latency{P50: percentile(r.took, 50), P95: percentile(r.took, 95), Max: percentile(r.took, 100)}
}

// note notes what of a conversation's questions could not be found.
func (r *Retention) note(s sample, sessions []session) {
	r.Skipped += s.skipped
	there := map[string]bool{}
	for _, one := range sessions {
		for _, t := range one.turns {
			there[t.ID] = true
		}
	}
	for _, q := range s.questions {
		for _, id := range q.evidence {
			if !there[id] {
				r.Missing = append(r.Missing, Missing{Conversation: s.id, Evidence: id})
			}
		}
	}
}

// add notes a summary of a session of so many tokens.
func (r *Retained) add(summary window.Summary, said, tokens int, took time.Duration) {
	budget := said / summaryShare
	r.Sessions++
	r.Said, r.Budget, r.Tokens = r.Said+said, r.Budget+budget, r.Tokens+tokens
	if tokens > budget {
		r.Over++
	}
	i := slices.IndexFunc(r.By, func(by By) bool { return by.Name == summary.By })
	if i < 0 {
		i = len(r.By)
		r.By = append(r.By, By{Name: summary.By})
	}
	r.By[i].Summaries++
	if summary.Fallback != "" {
		r.By[i].Fallback++
	}
	r.took = append(r.took, took)
}

// ask looks how much of the questions of a conversation is held.
func (r *Retained) ask(s sample, held map[string]float64) {
	if len(s.questions) == 0 {
		return
	}
	r.Conversations = append(r.Conversations, Kept{Name: s.id})
	for _, q := range s.questions {
		most := 0.0
		for _, id := range q.evidence {
			most = max(most, held[id])
		}
		category := slices.IndexFunc(r.Categories, func(k Kept) bool { return k.Name == categoryName(q.category) })
		for _, k := range []*Kept{&r.Overall, &r.Categories[category], &r.Conversations[len(r.Conversations)-1]} {
			k.count(most)
		}
	}
}

// count counts a question of whose evidence so much is held.
func (k *Kept) count(held float64) {
	k.Questions++
	if held >= heldShare-rounding {
		k.half++
	}
	if held >= 1-rounding {
		k.all++
	}
	k.Half, k.All = float64(k.half)/float64(k.Questions), float64(k.all)/float64(k.Questions)
}

// WriteTable writes the report for people, shares in percent.
func (r *Retention) WriteTable(w io.Writer) error {
	width := len("conversation")
	for _, k := range slices.Concat(r.Summariser.Categories, r.Summariser.Conversations) {
		width = max(width, len(k.Name))
	}
	name := "summariser"
	if len(r.Summariser.By) == 1 {
		name = r.Summariser.By[0].Name
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Questions with a message of their evidence left, of sessions summarised to 1/%d of their tokens\n\n", summaryShare)
	fmt.Fprintf(&b, "%-*s             %-18s  %s\n", width, "", name, wholeName)
	row := func(own, other Kept) {
		fmt.Fprintf(&b, "%-*s  %9d  %5.1f %%  %5.1f %%  %5.1f %%  %5.1f %%\n", width, own.Name, own.Questions, 100*own.Half, 100*own.All, 100*other.Half, 100*other.All)
	}
	head := func(title string) {
		fmt.Fprintf(&b, "%-*s  questions     half      all     half      all\n", width, title)
	}
	head("category")
	for i, k := range r.Summariser.Categories {
		row(k, r.Whole.Categories[i])
	}
	b.WriteByte('\n')
	head("conversation")
	for i, k := range r.Summariser.Conversations {
		row(k, r.Whole.Conversations[i])
	}
	b.WriteByte('\n')
	row(r.Summariser.Overall, r.Whole.Overall)
	b.WriteString("\nhalf: of what a message says, each different word by its IDF, half at least is in one place of the summary; all: all of it\n")
	r.Summariser.writeRest(&b)
	r.Whole.writeRest(&b)
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "skipped: %d without evidence\n", r.Skipped)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(&b, "lost: no message of conversation %s is %s\n", m.Conversation, m.Evidence)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (r *Retained) writeRest(b *strings.Builder) {
	for _, by := range r.By {
		fmt.Fprintf(b, "\n%s: %d summaries", by.Name, by.Summaries)
		if by.Fallback > 0 {
			fmt.Fprintf(b, ", %d of them in place of another's", by.Fallback)
		}
	}
	fmt.Fprintf(b, "\ntokens: %d of %d allowed, of %d said; over budget: %d summaries\n", r.Tokens, r.Budget, r.Said, r.Over)
	fmt.Fprintf(b, "time: p50 %.1f ms, p95 %.1f ms, slowest %.1f ms\n", r.Latency.P50, r.Latency.P95, r.Latency.Max)
}

// WriteJSON writes the report for programs, shares from 0 to 1.
func (r *Retention) WriteJSON(w io.Writer) error { return writeJSON(w, r) }
