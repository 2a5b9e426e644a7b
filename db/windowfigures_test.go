package db_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// An attempt counts once, however many records contradict it; what did not fit has superseded nothing; and a window that is deleted
// leaves its figures, without a word.
func TestWindowFigures(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, view := superuser(t, url), store.As(agent)
	figures := func() [5]int64 {
		t.Helper()
		var both [2][5]int64
		for i, d := range []*db.DB{view, store} {
			m, err := d.ContextMetrics(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			both[i] = [5]int64{m.Poisoning, m.Clashes, m.Exceeded, m.Compressions, m.ScratchpadWrites}
		}
		if both[0] != both[1] {
			t.Errorf("the agent's figures are %v, all are %v", both[0], both[1])
		}
		return both[0]
	}
	addRecord(t, store, "Eiffel", inParis)
	addRecord(t, store, "Eiffel Tower", "The Eiffel Tower is in Paris, the capital of France.")
	w := newWindow(t, store, 100, "")
	wantPoisoned(t, store, w.ID, "what two records contradict", inLondon)
	write := func(content string) error {
		_, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.UserPreference, Content: content}, nil, agent)
		return err
	}
	if err := write("User prefers luxury hotels"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "what does not fit", write("User prefers budget hotels. "+strings.Repeat("Really a lot. ", 40)), fault.ContextWindowExceeded, "")
	if got, want := figures(), ([5]int64{1, 0, 1, 0, 0}); got != want {
		t.Errorf("attempts, clashes, exceeded, compressions and writes to the scratchpad are %v, want %v", got, want)
	}
	if err := write("User prefers budget hotels."); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Offload(t.Context(), w.ID, []string{"xylographer"}, agent); err != nil {
		t.Fatal(err)
	}
	before := figures()
	if before[1] != 1 || before[4] != 1 {
		t.Errorf("clashes and writes to the scratchpad are %d and %d, want 1 and 1", before[1], before[4])
	}
	if _, err := view.DeleteWindow(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if after := figures(); after != before {
		t.Errorf("attempts, clashes, exceeded, compressions and writes to the scratchpad were %v, and without the window are %v", before, after)
	}
	if got, err := store.As(ana).ContextMetrics(t.Context(), nil); err != nil || got.Poisoning != 0 {
		t.Errorf("somebody else counts %+v, %v", got, err)
	}
	left := value[string](t, conn, "SELECT string_agg(to_jsonb(o)::TEXT, ' ') FROM memory.window_operations o")
	for _, word := range []string{"Eiffel", "hotels", "Really", "xylographer", w.ID} {
		if strings.Contains(left, word) {
			t.Errorf("%q is left of a deleted window: %s", word, left)
		}
	}
}

// What erasing takes of what an administrator has said changes the window for whoever remembers it.
func TestEraseChangesOverruledWindows(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, view := superuser(t, url), store.As(ana)
	m := mustAppend(t, store, from(ana, "a", "The code of the safe is xylographer."))[0]
	w := fillWindow(t, store, ana, nil)
	addRecord(t, store, "Eiffel", inParis)
	written, err := view.WriteContext(t.Context(), w, window.Draft{Type: window.Knowledge, Content: inLondon}, &m.Hash, ana)
	if err != nil || written.Rejected == "" {
		t.Fatalf("WriteContext() = %+v, %v", written, err)
	}
	if _, err := office(store).Overrule(t.Context(), written.Operation.ID, "it is a novel", boss.Player); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "DELETE FROM memory.window_items") // so that nothing else of it is touched
	mustExec(t, conn, "UPDATE memory.windows SET used = 0")
	before := value[int](t, conn, "SELECT version FROM memory.windows")
	mustErase(t, store, m.Hash)
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_overruled"); n != 0 {
		t.Errorf("%d pairs are left", n)
	}
	if after := value[int](t, conn, "SELECT version FROM memory.windows"); after <= before {
		t.Errorf("the version is %d, and was %d", after, before)
	}
}

// Of what a window says of its tools, there is so much and no more, and a search among as many tools as there may be is fast.
func TestWindowToolsWithinBytes(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	w := newWindow(t, store, 8192, "")
	tools := make([]window.Tool, 100)
	for i := range tools {
		tools[i] = window.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("does things ", 1000)}
	}
	_, err := store.RegisterTools(t.Context(), w.ID, tools, agent)
	wantCode(t, "1.2 MB of tools", err, fault.BadUserInput, "tools")
	if now, err := store.Window(t.Context(), w.ID); err != nil || len(now.Tools) != 0 {
		t.Errorf("the window has %d tools, %v", len(now.Tools), err)
	}
	tools = make([]window.Tool, window.MaxTools)
	for i := range tools {
		tools[i] = window.Tool{Name: fmt.Sprint("tool", i), Description: said(i) + " " + said(i+1)}
	}
	if _, err = store.RegisterTools(t.Context(), w.ID, tools, agent); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		began := time.Now()
		found, err := store.SearchTools(t.Context(), w.ID, "note 77", 5, agent)
		if err != nil || len(found) == 0 || found[0].Name != "tool76" && found[0].Name != "tool77" {
			t.Fatalf("SearchTools() = %+v, %v", found, err)
		}
		t.Logf("a search among %d tools: %v", len(tools), time.Since(began))
	}
}

