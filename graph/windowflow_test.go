package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The main flows of the specification UC-SYS-003, each under its number.

func TestFlow1Write(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("booking", 8192, "Find a hotel in Paris")
	w := a.mustWrite(id, "USER_PREFERENCE", "User prefers quality hotels over cheap ones")
	q := w.Item.Quality
	if w.Item.Type != "USER_PREFERENCE" || q.Relevance < 0.7 || q.Freshness != 1 || q.Accuracy < 0.9 || q.Completeness != 1 || q.Consistency != 1 || q.Score < 0.7 || w.Compression != nil {
		t.Errorf("1.4: %+v", w)
	}
	if k := a.mustWrite(id, "KNOWLEDGE", "The hotel Lutetia has rooms with a view of the tower"); k.Item.Quality.Relevance < 0.7 || k.Item.VerifiedBy != nil {
		t.Errorf("1.2: relevant knowledge: %+v", k.Item)
	}
	for content, why := range map[string]string{
		"Photosynthesis turns light into sugar": "irrelevant",
		"hotel":                                 "incomplete",
		"…":                                     "incomplete",
	} {
		if got := a.writeTo(id, "KNOWLEDGE", content); got.Item != nil || got.Rejected == nil || !contains(*got.Rejected, why) {
			t.Errorf("1.2: %q: %+v, want it to be rejected as %s", content, got, why)
		}
	}
	if got := a.writeTo(id, "TOOL_RESULT", `{"hotels": [{"name": "Lutetia", "price": 20`); got.Rejected == nil || !contains(*got.Rejected, "cut off") {
		t.Errorf("1.2: JSON that is cut off: %+v", got)
	}
	old := a.mustWrite(id, "KNOWLEDGE", "The hotel Ritz in Paris was closed for works", object{"observedAt": time.Now().Add(-25 * time.Hour).UTC()})
	if f := old.Item.Quality.Freshness; f < 0.49 || f > 0.51 {
		t.Errorf("1.2: a day after its first hour freshness is %v, want a half", f)
	}
	var history struct {
		Window struct {
			Operations struct {
				TotalCount int
				Edges      []struct {
					Node struct {
						Kind                      string
						TokensBefore, TokensAfter int
						Rejected, Content         *string
						Quality                   *struct{ Score float64 }
					}
				}
			}
		}
	}
	a.ask(`query($id: ID!) { window(id: $id) { operations { totalCount edges { node { kind tokensBefore tokensAfter rejected content quality { score } } } } } }`, object{"id": id}, &history)
	rejected := 0
	for _, e := range history.Window.Operations.Edges {
		if o := e.Node; o.Quality == nil || o.Kind != "WRITE" || (o.Rejected != nil) != (o.TokensBefore == o.TokensAfter) || (o.Rejected != nil) != (o.Content != nil) {
			t.Errorf("1.4: on record: %+v", o)
		} else if o.Rejected != nil {
			rejected++
		}
	}
	if n := history.Window.Operations.TotalCount; n != 7 || rejected != 4 {
		t.Errorf("1.4: %d operations, %d rejected; want 7 and 4", n, rejected)
	}
}

