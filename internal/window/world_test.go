package window_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/summary"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// moody is a judge that says anything, the same of the same pair.
type moody struct{ mood int }

func (m moody) Judge(_ context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	out := make([]window.Verdict, len(pairs))
	for i, p := range pairs {
		switch h := chain.Sum(fmt.Append(nil, m.mood, p.Known, "\x00", p.New)); {
		case h[0] < 40:
			out[i] = window.Verdict{Relation: window.Contradicts, Reason: "no", By: "moody"}
		case h[0] < 60:
			out[i] = window.Verdict{Relation: window.Agrees, Reason: "yes", By: "moody"}
		}
	}
	return out, nil
}

// lavish is a summariser that does not care for budgets, or says nothing.
type lavish struct{ words int }

func (l lavish) Summarise(context.Context, []window.Part, int) (window.Summary, error) {
	return window.Summary{Text: words("lavish", l.words), Tokens: l.words, By: "lavish"}, nil
}

func extractive(t testing.TB) window.Summariser {
	return summary.New(func() func(string) summary.Vector {
		return func(text string) summary.Vector {
			p := embeddings.Lexical{}.Document(text)[0]
			return summary.Vector{Terms: p.Terms, Values: p.Values, Keys: p.Keys}
		}
	}, counter(t, token.DefaultEncoding))
}

// world is windows that share segments, and all that ever was in them.
type world struct {
	env     *window.Env
	windows []window.Window
	shared  map[string][]int         // segment to windows
	aside   []map[string]window.Item // scratchpads
	left    []map[string]window.Item // by judgement, slot or removal: whoever restores has it from there
	owner   map[string]int           // of an item of a window's own
	counted func(string) (int, error)
}

const (
	worldWindows = 3
	worldRecords = 2
)

var worldTypes = []window.ContentType{
	window.UserMessage, window.AssistantMessage, window.SystemInstruction, window.ToolResult, window.Knowledge, window.UserPreference, window.Goal, window.Decision,
}

var worldWords = strings.Fields("hotel Paris quality budget river train 200 2031 five not prefers cheap luxury booked tower London reise ñandú 漢字 🏖️ Lutetia, breakfast. the of")

func drawText(t *rapid.T, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(worldWords), 1, most).Draw(t, "words"), " ")
}

func newWorld(t *rapid.T, e *window.Env) *world {
	w := &world{env: e, shared: map[string][]int{}, owner: map[string]int{}, counted: e.Count}
	for i := range worldWindows {
		w.windows = append(w.windows, window.Window{
			ID: fmt.Sprint(i), Capacity: rapid.SampledFrom([]int{window.MinCapacity, 30, 60, 100, 200, 400, 1000, 4000}).Draw(t, "capacity"),
			Task: rapid.SampledFrom([]string{"", "", "Find a hotel in Paris"}).Draw(t, "task"), Overruled: map[string]bool{},
		})
		w.aside, w.left = append(w.aside, map[string]window.Item{}), append(w.left, map[string]window.Item{})
	}
	for id, members := range map[string][]int{"all": {0, 1, 2}, "two": {0, 1}} {
		w.shared[id] = members
		for _, i := range members {
			w.windows[i].Segments = append(w.windows[i].Segments, window.Segment{ID: id, WindowCount: len(members)})
		}
	}
	for i := range w.windows {
		slices.SortFunc(w.windows[i].Segments, func(a, b window.Segment) int { return strings.Compare(a.ID, b.ID) })
	}
	return w
}

func draft(t *rapid.T) window.Draft {
	d := window.Draft{
		Type: rapid.SampledFrom(worldTypes).Draw(t, "type"), Key: rapid.SampledFrom([]string{"", "", "", "a", "b"}).Draw(t, "key"),
		Content: drawText(t, rapid.SampledFrom([]int{3, 10, 60}).Draw(t, "most")),
	}
	if rapid.Bool().Draw(t, "late") {
		d.ObservedAt = noon.Add(-time.Duration(rapid.IntRange(0, 100).Draw(t, "hours")) * time.Hour)
	}
	return d
}

