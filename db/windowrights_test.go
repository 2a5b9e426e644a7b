package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// fillWindow makes a window of an agent's, with one of everything, and gives its id. What is written comes from a source.
func fillWindow(t *testing.T, store *db.DB, agent chain.Hash, source *chain.Hash) string {
	t.Helper()
	ctx, view := t.Context(), store.As(agent)
	w, err := view.CreateWindow(ctx, db.NewWindow{Name: "w", Agent: agent, Capacity: 2000})
	if err != nil {
		t.Fatal(err)
	}
	segment, err := view.CreateSegment(ctx, "s", []string{w.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = view.Offload(ctx, w.ID, []string{"aside"}, agent); err != nil {
		t.Fatal(err)
	}
	if _, err = view.RegisterTools(ctx, w.ID, []window.Tool{{Name: "open_door", Description: "opens a door"}}, agent); err != nil {
		t.Fatal(err)
	}
	if _, err = view.WriteToSegment(ctx, segment.ID, w.ID, window.Draft{Type: window.UserMessage, Content: "The shared code is xylographer."}, source, agent); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, view, w.ID, agent, "The code of the safe is xylographer.", source)
	return w.ID
}

func mustWrite(t *testing.T, view *db.DB, id string, by chain.Hash, content string, source *chain.Hash) db.WindowWritten {
	t.Helper()
	written, err := view.WriteContext(t.Context(), id, window.Draft{Type: window.UserMessage, Content: content}, source, by)
	if err != nil || written.Rejected != "" {
		t.Fatalf("WriteContext() = %q, %v", written.Rejected, err)
	}
	return written
}

// The logins of a Postgres that is the server's own may do everything about windows, as an agent and as an administrator.
func TestWindowsOfOwnLogins(t *testing.T) {
	t.Parallel()
	_, at := open(t)
	store := openOwn(t, at)
	ctx := t.Context()
	m := mustAppend(t, store, from(ana, "a", "The falcon nests in the tower."), from(ana, "a", "The code of the safe is xylographer."))
	view, id := store.As(ana), fillWindow(t, store, ana, &m[1].Hash)
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := view.SelectIntoWindow(ctx, id, selection.Request{Query: "falcon", Limit: 5, Threshold: 0}, ana)
	must("SelectIntoWindow", err)
	_, err = view.SearchTools(ctx, id, "open a door", 5, ana)
	must("SearchTools", err)
	for i := range 25 {
		mustWrite(t, view, id, ana, fmt.Sprintf("In note %d somebody walked past the museum.", i), nil)
	}
	_, err = view.CompressWindow(ctx, id, 0, ana)
	must("CompressWindow", err)
	entries, err := view.Scratchpad(ctx, id, db.Page[string]{Limit: 5})
	if err != nil || len(entries.Items) == 0 {
		t.Fatalf("Scratchpad() = %+v, %v", entries, err)
	}
	_, err = view.ReadScratchpad(ctx, entries.Items[0].Value.ID, ana)
	must("ReadScratchpad", err)
	item, err := view.InjectFromScratchpad(ctx, id, entries.Items[0].Value.ID, ana)
	must("InjectFromScratchpad", err)
	_, err = view.RemoveFromWindow(ctx, id, []string{item.ID}, ana)
	must("RemoveFromWindow", err)
	_, err = view.WriteContext(ctx, id, window.Draft{Type: window.UserMessage, Content: strings.Repeat("far too much ", 5000)}, nil, ana)
	wantCode(t, "what does not fit", err, fault.ContextWindowExceeded, "")
	rejected, err := view.WriteContext(ctx, id, window.Draft{Type: window.Knowledge, Content: "word"}, nil, ana)
	if err != nil || rejected.Rejected == "" {
		t.Fatalf("WriteContext() = %+v, %v", rejected, err)
	}
	_, err = office(store).Overrule(ctx, rejected.Operation.ID, "it is a name", boss.Player)
	must("Overrule", err)
	mustQuarantine(t, store, m[0].Hash)
	mustErase(t, store, m[1].Hash)
	if gone, err := view.DeleteWindow(ctx, id); err != nil || !gone {
		t.Errorf("DeleteWindow() = %t, %v", gone, err)
	}
	conn := superuser(t, as(t, at, db.WriterRole)) // which it is not
	for _, sql := range []string{
		"UPDATE memory.windows SET agent = agent", "UPDATE memory.window_items SET content = ''", "UPDATE memory.scratchpad SET content = ''", "DELETE FROM memory.scratchpad",
		"DELETE FROM memory.window_operations", "UPDATE memory.window_operations SET draft = NULL", "DELETE FROM memory.window_overruled", "DELETE FROM memory.segment_windows",
	} {
		if _, err := conn.Exec(ctx, sql); sqlState(err) != "42501" {
			t.Errorf("%s as the server's login: %v, want permission denied", sql, err)
		}
	}
}

// Nothing of an erased message is left of it in windows: not in items, on scratchpads, in summaries, or in what the history says was
// rejected, judged or superseded.
func TestEraseLeavesNothingInWindows(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	ctx, conn, view := t.Context(), superuser(t, at), store.As(ana)
	target := mustAppend(t, store, from(ana, "a", "The code of the safe is xylographer."))[0]
	id := fillWindow(t, store, ana, &target.Hash)
	for i := range 25 { // the oldest are summarised
		mustWrite(t, view, id, ana, fmt.Sprintf("The user prefers xylographer rooms to suites %d times.", i), &target.Hash)
	}
	draft := func(kind window.ContentType, content string) db.WindowWritten {
		t.Helper()
		w, err := view.WriteContext(ctx, id, window.Draft{Type: kind, Content: content}, &target.Hash, ana)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if w := draft(window.Knowledge, "xylographer"); w.Rejected == "" {
		t.Error("nothing is rejected")
	}
	draft(window.UserPreference, "User prefers budget xylographer hotels")
	clash := draft(window.UserPreference, "User prefers luxury xylographer hotels")
	if len(clash.Judgements) == 0 {
		t.Error("nothing is judged")
	}
	if _, err := office(store).Overrule(ctx, clash.Operation.ID, "both hold", boss.Player); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_overruled"); n != 1 {
		t.Errorf("%d pairs are overruled, want 1", n)
	}
	_, err := view.WriteContext(ctx, id, window.Draft{Type: window.UserMessage, Content: strings.Repeat("xylographer ", 2000)}, &target.Hash, ana)
	wantCode(t, "what does not fit", err, fault.ContextWindowExceeded, "")
	if _, err := view.CompressWindow(ctx, id, 0.01, ana); err != nil {
		t.Fatal(err)
	}
	// A summary's words, superseded: without a source of its own.
	w, err := store.Window(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	at2 := slices.IndexFunc(w.Items, func(i window.Item) bool { return i.IsSummary() })
	if at2 < 0 {
		t.Fatal("nothing is summarised")
	}
	if _, err := view.RemoveFromWindow(ctx, id, []string{w.Items[at2].ID}, ana); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, view, id, ana, "The weather is fine.", nil)
	trace := map[string]string{"the word": "xylographer"}
	if found := tablesWith(t, conn, trace); len(found["the word"]) < 4 {
		t.Errorf("before the erasure: in %v", found)
	}
	mustErase(t, store, target.Hash)
	for what, tables := range tablesWith(t, conn, trace) {
		t.Errorf("%s is left in %s", what, strings.Join(tables, ", "))
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_overruled"); n != 0 {
		t.Errorf("hashes of %d pairs are left", n)
	}
	if w, err = store.Window(ctx, id); err != nil || slices.ContainsFunc(w.Items, func(i window.Item) bool { return strings.Contains(i.Content, "xylographer") }) {
		t.Errorf("Window() = %+v, %v", w, err)
	}
	if used := value[int](t, conn, "SELECT memory.window_used(id) FROM memory.windows"); used != w.Used() {
		t.Errorf("the window holds %d, and says %d", used, w.Used())
	}
	_, err = view.WriteContext(ctx, id, window.Draft{Type: window.UserMessage, Content: "again"}, &target.Hash, ana)
	wantCode(t, "written again", err, fault.BadUserInput, "input.source")
}

// What is in quarantine leaves windows with the summaries that stand for it, and comes back on no way: not from the scratchpad, not by
// an administrator's word, and not once it is released.
func TestQuarantineLeavesWindows(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx, view := t.Context(), store.As(ana)
	m := mustAppend(t, store, from(ana, "a", "Send money."))[0]
	id := fillWindow(t, store, ana, &m.Hash)
	for i := range 21 {
		mustWrite(t, view, id, ana, fmt.Sprintf("Send money to account %d.", i), &m.Hash)
	}
	entries, err := view.Scratchpad(ctx, id, db.Page[string]{Limit: 1})
	if err != nil || len(entries.Items) != 1 {
		t.Fatalf("Scratchpad() = %+v, %v", entries, err)
	}
	rejected, err := view.WriteContext(ctx, id, window.Draft{Type: window.Knowledge, Content: "money"}, &m.Hash, ana)
	if err != nil || rejected.Rejected == "" {
		t.Fatalf("WriteContext() = %+v, %v", rejected, err)
	}
	mustQuarantine(t, store, m.Hash)
	empty := func(when string) {
		t.Helper()
		w, err := view.Window(ctx, id)
		if err != nil || len(w.Items) != 0 || len(w.Segments[0].Items) != 0 {
			t.Errorf("%s the window holds %+v and shares %+v, %v; want nothing", when, w.Items, w.Segments[0].Items, err)
		}
	}
	empty("in quarantine")
	_, err = view.InjectFromScratchpad(ctx, id, entries.Items[0].Value.ID, ana)
	wantCode(t, "injected", err, fault.ContentRejected, "entry")
	_, err = view.WriteContext(ctx, id, window.Draft{Type: window.UserMessage, Content: "again"}, &m.Hash, ana)
	wantCode(t, "written", err, fault.BadUserInput, "input.source")
	_, err = office(store).Overrule(ctx, rejected.Operation.ID, "why", boss.Player)
	wantCode(t, "overruled", err, fault.ContentRejected, "operation")
	other := fillWindow(t, store, cleo, nil)
	_, err = store.As(cleo).WriteContext(ctx, other, window.Draft{Type: window.UserMessage, Content: "again"}, &m.Hash, cleo)
	wantCode(t, "by somebody who does not see it", err, fault.NotFound, "input.source")
	mustRelease(t, store, m.Hash)
	empty("released")
}

// A segment of two agents' windows: each sees what is shared, and may write to it and take it out, through their own window only; of the
// other's nothing is told, not even how full it is.
func TestSegmentOfTwoAgents(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx := t.Context()
	anas, cleos := fillWindow(t, store, ana, nil), fillWindow(t, store, cleo, nil)
	_, err := store.As(ana).CreateSegment(ctx, "both", []string{anas, cleos})
	wantCode(t, "made by one of them", err, fault.NotFound, "windows")
	segment, err := office(store).CreateSegment(ctx, "both", []string{anas, cleos, anas})
	if err != nil || segment.WindowCount != 2 {
		t.Fatalf("CreateSegment() = %+v, %v", segment, err)
	}
	said := window.Draft{Type: window.UserMessage, Content: "The meeting is on Monday."}
	_, err = store.As(ana).WriteToSegment(ctx, segment.ID, cleos, said, nil, ana)
	wantCode(t, "through the other's window", err, fault.NotFound, "segment")
	written, err := store.As(ana).WriteToSegment(ctx, segment.ID, anas, said, nil, ana)
	if err != nil || written.Window.ID != anas {
		t.Fatalf("WriteToSegment() = %+v, %v", written, err)
	}
	sees := func(player chain.Hash, id string, want int) {
		t.Helper()
		w, err := store.As(player).Window(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(w.Segments, func(s window.Segment) bool { return s.ID == segment.ID })
		if at < 0 || len(w.Segments[at].Items) != want {
			t.Errorf("shared is %+v, want %d items", w.Segments, want)
		}
	}
	sees(ana, anas, 1)
	sees(cleo, cleos, 1)
	_, err = store.As(ana).Window(ctx, cleos)
	wantCode(t, "the other's window", err, fault.NotFound, "window")
	if _, err = store.As(cleo).RemoveFromWindow(ctx, cleos, []string{written.Item.ID}, cleo); err != nil {
		t.Fatal(err)
	}
	sees(ana, anas, 0)
	if _, err := store.As(cleo).WriteContext(ctx, cleos, window.Draft{Type: window.Goal, Content: strings.Repeat("goal ", 1800)}, nil, cleo); err != nil {
		t.Fatal(err)
	}
	_, err = store.As(ana).WriteToSegment(ctx, segment.ID, anas, window.Draft{Type: window.UserMessage, Content: strings.Repeat("word ", 400)}, nil, ana)
	wantCode(t, "no room at the other's", err, fault.ContextWindowExceeded, "")
	if strings.Contains(err.Error(), "2000") || !strings.Contains(err.Error(), "another window") {
		t.Errorf("it says %q", err)
	}
	if gone, err := store.As(cleo).DeleteWindow(ctx, cleos); err != nil || !gone {
		t.Fatalf("DeleteWindow() = %t, %v", gone, err)
	}
	w, err := store.As(ana).Window(ctx, anas)
	if at := slices.IndexFunc(w.Segments, func(s window.Segment) bool { return s.ID == segment.ID }); err != nil || at < 0 || w.Segments[at].WindowCount != 1 {
		t.Errorf("once the other is gone: %+v, %v", w.Segments, err)
	}
}
