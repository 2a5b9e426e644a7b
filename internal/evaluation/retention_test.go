package evaluation

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/summary"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

func TestHeld(t *testing.T) {
	t.Parallel()
	statistics := newStatistics([]session{{turns: []turn{
		{Text: "I painted the kitchen green."}, {Text: "I sold the boat to Marta."}, {Text: "I like the weather."}, {Text: "I saw the sea."},
	}}})
	const message = "I sold the boat to Marta."
	for _, test := range []struct {
		name, summary string
		want          bool
		all           bool
	}{
		{"all", "User: I sold the boat to Marta. I saw the sea.", true, true},
		{"other marks and case", "i SOLD the boat - to marta", true, true},
		{"other order", "to Marta I sold the boat", true, true},
		{"three of four rare words", "sold the boat Marta", true, false},
		{"one rare word", "The boat is green.", false, false},
		{"common words", "I the I the I the", false, false},
		{"its words, far apart", "sold kitchen weather like green painted boat sea saw the I green kitchen Marta weather sea painted to", false, false},
		{"another message", "I painted the kitchen green.", false, false},
		{"nothing", "", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := statistics.held(ranking.Words(test.summary), ranking.Words(message))
			if got < 0 || got > 1 || got >= heldShare-rounding != test.want || got >= 1-rounding != test.all {
				t.Errorf("held = %.3f, want half %v, all %v", got, test.want, test.all)
			}
		})
	}
	if got := statistics.held([]string{"a"}, nil); got != 0 {
		t.Errorf("held of a message without words = %v, want 0", got)
	}
}

// says gives the same text for all, or fails.
type says struct {
	text string
	err  error
}

func (s says) Summarise(_ context.Context, parts []window.Part, budget int) (window.Summary, error) {
	return window.Summary{Text: s.text, By: "another", Fallback: "busy"}, s.err
}

const talk = `{"sample_id": "boats", "conversation": {"speaker_a": "Ada", "speaker_b": "Ben",
	"session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "The harbour is closed until the storm is over, they say."}],
	"session_1_date_time": "no matter",
	"session_1": [
		{"speaker": "Ada", "dia_id": "D1:1", "text": "Good morning! How are you?"},
		{"speaker": "Ben", "dia_id": "D1:2", "text": "I sold the boat to Marta.", "blip_caption": "an oar"},
		{"speaker": "Ada", "dia_id": "D1:3", "text": "That is a pity. I liked to sail with you so much, and we never went as far as the islands."}
	]}, "qa": [
		{"question": "Who has the boat?", "evidence": ["D1:2"], "category": 4},
		{"question": "Why is it sad?", "evidence": ["D1:1; D1:3"], "category": 1},
		{"question": "What is in the picture?", "evidence": ["D8:8"], "category": 4},
		{"question": "Is it nice?", "category": 5}]}`

func summaries(t *testing.T, text string, s window.Summariser) *Retention {
	t.Helper()
	steps := 0
	r, err := Summaries(t.Context(), strings.NewReader(text), s, func(done, total int) {
		if steps++; done != steps || done > total {
			t.Errorf("progress = %d of %d at step %d", done, total, steps)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	r := summaries(t, talk, says{text: "Sold boat Marta"})
	got := r.Summariser.Overall
	if got.Questions != 3 || got.half != 1 || got.all != 0 || got.Half != 1.0/3 {
		t.Errorf("overall = %+v, want half of one of 3 questions", got)
	}
	if c := r.Summariser.Categories; len(c) != 2 || c[0].Name != "multi-hop" || c[0].half != 0 || c[1].Questions != 2 || c[1].half != 1 {
		t.Errorf("categories = %+v", c)
	}
	if by := r.Summariser.By; len(by) != 1 || by[0] != (By{Name: "another", Summaries: 2, Fallback: 2}) {
		t.Errorf("by = %+v, want another's", by)
	}
	if r.Summariser.Sessions != 2 || r.Summariser.Over != 1 || r.Skipped != 1 || len(r.Missing) != 1 || r.Missing[0].Evidence != "D8:8" {
		t.Errorf("report = %+v", r)
	}
	if whole := r.Whole; whole.Over != 0 || whole.Tokens > whole.Budget || whole.Overall.all != 1 || whole.Budget != r.Summariser.Budget {
		t.Errorf("whole messages = %+v, want the boat's within the budget", whole)
	}
}

// What is over the budget holds nothing, or to repeat everything would be best.
func TestSummariesOverTheBudget(t *testing.T) {
	t.Parallel()
	r := summaries(t, talk, says{text: talk})
	if r.Summariser.Over != 2 || r.Summariser.Overall.Half != 0 {
		t.Errorf("report = %+v, want nothing held", r.Summariser)
	}
}

func TestSummariesOfTheBuiltIn(t *testing.T) {
	t.Parallel()
	count, err := token.Default()
	if err != nil {
		t.Fatal(err)
	}
	s := summary.New(func() func(string) summary.Vector {
		return func(text string) summary.Vector {
			p := embeddings.Lexical{}.Document(text)[0]
			return summary.Vector{Terms: p.Terms, Values: p.Values, Keys: p.Keys}
		}
	}, count)
	var table, written bytes.Buffer
	const path = "testdata/two-conversations.json"
	for _, asJSON := range []bool{false, true} {
		to := &table
		if asJSON {
			to = &written
		}
		if err := SummariseFile(t.Context(), s, path, asJSON, to, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
	}
	var r Retention
	if err := json.Unmarshal(written.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Summariser.Over != 0 || r.Summariser.Tokens == 0 || r.Summariser.Tokens > r.Summariser.Budget || r.Summariser.Overall.Questions == 0 {
		t.Errorf("report = %+v, want summaries within their budgets", r.Summariser)
	}
	for _, want := range []string{"extractive", "whole messages", "multi-hop", "garden", "overall", "over budget: 0"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("table lacks %q:\n%s", want, &table)
		}
	}
}

func TestSummariesFaults(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	for _, test := range []struct {
		name, text string
		by         says
		want       string
	}{
		{"no JSON", "hello", says{}, "LoCoMo"},
		{"no question", `{"sample_id": "x", "conversation": {}}`, says{}, "no question"},
		{"a session that is none", strings.Replace(talk, `"session_2": [`, `"session_3": 3, "session_2": [`, 1), says{}, "session_3"},
		{"a summariser that cannot", talk, says{err: busy}, "session_1: busy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Summaries(t.Context(), strings.NewReader(test.text), test.by, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || test.by.err == nil && fault.CodeOf(err) != fault.BadUserInput {
				t.Errorf("Summaries = %v, want one that says %q", err, test.want)
			}
		})
	}
	if err := SummariseFile(t.Context(), says{}, "testdata/none.json", false, os.Stdout, os.Stderr); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("SummariseFile of nothing = %v, want BAD_USER_INPUT", err)
	}
}