func TestFlow2Select(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.addRecord("Eiffel Tower", "The Eiffel Tower is in Paris")
	for i := range 30 {
		a.append(message("small talk", fmt.Sprintf("Nothing of interest was said about number %d of the weather report", i)))
	}
	wanted := a.append(
		message("s", "For Paris I want a hotel of quality near the river"), message("s", "My budget for a hotel in Paris is 200 a night"),
		message("s", "In Paris I stayed at the hotel Lutetia and liked it"))
	id := a.newWindow("booking", 2048, "Find a hotel in Paris")
	a.mustWrite(id, "USER_MESSAGE", "Find me a hotel in Paris")
	var out struct {
		SelectIntoWindow struct {
			ID, Receipt, Rendered string
			Tokens                int
			Items                 []struct {
				Hash  string
				Score float64
			}
		}
	}
	const selects = `mutation($w: ID!, $i: ContextRequestInput!) { selectIntoWindow(window: $w, input: $i) { id receipt rendered tokens items { hash score } } }`
	a.ask(selects, object{"w": id, "i": object{"query": "Find hotel in Paris"}}, &out)
	s := out.SelectIntoWindow
	if len(s.Items) == 0 || len(s.Receipt) != 64 || !strings.HasPrefix(s.Rendered, "Relevant Context:\n- ") {
		t.Fatalf("2.5: selected %+v", s)
	}
	w := a.window(id)
	if n := len(w.Items); n != len(s.Items)+1 || w.Items[n-1].Type != "USER_MESSAGE" {
		t.Fatalf("2.5: the window has %q, want what was selected before the query", texts(w.Items))
	}
	for i, item := range w.Items[:len(s.Items)] {
		if item.Source == nil || item.Source.Hash != s.Items[i].Hash || item.Quality.Relevance != s.Items[i].Score || !slices.Contains(wanted, item.Source.Hash) && s.Items[i].Score >= 0.7 && len(s.Items) > 3 {
			t.Errorf("2.3: item %d is %+v, want %+v", i, item, s.Items[i])
		}
	}
	// Selected again, it is not there twice.
	a.ask(selects, object{"w": id, "i": object{"query": "Find hotel in Paris"}}, &out)
	if again := a.window(id); len(again.Items) != len(w.Items) {
		t.Errorf("2.5: selected again the window has %d items, want %d", len(again.Items), len(w.Items))
	}
	// What a window has left is the budget.
	small := a.newWindow("small", 40, "")
	a.ask(selects, object{"w": small, "i": object{"query": "Find hotel in Paris"}}, &out)
	if w := a.window(small); out.SelectIntoWindow.Tokens > 40 || w.Used > 40 {
		t.Errorf("2.5: %d tokens selected into a window of 40, which holds %d", out.SelectIntoWindow.Tokens, w.Used)
	}
	if m := a.metrics(); m["contextWindowUsageAvg"] <= 0 {
		t.Errorf("metrics: %v", m)
	}
}

func TestFlow3Compress(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("booking", 2000, "")
	a.mustWrite(id, "USER_PREFERENCE", "Ana prefers rooms with a view of the river")
	a.mustWrite(id, "TOOL_RESULT", `{"flights": "`+strings.Repeat("AF123 leaves at nine. ", 40)+`"}`)
	for i := 0; a.window(id).Usage < 0.78; i++ {
		a.mustWrite(id, "ASSISTANT_MESSAGE", strings.Repeat(sentence(i)+" ", 6))
	}
	var out struct{ CompressWindow compression }
	a.ask(`mutation($w: ID!) { compressWindow(window: $w) `+compressionFields+` }`, object{"w": id}, &out)
	c, w := out.CompressWindow, a.window(id)
	if c.TokensAfter > 1200 || c.TokensAfter != w.Used || c.TokensBefore <= c.TokensAfter || c.Ratio <= 1 || !slices.Contains(c.Strategies, "TRIM_OLDEST") {
		t.Errorf("3.4: %+v, the window holds %d", c, w.Used)
	}
	freed := 0
	for _, step := range c.Steps {
		freed += step.Freed
	}
	if freed != c.TokensBefore-c.TokensAfter {
		t.Errorf("3.5: the steps freed %d, all together %d", freed, c.TokensBefore-c.TokensAfter)
	}
	if texts(w.Items)[0] != "Ana prefers rooms with a view of the river" {
		t.Errorf("3.3: the preference has left: %q", texts(w.Items))
	}
	// A summary leads to what it stands for.
	summaries := 0
	for _, item := range w.Items {
		for _, of := range item.SummaryOf {
			summaries++
			var entry struct {
				ScratchpadEntry *struct {
					Content string
					Window  struct{ ID string }
				}
			}
			a.ask(`query($id: ID!) { scratchpadEntry(id: $id) { content window { id } } }`, object{"id": of}, &entry)
			if entry.ScratchpadEntry == nil || !contains(entry.ScratchpadEntry.Content, "note") || entry.ScratchpadEntry.Window.ID != id {
				t.Errorf("3.4: a summary stands for %+v", entry.ScratchpadEntry)
			}
		}
	}
	if summaries == 0 {
		t.Errorf("3.4: there is no summary: %q", texts(w.Items))
	}
	// Tool results go to the scratchpad, too.
	a.ask(`mutation($w: ID!) { compressWindow(window: $w, target: 0.05) `+compressionFields+` }`, object{"w": id}, &out)
	if steps := append(c.Strategies, out.CompressWindow.Strategies...); !slices.Contains(steps, "ARCHIVE") {
		t.Errorf("3.4: %v, want ARCHIVE", steps)
	}
	for _, target := range []float64{-0.1, 1.1} {
		if got := a.try(`mutation($w: ID!, $t: Float) { compressWindow(window: $w, target: $t) { ratio } }`, object{"w": id, "t": target}); len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" {
			t.Errorf("target %v: %+v", target, got.Errors)
		}
	}
}

