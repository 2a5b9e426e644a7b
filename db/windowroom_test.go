package db_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// A scratchpad that lacks little to its limits takes what fits, whoever else puts something aside at the same time, and no more: not by a
// compression either, which then changes nothing, and is on record.
func TestScratchpadIsBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fill  string // puts aside all but three documents
		limit string
	}{
		"entries": {"SELECT 'e' || n, $1, 'knowledge', '', 'x', 1, now(), now() FROM generate_series(1, 100000 - 3) AS n", "at most 100000 entries"},
		"bytes":   {"SELECT 'e' || n, $1, 'knowledge', '', repeat('x', 1048576 - CASE n WHEN 1 THEN 3 * 500 ELSE 0 END), 1, now(), now() FROM generate_series(1, 256) AS n", "256 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, at := open(t)
			conn := superuser(t, at)
			w := newWindow(t, store, 200, "")
			view := store.As(agent)
			mustExec(t, conn, "INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, observed_at, created_at) "+test.fill, w.ID)
			document := strings.Repeat("word ", 100) // 500 bytes
			results := make([]error, 8)
			var wg sync.WaitGroup
			for i := range results {
				wg.Go(func() { _, results[i] = view.Offload(t.Context(), w.ID, []string{document}, agent) })
			}
			wg.Wait()
			put := 0
			for _, err := range results {
				f, _ := errors.AsType[*fault.Error](err)
				switch {
				case err == nil:
					put++
				case f == nil || f.Code != fault.Conflict || f.Field != "contents" || !strings.Contains(f.Message, test.limit):
					t.Errorf("Offload() = %v", err)
				}
			}
			if put != 3 {
				t.Errorf("%d entries were put aside, want 3", put)
			}
			if n := value[int](t, conn, "SELECT count(*) FROM memory.scratchpad WHERE created_at > (SELECT created_at FROM memory.windows WHERE id = $1) AND content LIKE 'word%'", w.ID); n != 3 {
				t.Errorf("%d entries are there, want 3", n)
			}
			if _, err := store.As(cleo).Offload(t.Context(), w.ID, []string{document}, cleo); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("somebody else is told %v", err)
			}

			for range 2 {
				mustEnter(t, view, w.ID, window.Draft{Type: window.ToolResult, Content: strings.Repeat("result ", 80)})
			}
			before := holdings(t, store, w.ID)
			if _, err := view.CompressWindow(t.Context(), w.ID, 0.1, agent); fault.CodeOf(err) != fault.ContextWindowExceeded || !strings.Contains(err.Error(), test.limit) {
				t.Errorf("CompressWindow() = %v, want %s", err, fault.ContextWindowExceeded)
			}
			if _, err := view.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: document}, nil, agent); fault.CodeOf(err) != fault.ContextWindowExceeded {
				t.Errorf("WriteContext() = %v, want %s", err, fault.ContextWindowExceeded)
			}
			if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE window_id = $1 AND kind = 'exceeded' AND rejected LIKE '%' || $2 || '%'", w.ID, test.limit); n != 2 {
				t.Errorf("%d are on record, want 2", n)
			}
			if after := holdings(t, store, w.ID); after != before {
				t.Errorf("the window holds %d tokens, and held %d", after, before)
			}
			other := newWindow(t, store, 200, "")
			if _, err := view.Offload(t.Context(), other.ID, []string{document}, agent); err != nil {
				t.Errorf("another window: %v", err)
			}
		})
	}
}

func holdings(t *testing.T, store *db.DB, id string) int {
	t.Helper()
	w, err := store.Window(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return w.Used()
}

// What was refused takes no room.
func TestScratchpadRefusedTakesNothing(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn := superuser(t, at)
	w := newWindow(t, store, 200, "")
	view := store.As(agent)
	mustExec(t, conn, "INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, observed_at, created_at) SELECT 'e' || n, $1, 'knowledge', '', 'x', 1, now(), now() FROM generate_series(1, 100000 - 2) AS n", w.ID)
	if _, err := view.Offload(t.Context(), w.ID, []string{"a", "b", "c"}, agent); fault.CodeOf(err) != fault.Conflict {
		t.Fatalf("three: %v", err)
	}
	if _, err := store.As(cleo).Offload(t.Context(), w.ID, []string{"a", "b"}, cleo); fault.CodeOf(err) != fault.NotFound {
		t.Fatalf("somebody else: %v", err)
	}
	if _, err := view.Offload(t.Context(), w.ID, []string{"a", "b"}, agent); err != nil {
		t.Errorf("two: %v", err)
	}
}

// What a write to a segment would put aside of one window takes no room there if another one's scratchpad has none.
func TestScratchpadRoomIsGivenBack(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn := superuser(t, at)
	view := store.As(agent)
	ids := []string{newWindow(t, store, 200, "").ID, newWindow(t, store, 200, "").ID}
	slices.Sort(ids) // they are changed in this order
	segment, err := view.CreateSegment(t.Context(), "s", ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		for range 2 {
			mustEnter(t, view, id, window.Draft{Type: window.ToolResult, Content: strings.Repeat("result ", 84)})
		}
		mustExec(t, conn, "INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, observed_at, created_at) SELECT $2 || n, $1, 'knowledge', '', 'x', 1, now(), now() FROM generate_series(1, 100000 - $3) AS n",
			id, string(rune('a'+i)), []int{2, 0}[i])
	}
	if _, err := view.WriteToSegment(t.Context(), segment.ID, ids[0], window.Draft{Type: window.Knowledge, Content: strings.Repeat("word ", 30)}, nil, agent); fault.CodeOf(err) != fault.ContextWindowExceeded || !strings.Contains(err.Error(), "another window") {
		t.Fatalf("nothing can be put aside: %v", err)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE window_id = $1 AND kind = 'exceeded' AND draft ->> 'content' LIKE 'word%'", ids[0]); n != 1 {
		t.Errorf("it is on record %d times", n)
	}
	if _, err := view.Offload(t.Context(), ids[0], []string{"a", "b"}, agent); err != nil {
		t.Errorf("what fits: %v", err)
	}
}

// Who waits for the count of a scratchpad holds up nobody: everybody gives up when their time is over.
func TestScratchpadIsCountedByEachInTheirOwnTime(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn, look := superuser(t, at), superuser(t, at)
	w := newWindow(t, store, 200, "")
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE memory.scratchpad"); err != nil {
		t.Fatal(err)
	}
	put := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := store.As(agent).Offload(ctx, w.ID, []string{"a"}, agent)
			done <- err
		}()
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := put(ctx)
	second := put(t.Context())
	const counting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	for until := time.Now().Add(20 * time.Second); value[int](t, look, counting) < 2; {
		if time.Now().After(until) {
			t.Fatal("one waits for what the other counts")
		}
	}
	cancel()
	if err := <-first; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("given up: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}
