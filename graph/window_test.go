package graph_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// The flows of the specification UC-SYS-003, each under its number.

type windowItem struct {
	ID, Type, Content string
	Key               *string
	Tokens            int
	Quality           struct{ Relevance, Freshness, Accuracy, Completeness, Consistency, Score float64 }
	VerifiedBy        *struct{ Hash string }
	SummaryOf         []string
	Injected          bool
	Source            *struct{ Hash string }
}

type windowState struct {
	ID             string
	Capacity, Used int
	Usage          float64
	Level          string
	Items          []windowItem
	Segments       []struct {
		ID    string
		Items []windowItem
	}
	Tools []tool
}

type tool struct {
	Name   string
	Tokens int
	Shown  bool
}

type compression struct {
	Strategies                        []string
	TokensBefore, TokensAfter, TookMs int
	Ratio                             float64
	Steps                             []struct {
		Strategy, Summary, By string
		Freed                 int
		Items                 []string
	}
}

type written struct {
	Item        *windowItem
	Quality     struct{ Relevance, Freshness, Accuracy, Completeness, Consistency, Score float64 }
	Rejected    *string
	Mitigations []struct {
		Failure, Action, Reason string
		Items                   []string
		Record                  *struct{ Hash string }
	}
	Compression *compression
	Operation   struct{ ID string }
	Window      windowState
}

const (
	itemFields        = `{ id type content key tokens injected summaryOf verifiedBy { hash } quality { relevance freshness accuracy completeness consistency score } source { ... on Message { hash } ... on Record { hash } } }`
	windowFields      = `{ id capacity used usage level items ` + itemFields + ` segments { id items ` + itemFields + ` } tools { name tokens shown } }`
	compressionFields = `{ strategies tokensBefore tokensAfter ratio tookMs steps { strategy freed items summary by } }`
	writtenFields     = `{ item ` + itemFields + ` quality { relevance freshness accuracy completeness consistency score } rejected mitigations { failure action reason items record { hash } } compression ` + compressionFields + ` operation { id } window ` + windowFields + ` }`
)

// windowOf makes a window.
func (a *api) newWindow(name string, capacity int, task string) string {
	a.t.Helper()
	var out struct{ CreateWindow struct{ ID string } }
	input := object{"name": name, "capacity": capacity}
	if task != "" {
		input["task"] = task
	}
	a.ask(`mutation($i: WindowInput!) { createWindow(input: $i) { id } }`, object{"i": input}, &out)
	return out.CreateWindow.ID
}

func (a *api) writeTo(id, kind, content string, more ...object) written {
	a.t.Helper()
	input := object{"window": id, "type": kind, "content": content}
	for _, o := range more {
		for k, v := range o {
			input[k] = v
		}
	}
	var out struct{ WriteContext written }
	a.ask(`mutation($i: WriteInput!) { writeContext(input: $i) `+writtenFields+` }`, object{"i": input}, &out)
	a.checkUsed(out.WriteContext.Window)
	return out.WriteContext
}

func (a *api) mustWrite(id, kind, content string, more ...object) written {
	a.t.Helper()
	w := a.writeTo(id, kind, content, more...)
	if w.Item == nil || w.Rejected != nil {
		a.t.Fatalf("%q is rejected: %v", content, *w.Rejected)
	}
	return w
}

func (a *api) window(id string) windowState {
	a.t.Helper()
	var out struct{ Window windowState }
	a.ask(`query($id: ID!) { window(id: $id) `+windowFields+` }`, object{"id": id}, &out)
	a.checkUsed(out.Window)
	return out.Window
}

// checkUsed expects that a window says what it holds, and never holds more than it may.
func (a *api) checkUsed(w windowState) {
	a.t.Helper()
	sum := 0
	for _, i := range w.Items {
		sum += i.Tokens
	}
	for _, s := range w.Segments {
		for _, i := range s.Items {
			sum += i.Tokens
		}
	}
	for _, t := range w.Tools {
		if t.Shown {
			sum += t.Tokens
		}
	}
	if sum != w.Used || w.Used > w.Capacity || math.Abs(w.Usage-float64(w.Used)/float64(w.Capacity)) > 1e-9 {
		a.t.Fatalf("the window says %d of %d, %v; its parts have %d", w.Used, w.Capacity, w.Usage, sum)
	}
}

func texts(items []windowItem) (out []string) {
	for _, i := range items {
		out = append(out, i.Content)
	}
	return out
}

