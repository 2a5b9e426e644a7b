package llm

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/llm/llmtest"
	"github.com/tzzr/context-manager/internal/window"
)

func TestFallback(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	seen := &watch{}
	m, server := start(t, func(c *Config) { c.Observer = seen })
	server.JudgeBy(clash)
	f := m.WithFallback(rules{}, rules{}, slog.New(slog.NewTextHandler(&lines, nil)))

	verdicts, err := f.Judge(t.Context(), numbered(3))
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, verdicts, 3) // by the model, without Fallback
	summary, err := f.Summarise(t.Context(), talk, 60)
	if err != nil || summary.By != llmtest.Model || summary.Fallback != "" {
		t.Errorf("Summarise = %+v, %v, want the model's", summary, err)
	}
	if state := m.State(); state.Fallbacks != 0 || len(seen.replaced) != 0 || lines.Len() != 0 {
		t.Errorf("State = %+v, log %s, want nothing replaced", state, &lines)
	}

	server.Wrap(func(string) string { return "I agree." })
	summary, err = f.Summarise(t.Context(), talk, 60)
	if want := (window.Summary{Text: talk[0].Content, Tokens: 1, By: window.ExtractiveName, Fallback: "the model gave an answer that is no summary in JSON"}); err != nil || summary != want {
		t.Errorf("Summarise = %+v, %v, want %+v", summary, err, want)
	}
	server.Break(endpointtest.Status(503, ""))
	for _, why := range []string{"the model's endpoint fails with status 503", "the model failed a moment ago, and is left alone for now"} {
		verdicts, err = f.Judge(t.Context(), numbered(2))
		want := window.Verdict{Relation: window.Contradicts, Reason: "by rule", By: window.RulesName, Fallback: why}
		if err != nil || !slices.Equal(verdicts, []window.Verdict{want, want}) {
			t.Errorf("Judge = %+v, %v, want %+v twice", verdicts, err, want)
		}
	}
	if state := m.State(); state.Fallbacks != 3 || !slices.Equal(seen.replaced, []string{TaskSummarise, TaskJudge, TaskJudge}) {
		t.Errorf("State = %+v, observed %v, want three", state, seen.replaced)
	}
	if said := lines.String(); strings.Count(said, "\n") != 2 || !strings.Contains(said, "kind=UNUSABLE") || !strings.Contains(said, "look at its own log") || strings.Contains(said, "ferry") {
		t.Errorf("log = %s, want a line a failure, and none of the texts", said)
	}
}

func TestFallbackThatFails(t *testing.T) {
	t.Parallel()
	m, server := start(t)
	server.Break(endpointtest.Status(400, ""))
	gone := errors.New("gone")
	f := m.WithFallback(rules{gone}, rules{gone}, slog.New(slog.DiscardHandler))
	if verdicts, err := f.Judge(t.Context(), numbered(1)); verdicts != nil || !errors.Is(err, gone) {
		t.Errorf("Judge = %v, %v, want the second's error", verdicts, err)
	}
	if _, err := f.Summarise(t.Context(), talk, 60); !errors.Is(err, gone) {
		t.Errorf("error = %v, want the second's", err)
	}
	if m.State().Fallbacks != 0 {
		t.Errorf("State = %+v, want nothing replaced", m.State())
	}
}

// TestNobodyWaits sees that what nobody waits for any more is not done by others.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	m, server := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.Break(func(x *endpointtest.Exchange) {
		cancel()
		x.Wait()
	})
	f := m.WithFallback(rules{}, rules{}, slog.New(slog.DiscardHandler))
	within(t, "a summary whose context ended", func() {
		if summary, err := f.Summarise(ctx, talk, 60); summary != (window.Summary{}) || !errors.Is(err, context.Canceled) {
			t.Errorf("Summarise = %+v, %v, want the error of the context", summary, err)
		}
	})
	if verdicts, err := f.Judge(ctx, numbered(1)); verdicts != nil || !errors.Is(err, context.Canceled) || m.State().Fallbacks != 0 {
		t.Errorf("Judge = %v, %v, want the error of the context", verdicts, err)
	}
}

