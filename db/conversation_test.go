package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

var assistant = hashOf("ply:assistant")

// hands is a clock that a test sets.
type hands struct{ at atomic.Int64 }

// handsOf puts a clock into a store's hands.
func handsOf(store *db.DB) *hands {
	h := &hands{}
	h.set(time.Date(2026, 2, 8, 10, 0, 0, 0, time.UTC))
	store.Clock = func() time.Time { return time.UnixMicro(h.at.Load()) }
	return h
}

func (h *hands) set(t time.Time) { h.at.Store(t.UnixMicro()) }

func start(t testing.TB, store *db.DB, role memory.Role, user string) memory.Conversation {
	t.Helper()
	c, err := store.StartConversation(t.Context(), role, user, assistant)
	if err != nil {
		t.Fatalf("StartConversation() = %v", err)
	}
	return c
}

func exchanged(t testing.TB, store *db.DB, id memory.ID, user, answer string) memory.Conversation {
	t.Helper()
	c, err := store.RecordExchange(t.Context(), id, db.Exchange{User: user, Assistant: answer}, assistant)
	if err != nil {
		t.Fatalf("RecordExchange() = %v", err)
	}
	return c
}

func contents(c memory.Conversation) (out []string) {
	for _, turn := range c.History {
		out = append(out, string(turn.Role)+": "+turn.Content)
	}
	return out
}

func wantGone(t testing.TB, what string, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%s: %v, want NOT_FOUND", what, err)
	}
}

// What is said stands in the log and in the working memory, and the log keeps what falls out of that.
func TestConversation(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	clock := handsOf(store)
	began := store.Now()
	c := start(t, store, memory.Client, "42")
	if c.ID.Role != memory.Client || c.ID.UserID != "42" || len(c.History) != 0 || c.State.JSON() != "{}" || !c.ExpiresAt.Equal(began.Add(memory.DefaultTTL)) {
		t.Fatalf("started %+v", c)
	}
	var want []string
	for i := range 7 {
		clock.set(began.Add(time.Duration(i) * time.Minute))
		user, answer := fmt.Sprintf("pregunta %d", i), fmt.Sprintf("respuesta %d", i)
		c = exchanged(t, store, c.ID, user, answer)
		want = append(want, "user: "+user, "assistant: "+answer)
	}
	if diff := cmp.Diff(want[4:], contents(c)); diff != "" {
		t.Error(diff)
	}
	if !c.LastActivity.Equal(store.Now()) || !c.ExpiresAt.Equal(store.Now().Add(memory.DefaultTTL)) {
		t.Errorf("renewed at %v until %v", c.LastActivity, c.ExpiresAt)
	}
	again, err := store.Conversation(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Error(diff)
	}
	rows, err := store.SessionMessages(t.Context(), c.ID.Session(), db.Page[int64]{Limit: 50})
	if err != nil || len(rows.Items) != len(want) {
		t.Fatalf("the log has %d messages, %v; want %d", len(rows.Items), err, len(want))
	}
	for i, item := range rows.Items {
		m := item.Value
		if said := *m.Role + ": " + *m.Content; said != want[i] || *m.ThreadHash != c.ID.Session() || *m.Source != db.ConversationSource {
			t.Errorf("message %d is %+v", i, m)
		}
	}
	wantLog(t, store, 0)
}

