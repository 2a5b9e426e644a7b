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
	store, done := recalling(t, dbtest.New(t))
	mustAppend(t, store, draft("s", "first"), draft("free", "first"))
	store.LoseWriter()
	for _, session := range []string{"s", "free"} {
		done()
		mustAppend(t, store, draft(session, "next"))
		if read, _ := done(); read != 1 {
			t.Errorf("%s: read %d times after a connection was lost, want once", session, read)
		}
	}
	checkChains(t, store)
}

// Whoever is named in a message that is not written yet is no member by it: the session may go on without it.
func TestRecalledMembersAreWritten(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, _ := recalling(t, url)
	conn := superuser(t, url)
	held, free := "held", "free"
	const above = "SELECT log.session_lock($1) > log.session_lock($2)"
	for n := 0; value[bool](t, conn, above, hashOf("session:%s", held).String(), hashOf("session:%s", free).String()); n++ {
		free = fmt.Sprint("free ", n) // locked last, so that it is not while the other is waited for
	}
	bo := hashOf("bo")
	first := mustAppend(t, store, from(ana, held, "first"), from(ana, free, "first"))
	mustExec(t, conn, "SELECT pg_advisory_lock(log.session_lock($1))", first[0].SessionHash.String())
	named := from(ana, free, "come in", bo)
	named.PrevHash = &first[1].Hash
	failed := make(chan error, 1)
	go func() {
		_, err := store.Append(t.Context(), []chain.Draft{from(ana, held, "held"), named})
		failed <- err
	}()
	eventually(t, "the session is waited for", func() bool {
		return value[int](t, conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") > 0
	})
	other := from(ana, free, "something else")
	other.IdempotencyKey = ptr("key")
	mustAppend(t, store, other)
	if _, err := store.As(bo).Append(t.Context(), []chain.Draft{from(bo, free, "let me in")}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("who was named in what is not written: %v, want %s", err, fault.NotFound)
	}
	mustExec(t, conn, "SELECT pg_advisory_unlock(log.session_lock($1))", first[0].SessionHash.String())
	if err := <-failed; fault.CodeOf(err) != fault.Conflict {
		t.Errorf("behind what is no head any more: %v, want %s", err, fault.Conflict)
	}
	checkChains(t, store)
}

// Postgres' clock gives the time of what is written without reading, and what is told of it is what is written.
func TestRecalledTime(t *testing.T) {
	t.Parallel()
	store, done := recalling(t, dbtest.New(t))
	told := mustAppend(t, store, draft("s", "first"))
	store.RememberClock(time.Hour)
	done()
	for range 5 {
		told = append(told, mustAppend(t, store, draft("s", "next"))...)
	}
	if read, _ := done(); read != 0 {
		t.Errorf("it was read %d times, want none", read)
	}
	if ahead := told[1].CreatedAt.Sub(told[0].CreatedAt); ahead < time.Hour || ahead > time.Hour+time.Minute {
		t.Errorf("the second is %v after the first, want what is remembered of the clock, an hour", ahead)
	}
	for i, m := range checkChains(t, store) {
		if !m.CreatedAt.Equal(told[i].CreatedAt) || i > 0 && !m.CreatedAt.After(told[i-1].CreatedAt) {
			t.Errorf("%d: written with %v, told %v; want the same, after the one before", i, m.CreatedAt, told[i].CreatedAt)
		}
	}
}

// A group that is planned behind one that is not written is planned again.
func TestRecalledBehindNothing(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store, _ := recalling(t, url)
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
	var contents []string
	for _, m := range checkChains(t, store) {
		contents = append(contents, *m.Content)
	}
	if want := []string{"first", "second"}; !slices.Equal(contents, want) {
		t.Errorf("the log has %q, want %q", contents, want)
	}
}

// What a connection was told of types is asked again when they are others.
func TestAppendAfterTypesChanged(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	store := openURL(t, url)
	conn := superuser(t, url)
	for n := range 4 { // over both of the writer's connections
		mustAppend(t, store, draft("s", fmt.Sprint(n)))
	}
	columns := value[string](t, conn, `SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = 'log.appended'::regclass`)
	mustExec(t, conn, "DROP TYPE log.appended; CREATE TYPE log.appended AS ("+columns+")")
	for n := range 4 {
		mustAppend(t, store, draft("s", fmt.Sprint("then ", n)))
	}
	checkChains(t, store)
}
