package db_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// How many end at once, of how many users, and how many ask at a time: fewer than there are connections, for which nobody has
// to wait so long, on a slow machine, that there is none.
const (
	ending      = 1000
	endingUsers = 100
	endingAsk   = 6
)

// each does something with each of a list, some at a time.
func each[T any](list []T, f func(i int, one T)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range endingAsk {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				f(int(i), list[i])
			}
		})
	}
	wait.Wait()
}

// startMany starts conversations that all end at one moment.
func startMany(t *testing.T, store *db.DB) (all []memory.Conversation, end time.Time) {
	t.Helper()
	all, end = make([]memory.Conversation, ending), store.Now().Add(memory.MinTTL)
	each(all, func(i int, _ memory.Conversation) {
		var err error
		if all[i], err = store.StartConversation(t.Context(), memory.Client, fmt.Sprint(i%endingUsers), assistant); err != nil || !all[i].ExpiresAt.Equal(end) {
			t.Errorf("started %+v, %v; want one until %v", all[i], err, end)
		}
	})
	return all, end
}

// count asks the database itself.
func count(t *testing.T, conn *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const rowsOfMemory, rowsOfLog = "SELECT count(*) FROM memory.conversations", "SELECT count(*) FROM log.messages"

// A thousand conversations end at one moment: a millisecond before, everybody reads them all, and from then on nobody reads or
// renews any, though nothing was swept. The sweep frees them all, so many in a transaction.
func TestThousandEndAtOnce(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	store.SetConversationTTL(memory.MinTTL)
	clock, conn := handsOf(store), superuser(t, url)
	all, end := startMany(t, store)
	each(all, func(_ int, c memory.Conversation) {
		if _, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "hola", Assistant: "buenas"}, assistant); err != nil {
			t.Errorf("RecordExchange() = %v", err)
		}
	})
	readers := map[string]func(c memory.Conversation) error{
		"conversation": func(c memory.Conversation) error { _, err := store.Conversation(t.Context(), c.ID); return err },
		"the assistant's": func(c memory.Conversation) error {
			_, err := store.As(assistant).Conversation(t.Context(), c.ID)
			return err
		},
		"the user's": func(c memory.Conversation) error {
			_, err := store.As(c.Person).Conversation(t.Context(), c.ID)
			return err
		},
		"promptMessages": func(c memory.Conversation) error {
			_, err := store.As(assistant).ConversationForPrompt(t.Context(), c.ID)
			return err
		},
	}
	listed := func() (n int) {
		for user := range endingUsers {
			found, err := store.Conversations(t.Context(), memory.Client, fmt.Sprint(user))
			if err != nil {
				t.Fatal(err)
			}
			n += len(found)
		}
		return n
	}
	clock.set(end.Add(-time.Millisecond))
	for name, read := range readers {
		each(all, func(_ int, c memory.Conversation) {
			if err := read(c); err != nil {
				t.Errorf("a millisecond before, %s: %v", name, err)
			}
		})
	}
	if n := listed(); n != ending {
		t.Errorf("a millisecond before, %d are listed, want %d", n, ending)
	}

	clock.set(end)
	readers["recordExchange"] = func(c memory.Conversation) error {
		_, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
		return err
	}
	readers["updateState"] = func(c memory.Conversation) error {
		_, err := store.UpdateState(t.Context(), c.ID, memory.State{"a": []byte("1")})
		return err
	}
	readers["deleteConversation"] = func(c memory.Conversation) error {
		_, err := store.DeleteConversation(t.Context(), c.ID, "", assistant)
		return err
	}
	for name, read := range readers {
		each(all, func(_ int, c memory.Conversation) { wantGone(t, "at the end, "+name, read(c)) })
	}
	if n := listed(); n != 0 {
		t.Errorf("at the end, %d are listed", n)
	}
	if n, said := count(t, conn, rowsOfMemory), count(t, conn, rowsOfLog); n != ending || said != 2*ending {
		t.Errorf("before the sweep there are %d rows and %d messages, want %d and %d", n, said, ending, 2*ending)
	}

	// More than one sweep takes at a time, and what each statement has freed.
	mustExec(t, conn, `INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, created_at, last_activity, expires_at)
		SELECT 'client:' || i || ':' || gen_random_uuid(), 'client', i::TEXT, lpad('', 64, 'a'), lpad('', 64, 'b'), lpad(i::TEXT, 64, '0'), $1, $1, $1
		FROM generate_series(1, 1500) AS i`, end)
	mustExec(t, conn, "CREATE TABLE public.freed (n BIGINT)")
	mustExec(t, conn, "CREATE FUNCTION public.note_freed() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.freed SELECT count(*) FROM gone; RETURN NULL; END'")
	mustExec(t, conn, "CREATE TRIGGER freed AFTER DELETE ON memory.conversations REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.note_freed()")
	if n, err := store.SweepConversations(t.Context()); err != nil || n != ending+1500 {
		t.Errorf("%d were swept, %v; want %d", n, err, ending+1500)
	}
	if n := count(t, conn, rowsOfMemory); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if most, times := count(t, conn, "SELECT max(n) FROM public.freed"), count(t, conn, "SELECT count(*) FROM public.freed WHERE n > 0"); most > 1000 || times < 3 {
		t.Errorf("freed in %d portions, of %d at most", times, most)
	}
	wantLog(t, store, 0)
}

