package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

const patience = 20 * time.Second

func next(t *testing.T, from <-chan chain.Message) chain.Message {
	t.Helper()
	select {
	case m, open := <-from:
		if !open {
			t.Fatal("the feed ended")
		}
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
	}
	return chain.Message{}
}

func all(*chain.Message) bool { return true }

// Subscribers hear of what this server, another server and a plain SQL writer append, each message once.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	mustAppend(t, store, draft("s", "before"))
	feed, err := store.Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
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
	feed, err := store.Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, draft("s", "one"))
	next(t, feed)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var ended int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`).Scan(&ended); err != nil || ended != 1 {
		t.Fatalf("ended %d listeners, %v", ended, err)
	}
	mustAppend(t, store, draft("s", "two"), draft("s", "three"))
	for _, want := range []string{"two", "three"} {
		if got := *next(t, feed).Content; got != want {
			t.Errorf("after the connection was lost: %q, want %q", got, want)
		}
	}
}

// A reader that does not read is cut off, and does not hold up the others.
func TestSubscribeSlowReader(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	slow, err := store.Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	quick, err := store.Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	drafts := make([]chain.Draft, 600)
	for i := range drafts {
		drafts[i] = draft("s", "x")
	}
	for range 3 {
		mustAppend(t, store, drafts...)
		for range drafts {
			next(t, quick)
		}
	}
	got := 0
	for range slow { // ends by itself
		got++
	}
	if got == 0 || got >= 3*len(drafts) {
		t.Errorf("the slow reader got %d messages before its end, want some and not all", got)
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
	open, err := store.Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range cancelled {
		t.Error("a message on a cancelled subscription")
	}
	store.Close()
	for range open {
		t.Error("a message after Close")
	}
}
