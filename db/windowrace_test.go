package db_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Many write to a window through two servers: all are counted, none is lost, and there is never more than the window may hold.
func TestManyWriteToAWindow(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	stores, conn := []*db.DB{one, openURL(t, url)}, superuser(t, url)
	for _, capacity := range []int{100_000, 600} {
		w := newWindow(t, one, capacity, "")
		const writers, each = 8, 10
		var wait sync.WaitGroup
		for n := range writers {
			wait.Go(func() {
				for i := range each {
					text, kind := fmt.Sprintf("Writer %d says what it has to say for the %d. time", n, i), []window.ContentType{window.Knowledge, window.ToolResult, window.AssistantMessage}[i%3]
					out, err := stores[n%2].WriteContext(t.Context(), w.ID, window.Draft{Type: kind, Content: text}, nil, agent)
					if err != nil || out.Item == nil || out.Window.Used() > capacity {
						t.Errorf("%s: %+v, %v", text, out.Rejected, err)
					}
				}
			})
		}
		wait.Wait()
		wantShape(t, t, conn)
		if got := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE window_id = $1 AND kind = 'write' AND rejected IS NULL", w.ID); got != writers*each {
			t.Errorf("%d writes are on record, want %d", got, writers*each)
		}
		if got := value[int](t, conn, `SELECT count(DISTINCT c.content) FROM (SELECT content FROM memory.window_items WHERE window_id = $1 AND summary_of = '{}'
			UNION SELECT content FROM memory.scratchpad WHERE window_id = $1) c`, w.ID); got != writers*each {
			t.Errorf("%d contents are in the window or put aside, want %d", got, writers*each)
		}
	}
}

// Two servers write to a window by turns that grows beyond what is remembered of most, and shrinks again: neither takes what it
// remembers for what is.
func TestWindowGrowsWideAndShrinks(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	stores, conn := []*db.DB{one, openURL(t, url)}, superuser(t, url)
	w := newWindow(t, one, 1_200_000, "")
	held, turn := map[string]string{}, 0
	next := func() *db.DB { turn++; return stores[turn%3%2] } // one, two, one, one, two, one
	compare := func() {
		t.Helper()
		for i, store := range stores {
			now, err := store.Window(t.Context(), w.ID)
			if err != nil {
				t.Fatal(err)
			}
			shown := map[string]string{}
			for _, item := range now.Items {
				shown[item.ID] = item.Content
			}
			if !maps.Equal(shown, held) {
				t.Fatalf("after turn %d, server %d shows %d items, want %d", turn, i+1, len(shown), len(held))
			}
		}
	}
	for round := range 3 {
		var wide []string
		for n := range 5 {
			text := strings.Repeat(fmt.Sprintf("what %d is told for the %d. time ", n, round), 90<<10/32)
			item := mustEnter(t, next(), w.ID, window.Draft{Type: window.Knowledge, Content: text})
			small := mustEnter(t, next(), w.ID, window.Draft{Type: window.Decision, Content: fmt.Sprintf("Number %d of round %d", n, round)})
			held[item.ID], held[small.ID] = item.Content, small.Content
			wide = append(wide, item.ID)
			compare()
		}
		for _, id := range wide {
			if _, err := next().RemoveFromWindow(t.Context(), w.ID, []string{id}, agent); err != nil {
				t.Fatal(err)
			}
			delete(held, id)
			compare()
		}
	}
	wantShape(t, t, conn)
}

// Who writes to what windows share, and to the windows, waits for nobody for ever.
func TestManyWriteToSharedSegments(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	stores, conn := []*db.DB{one, openURL(t, url)}, superuser(t, url)
	var ids []string
	for range 4 {
		ids = append(ids, newWindow(t, one, 3000, "").ID)
	}
	var segments []string
	for _, of := range [][]string{{ids[0], ids[1], ids[2]}, {ids[2], ids[1], ids[3]}, {ids[3], ids[0]}} {
		segment, err := one.CreateSegment(t.Context(), "s", slices.Clone(of))
		if err != nil {
			t.Fatal(err)
		}
		segments = append(segments, segment.ID)
	}
	through := []string{ids[0], ids[3], ids[3]}
	var wait sync.WaitGroup
	for n := range 6 {
		wait.Go(func() {
			store := stores[n%2]
			for i := range 6 {
				text := fmt.Sprintf("Sharer %d says what it has to say for the %d. time", n, i)
				out, err := store.WriteToSegment(t.Context(), segments[n%3], through[n%3], window.Draft{Type: window.Decision, Content: text}, nil, agent)
				if err != nil || out.Item == nil {
					t.Errorf("%s: %v, %v", text, out.Rejected, err)
					continue
				}
				if _, err := store.WriteContext(t.Context(), ids[(n+i)%4], window.Draft{Type: window.Knowledge, Content: "Besides, " + text}, nil, agent); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				if i%3 == 2 {
					if _, err := store.RemoveFromWindow(t.Context(), through[n%3], []string{out.Item.ID}, agent); err != nil {
						t.Errorf("%s, taken back: %v", text, err)
					}
				}
			}
		})
	}
	wait.Wait()
	wantShape(t, t, conn)
	if got := value[int](t, conn, "SELECT count(*) FROM memory.window_items WHERE segment_id IS NOT NULL"); got != 6*4 {
		t.Errorf("the segments hold %d, want %d", got, 6*4)
	}
}