// Key by key; null removes; nothing else changes.
func TestConversationState(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	clock := handsOf(store)
	c := start(t, store, memory.Admin, "1")
	patch := func(text string) memory.State {
		s, err := memory.ParseState("state", chain.JSON(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	clock.set(store.Now().Add(time.Minute))
	c, err := store.UpdateState(t.Context(), c.ID, patch(`{"current_product": 123, "draft_product": {"name": "Camiseta"}}`))
	if err != nil || !c.ExpiresAt.Equal(store.Now().Add(memory.DefaultTTL)) {
		t.Fatalf("UpdateState() = %+v, %v", c, err)
	}
	c, err = store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "¿Precio?", Assistant: "19,99 €", State: patch(`{"draft_product": {"price": 19.99}, "current_product": null}`)}, assistant)
	if err != nil || c.State.JSON() != `{"draft_product":{"price":19.99}}` {
		t.Fatalf("RecordExchange() = %s, %v", c.State.JSON(), err)
	}
	for text, want := range map[string]fault.Code{
		`{"x": "` + strings.Repeat("x", memory.MaxState-10) + `"}`: fault.BadUserInput, `{"x": {"tool_calls": []}}`: fault.ContentRejected,
	} {
		if _, err := store.UpdateState(t.Context(), c.ID, patch(text)); fault.CodeOf(err) != want {
			t.Errorf("%.30s: %v, want %s", text, err, want)
		}
		_, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b", State: patch(text)}, assistant)
		if fault.CodeOf(err) != want {
			t.Errorf("%.30s: %v, want %s", text, err, want)
		}
	}
	if kept, err := store.Conversation(t.Context(), c.ID); err != nil || cmp.Diff(c, kept) != "" {
		t.Errorf("afterwards %+v, %v", kept, err)
	}
	rows, err := store.SessionMessages(t.Context(), c.ID.Session(), db.Page[int64]{Limit: 50})
	if err != nil || len(rows.Items) != 2 {
		t.Errorf("the log has %d messages, %v; want 2: nothing of what was refused", len(rows.Items), err)
	}
}

// A conversation is there until its end, and gone for everyone from then on, whether or not anything was swept.
func TestConversationExpires(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	store.SetConversationTTL(time.Minute)
	clock := handsOf(store)
	c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
	clock.set(c.ExpiresAt.Add(-time.Millisecond))
	if _, err := store.Conversation(t.Context(), c.ID); err != nil {
		t.Errorf("a millisecond before: %v", err)
	}
	if all, err := store.Conversations(t.Context(), memory.Client, "42"); err != nil || len(all) != 1 {
		t.Errorf("a millisecond before: %d, %v", len(all), err)
	}
	for _, after := range []time.Duration{0, time.Millisecond} {
		clock.set(c.ExpiresAt.Add(after))
		_, err := store.Conversation(t.Context(), c.ID)
		wantGone(t, "read", err)
		_, err = store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
		wantGone(t, "recorded", err)
		_, err = store.UpdateState(t.Context(), c.ID, memory.State{})
		wantGone(t, "changed", err)
		_, err = store.DeleteConversation(t.Context(), c.ID, "", assistant)
		wantGone(t, "deleted", err)
		if all, err := store.Conversations(t.Context(), memory.Client, "42"); err != nil || len(all) != 0 {
			t.Errorf("afterwards: %d, %v", len(all), err)
		}
	}
	rows, err := store.SessionMessages(t.Context(), c.ID.Session(), db.Page[int64]{Limit: 50})
	if err != nil || len(rows.Items) != 2 {
		t.Errorf("the log has %d messages, %v; want the 2 from before the end", len(rows.Items), err)
	}
}

func TestSweepConversations(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	clock := handsOf(store)
	conn := superuser(t, url)
	const many = 1500 // more than one sweep takes at a time
	mustExec(t, conn, `INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, created_at, last_activity, expires_at)
		SELECT 'client:' || i || ':' || gen_random_uuid(), 'client', i::TEXT, lpad('', 64, 'a'), lpad('', 64, 'b'), lpad(i::TEXT, 64, '0'), $1, $1, $1
		FROM generate_series(1, $2) AS i`, store.Now().Add(time.Minute), many)
	clock.set(store.Now().Add(time.Minute - time.Microsecond))
	if n, err := store.SweepConversations(t.Context()); err != nil || n != 0 {
		t.Errorf("before their end %d were swept, %v", n, err)
	}
	kept := start(t, store, memory.Client, "x")
	clock.set(store.Now().Add(time.Microsecond))
	if all, err := store.Conversations(t.Context(), memory.Client, "7"); err != nil || len(all) != 0 {
		t.Errorf("at its end: %d, %v", len(all), err)
	}
	if n, err := store.SweepConversations(t.Context()); err != nil || n != many {
		t.Errorf("%d were swept, %v; want %d", n, err, many)
	}
	if _, err := store.Conversation(t.Context(), kept.ID); err != nil {
		t.Errorf("one that lasts: %v", err)
	}
}

// Exchanges of one conversation, at once and from two servers, are all there, in the log's order.
func TestExchangesAtOnce(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	c := start(t, store, memory.Client, "42")
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			on := []*db.DB{store, other}[i%2]
			if _, err := on.RecordExchange(t.Context(), c.ID, db.Exchange{User: fmt.Sprint("u", i), Assistant: fmt.Sprint("a", i)}, assistant); err != nil {
				t.Errorf("RecordExchange() = %v", err)
			}
		})
	}
	wait.Wait()
	kept, err := store.Conversation(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := store.SessionMessages(t.Context(), c.ID.Session(), db.Page[int64]{Limit: 50})
	if err != nil || len(rows.Items) != 40 {
		t.Fatalf("%d messages, %v", len(rows.Items), err)
	}
	var want []string
	for _, item := range rows.Items[30:] {
		want = append(want, *item.Value.Role+": "+*item.Value.Content)
	}
	if diff := cmp.Diff(want, contents(kept)); diff != "" {
		t.Error(diff)
	}
}