// TestTheRest sees that what the model has judged in time stands, and that the others judge the rest, each saying so.
func TestTheRest(t *testing.T) {
	t.Parallel()
	m, server := start(t, func(c *Config) { c.Limit = 2 * time.Second })
	server.JudgeBy(clash)
	var first sync.Once
	server.Break(func(x *endpointtest.Exchange) {
		right := false
		first.Do(func() { right = true })
		if right || x.Wait() {
			x.Answer()
		}
	})
	f := m.WithFallback(rules{}, rules{}, slog.New(slog.DiscardHandler))
	verdicts, err := f.Judge(t.Context(), numbered(3*batchPairs))
	if err != nil || len(verdicts) != 3*batchPairs {
		t.Fatalf("%d verdicts, %v", len(verdicts), err)
	}
	by := map[string]int{}
	for i, v := range verdicts {
		by[v.By+"; "+v.Fallback]++
		if v.By != verdicts[i/batchPairs*batchPairs].By {
			t.Errorf("verdict %d is by %s, and the first of its request by %s", i, v.By, verdicts[i/batchPairs*batchPairs].By)
		}
	}
	if want := map[string]int{llmtest.Model + "; ": batchPairs, window.RulesName + "; the model did not answer within 2s": 2 * batchPairs}; !maps.Equal(by, want) {
		t.Errorf("verdicts are by %v, want %v", by, want)
	}
	// It was asked for much, and answers: it is not left alone.
	server.Mend()
	if verdicts, err = f.Judge(t.Context(), numbered(3)); err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, verdicts, 3)
}

// TestTheRestOfARefusal sees that what the model makes nothing of, and what it is not asked for, is judged by the others alone.
func TestTheRestOfARefusal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pairs, byRules, requests int
		fault                    endpointtest.Fault
	}{
		"one batch refused":  {6 * batchPairs, batchPairs, 6, endpointtest.Status(400, "")},
		"one batch unusable": {6 * batchPairs, batchPairs, 6, endpointtest.Body("text/html", "<html>")},
		"very many":          {mostPairs + 5, 5, mostPairs / batchPairs, nil},
	} {
		m, server := start(t)
		server.JudgeBy(clash)
		if test.fault != nil {
			server.BreakNext(1, test.fault)
		}
		verdicts, err := m.WithFallback(rules{}, rules{}, slog.New(slog.DiscardHandler)).Judge(t.Context(), numbered(test.pairs))
		if err != nil {
			t.Fatal(err)
		}
		byRules := 0
		for _, v := range verdicts {
			if v.By == window.RulesName && v.Fallback != "" {
				byRules++
			} else if v.By != llmtest.Model || v.Fallback != "" {
				t.Errorf("%s: %+v", name, v)
			}
		}
		if byRules != test.byRules || len(server.Requests()) != test.requests {
			t.Errorf("%s: %d by rules, %d requests; want %d, %d", name, byRules, len(server.Requests()), test.byRules, test.requests)
		}
	}
}

// TestTheLongRest sees that a pair which is too long for the model does not keep the others from it.
func TestTheLongRest(t *testing.T) {
	t.Parallel()
	m, server := start(t)
	server.JudgeBy(clash)
	f := m.WithFallback(rules{}, rules{}, slog.New(slog.DiscardHandler))
	pairs := numbered(3)
	pairs = slices.Insert(pairs, 1, window.Pair{Known: strings.Repeat("x", MaxPair), New: "y"})
	verdicts, err := f.Judge(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	if long := verdicts[1]; long.By != window.RulesName || long.Fallback == "" {
		t.Errorf("the long pair: %+v", long)
	}
	wantVerdicts(t, slices.Delete(verdicts, 1, 2), 3)
}
