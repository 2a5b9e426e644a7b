package window_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/judge"
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
	overs   []map[string]bool
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
			Task: rapid.SampledFrom([]string{"", "", "Find a hotel in Paris"}).Draw(t, "task"),
		})
		w.overs = append(w.overs, map[string]bool{})
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
		slots := map[string]bool{}
		for _, item := range one.Items {
			if item.Key != "" && slots[item.Key] {
				t.Fatalf("%s: two items of window %d are in the slot %q", what, i, item.Key)
			}
			slots[item.Key] = true
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

func (w *world) step(t *rapid.T) {
	i := rapid.IntRange(0, worldWindows-1).Draw(t, "window")
	one, ctx := w.windows[i], t.Context()
	e := *w.env
	e.Overruled = w.overs[i]
	what := rapid.SampledFrom([]string{
		"write", "write", "write", "write", "force", "share", "select", "compress", "remove", "offload", "inject", "register", "describe", "restore",
	}).Draw(t, "what")
	switch what {
	case "write", "force":
		e.Forced = what == "force"
		d := draft(t)
		out, err := window.Write(ctx, &e, one, d)
		if exceeded(t, what, err) {
			break
		}
		if (out.Item == nil) != (out.Rejected != "") || e.Forced && out.Item == nil {
			t.Fatalf("%s: %+v", what, out)
		}
		if out.Item != nil && !has(out.Added, out.Item.ID) {
			t.Fatalf("%s: what was written is not there", what)
		}
		if out.Rejected != "" && len(out.Added)+len(out.Gone)+len(out.Kept) > 0 {
			t.Fatalf("%s: rejected, it has changed the window", what)
		}
		for _, j := range out.Judgements {
			if j.Relation == window.Contradicts && rapid.Bool().Draw(t, "overrule") {
				w.overs[i][window.PairKey(j.Pair)] = true
			}
		}
		w.apply(t, i, what, out, false, false)
	case "share":
		w.share(t, &e, i)
	case "select":
		chosen := make([]window.Chosen, rapid.IntRange(0, 5).Draw(t, "chosen"))
		for j := range chosen {
			chosen[j].Draft = window.Draft{Type: window.Knowledge, Content: drawText(t, 20), Source: &window.Source{Hash: chain.Sum(fmt.Append(nil, rapid.IntRange(0, 9).Draw(t, "source"))), Type: chain.RefContext}}
		}
		out, _, err := window.Select(ctx, &e, one, chosen)
		if !exceeded(t, what, err) {
			w.apply(t, i, what, out, false, false)
		}
	case "compress":
		target := rapid.Float64Range(0, 1).Draw(t, "target")
		out, err := window.Compress(ctx, &e, one, target)
		if err != nil {
			t.Fatal(err)
		}
		freed := 0
		for _, s := range out.Compression.Steps {
			freed += s.Freed
		}
		if out.After > out.Before || freed != out.Before-out.After || out.Compression.Before != out.Before || out.Compression.After != out.After {
			t.Fatalf("compress to %v: %d to %d, the steps freed %d, %+v", target, out.Before, out.After, freed, out.Compression)
		}
		w.apply(t, i, what, out, false, false)
	case "remove":
		w.remove(t, i)
	case "offload":
		n := len(w.owner) + len(w.aside[i])
		text := drawText(t, 60)
		tokens, _ := e.Count(text)
		w.aside[i][fmt.Sprintf("aside%d.%d", i, n)] = window.Item{ID: fmt.Sprintf("aside%d.%d", i, n), Type: window.Knowledge, Content: text, Tokens: tokens, ObservedAt: noon}
	case "inject":
		if len(w.aside[i]) == 0 {
			break
		}
		entry := w.aside[i][rapid.SampledFrom(slices.Sorted(maps.Keys(w.aside[i]))).Draw(t, "entry")]
		out, err := window.Inject(ctx, &e, one, window.Item{ID: entry.ID, Type: entry.Type, Content: entry.Content, Tokens: entry.Tokens, ObservedAt: entry.ObservedAt})
		if !exceeded(t, what, err) {
			w.apply(t, i, what, out, false, false)
		}
	case "register":
		tools := make([]window.Tool, rapid.IntRange(1, 20).Draw(t, "tools"))
		for j := range tools {
			tools[j] = window.Tool{Name: fmt.Sprint("tool", rapid.IntRange(0, 40).Draw(t, "name")), Tokens: rapid.IntRange(1, 10).Draw(t, "tokens")}
		}
		slices.SortFunc(tools, func(a, b window.Tool) int { return strings.Compare(a.Name, b.Name) })
		tools = slices.CompactFunc(tools, func(a, b window.Tool) bool { return a.Name == b.Name })
		out, all, err := window.Register(ctx, &e, one, tools)
		if exceeded(t, what, err) {
			break
		}
		w.apply(t, i, what, out, false, false)
		w.windows[i].Tools = all
		if out.After != w.windows[i].Used() {
			t.Fatalf("register: the outcome says %d, the window holds %d", out.After, w.windows[i].Used())
		}
	case "describe":
		var found []window.Tool
		for _, tool := range one.Tools {
			if rapid.Bool().Draw(t, "found") && len(found) < window.ToolsShown {
				found = append(found, tool)
			}
		}
		out, fit := window.Describe(one, found)
		if len(one.Tools) > window.ToolsShown {
			w.windows[i].Tools = slices.Clone(one.Tools)
			for j := range w.windows[i].Tools {
				tool := &w.windows[i].Tools[j]
				tool.Shown = slices.ContainsFunc(fit, func(f window.Tool) bool { return f.Name == tool.Name })
			}
		}
		if out.Before != one.Used() || out.After != w.windows[i].Used() {
			t.Fatalf("describe: %d to %d, the window holds %d, then %d", out.Before, out.After, one.Used(), w.windows[i].Used())
		}
	case "restore":
		var items []window.Item
		for _, id := range slices.Sorted(maps.Keys(w.left[i])) {
			if rapid.Bool().Draw(t, "back") {
				items = append(items, w.left[i][id])
			}
		}
		e.Forced = true
		out, err := window.Restore(ctx, &e, one, items)
		if exceeded(t, what, err) {
			break
		}
		w.apply(t, i, what, out, true, false)
		for _, item := range items { // it is overruled once
			if !has(w.windows[i].Items, item.ID) {
				t.Fatalf("restore: %q is not there again", item.Content)
			}
			delete(w.left[i], item.ID)
		}
	}
	w.check(t, what)
}

func (w *world) share(t *rapid.T, e *window.Env, through int) {
	one := w.windows[through]
	if len(one.Segments) == 0 {
		return
	}
	segment := one.Segments[rapid.IntRange(0, len(one.Segments)-1).Draw(t, "segment")]
	var windows []window.Window
	at := 0
	for _, i := range w.shared[segment.ID] {
		if i == through {
			at = len(windows)
		}
		windows = append(windows, w.windows[i])
	}
	out, err := window.Share(t.Context(), e, segment, windows, at, draft(t))
	if exceeded(t, "share", err) {
		return
	}
	items := slices.DeleteFunc(slices.Clone(segment.Items), func(item window.Item) bool { return has(out.Gone, item.ID) })
	items = append(items, out.Added...)
	for n, i := range w.shared[segment.ID] {
		w.apply(t, i, "share", out.Windows[n], false, false)
		segments := slices.Clone(w.windows[i].Segments)
		for s := range segments {
			if segments[s].ID == segment.ID {
				segments[s].Items = items
			}
		}
		if w.windows[i].Segments = segments; w.windows[i].Used() != out.Windows[n].After {
			t.Fatalf("share: the outcome says %d, window %d holds %d", out.Windows[n].After, i, w.windows[i].Used())
		}
	}
}

func (w *world) remove(t *rapid.T, i int) {
	one := w.windows[i]
	var ids []string
	for _, item := range one.Items {
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			ids = append(ids, item.ID)
		}
	}
	for _, s := range one.Segments {
		if len(s.Items) > 0 && rapid.Bool().Draw(t, "unshare") {
			ids = append(ids, s.Items[0].ID)
		}
	}
	out, err := window.Remove(one, ids)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, i, "remove", out, false, true)
	for n := range w.windows {
		segments := slices.Clone(w.windows[n].Segments)
		for s := range segments {
			segments[s].Items = slices.DeleteFunc(slices.Clone(segments[s].Items), func(item window.Item) bool { return slices.Contains(ids, item.ID) })
		}
		w.windows[n].Segments = segments
	}
	if out.After != w.windows[i].Used() {
		t.Fatalf("remove: the outcome says %d, the window holds %d", out.After, w.windows[i].Used())
	}
	for id := range w.left[i] {
		if !slices.Contains(ids, id) {
			continue
		}
		if own, known := w.owner[id]; !known || own != i {
			delete(w.left[i], id) // of a segment: nobody brings it back into a window
		}
	}
}