// Of a thousand exchanges around the end of their conversations, while sweeps run, each renews its own or is refused and leaves
// nothing, neither in the log nor in the memory.
func TestThousandRaceTheEnd(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	store.SetConversationTTL(memory.MinTTL)
	clock, conn := handsOf(store), superuser(t, url)
	all, end := startMany(t, store)
	clock.set(end.Add(-time.Microsecond))
	var answered atomic.Int64
	errs := make([]error, len(all))
	each(all, func(i int, c memory.Conversation) {
		_, errs[i] = store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
		if n := answered.Add(1); n == ending/2 {
			clock.set(end)
		} else if n%50 == 0 {
			if _, err := store.SweepConversations(t.Context()); err != nil {
				t.Errorf("SweepConversations() = %v", err)
			}
		}
	})
	rows, err := conn.Query(t.Context(), "SELECT session_hash, count(*) FROM log.messages GROUP BY session_hash")
	if err != nil {
		t.Fatal(err)
	}
	said := map[chain.Hash]int{}
	var session chain.Hash
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&session, &n}, func() error { said[session] = n; return nil }); err != nil {
		t.Fatal(err)
	}
	renewed, refused := 0, 0
	for i, c := range all {
		kept, err := store.Conversation(t.Context(), c.ID)
		switch messages := said[c.ID.Session()]; {
		case errs[i] == nil && messages == 2 && err == nil && cmp.Equal(contents(kept), []string{"user: a", "assistant: b"}) && kept.ExpiresAt.After(end):
			renewed++
		case fault.CodeOf(errs[i]) == fault.NotFound && messages == 0 && fault.CodeOf(err) == fault.NotFound:
			refused++
		default:
			t.Fatalf("recorded %v; %d messages; memory %+v, %v", errs[i], messages, kept, err)
		}
	}
	if _, err := store.SweepConversations(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := count(t, conn, rowsOfMemory); renewed < ending/2-endingAsk || refused == 0 || renewed+refused != ending || left != renewed {
		t.Errorf("%d renewed, %d refused, %d left", renewed, refused, left)
	}
	t.Logf("%d renewed, %d had ended", renewed, refused)
	wantLog(t, store, 0)
}