// sentence is a message of some 20 tokens, of which no two contradict each other.
func sentence(n int) string {
	topics := []string{"the garden", "the bakery", "the harbour", "the museum", "the library", "the stadium", "the theatre"}
	verbs := []string{"walked past", "asked about", "talked of", "read about", "looked for", "remembered", "wrote about"}
	return fmt.Sprintf("In note %d somebody %s %s and then went on to the next thing on a long list of things to do.", n, verbs[n/7%7], topics[n%7])
}

func (a *api) addRecord(title, content string) string {
	a.t.Helper()
	var out struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation($r: [RecordInput!]!) { addRecords(records: $r) { hash } }`,
		object{"r": []object{{"kind": "SECRETARY", "book": "facts", "title": title, "content": content, "verified": true}}}, &out)
	return out.AddRecords[0].Hash
}

func (a *api) metrics() (m map[string]float64) {
	a.t.Helper()
	var out struct{ ContextMetrics map[string]float64 }
	a.ask(`{ contextMetrics { contextWindowUsageAvg contextWindowUsageP95 compressionTriggeredCount compressionRatioAvg compressionLatencyP95 poisoningAttemptsBlocked
		distractionMitigations confusionMitigations clashesResolved contextQualityScoreAvg relevanceScoreAvg accuracyScoreAvg scratchpadWrites scratchpadReads ragOverToolsCalls
		windowCriticalExceeded } }`, nil, &out)
	return out.ContextMetrics
}

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

func TestAlternate1AutoCompression(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("long", 2000, "")
	for i := 0; a.window(id).Usage < 0.8; i++ {
		if w := a.mustWrite(id, []string{"USER_MESSAGE", "ASSISTANT_MESSAGE"}[i%2], strings.Repeat(sentence(i)+" ", 5)); w.Compression != nil {
			t.Fatalf("1A.1: compressed at %v", w.Window.Usage)
		}
	}
	w := a.mustWrite(id, "USER_MESSAGE", "And what about the harbour?")
	if w.Compression == nil || w.Compression.TokensAfter > 1200 || w.Compression.Strategies[0] != "TRIM_OLDEST" || w.Window.Used > 1240 {
		t.Errorf("1A.4: %+v, then %d used", w.Compression, w.Window.Used)
	}
	if items := texts(w.Window.Items); items[len(items)-1] != "And what about the harbour?" {
		t.Errorf("1A.4: the write did not go on: %q", items)
	}
	if m := a.metrics(); m["compressionTriggeredCount"] != 1 || m["compressionRatioAvg"] <= 1 || m["scratchpadWrites"] == 0 {
		t.Errorf("metrics: %v", m)
	}
}

func TestAlternate2AggressiveCompression(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("tight", 1000, "")
	a.mustWrite(id, "GOAL", "Book the journey: "+strings.Repeat("by train, ", 60))
	a.mustWrite(id, "ASSISTANT_MESSAGE", strings.Repeat(sentence(1)+" ", 16))
	last := a.mustWrite(id, "USER_MESSAGE", strings.Repeat(sentence(2)+" ", 14))
	if last.Window.Usage < 0.9 {
		t.Fatalf("3A.1: usage is %v", last.Window.Usage)
	}
	w := a.mustWrite(id, "USER_PREFERENCE", "A seat at the window is what Ana likes")
	if w.Compression == nil || !slices.Contains(w.Compression.Strategies, "SUMMARIZE_ALL") || w.Window.Usage >= 0.9 {
		t.Errorf("3A.4: %+v, then %v", w.Compression, w.Window.Usage)
	}
	var kinds []string
	for _, item := range w.Window.Items {
		kinds = append(kinds, item.Type)
	}
	if want := []string{"GOAL", "USER_PREFERENCE", "KNOWLEDGE", "USER_MESSAGE"}; !slices.Equal(kinds, want) {
		t.Errorf("3A.3: kept %v, want %v", kinds, want)
	}
}

func TestAlternate3Critical(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("full", 200, "")
	for _, n := range []int{40, 40, 40, 38, 36} {
		a.mustWrite(id, "DECISION", strings.TrimSpace(strings.Repeat("yes sir ", n/2)))
	}
	before := a.window(id)
	if before.Level != "CRITICAL" {
		t.Fatalf("1B.1: usage is %v", before.Usage)
	}
	got := a.try(`mutation($i: WriteInput!) { writeContext(input: $i) { item { id } } }`, object{"i": object{"window": id, "type": "KNOWLEDGE", "content": sentence(90)}})
	if len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "CONTEXT_WINDOW_EXCEEDED" {
		t.Fatalf("1B.2: %+v %s", got.Errors, got.Data)
	}
	for _, way := range []string{"removeFromWindow", "offload", "split"} {
		if !contains(got.Errors[0].Message, way) {
			t.Errorf("1B.4: %q does not name %s", got.Errors[0].Message, way)
		}
	}
	if after := a.window(id); after.Used != before.Used || len(after.Items) != len(before.Items) || after.Level != "CRITICAL" {
		t.Errorf("1B.2: it has changed: %+v", after)
	}
	if m := a.metrics(); m["windowCriticalExceeded"] != 1 {
		t.Errorf("1B.3: metrics: %v", m)
	}
	// Option A.
	var out struct{ RemoveFromWindow windowState }
	a.ask(`mutation($w: ID!, $i: [ID!]!) { removeFromWindow(window: $w, items: $i) `+windowFields+` }`, object{"w": id, "i": []string{before.Items[0].ID, before.Items[1].ID}}, &out)
	a.checkUsed(out.RemoveFromWindow)
	a.mustWrite(id, "KNOWLEDGE", sentence(91))
}

func TestAlternate4Poisoning(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	record := a.addRecord("Eiffel Tower", "The Eiffel Tower is in Paris")
	id := a.newWindow("travel", 8192, "Visit the Eiffel Tower")
	w := a.writeTo(id, "KNOWLEDGE", "The Eiffel Tower is in London")
	if w.Item != nil || w.Rejected == nil || len(w.Mitigations) != 1 || w.Quality.Accuracy != 0.1 || len(w.Window.Items) != 0 {
		t.Fatalf("2A.3: %+v", w)
	}
	if m := w.Mitigations[0]; m.Failure != "POISONING" || m.Action != "REJECTED" || m.Record == nil || m.Record.Hash != record || !contains(m.Reason, "Eiffel Tower") {
		t.Errorf("2A.2: %+v", m)
	}
	if m := a.metrics(); m["poisoningAttemptsBlocked"] != 1 {
		t.Errorf("2A.4: %v", m)
	}
	right := a.mustWrite(id, "KNOWLEDGE", "The Eiffel Tower is in Paris")
	if right.Item.VerifiedBy == nil || right.Item.VerifiedBy.Hash != record || right.Item.Quality.Accuracy != 1 {
		t.Errorf("2A.5: corrected: %+v", right.Item)
	}
	if silent := a.mustWrite(id, "KNOWLEDGE", "The tower has a restaurant on its first floor"); silent.Item.VerifiedBy != nil || silent.Item.Quality.Accuracy != 0.9 {
		t.Errorf("nothing speaks to it: %+v", silent.Item)
	}
	// An administrator overrules it: it enters, and is not rejected again.
	var out struct {
		OverruleJudgement struct {
			Kind    string
			Entered []string
		}
	}
	const overrule = `mutation($o: ID!) { overruleJudgement(operation: $o, reason: "There is a copy in London.") { kind entered overruled } }`
	a.ask(overrule, object{"o": w.Operation.ID}, &out)
	if now := a.window(id); len(out.OverruleJudgement.Entered) != 1 || !slices.Contains(texts(now.Items), "The Eiffel Tower is in London") {
		t.Errorf("overruled: %+v, %q", out, texts(now.Items))
	}
	if got := a.try(overrule, object{"o": w.Operation.ID}); len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "CONFLICT" {
		t.Errorf("overruled twice: %+v", got)
	}
}

func TestAlternate5Distraction(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("talk", 100_000, "")
	var last written
	for i := range 50 {
		last = a.mustWrite(id, []string{"USER_MESSAGE", "ASSISTANT_MESSAGE"}[i%2], sentence(i))
		if n := len(last.Mitigations); (n == 1) != (i == 20 || i == 31 || i == 42) {
			t.Errorf("3B.2: message %d: %+v", i+1, last.Mitigations)
		}
	}
	history, summaries := 0, 0
	for _, item := range last.Window.Items {
		if strings.HasSuffix(item.Type, "_MESSAGE") {
			history++
		}
		if n := len(item.SummaryOf); n > 0 {
			summaries++
			if n != 33 {
				t.Errorf("3B.3: the summary stands for %d messages, want 33", n)
			}
		}
	}
	if history != 17 || summaries != 1 {
		t.Errorf("3B.4: %d messages and %d summaries, want 17 and 1", history, summaries)
	}
	if m := a.metrics(); m["distractionMitigations"] != 3 {
		t.Errorf("3B.5: %v", m)
	}
}

func TestAlternate6Confusion(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("tools", 8192, "")
	tools := []object{
		{"name": "search_flights", "description": "Finds flights between two airports on a day", "schema": object{"type": "object"}},
		{"name": "book_flights", "description": "Books seats on a flight that was found"},
	}
	for i := range 43 {
		tools = append(tools, object{"name": fmt.Sprintf("tool_%d", i), "description": fmt.Sprintf("Converts format %c%d of a picture", 'a'+i%26, i)})
	}
	var out struct{ RegisterTools []tool }
	const register = `mutation($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t) { name tokens shown } }`
	a.ask(register, object{"w": id, "t": tools[:30]}, &out)
	if w := a.window(id); w.Used == 0 || !out.RegisterTools[0].Shown {
		t.Errorf("30 tools: %d used, %+v", w.Used, out.RegisterTools[0])
	}
	before := a.window(id).Used
	a.ask(register, object{"w": id, "t": tools[30:]}, &out)
	if w := a.window(id); w.Used != 0 || len(w.Tools) != 45 {
		t.Errorf("4A.3: 45 tools: %d used, want 0 of %d", w.Used, before)
	}
	var found struct{ SearchTools []tool }
	a.ask(`query($w: ID!) { searchTools(window: $w, query: "search flights") { name tokens shown } }`, object{"w": id}, &found)
	if got := found.SearchTools; len(got) != 2 || got[0].Name != "search_flights" || got[1].Name != "book_flights" {
		t.Fatalf("4A.4: %+v", got)
	}
	if w := a.window(id); w.Used != found.SearchTools[0].Tokens+found.SearchTools[1].Tokens {
		t.Errorf("4A.4: %d used, want what was found", w.Used)
	}
	if m := a.metrics(); m["confusionMitigations"] != 1 || m["ragOverToolsCalls"] != 1 {
		t.Errorf("4A.5: %v", m)
	}
}

func TestAlternate7Clash(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("travel", 8192, "")
	older := a.mustWrite(id, "USER_PREFERENCE", "User prefers budget hotels", object{"observedAt": time.Now().Add(-48 * time.Hour).UTC()})
	newer := a.mustWrite(id, "USER_PREFERENCE", "User prefers luxury 5-star hotels")
	if len(newer.Mitigations) != 1 || newer.Mitigations[0].Failure != "CLASH" || newer.Mitigations[0].Action != "SUPERSEDED" || newer.Mitigations[0].Items[0] != older.Item.ID {
		t.Fatalf("2B.3: %+v", newer.Mitigations)
	}
	if got := texts(newer.Window.Items); len(got) != 1 || got[0] != "User prefers luxury 5-star hotels" {
		t.Errorf("2B.4: %q", got)
	}
	// What is older than what is there does not enter, however it comes.
	if late := a.writeTo(id, "USER_PREFERENCE", "User prefers budget hotels", object{"observedAt": time.Now().Add(-24 * time.Hour).UTC()}); late.Item != nil || late.Rejected == nil || late.Quality.Consistency != 0 {
		t.Errorf("2B.3: late: %+v", late)
	}
	// The same slot.
	first := a.mustWrite(id, "USER_PREFERENCE", "A room on a high floor", object{"key": "preference.floor"})
	if second := a.mustWrite(id, "USER_PREFERENCE", "A room near the garden", object{"key": "preference.floor"}); len(second.Mitigations) != 1 || second.Mitigations[0].Items[0] != first.Item.ID || len(second.Window.Items) != 2 {
		t.Errorf("2B: by key: %+v", second)
	}
	if m := a.metrics(); m["clashesResolved"] != 2 {
		t.Errorf("2B.5: %v", m)
	}
	var op struct {
		Window struct {
			Operations struct {
				Edges []struct {
					Node struct {
						Superseded []windowItem
						Judgements []struct {
							Relation, By, Known string
							Overruled           bool
						}
					}
				}
			}
		}
	}
	a.ask(`query($id: ID!) { window(id: $id) { operations(first: 10) { edges { node { superseded `+itemFields+` judgements { relation by known overruled } } } } } }`, object{"id": id}, &op)
	if clash := op.Window.Operations.Edges[3].Node; len(clash.Superseded) != 1 || clash.Superseded[0].Content != "User prefers budget hotels" || clash.Judgements[0].By != "rules" || clash.Judgements[0].Relation != "CONTRADICTS" || clash.Judgements[0].Overruled {
		t.Errorf("2B.5: on record: %+v", clash)
	}
	// Overruled, both are there.
	var out struct{ OverruleJudgement struct{ Entered []string } }
	a.ask(`mutation($o: ID!) { overruleJudgement(operation: $o, reason: "Both, for different journeys.") { entered } }`, object{"o": newer.Operation.ID}, &out)
	if got := texts(a.window(id).Items); !slices.Contains(got, "User prefers budget hotels") || !slices.Contains(got, "User prefers luxury 5-star hotels") {
		t.Errorf("overruled: %q", got)
	}
}

func TestAlternate8Scratchpad(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("documents", 8192, "")
	var documents []string
	for i := range 100 {
		documents = append(documents, fmt.Sprintf("Document %d. ", i)+strings.Repeat(sentence(i)+" ", 20))
	}
	var out struct {
		Offload []struct {
			ID     string
			Tokens int
		}
	}
	a.ask(`mutation($w: ID!, $c: [String!]!) { offload(window: $w, contents: $c) { id tokens } }`, object{"w": id, "c": documents}, &out)
	all := 0
	for _, e := range out.Offload {
		all += e.Tokens
	}
	if len(out.Offload) != 100 || all < 40_000 || a.window(id).Used != 0 {
		t.Fatalf("3C.2: %d entries of %d tokens, %d used", len(out.Offload), all, a.window(id).Used)
	}
	for i, e := range out.Offload {
		var in struct{ InjectFromScratchpad windowItem }
		a.ask(`mutation($w: ID!, $e: ID!) { injectFromScratchpad(window: $w, entry: $e) `+itemFields+` }`, object{"w": id, "e": e.ID}, &in)
		if in.InjectFromScratchpad.Content != documents[i] || in.InjectFromScratchpad.ID != e.ID {
			t.Fatalf("3C.4: document %d is %.40q", i, in.InjectFromScratchpad.Content)
		}
		if used := a.window(id).Used; used != e.Tokens {
			t.Fatalf("3C.4: %d used, want %d", used, e.Tokens)
		}
		var left struct{ RemoveFromWindow windowState }
		a.ask(`mutation($w: ID!, $i: [ID!]!) { removeFromWindow(window: $w, items: $i) `+windowFields+` }`, object{"w": id, "i": []string{e.ID}}, &left)
		if left.RemoveFromWindow.Used != 0 {
			t.Fatalf("3C.5: %d used", left.RemoveFromWindow.Used)
		}
	}
	var entry struct{ ScratchpadEntry struct{ Content string } }
	a.ask(`query($id: ID!) { scratchpadEntry(id: $id) { content } }`, object{"id": out.Offload[15].ID}, &entry)
	if entry.ScratchpadEntry.Content != documents[15] {
		t.Errorf("3C.6: the entry has gone: %.40q", entry.ScratchpadEntry.Content)
	}
	if m := a.metrics(); m["scratchpadWrites"] != 100 || m["scratchpadReads"] != 101 {
		t.Errorf("metrics: %v", m)
	}
}

func TestAlternate9RuntimeState(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("long", 3000, "")
	state := map[string]string{
		"SYSTEM_INSTRUCTION": "Answer in one sentence.", "USER_PREFERENCE": "Ana likes trains better than planes.", "GOAL": "Plan the journey to Lisbon.",
		"DECISION": "They leave from Santa Apolónia on 3 May.",
	}
	for kind, content := range state {
		a.mustWrite(id, kind, content)
	}
	var w windowState
	for i := range 30 {
		w = a.mustWrite(id, "USER_MESSAGE", strings.Repeat(sentence(2*i)+" ", 3)).Window
		w = a.mustWrite(id, "TOOL_RESULT", strings.Repeat(sentence(2*i+1)+" ", 2)).Window
	}
	if w.Usage >= 0.9 {
		t.Errorf("4B.5: usage is %v", w.Usage)
	}
	for kind, content := range state {
		if !slices.ContainsFunc(w.Items, func(i windowItem) bool { return i.Type == kind && i.Content == content }) {
			t.Errorf("4B.3: %q has left", content)
		}
	}
	if last := w.Items[len(w.Items)-1].Content; !contains(last, "note 59") {
		t.Errorf("4B.5: the newest is %.60q", last)
	}
	var aside struct {
		Window struct{ Scratchpad struct{ TotalCount int } }
	}
	a.ask(`query($id: ID!) { window(id: $id) { scratchpad(first: 0) { totalCount } } }`, object{"id": id}, &aside)
	if aside.Window.Scratchpad.TotalCount == 0 {
		t.Error("4B.4: nothing is on the scratchpad")
	}
}