// The properties of the specification: used is the sum of what is there, capacity is never exceeded, windows see nothing of each
// other, what is persistent leaves by a judgement, its slot or a wish only, and a summary leads to what it stands for.
func TestWindowsStayInShape(t *testing.T) {
	t.Parallel()
	builtIn, vocabulary := extractive(t), []string{token.DefaultEncoding, "cl100k_base", "p50k_base", "r50k_base"}
	counts := map[string]token.Counter{}
	for _, v := range vocabulary {
		counts[v] = counter(t, v)
	}
	rapid.Check(t, func(t *rapid.T) {
		e := newEnv()
		for range worldRecords {
			text := drawText(t, 5)
			e.Records = append(e.Records, window.Record{Hash: chain.Sum([]byte(text)), Title: "a record", Content: text})
		}
		if encoding := rapid.SampledFrom(append(vocabulary, "words")).Draw(t, "encoding"); encoding != "words" {
			e.Count = counts[encoding]
		}
		e.Judge = rapid.SampledFrom([]window.Judge{judge.New(), moody{1}, moody{2}, said{}}).Draw(t, "judge")
		e.Summariser = rapid.SampledFrom([]window.Summariser{builtIn, short{}, lavish{0}, lavish{5}, lavish{500}}).Draw(t, "summariser")
		w := newWorld(t, e)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
		}
	})
}
