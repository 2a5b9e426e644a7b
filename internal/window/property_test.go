package window_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/judge"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

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

func (w *world) step(t *rapid.T) {
	i := rapid.IntRange(0, worldWindows-1).Draw(t, "window")
	one, ctx := w.windows[i], t.Context()
	e := *w.env
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
				w.windows[i].Overruled[window.PairKey(j.Pair)] = true
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
		tools := make([]window.Tool, rapid.IntRange(0, 20).Draw(t, "tools"))
		for j := range tools {
			tools[j] = window.Tool{Name: fmt.Sprint("tool", rapid.IntRange(0, 40).Draw(t, "name")), Tokens: rapid.IntRange(1, 10).Draw(t, "tokens")}
		}
		slices.SortFunc(tools, func(a, b window.Tool) int { return strings.Compare(a.Name, b.Name) })
		tools = slices.CompactFunc(tools, func(a, b window.Tool) bool { return a.Name == b.Name })
		out, all, err := window.Register(ctx, &e, one, tools, rapid.Bool().Draw(t, "replace"))
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
