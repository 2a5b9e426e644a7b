package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

const patience = 20 * time.Second

func next(t *testing.T, from *db.Subscription) *chain.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := from.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wantEnd wants a subscription to end in UNAVAILABLE, with a message that has a part.
func wantEnd(t *testing.T, s *db.Subscription, part string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := s.Next(ctx)
	if m != nil || fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), part) {
		t.Errorf("at its end the subscription gave %v, %v, want UNAVAILABLE with %q", m, err, part)
	}
}

func all(*chain.Message) bool { return true }

func mustSubscribe(t *testing.T, store *db.DB) *db.Subscription {
	t.Helper()
	s, err := store.Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Subscribers hear of what this server, another server and a plain SQL writer append, each message once.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	mustAppend(t, store, draft("s", "before"))
	feed := mustSubscribe(t, store)
	wanted := hashOf("session:b")
	filtered, err := store.Subscribe(t.Context(), func(m *chain.Message) bool { return m.SessionHash == wanted })
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, draft("a", "one"), draft("b", "two"))
	mustAppend(t, other, draft("b", "three"))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `INSERT INTO log.messages (session_hash, owner_id, content)
		SELECT log.sha256('x'), log.sha256('o'), c FROM unnest(ARRAY['four', 'five']) c`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two", "three", "four", "five"} {
		if got := *next(t, feed).Content; got != want {
			t.Errorf("the feed gave %q, want %q", got, want)
		}
	}
	for _, want := range []string{"two", "three"} {
		if got := *next(t, filtered).Content; got != want {
			t.Errorf("the filtered feed gave %q, want %q", got, want)
		}
	}
}

