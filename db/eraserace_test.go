package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// waits returns once a query that counts backends gives one, which it must soon.
func waits(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for n := 0; n == 0; {
		if err := conn.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// blockedErasures counts erasures of this database that wait for a lock.
const blockedErasures = `SELECT count(*) FROM pg_stat_activity a WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query LIKE '%log.erase(%'`

// While others append to the same session, messages of it are erased: nothing is lost, nothing forks, and no search
// that begins after an erasure gives what is erased.
func TestEraseWhileOthersAppend(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	const writers, each, erasures = 4, 25, 40
	var early []chain.Draft
	for i := range erasures {
		early = append(early, draft("s", fmt.Sprintf("Guest %d left an umbrella.", i)))
	}
	victims := mustAppend(t, store, early...)
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			to := []*db.DB{store, other}[w%2]
			for i := range each {
				if _, err := to.Append(t.Context(), []chain.Draft{draft("s", fmt.Sprintf("umbrella %d of %d", i, w)), draft("s", "and one more")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for half := range 2 {
		work.Go(func() {
			from := []*db.DB{store, other}[half]
			for i := half; i < erasures; i += 2 {
				if _, err := from.Erase(t.Context(), victims[i].Hash, eraser, "asked for"); err != nil {
					t.Error(err)
				}
				s, err := from.RequestContext(t.Context(), selection.Request{Query: "Who left an umbrella?", Limit: 200})
				if err != nil {
					t.Error(err, errors.Unwrap(err))
				}
				if slices.ContainsFunc(s.Items, func(item selection.Item) bool { return item.Hash == victims[i].Hash }) {
					t.Errorf("message %d is found after its erasure", i)
				}
			}
		})
	}
	work.Wait()
	wantLog(t, store, erasures)
	sessions, err := store.SessionsByHash(t.Context(), []chain.Hash{victims[0].SessionHash})
	if err != nil || len(sessions) != 1 || sessions[0].Length != 2*erasures+writers*each*2 {
		t.Errorf("session = %+v, %v; want %d messages", sessions, err, 2*erasures+writers*each*2)
	}
	conn := superuser(t, url)
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.lexical l JOIN log.messages m ON m.id = l.source_id AND l.kind = 'context' WHERE m.content IS NULL"); n != 0 {
		t.Errorf("erased messages have %d vectors", n)
	}
	if n := value[int](t, conn, `SELECT count(*) FROM memory.selections s CROSS JOIN jsonb_array_elements(s.items) WITH ORDINALITY AS i (item, place)
		JOIN log.messages m ON m.hash = i.item ->> 'hash' WHERE m.content IS NULL AND split_part(s.rendered, E'\n- ', i.place::INT + 1) <> '[erased]'`); n != 0 {
		t.Errorf("selections have %d texts of erased messages", n)
	}
}

// Of erasures of one message at once, one does it.
func TestEraseAtOnce(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	stores := []*db.DB{store, openURL(t, url)}
	target := mustAppend(t, store, draft("s", "first"))[0]
	outcomes := make(chan error)
	for i := range 8 {
		go func() {
			_, err := stores[i%2].Erase(t.Context(), target.Hash, eraser, "asked for")
			outcomes <- err
		}()
	}
	done := 0
	for range 8 {
		switch err := <-outcomes; {
		case err == nil:
			done++
		case fault.CodeOf(err) != fault.Conflict:
			t.Errorf("Erase() = %v, want %s", err, fault.Conflict)
		}
	}
	if done != 1 {
		t.Errorf("%d erasures were done, want 1", done)
	}
	if n := value[int](t, superuser(t, url), "SELECT count(*) FROM log.messages"); n != 2 {
		t.Errorf("there are %d messages, want 2", n)
	}
	wantLog(t, store, 1)
}

// An erasure whose backend is ended in the middle, with the message changed already, has done nothing.
func TestEraseIsAllOrNothing(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, locker := superuser(t, url), superuser(t, url)
	target := mustAppend(t, store, secret("s"), draft("s", "second"))[0]
	ask(t, store, "Which code has the safe?", nil)
	before := logState(t, conn)
	// In the order in which the function comes to them.
	for _, table := range []string{"log.messages", "log.message_refs", "log.append_keys", "embedding.lexical", "embedding.pending", "memory.selections", "seal.outbox"} {
		mustExec(t, locker, "BEGIN; LOCK TABLE "+table+" IN SHARE MODE")
		outcome := make(chan error, 1)
		go func() {
			_, err := store.Erase(t.Context(), target.Hash, eraser, "asked for")
			outcome <- err
		}()
		waits(t, conn, blockedErasures)
		mustExec(t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity a
			WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query LIKE '%log.erase(%' AND pid <> pg_backend_pid()`)
		if err := <-outcome; fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("ended at %s: Erase() = %v, want %s", table, err, fault.Unavailable)
		}
		mustExec(t, locker, "ROLLBACK")
		if got := logState(t, conn); got != before {
			t.Fatalf("ended at %s: the log was %s and is %s", table, before, got)
		}
		if n := value[int](t, conn, "SELECT count(*) FROM embedding.lexical WHERE source_id = $1", target.ID); n == 0 {
			t.Errorf("ended at %s: the vectors are gone", table)
		}
		wantLog(t, store, 0)
	}
	mustErase(t, store, target.Hash)
	wantLog(t, store, 1)
}

// Who read a text before its erasure and writes vectors made of it holds up the erasure, which then removes them.
func TestEraseWaitsForVectors(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, indexer := superuser(t, url), superuser(t, url)
	target := mustAppend(t, store, draft("s", "first"))[0]
	ask(t, store, "first", nil) // gives it vectors
	mustExec(t, conn, "DELETE FROM embedding.lexical")
	mustExec(t, indexer, "BEGIN; SELECT pg_advisory_xact_lock_shared(log.erasure_lock())")
	if text := value[string](t, indexer, "SELECT content FROM log.messages WHERE id = $1", target.ID); text != "first" {
		t.Fatalf("content = %q", text)
	}
	outcome := make(chan error, 1)
	go func() {
		_, err := store.Erase(t.Context(), target.Hash, eraser, "asked for")
		outcome <- err
	}()
	waits(t, conn, blockedErasures)
	mustExec(t, indexer, "INSERT INTO embedding.lexical VALUES ('context', $1, 0, '{1:1}/536870912', '{1}', '{1}', 0)", target.ID)
	mustExec(t, indexer, "COMMIT")
	if err := <-outcome; err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.lexical WHERE source_id = $1", target.ID); n != 0 {
		t.Errorf("the erased message has %d vectors, want none", n)
	}
}

// A selection that was made while a message was erased is made again, without it.
func TestEraseWhileSelecting(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, admin := superuser(t, url), superuser(t, url)
	target := mustAppend(t, store, draft("s", "The hotel is by the sea."), draft("t", "A hotel in the mountains."))[0]
	ask(t, store, "hotel", nil) // nothing waits for vectors now
	mustExec(t, admin, "BEGIN; SELECT pg_advisory_xact_lock(log.erasure_lock())")
	outcome := make(chan selection.Selection, 1)
	go func() {
		s, err := store.RequestContext(t.Context(), selection.Request{Query: "Which hotel is by the sea?", Limit: 5, Threshold: 0.1})
		if err != nil {
			t.Error(err)
		}
		outcome <- s
	}()
	waits(t, conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	mustExec(t, admin, "SELECT log.erase($1, $2, 'asked for')", target.Hash, eraser)
	mustExec(t, admin, "COMMIT")
	s := <-outcome
	if len(s.Items) != 1 || s.Items[0].Hash == target.Hash || !s.Holds() {
		t.Errorf("selected %+v, want the other hotel alone", s.Items)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.selections WHERE rendered LIKE '%by the sea%'"); n != 0 {
		t.Errorf("%d selections hold the erased text", n)
	}
}
