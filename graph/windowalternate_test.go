package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The alternate flows of the specification UC-SYS-003, each under its number.

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
	const replace = `mutation($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t, replace: true) { name tokens shown } }`
	a.ask(replace, object{"w": id, "t": tools[:2]}, &out)
	if w := a.window(id); len(w.Tools) != 2 || len(out.RegisterTools) != 2 || w.Used != w.Tools[0].Tokens+w.Tools[1].Tokens {
		t.Errorf("replaced by two: %+v, %d used", w.Tools, w.Used)
	}
	if got := a.try(register, object{"w": id, "t": []object{}}); len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" {
		t.Errorf("none registered: %+v", got)
	}
	a.ask(replace, object{"w": id, "t": []object{}}, &out)
	if w := a.window(id); len(w.Tools) != 0 || len(out.RegisterTools) != 0 || w.Used != 0 {
		t.Errorf("replaced by none: %+v, %d used", w.Tools, w.Used)
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
