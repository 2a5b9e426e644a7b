package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// windowStatements counts statements about windows.
type windowStatements struct{ n atomic.Int64 }

func (s *windowStatements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "window") || strings.Contains(data.SQL, "Record") {
		s.n.Add(1)
	}
	return ctx
}

func (s *windowStatements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A server that has seen a window writes to it with a single statement, and what another one did meanwhile counts all the same.
func TestWriteByAGuess(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	var counter windowStatements
	two, err := db.Open(t.Context(), url, 4, slog.New(slog.DiscardHandler), db.WithTracer(&counter))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(two.Close)
	conn := superuser(t, url)
	write := func(t testing.TB, store *db.DB, id, content string) (db.WindowWritten, error) {
		t.Helper()
		return store.WriteContext(t.Context(), id, window.Draft{Type: window.Knowledge, Content: content}, nil, agent)
	}
	seen := func(t testing.TB, capacity int) window.Window {
		t.Helper()
		w := newWindow(t, one, capacity, "")
		if out, err := write(t, two, w.ID, "The journey begins in May."); err != nil || out.Item == nil {
			t.Fatal(out.Rejected, err)
		}
		return w
	}
	t.Run("one statement", func(t *testing.T) {
		w := seen(t, 1000)
		before := counter.n.Load()
		if out, err := write(t, two, w.ID, "Somebody packs a suitcase."); err != nil || out.Item == nil {
			t.Fatal(out.Rejected, err)
		}
		if n := counter.n.Load() - before; n != 1 {
			t.Errorf("a write takes %d statements, want 1", n)
		}
	})
	t.Run("another writes", func(t *testing.T) {
		w := seen(t, 1000)
		if _, err := write(t, one, w.ID, "The hotel is in Lisbon."); err != nil {
			t.Fatal(err)
		}
		out, err := write(t, two, w.ID, "The hotel is in Madrid.")
		if err != nil || len(out.Operation.Superseded) != 1 {
			t.Errorf("the other's sentence stays beside what contradicts it: %+v, %v", out.Mitigations, err)
		}
		wantShape(t, t, conn)
	})
	t.Run("another adds a record", func(t *testing.T) {
		w := seen(t, 1000)
		addRecord(t, one, "Eiffel", inParis)
		wantPoisoned(t, two, w.ID, "a record of another server", inLondon)
	})
	t.Run("another deletes the window", func(t *testing.T) {
		w := seen(t, 1000)
		if there, err := one.DeleteWindow(t.Context(), w.ID); err != nil || !there {
			t.Fatal(there, err)
		}
		if _, err := write(t, two, w.ID, "Somebody packs a suitcase."); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("to a window that is gone: %v, want %s", err, fault.NotFound)
		}
	})
	t.Run("another makes room", func(t *testing.T) {
		w := seen(t, 200)
		long := strings.Repeat("word after word ", 50)
		out, err := one.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Decision, Content: long}, nil, agent)
		if err != nil || out.Item == nil {
			t.Fatal(out.Rejected, err)
		}
		again := window.Draft{Type: window.Decision, Content: "Then " + long}
		for range 2 { // the first by reading the window, the second by a guess
			if _, err := two.WriteContext(t.Context(), w.ID, again, nil, agent); fault.CodeOf(err) != fault.ContextWindowExceeded {
				t.Fatalf("to a full window: %v, want %s", err, fault.ContextWindowExceeded)
			}
		}
		if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE window_id = $1 AND kind = 'exceeded'", w.ID); n != 2 {
			t.Errorf("%d attempts are on record, want 2", n)
		}
		if _, err := one.RemoveFromWindow(t.Context(), w.ID, []string{out.Item.ID}, agent); err != nil {
			t.Fatal(err)
		}
		if out, err := two.WriteContext(t.Context(), w.ID, again, nil, agent); err != nil || out.Item == nil {
			t.Errorf("once there is room: %q, %v", out.Rejected, err)
		}
	})
	t.Run("not somebody else's", func(t *testing.T) {
		w := seen(t, 1000)
		if _, err := write(t, two.As(hashOf("ply:other")), w.ID, "Somebody packs a suitcase."); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another agent's window: %v, want %s", err, fault.NotFound)
		}
	})
}

// Windows are deleted while others write to them: nothing of them is left but figures.
func TestDeleteWhileWriting(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	two, conn := openURL(t, url), superuser(t, url)
	for round := range 15 {
		w := newWindow(t, one, 300, "")
		put, err := one.Offload(t.Context(), w.ID, []string{"a note"}, agent)
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("word after word ", 100)
		var wait sync.WaitGroup
		for _, store := range []*db.DB{one, two} {
			for name, do := range map[string]func() error{
				"write": func() error {
					_, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: fmt.Sprintf("Note %d of a journey", round)}, nil, agent)
					return err
				},
				"exceed": func() error {
					_, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Decision, Content: long}, nil, agent)
					return err
				},
				"offload": func() error {
					_, err := store.Offload(t.Context(), w.ID, []string{"another", "note"}, agent)
					return err
				},
				"read": func() error { _, err := store.ReadScratchpad(t.Context(), put[0].ID, agent); return err },
			} {
				wait.Go(func() {
					for err := error(nil); fault.CodeOf(err) != fault.NotFound; {
						if err = do(); err != nil && fault.CodeOf(err) != fault.NotFound && fault.CodeOf(err) != fault.ContextWindowExceeded {
							t.Errorf("%s: %v", name, err)
							return
						}
					}
				})
			}
		}
		if _, err := one.DeleteWindow(t.Context(), w.ID); err != nil {
			t.Error(err)
		}
		wait.Wait()
	}
	for _, table := range []string{"window_items", "scratchpad", "window_operations"} {
		if n := value[int](t, conn, fmt.Sprintf("SELECT count(*) FROM memory.%s x WHERE x.window_id IS NOT NULL AND NOT EXISTS (SELECT FROM memory.windows w WHERE w.id = x.window_id)", table)); n != 0 {
			t.Errorf("%d rows of memory.%s are of windows that are gone", n, table)
		}
	}
}
