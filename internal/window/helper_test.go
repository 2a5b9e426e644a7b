package window_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// said is a judge that says what a test has it say, by the two texts in either order, and nothing of other pairs.
type said map[[2]string]window.Relation

func (s said) Judge(_ context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	out := make([]window.Verdict, len(pairs))
	for i, p := range pairs {
		r := max(s[[2]string{p.Known, p.New}], s[[2]string{p.New, p.Known}])
		out[i] = window.Verdict{Relation: r, Reason: "the test says so", By: "test"}
	}
	return out, nil
}

func contradict(a, b string) said { return said{{a, b}: window.Contradicts} }

// short is a summariser that gives the first words of what it is asked to summarise, as many as fit.
type short struct{}

func (short) Summarise(_ context.Context, parts []window.Part, budget int) (window.Summary, error) {
	var words []string
	for _, p := range parts {
		words = append(words, strings.Fields(p.Content)...)
	}
	words = words[:min(len(words), budget)]
	return window.Summary{Text: strings.Join(words, " "), Tokens: len(words), By: "short"}, nil
}

// broken is a judge and a summariser that fails.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Judge(context.Context, []window.Pair) ([]window.Verdict, error) {
	return nil, errBroken
}

func (broken) Summarise(context.Context, []window.Part, int) (window.Summary, error) {
	return window.Summary{}, errBroken
}

// countWords counts a token a word, so that tests can say how many there are.
func countWords(text string) (int, error) { return len(strings.Fields(text)), nil }

// wordsOf stands for the words of a text.
func wordsOf(text string) []int32 {
	var out []int32
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Trim(word, ".,?!")))
		out = append(out, int32(h.Sum32()))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// newEnv gives an environment in which a token is a word, and nothing contradicts anything.
func newEnv() *window.Env {
	n := 0
	return &window.Env{
		Judge: said{}, Summariser: short{}, Count: countWords, Words: wordsOf, Now: noon,
		NewID: func() string { n++; return fmt.Sprintf("id%d", n) },
	}
}

// after gives a window as a change leaves it, as whoever keeps windows does it.
func after(w window.Window, c window.Change) window.Window {
	left := slices.Concat(c.Gone, c.Kept)
	w.Items = slices.DeleteFunc(slices.Clone(w.Items), func(item window.Item) bool { return has(left, item.ID) })
	w.Items = append(w.Items, c.Added...)
	slices.SortStableFunc(w.Items, func(a, b window.Item) int { return int(a.Place - b.Place) })
	return w
}

func has(items []window.Item, id string) bool {
	return slices.ContainsFunc(items, func(item window.Item) bool { return item.ID == id })
}

// texts gives what items say, in the prompt's order.
func texts(items []window.Item) (out []string) {
	for _, item := range window.PromptOrder(items) {
		out = append(out, item.Content)
	}
	return out
}

// words makes a text of so many tokens, which says its name.
func words(name string, n int) string { return strings.TrimSpace(strings.Repeat(name+" ", n)) }

// holding makes a window that these were written into, one after the other, whatever anybody would say of it.
func holding(t *testing.T, capacity int, drafts ...window.Draft) window.Window {
	t.Helper()
	w := window.Window{Capacity: capacity}
	for i, d := range drafts {
		n, _ := countWords(d.Content)
		if d.ObservedAt.IsZero() {
			d.ObservedAt = noon
		}
		w.Items = append(w.Items, window.Item{
			ID: fmt.Sprintf("item%d", i), Place: int64(i + 1), Type: d.Type, Key: d.Key, Content: d.Content, Tokens: n, Source: d.Source, ObservedAt: d.ObservedAt, AddedAt: noon,
		})
	}
	return w
}

// write writes into a window, and gives what came of it with the window as it is then.
func write(t *testing.T, e *window.Env, w window.Window, d window.Draft) (window.Outcome, window.Window) {
	t.Helper()
	out, err := window.Write(t.Context(), e, w, d)
	if err != nil {
		t.Fatalf("Write(%.40q): %v", d.Content, err)
	}
	w = after(w, out.Change)
	if used := w.Used(); used != out.After {
		t.Fatalf("Write(%.40q): the window holds %d, the outcome says %d", d.Content, used, out.After)
	}
	return out, w
}

func counter(t testing.TB, encoding string) token.Counter {
	t.Helper()
	count, err := token.Named(encoding)
	if err != nil {
		t.Fatal(err)
	}
	return count
}
