package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/memory"
)

// deliver appends events, as JSON, as POST /hooks/events does.
func deliver(t *testing.T, store *db.DB, body string) {
	t.Helper()
	events, err := ingest.ReadEvents([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	named, err := store.UpsertComponents(t.Context(), ingest.Components(events))
	if err != nil {
		t.Fatal(err)
	}
	hashes := make([]chain.Hash, len(named))
	for i, c := range named {
		hashes[i] = c.Hash
	}
	drafts, err := ingest.Drafts(events, hashes, nil, "")
	if err == nil {
		_, err = store.Deliver(t.Context(), drafts)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// saidLast gives what a chat is told of the end of a thread, the newest first.
func saidLast(t *testing.T, conn *pgx.Conn, agent, user, thread string, most int) (said []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), contextOfThread, agent, user, thread, most)
	if err != nil {
		t.Fatal(err)
	}
	var role, content, kind string
	var at time.Time
	var tags []string
	var payload map[string]any
	if _, err := pgx.ForEachRow(rows, []any{&role, &content, &kind, &at, &tags, &payload}, func() error { said = append(said, role+": "+content); return nil }); err != nil {
		t.Fatal(err)
	}
	return said
}

// By their times alone the events of a thread are in the order in which they came: those of a list, those of one moment, those
// that come late, and those of a transaction.
func TestEventsAreInOrderByTime(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	var want []string
	next := func() (role, content string) {
		role, content = []string{"user", "assistant"}[len(want)%2], fmt.Sprintf("m%03d", len(want))
		want = append(want, role+": "+content)
		return role, content
	}
	lists := func(rest string) {
		for range 3 {
			var list []string
			for range 20 {
				role, content := next()
				list = append(list, fmt.Sprintf(`{"source": "s", "agent": "jarvis", "user_id": "ana", "thread_id": "t", "role": %q, "content": %q %s}`, role, content, rest))
			}
			deliver(t, store, "["+strings.Join(list, ",")+"]")
		}
	}
	inserts := func(at any) {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			role, content := next()
			if _, err := tx.Exec(t.Context(), `INSERT INTO ia_nest_events (source, agent, user_id, thread_id, role, content, created_at)
				VALUES ('s', 'jarvis', 'ana', 't', $1, $2, $3)`, role, content, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lists("")
	lists(`, "created_at": "2026-01-01T12:00:00Z"`)
	inserts(nil)
	inserts(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	lists("")
	slices.Reverse(want)
	for range 2 {
		if diff := cmp.Diff(want[:20], saidLast(t, conn, "jarvis", "ana", "t", 20)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, saidLast(t, conn, "jarvis", "ana", "t", len(want))); diff != "" {
			t.Error(diff)
		}
		mustExec(t, conn, "ANALYZE")
	}
	if n := value[int](t, conn, broken); n != 0 {
		t.Errorf("%d messages do not hold", n)
	}
	wantLog(t, store, 0)
}

// A user who is called as an agent does not come to speak as it, nor an agent who is called as a user; whoever else takes part is
// told by hash.
func TestEventsAreInTheNameOfWhoTheyAreFrom(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	list := func(agent, user, content string) string {
		return fmt.Sprintf(`[{"source": "s", "agent": %q, "user_id": %q, "thread_id": "t", "role": "user", "content": %q}]`, agent, user, content)
	}
	deliver(t, store, list("jarvis", "ana", "hola"))
	deliver(t, store, list("jarvis", "jarvis", "me llamo así"))
	deliver(t, store, list("ana", "ana", "y yo"))
	agent, ana, forger, twin := component.DefaultHash("ply", "jarvis"), component.DefaultHash("plu", "ana"), component.DefaultHash("plu", "jarvis"), component.DefaultHash("ply", "ana")
	thread := chain.JSON(`{"thread_id": "t"}`)
	forge := func(name, role string, from, to chain.Hash) {
		session := hashOf("forged %s", name)
		d := chain.Draft{SessionHash: session, ThreadHash: &session, OwnerID: from, PlayerIDs: []chain.Hash{to}, Role: &role, Ambient: &thread, Content: name}
		if _, err := store.As(from).Append(t.Context(), []chain.Draft{d}); err != nil {
			t.Fatal(err)
		}
	}
	forge("as the agent", "assistant", forger, ana)
	forge("as the user", "user", twin, agent)
	for by, want := range map[[2]string][]string{
		{"jarvis", "ana"}: {"user: hola"}, {"jarvis", "jarvis"}: {"user: me llamo así"}, {"ana", "ana"}: {"user: y yo"},
		{forger.String(), "ana"}: {"assistant: as the agent"}, {"jarvis", twin.String()}: {"user: as the user"},
	} {
		if diff := cmp.Diff(want, saidLast(t, conn, by[0], by[1], "t", 20)); diff != "" {
			t.Errorf("%s with %s: %s", by[0], by[1], diff)
		}
	}
	if n := value[int](t, conn, "SELECT count(*) FROM ia_nest_events"); n != 5 {
		t.Errorf("%d events, want each once", n)
	}
}

// Each message has a time of its own within its session: the two messages of an exchange, and those of one call.
func TestMessagesHaveTimesOfTheirOwn(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	c := start(t, store, memory.Client, "42")
	for range 5 {
		exchanged(t, store, c.ID, "a", "b")
	}
	mustAppend(t, store, draft("s", "one"), draft("s", "two"), draft("s", "three"))
	mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) SELECT log.sha256('plain'), log.sha256('o'), 'x' FROM generate_series(1, 50)")
	if twice := value[int](t, conn, "SELECT count(*) - count(DISTINCT (session_hash, created_at)) FROM log.messages"); twice != 0 {
		t.Errorf("%d messages have the time of another of their session", twice)
	}
	// After the last of all times there is none: whatever comes then has it, too.
	last := time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	end := draft("end", "the end")
	end.CreatedAt = &last
	mustAppend(t, store, end)
	mustAppend(t, store, draft("end", "after the end"))
	mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) SELECT session_hash, owner_id, 'by SQL' FROM log.messages WHERE content = 'the end'")
	if n := value[int](t, conn, "SELECT count(*) FROM log.messages WHERE created_at = $1", last); n != 3 {
		t.Errorf("%d messages at the end of all times, want 3", n)
	}
	wantLog(t, store, 0)
}