// slow is a judge that says nothing until it may.
type slow struct {
	asked chan struct{}
	say   chan struct{}
}

func (s slow) Judge(ctx context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	s.asked <- struct{}{}
	select {
	case <-s.say:
		return make([]window.Verdict, len(pairs)), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// While a model thinks, no transaction is open, other windows are written to, and this one waits; who gives up has changed nothing.
func TestASlowModelHoldsUpItsWindowOnly(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	judge := slow{make(chan struct{}), make(chan struct{})}
	_, summariser := db.BuiltIn()
	store.UseModels(judge, summariser)
	w, other := newWindow(t, store, 1000, ""), newWindow(t, store, 1000, "")
	write := func(ctx context.Context, id, text string) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := store.WriteContext(ctx, id, window.Draft{Type: window.Knowledge, Content: text}, nil, agent)
			done <- err
		}()
		return done
	}
	if err := <-write(t.Context(), w.ID, "The hotel is in Lisbon"); err != nil { // nothing to compare it with
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := write(ctx, w.ID, "The hotel is in Madrid")
	<-judge.asked
	if n := value[int](t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'"); n != 0 {
		t.Errorf("%d transactions are open while the model thinks", n)
	}
	if err := <-write(t.Context(), other.ID, "The hotel is in Porto"); err != nil {
		t.Errorf("another window: %v", err)
	}
	second := write(t.Context(), w.ID, "The hotel is in Faro")
	cancel()
	if err := <-first; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("given up: %v, want %s", err, fault.Unavailable)
	}
	<-judge.asked // the second one's turn
	if got := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE window_id = $1", w.ID); got != 1 {
		t.Errorf("there are %d operations, want 1: who gave up has done nothing", got)
	}
	judge.say <- struct{}{}
	if err := <-second; err != nil {
		t.Errorf("the next one: %v", err)
	}
	wantShape(t, t, conn)
}

