package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// unerased tells how much of a session could be erased.
const unerased = "SELECT count(*) FROM log.messages WHERE session_hash = '%s' AND event_type <> 'erasure' AND content IS NOT NULL"

// long makes a conversation of so many messages.
func long(t testing.TB, store *db.DB, messages int) memory.Conversation {
	t.Helper()
	c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
	drafts := make([]chain.Draft, messages-2)
	for i := range drafts {
		drafts[i] = chain.Draft{SessionHash: c.ID.Session(), OwnerID: c.Person, PlayerIDs: []chain.Hash{assistant}, Content: fmt.Sprint("pregunta ", i)}
	}
	for len(drafts) > 0 {
		n := min(len(drafts), chain.MaxDrafts)
		mustAppend(t, store, drafts[:n]...)
		drafts = drafts[n:]
	}
	return c
}

// A long conversation is erased portion after portion: where that breaks off, none of it is half done, and the next call goes on.
func TestConversationEraseIsRepeated(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	const messages, allowed = 1001, 620
	c := long(t, store, messages)
	other := exchanged(t, store, start(t, store, memory.Client, "42").ID, "otra", "también")
	left := fmt.Sprintf(unerased, c.ID.Session())
	mustExec(t, conn, fmt.Sprintf(`CREATE FUNCTION public.enough() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN
		IF NEW.sequence > %d THEN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END IF; RETURN NEW; END'`, messages+allowed))
	mustExec(t, conn, "CREATE TRIGGER zz_enough BEFORE INSERT ON log.messages FOR EACH ROW WHEN (NEW.event_type = 'erasure') EXECUTE FUNCTION public.enough()")
	boss := auth.Administrator()
	admin := store.AsAdministrator(boss, db.NewReading())
	if _, err := admin.DeleteConversation(t.Context(), c.ID, "lo pide el usuario", boss.Player); fault.CodeOf(err) != fault.Unavailable {
		t.Fatalf("broken off: %v", err)
	}
	_, err := store.Conversation(t.Context(), c.ID)
	wantGone(t, "the working memory", err)
	n := value[int](t, conn, left)
	if done := messages - n; done == 0 || done > allowed || allowed-done > 100 {
		t.Errorf("%d messages of %d are erased, want most of %d", done, messages, allowed)
	}
	if all, err := store.Conversations(t.Context(), memory.Client, "42"); err != nil || len(all) != 1 || all[0].ID != other.ID {
		t.Errorf("there are %+v, %v; want the other alone", all, err)
	}
	mustExec(t, conn, "DROP TRIGGER zz_enough ON log.messages")

	began := time.Now()
	if _, err = admin.DeleteConversation(t.Context(), c.ID, "lo pide el usuario", boss.Player); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d erasures took %v", n, time.Since(began))
	again, err := admin.DeleteConversation(t.Context(), c.ID, "lo pide el usuario", boss.Player)
	if err != nil || again.ID.UserID != "42" || again.ID.Role != memory.Client || again.Person != c.Person || again.Assistant != assistant || len(again.History) != 0 {
		t.Errorf("repeated without need: %+v, %v", again, err)
	}
	if n := value[int](t, conn, left); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	for what, session := range map[string]chain.Hash{"by erasures": c.ID.Session(), "on record": db.AuditSession(boss.Player)} {
		if n := value[int](t, conn, "SELECT count(*) FROM log.messages WHERE session_hash = '"+session.String()+"'"); n != map[string]int{"by erasures": 2 * messages, "on record": messages}[what] {
			t.Errorf("%s: %d messages", what, n)
		}
	}
	if kept, err := store.Conversation(t.Context(), other.ID); err != nil || len(kept.History) != 2 {
		t.Errorf("the other is %+v, %v", kept, err)
	}
	wantLog(t, store, messages)
}

