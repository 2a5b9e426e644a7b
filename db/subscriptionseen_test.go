package db_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// All subscriptions of a player share what is known of their sessions, which is asked for once, and forgotten with the
// last of them; nothing is missed whoever comes and goes.
func TestSubscriptionsShareSessions(t *testing.T) {
	t.Parallel()
	counter := &reads{name: "name: OwnSessions "}
	store, err := db.Open(t.Context(), dbtest.New(t), 4, slog.New(slog.DiscardHandler), db.WithTracer(counter))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	mustAppend(t, store, from(ana, "a1", "before"), from(ana, "a2", "before"), from(cleo, "c", "before"))
	subscribe := func(ctx context.Context, player chain.Hash) *db.Subscription {
		t.Helper()
		s, err := store.As(player).Subscribe(ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	gets := func(s *db.Subscription, want ...string) {
		t.Helper()
		for _, content := range want {
			if got := *next(t, s).Content; got != content {
				t.Errorf("got %q, want %q", got, content)
			}
		}
	}
	knows := func(players, sessions int) {
		t.Helper()
		if p, s := store.Seen(); p != players || s != sessions {
			t.Errorf("%d sessions of %d players are kept, want %d of %d", s, p, sessions, players)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	const many = 200
	ready := make(chan *db.Subscription, many)
	for range many { // at once
		go func() {
			s, err := store.As(ana).Subscribe(ctx, all)
			if err != nil {
				t.Error(err)
			}
			ready <- s
		}()
	}
	subscriptions := make([]*db.Subscription, many)
	for i := range subscriptions {
		subscriptions[i] = <-ready
	}
	if got := counter.n.Load(); got != 1 {
		t.Errorf("the sessions of one player were asked for %d times, want once", got)
	}
	knows(1, 2)
	other := subscribe(t.Context(), cleo)
	mustAppend(t, store, from(ben, "b", "hidden"), from(ben, "b", "Ana is named", ana))
	late := subscribe(ctx, ana) // asks nobody
	mustAppend(t, store, from(ben, "b", "for members"), from(ana, "a2", "own"), from(cleo, "c", "of another"))
	for _, s := range subscriptions {
		gets(s, "Ana is named", "for members", "own")
	}
	for want := "for members"; ; want = "own" { // that Ana was named may be told late
		m := next(t, late)
		if *m.Content == "Ana is named" {
			m = next(t, late)
		}
		if *m.Content != want {
			t.Errorf("who came late got %q, want %q", *m.Content, want)
		}
		if want == "own" {
			break
		}
	}
	gets(other, "of another")
	knows(2, 3+1)
	if got := counter.n.Load(); got != 2 {
		t.Errorf("sessions were asked for %d times, want once for each of two players", got)
	}
	cancel()
	eventually(t, "Ana's are forgotten", func() bool { p, s := store.Seen(); return p == 1 && s == 1 })
	again := subscribe(t.Context(), ana)
	knows(2, 3+1)
	mustAppend(t, store, from(ben, "b", "on"))
	gets(again, "on")
}

// Who has erased a message takes no part in its session: a subscription shows no more of it than a query does, whether the
// session is asked for before or after.
func TestSubscriptionAfterErasing(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	hidden := mustAppend(t, store, from(cleo, "c", "Cleo's"), from(cleo, "c", "her second"))
	early, err := store.As(ana).Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range hidden {
		if _, err := store.Erase(t.Context(), m.Hash, ana, "why"); err != nil {
			t.Fatal(err)
		}
	}
	late, err := store.As(ana).Subscribe(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, from(cleo, "c", "her third"), from(ana, "a", "own"))
	for name, s := range map[string]*db.Subscription{"from before": early, "from then on": late} {
		if m := next(t, s); *m.Content != "own" {
			t.Errorf("a subscription %s gives who has erased %q of another's session", name, *m.Content)
		}
	}
	if n, err := store.As(ana).CountMessages(t.Context(), selection.Scope{}, selection.Match{}); err != nil || n != 1 {
		t.Errorf("a query gives them %d, %v; want 1", n, err)
	}
	// Named by somebody, or with a message of their own, they are a member as anybody is.
	mustAppend(t, store, from(cleo, "c", "for Ana", ana), from(cleo, "c", "on"))
	for _, s := range []*db.Subscription{early, late} {
		for _, want := range []string{"for Ana", "on"} {
			if m := next(t, s); *m.Content != want {
				t.Errorf("got %q, want %q", *m.Content, want)
			}
		}
	}
}

// A subscription to some sessions gets those and no other; and where its player is named meanwhile, in a session that nobody
// listens to, their next subscription knows.
func TestSubscriptionToSessions(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, from(ana, "a", "begins"))
	to := func(d *db.DB, sessions ...string) *db.Subscription {
		t.Helper()
		var hashes []chain.Hash
		for _, name := range sessions {
			hashes = append(hashes, hashOf("session:%s", name))
		}
		s, err := d.SubscribeTo(t.Context(), hashes, all)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	everything, early, both := to(store), to(store.As(ana), "a"), to(store, "a", "b")
	mustAppend(t, store, from(ben, "b", "for Ana", ana))
	if m := next(t, everything); *m.Content != "for Ana" {
		t.Fatalf("got %q", *m.Content)
	}
	late := to(store.As(ana), "b")
	mustAppend(t, store, from(ben, "b", "on"), from(ana, "a", "own"), from(ben, "c", "elsewhere"))
	for name, want := range map[*db.Subscription][]string{everything: {"on", "own", "elsewhere"}, early: {"own"}, both: {"for Ana", "on", "own"}, late: {"on"}} {
		for _, content := range want {
			if m := next(t, name); *m.Content != content {
				t.Errorf("got %q, want %q", *m.Content, content)
			}
		}
	}
}

// A subscription whose player's sessions cannot be asked for leaves nothing behind.
func TestSubscriptionThatFails(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustSubscribe(t, store)
	conn := superuser(t, url)
	for _, sql := range []string{"ALTER TABLE log.members RENAME TO gone", "ALTER TABLE log.gone RENAME TO members"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		s, err := store.As(ana).Subscribe(t.Context(), all)
		if (s == nil) != (err != nil) || (err != nil) != (sql[len(sql)-4:] == "gone") {
			t.Errorf("after %s: Subscribe = %v, %v", sql, s, err)
		}
		if players, _ := store.Seen(); err != nil && players != 0 {
			t.Errorf("of %d players sessions are kept after %v, want none", players, err)
		}
	}
	mustAppend(t, store, from(ana, "a", "on"))
}