// apply does to a window what an outcome says, and checks the outcome on the way.
func (w *world) apply(t *rapid.T, i int, what string, out window.Outcome, restored, byWish bool) {
	before := w.windows[i]
	if out.Before != before.Used() {
		t.Fatalf("%s: before it the window held %d, the outcome says %d", what, before.Used(), out.Before)
	}
	for _, item := range slices.Concat(out.Gone, out.Kept) {
		if !has(before.Items, item.ID) && !has(out.Added, item.ID) && !slices.ContainsFunc(before.Segments, func(s window.Segment) bool { return has(s.Items, item.ID) }) {
			t.Fatalf("%s: %s leaves, and was not there", what, item.ID)
		}
	}
	for _, item := range out.Kept {
		if item.Type.Persistent() {
			t.Fatalf("%s: %q, a %s, left by compression", what, item.Content, item.Type)
		}
		w.aside[i][item.ID] = item
	}
	superseded := map[string]bool{}
	for _, m := range out.Mitigations {
		for _, id := range m.Items {
			superseded[id] = superseded[id] || m.Action == window.ActionSuperseded
		}
	}
	for _, item := range out.Gone {
		switch {
		case byWish || superseded[item.ID]:
			w.left[i][item.ID] = item
		case item.IsSummary(): // another has taken its place, or none had room
		case item.Key != "" && out.Item != nil && out.Item.Key == item.Key: // the same said again in the same slot
		default:
			t.Fatalf("%s: %q, a %s, is gone, and nobody asked for it", what, item.Content, item.Type)
		}
	}
	for _, item := range out.Added {
		if n, err := w.counted(item.Content); err != nil || n != item.Tokens {
			t.Fatalf("%s: %q has %d tokens, it says %d", what, item.Content, n, item.Tokens)
		}
		if other, known := w.owner[item.ID]; known && other != i {
			t.Fatalf("%s: %s is of window %d", what, item.ID, other)
		} else if known && !restored && !item.Injected {
			t.Fatalf("%s: %s has been there before", what, item.ID)
		}
		w.owner[item.ID] = i
	}
	w.windows[i] = after(before, out.Change)
}

// check holds what must hold of all windows after every step.
func (w *world) check(t *rapid.T, what string) {
	for i := range w.windows {
		one := &w.windows[i]
		used, ids := 0, map[string]bool{}
		for _, item := range one.Items {
			used += item.Tokens
			if ids[item.ID] {
				t.Fatalf("%s: %s is twice in window %d", what, item.ID, i)
			}
			ids[item.ID] = true
			if w.owner[item.ID] != i {
				t.Fatalf("%s: window %d holds %s of window %d", what, i, item.ID, w.owner[item.ID])
			}
			seen := map[string]bool{}
			for _, of := range item.SummaryOf {
				if _, ok := w.aside[i][of]; !ok || seen[of] {
					t.Fatalf("%s: a summary of window %d stands for %s, which is not on its scratchpad, or twice", what, i, of)
				}
				seen[of] = true
			}
			if _, aside := w.aside[i][item.ID]; aside && !item.Injected {
				t.Fatalf("%s: %s is in window %d and on its scratchpad", what, item.ID, i)
			}
		}
		slots := map[string]string{}
		for _, item := range one.Items {
			if item.Key != "" && slots[item.Key] != "" {
				t.Fatalf("%s: two items of window %d are in the slot %q", what, i, item.Key)
			}
			slots[item.Key] = item.Content
		}
		for _, s := range one.Segments {
			for _, item := range s.Items {
				if there := slots[item.Key]; item.Key != "" && there != "" && there != item.Content {
					t.Fatalf("%s: window %d sees %q and %q in the slot %q", what, i, there, item.Content, item.Key)
				}
				slots[item.Key] = item.Content
			}
		}
		for _, s := range one.Segments {
			if !slices.Contains(w.shared[s.ID], i) {
				t.Fatalf("%s: window %d sees the segment %s", what, i, s.ID)
			}
			used += func() (n int) {
				for _, item := range s.Items {
					n += item.Tokens
				}
				return n
			}()
			other := w.windows[w.shared[s.ID][0]].Segments
			at := slices.IndexFunc(other, func(o window.Segment) bool { return o.ID == s.ID })
			if !slices.Equal(texts(s.Items), texts(other[at].Items)) {
				t.Fatalf("%s: the windows of %s see different things", what, s.ID)
			}
		}
		shown := 0
		for _, tool := range one.Tools {
			if tool.Shown {
				used, shown = used+tool.Tokens, shown+1
			}
		}
		if shown > window.ToolsShown {
			t.Fatalf("%s: window %d describes %d tools", what, i, shown)
		}
		if used != one.Used() || used > one.Capacity {
			t.Fatalf("%s: window %d of %d says that it holds %d, and holds %d", what, i, one.Capacity, one.Used(), used)
		}
	}
}

// exceeded tells whether an operation has changed nothing because there is no room; any other fault is none that may be.
func exceeded(t *rapid.T, what string, err error) bool {
	if err != nil && fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Fatalf("%s: %v", what, err)
	}
	return err != nil
}