// What has expired, swept or not, and what was deleted are erased from the log, for the two of it and administrators; nobody
// else comes by them, whatever they have written into the session.
func TestConversationErasedAfterItsEnd(t *testing.T) {
	t.Parallel()
	stranger := hashOf("ply:stranger")
	boss := auth.Administrator()
	end := map[string]func(t *testing.T, store *db.DB, clock *hands, c memory.Conversation){
		"expired": func(_ *testing.T, _ *db.DB, clock *hands, c memory.Conversation) { clock.set(c.ExpiresAt) },
		"swept": func(t *testing.T, store *db.DB, clock *hands, c memory.Conversation) {
			clock.set(c.ExpiresAt)
			if n, err := store.SweepConversations(t.Context()); err != nil || n == 0 {
				t.Fatalf("%d were swept, %v", n, err)
			}
		},
		"deleted": func(t *testing.T, store *db.DB, _ *hands, c memory.Conversation) {
			if _, err := store.DeleteConversation(t.Context(), c.ID, "", assistant); err != nil {
				t.Fatal(err)
			}
		},
	}
	store, url := open(t)
	clock, conn := handsOf(store), superuser(t, url)
	for name, ended := range end {
		for who, by := range map[string]chain.Hash{"user": memory.Person(memory.Client, "42"), "assistant": assistant, "administrator": boss.Player} {
			c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
			session, source := c.ID.Session(), db.ConversationSource
			said := chain.Draft{SessionHash: session, ThreadHash: &session, OwnerID: c.Person, PlayerIDs: []chain.Hash{assistant}, Role: ptr("user"), Source: &source, Content: "¿sí?"}
			forged := chain.Draft{SessionHash: session, ThreadHash: &session, OwnerID: stranger, PlayerIDs: []chain.Hash{c.Person}, Role: ptr("assistant"), Source: &source, Content: "forged"}
			mustAppend(t, store, said, forged)
			ended(t, store, clock, c)
			left := fmt.Sprintf(unerased, session)
			for player, as := range map[string]*db.DB{
				"another user": store.As(memory.Person(memory.Client, "43")), "the administrator 42": store.As(memory.Person(memory.Admin, "42")), "a stranger": store.As(stranger),
			} {
				_, err := as.DeleteConversation(t.Context(), c.ID, "x", stranger)
				wantGone(t, name+", by "+player, err)
				var f *fault.Error
				if !errors.As(err, &f) || f.Field != "id" {
					t.Errorf("%s, by %s: %v, want the field id", name, player, err)
				}
			}
			as := store.AsAdministrator(boss, nil)
			if by != boss.Player {
				as = store.As(by)
			}
			_, err := as.DeleteConversation(t.Context(), c.ID, "", by)
			wantGone(t, name+", the working memory alone", err)
			if n := value[int](t, conn, left); n != 4 {
				t.Errorf("%s: %d messages before, want 4", name, n)
			}
			fresh, err := as.DeleteConversation(t.Context(), c.ID, "x", by)
			if err != nil || fresh.Person != c.Person || fresh.Assistant != assistant || fresh.ID == c.ID {
				t.Errorf("%s, by the %s: %+v, %v", name, who, fresh, err)
			}
			if n := value[int](t, conn, left); n != 1 {
				t.Errorf("%s, by the %s: %d messages are left, want the stranger's", name, who, n)
			}
		}
	}
	silent := start(t, store, memory.Client, "42")
	clock.set(silent.ExpiresAt)
	_, err := store.DeleteConversation(t.Context(), silent.ID, "x", assistant)
	wantGone(t, "ended without a word", err)
	wantLog(t, store, int64(3*3*len(end)))
}

// What is counted before is what goes, of both alone, each selection once; it is counted of what has ended as well, for whom it
// may be erased, and counting does nothing.
func TestConversationEraseImpact(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	clock, conn := handsOf(store), superuser(t, url)
	silent := start(t, store, memory.Client, "43")
	c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "mañana")
	session := c.ID.Session()
	third := mustAppend(t, store, chain.Draft{SessionHash: session, ThreadHash: &session, OwnerID: c.Person, PlayerIDs: []chain.Hash{assistant}, Content: "¿sí?", IdempotencyKey: ptr("k")})[0]
	mustAppend(t, store,
		chain.Draft{SessionHash: session, ThreadHash: &session, OwnerID: hashOf("ply:stranger"), PlayerIDs: []chain.Hash{c.Person}, Content: "of somebody else"},
		chain.Draft{SessionHash: hashOf("s"), OwnerID: assistant, Content: "cites both", Refs: []chain.Ref{{Type: chain.RefContext, Hash: c.History[0].Message}, {Type: chain.RefContext, Hash: third.Hash}}})
	impact := func(what string, of *db.DB, id memory.ID) db.EraseImpact {
		t.Helper()
		found, in, err := of.ConversationEraseImpact(t.Context(), id)
		if err != nil || in != id.Session() {
			t.Fatalf("%s: session %s, %v", what, in, err)
		}
		found.Lexical, found.Terms = 0, 0
		return found
	}
	want := db.EraseImpact{Contents: 3, Content: 4 + 7 + 6, Attachments: 6, Keys: 1, CitedBy: 2}
	if diff := cmp.Diff(want, impact("live", store, c.ID)); diff != "" {
		t.Errorf("live: %s", diff)
	}
	if diff := cmp.Diff(db.EraseImpact{}, impact("silent", store, silent.ID)); diff != "" {
		t.Errorf("silent: %s", diff)
	}
	clock.set(c.ExpiresAt)
	mustErase(t, store, third.Hash)
	want = db.EraseImpact{Contents: 2, ErasedBefore: 1, Content: 4 + 7, Attachments: 4, CitedBy: 1}
	for who, as := range map[string]*db.DB{"everybody": store, "the assistant": store.As(assistant), "the user": store.As(c.Person)} {
		if who == "the user" {
			want.CitedBy = 0 // they do not see the session that it is cited in
		} else {
			want.CitedBy = 1
		}
		if diff := cmp.Diff(want, impact(who, as, c.ID)); diff != "" {
			t.Errorf("ended, %s: %s", who, diff)
		}
	}
	for who, player := range map[string]chain.Hash{"another user": memory.Person(memory.Client, "43"), "a stranger": hashOf("ply:stranger")} {
		_, _, err := store.As(player).ConversationEraseImpact(t.Context(), c.ID)
		wantGone(t, who, err)
	}
	_, _, err := store.ConversationEraseImpact(t.Context(), silent.ID)
	wantGone(t, "ended without a word", err)
	if n := value[int](t, conn, fmt.Sprintf(unerased, session)); n != 3 {
		t.Errorf("counted, %d messages have their content, want 3", n)
	}
	if _, err := store.DeleteConversation(t.Context(), c.ID, "x", assistant); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(db.EraseImpact{Obstacle: db.ErasedBefore, ErasedBefore: 3}, impact("erased", store, c.ID)); diff != "" {
		t.Errorf("erased: %s", diff)
	}
	if _, err := store.DeleteConversation(t.Context(), c.ID, strings.Repeat("x", db.MaxReasonBytes+1), assistant); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("with a reason that is too long: %v", err)
	}
}