// A selection that somebody else's write comes in between is not asked for again: one is kept.
func TestWindowSelectionKeptOnce(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	mustAppend(t, store, from(agent, "a", "The falcon nests in the tower."))
	w := newWindow(t, store, 8192, "")
	// The first two attempts find that somebody was faster.
	mustExec(t, conn, `CREATE SEQUENCE public.attempts; GRANT USAGE ON SEQUENCE public.attempts TO PUBLIC;
		CREATE FUNCTION public.faster() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.version > OLD.version AND nextval('public.attempts') <= 2 THEN RETURN NULL; END IF; RETURN NEW; END $$;
		CREATE TRIGGER faster BEFORE UPDATE ON memory.windows FOR EACH ROW EXECUTE FUNCTION public.faster()`)
	chosen, err := store.SelectIntoWindow(t.Context(), w.ID, selection.Request{Query: "falcon", Limit: 5}, agent)
	if err != nil || len(chosen.Items) == 0 {
		t.Fatalf("SelectIntoWindow() = %+v, %v", chosen, err)
	}
	if n := value[int](t, conn, "SELECT last_value FROM public.attempts"); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.selections"); n != 1 {
		t.Errorf("%d selections are kept, want 1", n)
	}
}

// What a window did not take is kept of the newest only, so that nobody fills the disk with it; the reason stays.
func TestRejectedDraftsAreFew(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, ctx := superuser(t, url), t.Context()
	w := newWindow(t, store, 8192, "")
	reject := func(content string) string {
		t.Helper()
		out, err := store.WriteContext(ctx, w.ID, window.Draft{Type: window.Knowledge, Content: content}, nil, agent)
		if err != nil || out.Rejected == "" {
			t.Fatalf("WriteContext() = %+v, %v, want it rejected", out.Rejected, err)
		}
		return out.Operation.ID
	}
	kept := func() int {
		return value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE draft IS NOT NULL")
	}
	first, second := reject("single"), reject("alone")
	mustExec(t, conn, `INSERT INTO memory.window_operations (window_id, kind, at, capacity, tokens_before, tokens_after, took_us, draft, rejected)
		SELECT o.window_id, o.kind, o.at, o.capacity, 0, 0, 0, o.draft, o.rejected FROM memory.window_operations o, generate_series(1, $1) WHERE o.id = $2::UUID`, db.MaxDrafts-2, second)
	if n := kept(); n != db.MaxDrafts {
		t.Errorf("%d are kept, want %d", n, db.MaxDrafts)
	}
	reject("last")
	if n := kept(); n != db.MaxDrafts {
		t.Errorf("after one more, %d are kept, want %d", n, db.MaxDrafts)
	}
	_, err := office(store).Overrule(ctx, first, "it is so", boss.Player)
	wantCode(t, "the oldest", err, fault.BadUserInput, "operation")
	if o, err := store.WindowOperation(ctx, first); err != nil || o.Draft != nil || o.Rejected == nil {
		t.Errorf("the oldest is %+v, %v, want the reason alone", o, err)
	}
	if _, err := office(store).Overrule(ctx, second, "it is so", boss.Player); err != nil {
		t.Errorf("the second: %v", err)
	}
	other := newWindow(t, store, 8192, "")
	if _, err := store.WriteContext(ctx, other.ID, window.Draft{Type: window.Knowledge, Content: "elsewhere"}, nil, agent); err != nil {
		t.Fatal(err)
	}
	// Long ones count by what they take on disk, where nothing makes this smaller.
	mustExec(t, conn, `INSERT INTO memory.window_operations (window_id, kind, at, capacity, tokens_before, tokens_after, took_us, draft, rejected)
		SELECT o.window_id, o.kind, o.at, o.capacity, 0, 0, 0, jsonb_build_object('content', l.content), o.rejected
		FROM memory.window_operations o, (SELECT string_agg(md5(g::TEXT), '') AS content FROM generate_series(1, 1 << 15) g) l, generate_series(1, 30) WHERE o.id = $1::UUID`, first)
	if n := value[int](t, conn, "SELECT sum(pg_column_size(draft))::INT FROM memory.window_operations"); n > 17<<20 || n < 12<<20 {
		t.Errorf("%d bytes are kept, want nearly 16 MiB", n)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE draft IS NOT NULL AND window_id = $1::UUID", other.ID); n != 1 {
		t.Errorf("%d of another window are kept, want 1", n)
	}
}
