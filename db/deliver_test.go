package db_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// event is one of a thread between an agent and a user.
func event(thread string, from, to chain.Hash, content string) chain.Draft {
	session := hashOf("events of %s", thread)
	return chain.Draft{SessionHash: session, ThreadHash: &session, OwnerID: from, PlayerIDs: []chain.Hash{to}, EventType: chain.EventMessage, Content: content, Late: true}
}

// What comes late is kept, in the order in which it came, and behind what was there.
func TestDeliverLate(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	agent, user := hashOf("agent"), hashOf("user")
	first, second := event("t", user, agent, "the later"), event("t", agent, user, "the earlier")
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	first.CreatedAt, second.CreatedAt = &at, ptr(at.Add(-time.Hour))
	written, err := store.Deliver(t.Context(), []chain.Draft{first, second})
	if err != nil || !written[0].CreatedAt.Equal(at) || !written[1].CreatedAt.Equal(at.Add(time.Microsecond)) {
		t.Fatalf("Deliver() = %+v, %v", written, err)
	}
	wantLog(t, store, 0)
}

// Nobody who knows what a session will be called can begin it before, and read what is delivered to it: not before, and not
// at once.
func TestDeliverToBegunSession(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	agent, user, stranger := hashOf("agent"), hashOf("user"), hashOf("stranger")
	trap := event("trap", stranger, user, "mine")
	trap.Late = false
	mustAppend(t, store, trap)
	if _, err := store.Deliver(t.Context(), []chain.Draft{event("trap", user, agent, "secret")}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("to a stranger's session: %v", err)
	}
	if _, err := store.Deliver(t.Context(), []chain.Draft{event("own", user, agent, "one")}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Deliver(t.Context(), []chain.Draft{event("own", agent, user, "two"), event("trap", agent, user, "secret")}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a list with a stranger's session: %v", err)
	}
	rows, err := store.SessionMessages(t.Context(), hashOf("events of own"), db.Page[int64]{Limit: 5})
	if err != nil || len(rows.Items) != 1 {
		t.Errorf("%d messages, %v; want 1: all of a list or none", len(rows.Items), err)
	}
	for i := range 20 {
		name := string(rune('a' + i))
		var wait sync.WaitGroup
		trap := event(name, stranger, user, "mine")
		trap.Late = false
		wait.Go(func() { _, _ = store.As(stranger).Append(t.Context(), []chain.Draft{trap}) })
		wait.Go(func() { _, _ = store.Deliver(t.Context(), []chain.Draft{event(name, user, agent, "secret")}) })
		wait.Wait()
		rows, err := store.As(stranger).SessionMessages(t.Context(), hashOf("events of %s", name), db.Page[int64]{Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range rows.Items {
			if *item.Value.Content == "secret" {
				t.Fatal("a stranger reads what was delivered")
			}
		}
	}
}

// Nor the session of a conversation that has begun without a word.
func TestExchangeInBegunSession(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	c := start(t, store, memory.Client, "42")
	trap := draft("", "mine")
	trap.SessionHash, trap.OwnerID = c.ID.Session(), hashOf("stranger")
	mustAppend(t, store, trap)
	_, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "secret", Assistant: "b"}, assistant)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Conflict || f.Field != "conversation" {
		t.Errorf("RecordExchange() = %v, want CONFLICT of the conversation", err)
	}
}

// The server's own idempotency keys cannot be taken by others before.
func TestKeysOfTheServer(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for _, key := range []string{"exchange:1", "event:call:1"} {
		d := draft("s", "mine")
		d.IdempotencyKey = &key
		if _, err := store.Append(t.Context(), []chain.Draft{d}); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("the key %s: %v", key, err)
		}
	}
}
