package llm

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/llm/llmtest"
	"github.com/tzzr/context-manager/internal/window"
)

func TestMain(m *testing.M) {
	// A proxy of the machine's has no part in these tests.
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		_ = os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// start gives a model that asks a server of its own, and waits for nothing between tries.
func start(t *testing.T, change ...func(*Config)) (*Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.New(t)
	config := Config{URL: server.URL(), Model: llmtest.Model, Limit: patience}
	for _, f := range change {
		f(&config)
	}
	m, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	m.wait = func(<-chan struct{}, time.Duration) {}
	return m, server
}

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// watch is an Observer that keeps what it is told.
type watch struct {
	mu       sync.Mutex
	asked    []string // task and kind of failure
	took     []time.Duration
	replaced []string
}

func (w *watch) ModelAsked(task, failure string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.took = append(w.asked, strings.TrimSpace(task+" "+failure)), append(w.took, took)
}

func (w *watch) ModelReplaced(task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replaced = append(w.replaced, task)
}

// clash is a rule of the server: texts contradict each other that begin alike and end in other words.
func clash(known, new string) (relation, reason string) {
	a, b := strings.Fields(known), strings.Fields(new)
	switch {
	case known == new:
		return "agrees", "Both say " + strconv.Quote(known) + "."
	case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
		return "contradicts", strconv.Quote(a[len(a)-1]) + " against " + strconv.Quote(b[len(b)-1]) + "."
	}
	return "unrelated", "they speak of other things"
}

// numbered gives so many pairs, each third of which contradicts, and each third of which agrees.
func numbered(n int) []window.Pair {
	pairs := make([]window.Pair, n)
	for i := range pairs {
		number := strconv.Itoa(i)
		known := "ferry" + number + " leaves at " + number
		pairs[i] = window.Pair{Known: known, New: []string{"quay is long", "ferry" + number + " leaves at noon", known}[i%3]}
	}
	return pairs
}

// wantVerdicts fails unless pairs of numbered are judged by clash.
func wantVerdicts(t *testing.T, verdicts []window.Verdict, n int) {
	t.Helper()
	if len(verdicts) != n {
		t.Fatalf("%d verdicts for %d pairs", len(verdicts), n)
	}
	for i, v := range verdicts {
		number := strconv.Itoa(i)
		want := []window.Verdict{
			{Relation: window.Unrelated},
			{Relation: window.Contradicts, Reason: strconv.Quote(number) + ` against "noon".`},
			{Relation: window.Agrees, Reason: `Both say "ferry` + number + ` leaves at ` + number + `".`},
		}[i%3]
		want.By = llmtest.Model
		if v != want {
			t.Errorf("verdict %d = %+v, want %+v", i, v, want)
		}
	}
}

// wantFailure fails unless an error is a fault of code UNAVAILABLE around a failure of a kind.
func wantFailure(t *testing.T, err error, kind endpoint.Kind) *Error {
	t.Helper()
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Kind != kind || fault.CodeOf(err) != fault.Unavailable {
		t.Fatalf("error = %v (%+v), want UNAVAILABLE for %s", err, failure, kind)
	}
	return failure
}

// within fails if something is not over in time.
func within(t *testing.T, what string, run func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("not over after %s: %s", patience, what)
	}
}

// rules is a judge that finds contradictions everywhere, and a summariser that cuts: what stands in for what is built in.
type rules struct{ err error }

func (r rules) Judge(_ context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	return slices.Repeat([]window.Verdict{{Relation: window.Contradicts, Reason: "by rule", By: window.RulesName}}, len(pairs)), r.err
}

func (r rules) Summarise(_ context.Context, parts []window.Part, _ int) (window.Summary, error) {
	return window.Summary{Text: parts[0].Content, Tokens: 1, By: window.ExtractiveName}, r.err
}