func TestFlow4Isolate(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hotel, restaurant := a.newWindow("A", 1000, "Book a hotel in Paris"), a.newWindow("B", 1000, "Find a restaurant in London")
	a.mustWrite(hotel, "KNOWLEDGE", "The hotel Lutetia in Paris has rooms")
	a.mustWrite(restaurant, "KNOWLEDGE", "The restaurant Rules in London is old")
	if got := texts(a.window(hotel).Items); len(got) != 1 || contains(got[0], "London") {
		t.Errorf("4.4: %q", got)
	}
	if got := texts(a.window(restaurant).Items); len(got) != 1 || contains(got[0], "Paris") {
		t.Errorf("4.5: %q", got)
	}
	var made struct{ CreateSegment struct{ ID string } }
	a.ask(`mutation($w: [ID!]!) { createSegment(name: "traveller", windows: $w) { id } }`, object{"w": []string{hotel, restaurant}}, &made)
	var out struct{ WriteToSegment written }
	const share = `mutation($s: ID!, $i: WriteInput!) { writeToSegment(segment: $s, input: $i) ` + writtenFields + ` }`
	a.ask(share, object{"s": made.CreateSegment.ID, "i": object{"window": hotel, "type": "USER_PREFERENCE", "content": "The traveller eats no meat at all"}}, &out)
	if out.WriteToSegment.Item == nil {
		t.Fatalf("4.6: %+v", out.WriteToSegment)
	}
	a.checkUsed(out.WriteToSegment.Window)
	for _, id := range []string{hotel, restaurant} {
		w := a.window(id)
		if len(w.Segments) != 1 || len(w.Segments[0].Items) != 1 || len(w.Items) != 1 || w.Used != w.Items[0].Tokens+out.WriteToSegment.Item.Tokens {
			t.Errorf("4.6: %+v", w)
		}
	}
	alone := a.newWindow("C", 1000, "")
	if w := a.window(alone); len(w.Segments) != 0 || w.Used != 0 {
		t.Errorf("4.6: a window that shares nothing has %+v", w)
	}
	if got := a.try(share, object{"s": made.CreateSegment.ID, "i": object{"window": alone, "type": "KNOWLEDGE", "content": "Somebody else writes here"}}); len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "NOT_FOUND" {
		t.Errorf("4.6: through another window: %+v", got)
	}
	// It needs room in each of them.
	full := a.newWindow("full", 60, "")
	a.ask(`mutation($w: [ID!]!) { createSegment(name: "tight", windows: $w) { id } }`, object{"w": []string{hotel, full}}, &made)
	a.mustWrite(full, "GOAL", "Keep all of this: "+strings.Repeat("one thing and ", 10))
	before := []windowState{a.window(hotel), a.window(full)}
	got := a.try(share, object{"s": made.CreateSegment.ID, "i": object{"window": hotel, "type": "GOAL", "content": strings.Repeat("one thing more and ", 8)}})
	if len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "CONTEXT_WINDOW_EXCEEDED" {
		t.Errorf("4.6: without room in one of them: %+v %s", got.Errors, got.Data)
	}
	if after := []windowState{a.window(hotel), a.window(full)}; after[0].Used != before[0].Used || after[1].Used != before[1].Used {
		t.Errorf("4.6: refused, it has changed the windows: %+v", after)
	}
}
