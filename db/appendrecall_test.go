package db_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// recalling gives a store, and tells how often the heads of sessions were read, and rows written, since it was asked last.
func recalling(t *testing.T, url string) (store *db.DB, done func() (read, wrote int)) {
	t.Helper()
	statements := &writerStatements{conns: map[*pgx.Conn]bool{}}
	store, err := db.Open(t.Context(), url, 8, slog.New(slog.DiscardHandler), db.WithTracer(statements))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store, func() (read, wrote int) {
		for _, sql := range statements.taken() {
			switch {
			case strings.Contains(sql, "log.audit_sessions"):
				read++
			case strings.Contains(sql, "INSERT INTO log.messages "):
				wrote++
			}
		}
		return read, wrote
	}
}

// What the writer remembers is not read again; what it does not know is.
func TestRecalledIsNotRead(t *testing.T) {
	t.Parallel()
	store, done := recalling(t, dbtest.New(t))
	var messages []chain.Message
	for _, step := range []struct {
		name string
		view *db.DB
		make func(d *chain.Draft)
		read int
	}{
		{"the first", store, func(*chain.Draft) {}, 1},
		{"one more", store, func(*chain.Draft) {}, 0},
		{"a member's", store.As(ana), func(*chain.Draft) {}, 0},
		{"behind the head", store.As(ana), func(d *chain.Draft) { d.PrevHash = &messages[2].Hash }, 0},
		{"another session", store.As(ana), func(d *chain.Draft) { d.SessionHash = hashOf("session:other") }, 1},
		{"with a key", store, func(d *chain.Draft) { d.IdempotencyKey = ptr("key") }, 1},
		{"with a ref", store, func(d *chain.Draft) { d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: messages[0].Hash}} }, 1},
		{"with JSON", store, func(d *chain.Draft) { d.Ambient = ptr(chain.JSON(`{"a": 1}`)) }, 1},
		{"behind what was read", store, func(*chain.Draft) {}, 0},
		{"with empty JSON", store, func(d *chain.Draft) { d.Attachments = ptr(chain.JSON("{}")) }, 0},
	} {
		d := from(ana, "s", step.name)
		step.make(&d)
		done()
		messages = append(messages, mustAppend(t, step.view, d)...)
		if read, wrote := done(); read != step.read || wrote != 1 {
			t.Errorf("%s: read %d times and written %d times, want %d and once", step.name, read, wrote, step.read)
		}
	}
	if got := checkChains(t, store); len(got) != len(messages) {
		t.Errorf("the log has %d messages, want %d", len(got), len(messages))
	}
}

// Nothing is refused by what is remembered, and nothing let through.
func TestRecalledIsNoReason(t *testing.T) {
	t.Parallel()
	store, done := recalling(t, dbtest.New(t))
	bo, past, invented := hashOf("bo"), time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), hashOf("invented")
	mustAppend(t, store, from(ana, "s", "first"))
	for _, test := range []struct {
		name string
		view *db.DB
		make func(d *chain.Draft)
		code fault.Code
	}{
		{"a stranger's", store.As(bo), func(d *chain.Draft) { d.OwnerID = bo }, fault.NotFound},
		{"behind another head", store, func(d *chain.Draft) { d.PrevHash = &invented }, fault.Conflict},
		{"before the head", store, func(d *chain.Draft) { d.CreatedAt = &past }, fault.BadUserInput},
	} {
		d := from(ana, "s", test.name)
		test.make(&d)
		done()
		_, err := test.view.Append(t.Context(), []chain.Draft{d})
		if read, wrote := done(); fault.CodeOf(err) != test.code || read != 1 || wrote != 0 {
			t.Errorf("%s: %v, read %d times and written %d; want %s, once and never", test.name, err, read, wrote, test.code)
		}
	}
	// A stranger whom a member names is one no more.
	mustAppend(t, store.As(ana), from(ana, "s", "come in", bo))
	done()
	mustAppend(t, store.As(bo), from(bo, "s", "thanks"))
	if read, _ := done(); read != 0 {
		t.Errorf("who was named a moment ago was looked for %d times, want none", read)
	}
	checkChains(t, store)
}

// Where another server, or an administrator, has written, the group is planned again, and for a moment all are read.
func TestRecalledIsOutrun(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, done := recalling(t, url)
	other := openURL(t, url)
	mustAppend(t, store, draft("s", "ours"), draft("free", "ours"))
	for n := range 3 {
		mustAppend(t, other, draft("s", fmt.Sprint("theirs ", n)))
		done()
		mustAppend(t, store, draft("s", fmt.Sprint("ours ", n)))
		read, wrote := done()
		if want := 2 - min(n, 1); read != 1 || wrote != want {
			t.Errorf("%d: read %d times, and written %d; want once, and %d", n, read, wrote, want)
		}
	}
	mustAppend(t, store, draft("free", "ours"))
	if read, _ := done(); read != 1 {
		t.Errorf("after another has written it was read %d times, want once", read)
	}
	eventually(t, "it is remembered again", func() bool {
		done()
		mustAppend(t, store, draft("free", "ours"))
		read, _ := done()
		return read == 0
	})
	checkChains(t, store)
}

// A connection that was lost may have been to another log: nothing of it is remembered.
func TestRecalledIsForgottenWithItsConnection(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, done := recalling(t, url)
	mustAppend(t, store, draft("s", "first"))
	mustExec(t, superuser(t, url), "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	eventually(t, "it is served again", func() bool {
		done()
		_, err := store.Append(t.Context(), []chain.Draft{draft("s", "next")})
		return err == nil
	})
	if read, _ := done(); read == 0 {
		t.Error("what was remembered of before was taken for what is")
	}
}

// Postgres' clock gives the time of what is written without reading, whatever the server's own shows, and it stays in order.
func TestRecalledTime(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, _ := recalling(t, url)
	conn := superuser(t, url)
	var before time.Time
	for n := range 20 {
		from := value[time.Time](t, conn, "SELECT clock_timestamp()")
		m := mustAppend(t, store, draft("s", fmt.Sprint(n)))[0]
		to := value[time.Time](t, conn, "SELECT clock_timestamp()")
		if m.CreatedAt.Before(from.Add(-time.Second)) || m.CreatedAt.After(to.Add(time.Millisecond)) || !m.CreatedAt.After(before) {
			t.Errorf("%d: created at %v, want it between %v and %v, and after %v", n, m.CreatedAt, from, to, before)
		}
		before = m.CreatedAt
	}
}

// A group that is planned behind one that is not written is planned again.
func TestRecalledBehindNothing(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, done := recalling(t, url)
	conn := superuser(t, url)
	mustAppend(t, store, draft("s", "first"))
	mustExec(t, conn, `CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.content = 'refused' THEN PERFORM pg_sleep(0.2); RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER a_refuse BEFORE INSERT ON log.messages FOR EACH ROW EXECUTE FUNCTION refuse()`)
	failed := make(chan error)
	go func() {
		_, err := store.Append(t.Context(), []chain.Draft{draft("s", "refused")})
		failed <- err
	}()
	time.Sleep(50 * time.Millisecond) // mostly enough for it to be on its way
	mustAppend(t, store, draft("s", "second"))
	if err := <-failed; err == nil {
		t.Error("what the database refuses was written")
	}
	done()
	var contents []string
	for _, m := range checkChains(t, store) {
		contents = append(contents, *m.Content)
	}
	if want := []string{"first", "second"}; !slices.Equal(contents, want) {
		t.Errorf("the log has %q, want %q", contents, want)
	}
}