// Connections are ended in the middle of everything: what was acknowledged is there, what was not is there whole or not at all.
func TestWindowsOutliveTheirConnections(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	killer := superuser(t, url)
	ids := []string{newWindow(t, store, 700, "").ID, newWindow(t, store, 700, "").ID}
	segment, err := store.CreateSegment(t.Context(), "s", slices.Clone(ids))
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 6, 15
	var mu sync.Mutex
	acknowledged, failed := []string{}, 0
	stop := make(chan struct{})
	var wait, killing sync.WaitGroup
	killing.Go(func() {
		known := 0
		for pause := 5 * time.Millisecond; ; {
			select {
			case <-stop:
				return
			case <-time.After(pause):
				mu.Lock()
				if pause *= 2; len(acknowledged) > known || pause > time.Second { // a slow machine gets nothing done in between otherwise
					pause = 5 * time.Millisecond
				}
				known = len(acknowledged)
				mu.Unlock()
				mustExec(t, killer, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
					AND (query LIKE '%change_window%' OR query LIKE '%offload%' OR query LIKE 'commit%' OR query LIKE '%segment%')`)
			}
		}
	})
	for n := range writers {
		wait.Go(func() {
			for i := range each {
				var err error
				text := fmt.Sprintf("Writer %d says what it has to say for the %d. time", n, i)
				draft := window.Draft{Type: window.ToolResult, Content: text}
				switch {
				case i%5 == 4:
					_, err = store.CompressWindow(t.Context(), ids[n%2], 0.2, agent)
					text = ""
				case i%5 == 3:
					_, err = store.Offload(t.Context(), ids[n%2], []string{text, text + ", too"}, agent)
				case n == 0:
					draft.Type = window.Decision
					_, err = store.WriteToSegment(t.Context(), segment.ID, ids[0], draft, nil, agent)
				default:
					_, err = store.WriteContext(t.Context(), ids[n%2], draft, nil, agent)
				}
				mu.Lock()
				switch {
				case err == nil && text != "":
					acknowledged = append(acknowledged, text)
				case err != nil && fault.CodeOf(err) != fault.Unavailable:
					t.Errorf("%q: %v, want %s", text, err, fault.Unavailable)
				case err != nil:
					failed++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	close(stop)
	killing.Wait()
	conn := superuser(t, url) // the other may have been ended
	wantShape(t, t, conn)
	there := value[int](t, conn, `SELECT count(*) FROM unnest($1::text[]) AS a (text) WHERE EXISTS (SELECT FROM memory.window_items i WHERE i.content = a.text)
		OR EXISTS (SELECT FROM memory.scratchpad s WHERE s.content = a.text)`, acknowledged)
	if there != len(acknowledged) || len(acknowledged) == 0 || failed == 0 {
		t.Errorf("of %d that were acknowledged %d are there; %d failed, want some of each", len(acknowledged), there, failed)
	}
	if half := value[int](t, conn, "SELECT count(*) FROM memory.scratchpad s WHERE s.content LIKE '%, too' AND NOT EXISTS (SELECT FROM memory.scratchpad o WHERE o.content || ', too' = s.content)"); half != 0 {
		t.Errorf("%d were put aside by half", half)
	}
}

// Without its database nothing can be done to a window, and nothing has been done once it is back.
func TestWindowsWithoutTheirDatabase(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, conn := openURL(t, url), superuser(t, url)
	w := newWindow(t, store, 1000, "")
	if _, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Goal, Content: "Find a hotel"}, nil, agent); err != nil {
		t.Fatal(err)
	}
	segment, err := store.CreateSegment(t.Context(), "s", []string{w.ID})
	if err != nil {
		t.Fatal(err)
	}
	before := allOf(t, conn)
	operations := map[string]func() error{
		"write": func() error {
			_, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Goal, Content: "Find another"}, nil, agent)
			return err
		},
		"share": func() error {
			_, err := store.WriteToSegment(t.Context(), segment.ID, w.ID, window.Draft{Type: window.Goal, Content: "Find another"}, nil, agent)
			return err
		},
		"offload":  func() error { _, err := store.Offload(t.Context(), w.ID, []string{"Something"}, agent); return err },
		"compress": func() error { _, err := store.CompressWindow(t.Context(), w.ID, 0, agent); return err },
		"tools": func() error {
			_, err := store.RegisterTools(t.Context(), w.ID, []window.Tool{{Name: "find"}}, agent)
			return err
		},
		"search": func() error { _, err := store.SearchTools(t.Context(), w.ID, "find", 5, agent); return err },
		"remove": func() error {
			_, err := store.RemoveFromWindow(t.Context(), w.ID, []string{value[string](t, conn, "SELECT id FROM memory.window_items")}, agent)
			return err
		},
	}
	for _, broken := range []struct{ how, fail, mend string }{
		// As a disk that is full refuses what is written, in the middle of it.
		{"a full disk", `CREATE FUNCTION memory.full_disk() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;
			CREATE TRIGGER full_disk BEFORE INSERT ON memory.window_operations FOR EACH ROW EXECUTE FUNCTION memory.full_disk()`, "DROP FUNCTION memory.full_disk CASCADE"},
		{"a database that may not be written", "ALTER DATABASE " + conn.Config().Database + " SET default_transaction_read_only = on; " + endOthers, "SET default_transaction_read_only = off; ALTER DATABASE " + conn.Config().Database + " RESET default_transaction_read_only; " + endOthers},
	} {
		mustExec(t, conn, broken.fail)
		for name, do := range operations {
			for try := 0; ; try++ { // a connection that was ended is noticed once
				err := do()
				if fault.CodeOf(err) != fault.Unavailable {
					t.Errorf("%s: %s gave %v, want %s", broken.how, name, err, fault.Unavailable)
				}
				if try == 1 {
					break
				}
			}
		}
		mustExec(t, conn, broken.mend)
		if after := allOf(t, conn); after != before {
			t.Errorf("%s has changed\n%s to\n%s", broken.how, before, after)
		}
	}
	wantShape(t, t, conn)
	for name, do := range operations {
		if err := do(); err != nil {
			if err = do(); err != nil {
				t.Errorf("afterwards %s: %v", name, err)
			}
		}
	}
	wantShape(t, t, conn)
}