// Of servers that take other times for the database's, all say the same: what has ended is gone, what has not is there, and
// lasts from now on by the database's clock.
func TestServersWithWrongClocks(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other, conn := openURL(t, url), superuser(t, url)
	long, ended := start(t, store, memory.Client, "42"), start(t, store, memory.Client, "42")
	mustExec(t, conn, "UPDATE memory.conversations SET expires_at = clock_timestamp() - INTERVAL '10 minutes' WHERE id = $1", ended.ID.String())
	for wrong, server := range map[time.Duration]*db.DB{-15 * time.Minute: store, 24 * time.Hour: other} {
		said := func() time.Time { return value[time.Time](t, conn, "SELECT clock_timestamp()") }
		set := func() *db.DB { server.SetClock(said().Add(wrong)); return server } // it asks the database again at times
		lasts := func(what string, do func() (memory.Conversation, error)) {
			t.Helper()
			before := said()
			c, err := do()
			if err != nil || c.ExpiresAt.Before(before.Add(memory.DefaultTTL)) || c.ExpiresAt.After(said().Add(memory.DefaultTTL)) {
				t.Errorf("wrong by %v, %s: until %v, %v; want half an hour after %v", wrong, what, c.ExpiresAt, err, before)
			}
		}
		lasts("started", func() (memory.Conversation, error) {
			return set().StartConversation(t.Context(), memory.Client, "43", assistant)
		})
		for _, c := range []memory.Conversation{long, ended} {
			there := c.ID == long.ID
			for name, err := range map[string]error{
				"read":   func() error { _, err := set().Conversation(t.Context(), c.ID); return err }(),
				"prompt": func() error { _, err := set().ConversationForPrompt(t.Context(), c.ID); return err }(),
			} {
				if there != (err == nil) {
					t.Errorf("wrong by %v, %s: %v; it is there: %v", wrong, name, err, there)
				}
			}
			record := func() (memory.Conversation, error) {
				return set().RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
			}
			change := func() (memory.Conversation, error) {
				return set().UpdateState(t.Context(), c.ID, memory.State{"a": []byte("1")})
			}
			if there {
				lasts("recorded", record)
				lasts("changed", change)
				continue
			}
			_, err := record()
			wantGone(t, "recorded", err)
			_, err = change()
			wantGone(t, "changed", err)
			_, err = set().DeleteConversation(t.Context(), c.ID, "", assistant)
			wantGone(t, "deleted", err)
		}
		if all, err := set().Conversations(t.Context(), memory.Client, "42"); err != nil || len(all) != 1 || all[0].ID != long.ID {
			t.Errorf("wrong by %v, listed: %d, %v; want the one that lasts", wrong, len(all), err)
		}
	}
	other.SetClock(value[time.Time](t, conn, "SELECT clock_timestamp() + INTERVAL '1 day'"))
	if n, err := other.SweepConversations(t.Context()); err != nil || n != 1 {
		t.Errorf("%d were swept, %v; want the one that has ended", n, err)
	}
}

// A conversation that ends while a change of it waits for another is gone, as late as that.
func TestConversationEndsWhileWaitedFor(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	holder, conn := superuser(t, url), superuser(t, url)
	for name, change := range map[string]func(c memory.Conversation) error{
		"recorded": func(c memory.Conversation) error {
			_, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
			return err
		},
		"changed": func(c memory.Conversation) error {
			_, err := store.UpdateState(t.Context(), c.ID, memory.State{"a": []byte("1")})
			return err
		},
	} {
		c := start(t, store, memory.Client, "42")
		mustExec(t, conn, "UPDATE memory.conversations SET expires_at = clock_timestamp() + INTERVAL '2 seconds' WHERE id = $1", c.ID.String())
		tx, err := holder.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "SELECT FROM memory.conversations WHERE id = $1 FOR UPDATE", c.ID.String()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- change(c) }()
		eventually(t, "it ends", func() bool {
			return value[bool](t, conn, "SELECT expires_at < clock_timestamp() FROM memory.conversations WHERE id = $1", c.ID.String())
		})
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantGone(t, name, <-done)
	}
}

// An exchange at the end either renews the conversation or starts none: the log and the working memory say the same.
func TestExchangeRacesTheEnd(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	store.SetConversationTTL(time.Minute)
	clock := handsOf(store)
	renewed, gone := 0, 0
	for i := range 40 {
		c := start(t, store, memory.Client, fmt.Sprint(i))
		clock.set(c.ExpiresAt.Add(-time.Microsecond))
		var err error
		ways := []func(){
			func() { clock.set(c.ExpiresAt) },
			func() { _, _ = store.SweepConversations(t.Context()) },
			func() {
				_, err = store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
			},
		}
		switch i { // who wins for certain, once each; after that they race
		case 0:
			ways[0]()
			ways = ways[1:]
		case 1:
			ways[2]()
			ways = ways[:2]
		}
		var wait sync.WaitGroup
		for _, way := range ways {
			wait.Go(way)
		}
		wait.Wait()
		rows, readErr := store.SessionMessages(t.Context(), c.ID.Session(), db.Page[int64]{Limit: 5})
		kept, memoryErr := store.Conversation(t.Context(), c.ID)
		switch {
		case err == nil && readErr == nil && len(rows.Items) == 2 && memoryErr == nil && len(kept.History) == 2:
			renewed++
		case fault.CodeOf(err) == fault.NotFound && readErr == nil && len(rows.Items) == 0 && fault.CodeOf(memoryErr) == fault.NotFound:
			gone++
		default:
			t.Fatalf("recorded %v; %d messages, %v; memory %+v, %v", err, len(rows.Items), readErr, kept, memoryErr)
		}
	}
	if renewed == 0 || gone == 0 {
		t.Errorf("%d renewed, %d had ended; want both", renewed, gone)
	}
}