// A lost connection loses no message.
func TestSubscribeSurvivesLostConnection(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	feed := mustSubscribe(t, store)
	mustAppend(t, store, draft("s", "one"))
	next(t, feed)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	eventually(t, "the listener is ended", func() bool {
		var ended int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'context-manager feed'`).Scan(&ended); err != nil {
			t.Fatal(err)
		}
		return ended == 1
	})
	mustAppend(t, store, draft("s", "two"), draft("s", "three"))
	for _, want := range []string{"two", "three"} {
		if got := *next(t, feed).Content; got != want {
			t.Errorf("after the connection was lost: %q, want %q", got, want)
		}
	}
}

// A reader that does not read is cut off and told so, be it many messages or large ones, and does not hold up others.
func TestSubscribeSlowReader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		batches []int
	}{
		"many":  {"x", []int{600, 600}},
		"large": {strings.Repeat("x", 1<<20), []int{4, 4, 4}},
	} {
		store, _ := open(t)
		slow, quick := mustSubscribe(t, store), mustSubscribe(t, store)
		for _, size := range test.batches {
			drafts := make([]chain.Draft, size)
			for i := range drafts {
				drafts[i] = draft("s", test.content)
			}
			mustAppend(t, store, drafts...)
			for range drafts {
				if got := len(*next(t, quick).Content); got != len(test.content) {
					t.Fatalf("%s: %d bytes of content, want %d", name, got, len(test.content))
				}
			}
		}
		wantEnd(t, slow, "fell too far behind")
		mustAppend(t, store, draft("s", "on"))
		if got := *next(t, quick).Content; got != "on" {
			t.Errorf("%s: the quick reader then gets %.9q, want it to go on", name, got)
		}
	}
}

// Subscribers share what is read, and each gets what it waits for even if it is behind, within limits.
func TestSubscribersShareMessages(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	one, two := mustSubscribe(t, store), mustSubscribe(t, store)
	drafts := make([]chain.Draft, 1000)
	for i := range drafts {
		drafts[i] = draft("s", "x")
	}
	mustAppend(t, store, drafts...)
	for i := range drafts {
		if a, b := next(t, one), next(t, two); a != b || a.Sequence != int64(i+1) {
			t.Fatalf("message %d is number %d, at %p and %p, want one message", i+1, a.Sequence, a, b)
		}
	}
}

// What is committed at once is read in parts that are bounded by their content, and all of it comes.
func TestSubscribeReadsInParts(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var drafts []chain.Draft
	subscribers := map[chain.Hash]*db.Subscription{}
	for _, session := range []string{"a", "b", "c"} { // each less than may wait for a reader
		wanted := hashOf("session:%s", session)
		s, err := store.Subscribe(t.Context(), func(m *chain.Message) bool { return m.SessionHash == wanted })
		if err != nil {
			t.Fatal(err)
		}
		subscribers[wanted] = s
		for range 5 {
			drafts = append(drafts, draft(session, strings.Repeat("x", 1<<20)))
		}
	}
	written := mustAppend(t, store, drafts...)
	ids := make([]int64, len(written))
	for i, m := range written {
		ids[i] = m.ID
	}
	for limit, want := range map[int64]int{0: 1, 1<<20 + 2: 1, 3 << 20: 2, 3<<20 + 6: 3, 100 << 20: len(ids)} { // {} are 2
		if got, err := store.MessagesByID(t.Context(), ids, limit); err != nil || len(got) != want || got[0].ID != ids[0] {
			t.Errorf("MessagesByID of %d bytes: %d messages, %v, want the first %d", limit, len(got), err, want)
		}
	}
	for session, s := range subscribers {
		for i := range 5 {
			if m := next(t, s); m.SessionHash != session || m.Sequence != int64(i+1) {
				t.Errorf("got message %d of %s, want %d of %s", m.Sequence, m.SessionHash, i+1, session)
			}
		}
	}
}

// Readers for whom much waits are cut off, those with most first, before what waits for all of them takes too much memory;
// what they held is given back.
func TestSubscribersShareMemory(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	store.WithHeld(6 << 20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	quick := mustSubscribe(t, store)
	slow := make([]*db.Subscription, 4)
	for i := range slow { // each waits for a session of its own
		session := hashOf("session:%d", i)
		var err error
		if slow[i], err = store.Subscribe(ctx, func(m *chain.Message) bool { return m.SessionHash == session }); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		for i := range slow {
			mustAppend(t, store, draft(fmt.Sprint(i), strings.Repeat("x", 1<<20)))
			next(t, quick)
			if held := store.Held(); held > 7<<20 {
				t.Errorf("%d bytes are held, want 6 MiB at most, and a message", held)
			}
		}
	}
	mustAppend(t, store, draft("s", "on"))
	if got := *next(t, quick).Content; got != "on" {
		t.Errorf("the quick reader gets %.9q, want it to go on", got)
	}
	ended := 0
	for _, s := range slow {
		cut, end := context.WithTimeout(t.Context(), patience)
		if _, err := s.Next(cut); err != nil {
			ended++
		}
		end()
	}
	if ended == 0 || ended == len(slow) {
		t.Errorf("%d of %d slow readers were cut off, want some and not all", ended, len(slow))
	}
	cancel()
	eventually(t, "nothing is held for readers that are gone", func() bool { return store.Held() == 0 })
}

func TestSubscribersLimit(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range db.MaxSubscribers - 1 {
		mustSubscribe(t, store)
	}
	last, err := store.Subscribe(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Subscribe(t.Context(), all); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "50000") {
		t.Errorf("the subscriber beyond the limit: %v, want UNAVAILABLE that names the limit", err)
	}
	cancel()
	wantEnd(t, last, "ended") // by then it is out
	mustSubscribe(t, store)
}

// reads counts the statements of a name.
type reads struct {
	name string
	n    atomic.Int64
}

func (r *reads) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, r.name) {
		r.n.Add(1)
	}
	return ctx
}

func (r *reads) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *reads) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *reads) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if strings.Contains(data.SQL, r.name) {
		r.n.Add(1)
	}
}

func (r *reads) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Without subscribers nothing is read.
func TestSubscribeReadsForSomebody(t *testing.T) {
	t.Parallel()
	url, counter := dbtest.New(t), &reads{name: "name: MessagesByID "}
	store, err := db.Open(t.Context(), url, 4, slog.New(slog.DiscardHandler), db.WithTracer(counter))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := store.Subscribe(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, draft("s", "one"))
	next(t, first)
	if got := counter.n.Load(); got != 1 {
		t.Errorf("%d statements for a message, want 1", got)
	}
	cancel()
	wantEnd(t, first, "ended")
	const unread = 20
	for range unread {
		mustAppend(t, store, draft("s", "two"))
	}
	second := mustSubscribe(t, store)
	mustAppend(t, store, draft("s", "three"))
	for *next(t, second).Content != "three" { // what was announced late
	}
	if got := counter.n.Load(); got > 2+unread/2 {
		t.Errorf("%d statements in all, want none for the %d messages that nobody waited for", got, unread)
	}
}

func TestSubscribeEnds(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled, err := store.Subscribe(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	open := mustSubscribe(t, store)
	cancel()
	wantEnd(t, cancelled, "ended")
	store.Close()
	wantEnd(t, open, "stopping")
	if _, err := store.Subscribe(t.Context(), all); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("after Close: %v, want UNAVAILABLE", err)
	}
}