// With an idempotency key an exchange is recorded once, whatever was said since.
func TestExchangeAgain(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	c := start(t, store, memory.Client, "42")
	x := db.Exchange{User: "a", Assistant: "b", Key: ptr("k")}
	for range 2 {
		if _, err := store.RecordExchange(t.Context(), c.ID, x, assistant); err != nil {
			t.Fatal(err)
		}
	}
	exchanged(t, store, c.ID, "c", "d")
	again, err := store.RecordExchange(t.Context(), c.ID, x, assistant)
	if diff := cmp.Diff([]string{"user: a", "assistant: b", "user: c", "assistant: d"}, contents(again)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	elsewhere := start(t, store, memory.Client, "42")
	if other, err := store.RecordExchange(t.Context(), elsewhere.ID, x, assistant); err != nil || len(other.History) != 2 {
		t.Errorf("the key in another conversation: %+v, %v", other.History, err)
	}
	x.Assistant = "other"
	var f *fault.Error
	if _, err = store.RecordExchange(t.Context(), c.ID, x, assistant); !errors.As(err, &f) || f.Code != fault.Conflict || f.Field != "idempotencyKey" {
		t.Errorf("the key for another exchange: %v", err)
	}
	x.Assistant, x.State = "b", memory.State{"size": json.RawMessage("43")}
	if _, err = store.RecordExchange(t.Context(), c.ID, x, assistant); !errors.As(err, &f) || f.Code != fault.Conflict {
		t.Errorf("the key with what else was confirmed: %v", err)
	}
}

// Nobody but the two of a conversation comes by it, whatever they know; only the assistant and administrators add to it.
func TestConversationIsOthers(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
	swapped := c.ID
	swapped.Role = memory.Admin
	_, err := store.Conversation(t.Context(), swapped)
	wantGone(t, "under the other role", err)
	if all, err := store.Conversations(t.Context(), memory.Admin, "42"); err != nil || len(all) != 0 {
		t.Errorf("under the other role: %d, %v", len(all), err)
	}
	for name, player := range map[string]chain.Hash{
		"another user": memory.Person(memory.Client, "43"), "the administrator 42": memory.Person(memory.Admin, "42"), "another assistant": hashOf("ply:other"),
	} {
		as := store.As(player)
		_, err := as.Conversation(t.Context(), c.ID)
		wantGone(t, name+" reads", err)
		if all, err := as.Conversations(t.Context(), memory.Client, "42"); err != nil || len(all) != 0 {
			t.Errorf("%s lists %d, %v", name, len(all), err)
		}
		_, err = as.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, player)
		wantGone(t, name+" records", err)
		_, err = as.UpdateState(t.Context(), c.ID, memory.State{})
		wantGone(t, name+" changes", err)
		_, err = as.DeleteConversation(t.Context(), c.ID, "x", player)
		wantGone(t, name+" deletes", err)
	}
	person := store.As(c.Person)
	if read, err := person.Conversation(t.Context(), c.ID); err != nil || len(read.History) != 2 {
		t.Errorf("the user reads %+v, %v", read, err)
	}
	_, err = person.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, c.Person)
	wantGone(t, "the user records", err)
	_, err = person.UpdateState(t.Context(), c.ID, memory.State{})
	wantGone(t, "the user changes", err)
	if _, err := store.As(assistant).RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b"}, assistant); err != nil {
		t.Errorf("the assistant records: %v", err)
	}
	fresh, err := person.DeleteConversation(t.Context(), c.ID, "", c.Person)
	if err != nil || fresh.ID == c.ID || fresh.ID.UserID != "42" || fresh.Assistant != assistant || len(fresh.History) != 0 {
		t.Errorf("the user deletes: %+v, %v", fresh, err)
	}
	_, err = store.Conversation(t.Context(), c.ID)
	wantGone(t, "deleted", err)
}

// What is erased from the log is forgotten by the working memory; with the conversation all of it goes from the log.
func TestConversationForgets(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "mi número es 555", "anotado")
	mustErase(t, store, c.History[0].Message)
	kept, err := store.Conversation(t.Context(), c.ID)
	if diff := cmp.Diff([]string{"assistant: anotado"}, contents(kept)); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	exchanged(t, store, c.ID, "otra cosa", "de acuerdo")
	boss := auth.Administrator()
	fresh, err := store.AsAdministrator(boss, db.NewReading()).DeleteConversation(t.Context(), c.ID, "lo pide el usuario", boss.Player)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Conversation(t.Context(), c.ID)
	wantGone(t, "the old one", err)
	if _, err := store.Conversation(t.Context(), fresh.ID); err != nil {
		t.Errorf("the fresh one: %v", err)
	}
	rows, err := store.SessionMessages(t.Context(), c.ID.Session(), db.Page[int64]{Limit: 50})
	if err != nil || len(rows.Items) != 8 {
		t.Fatalf("%d messages, %v; want 4 and their erasures", len(rows.Items), err)
	}
	for _, item := range rows.Items {
		if m := item.Value; m.EventType != chain.EventErasure && m.Content != nil {
			t.Errorf("%q is left", *m.Content)
		}
	}
	record, err := store.SessionMessages(t.Context(), db.AuditSession(boss.Player), db.Page[int64]{Limit: 50})
	if err != nil || len(record.Items) != 3 {
		t.Errorf("%d erasures are on record, %v; want 3", len(record.Items), err)
	}
	wantLog(t, store, 4)
}
