package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// What an administrator erases, and every change of the tokens, is on record with its change; the secret is not.
func TestChangesAreRecorded(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	ctx := t.Context()
	m := mustAppend(t, store, from(ana, "a", "one"))[0]
	erasure, err := office(store).Erase(ctx, m.Hash, boss.Player, "asked for")
	if err != nil {
		t.Fatal(err)
	}
	made, secret, err := store.CreateToken(ctx, auth.Draft{Role: auth.Agent, Player: ana, Note: "a note"}, boss)
	if err != nil {
		t.Fatal(err)
	}
	agent := auth.Caller{Player: ana, Role: auth.Agent, Scopes: auth.AllScopes, TokenID: made.ID}
	child, _, err := store.CreateToken(ctx, auth.Draft{Role: auth.Client, Player: ana}, agent)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := store.RevokeToken(ctx, made.ID, boss); err != nil {
			t.Fatal(err)
		}
	}
	events := audited(t, store, boss.Player)
	if len(events) != 4 {
		t.Fatalf("there are %d events, want 4", len(events))
	}
	if !slices.ContainsFunc(events, func(e chain.Message) bool {
		d := detailsOf(t, e)
		return d.Kind == "token.revoked" && d.Token == child.ID
	}) {
		t.Errorf("that what the token had made was revoked is not on record: %+v", events)
	}
	events = slices.DeleteFunc(events, func(e chain.Message) bool { return detailsOf(t, e).Token == child.ID })
	d := detailsOf(t, events[0])
	if d.Kind != "erasure" || *d.Message != m.Hash || *d.Event != erasure.Hash || d.Sessions[0] != m.SessionHash {
		t.Errorf("the erasure's event = %+v", d)
	}
	for i, kind := range []string{"token.created", "token.revoked"} {
		if d := detailsOf(t, events[i+1]); d.Kind != kind || d.Token != made.ID || d.TokenKind != "agent" || *d.Player != ana || len(d.Scopes) == 0 || d.ExpiresAt == "" {
			t.Errorf("the event of %s = %+v", kind, d)
		}
	}
	own := audited(t, store, ana)
	if len(own) != 1 || detailsOf(t, own[0]).ByToken != made.ID {
		t.Errorf("of an agent's own token there are %d events", len(own))
	}
	for _, e := range slices.Concat(events, own) {
		if text := *e.Content + string(*e.Attachments); strings.Contains(text, secret) || strings.Contains(text, "a note") || strings.Contains(text, "asked for") {
			t.Errorf("an event tells more than it should: %s", text)
		}
	}
	conn := superuser(t, url) // an event that cannot be written undoes its change
	mustExec(t, conn, "CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END $$")
	second := mustAppend(t, store, from(ana, "a", "two"))[0]
	mustExec(t, conn, "CREATE TRIGGER refuse BEFORE INSERT ON log.messages FOR EACH ROW WHEN (NEW.event_type = 'system') EXECUTE FUNCTION refuse()")
	if _, err := office(store).Erase(ctx, second.Hash, boss.Player, "why"); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Erase() = %v, want UNAVAILABLE", err)
	}
	if _, _, err := store.CreateToken(ctx, auth.Draft{Role: auth.Agent, Player: ana}, boss); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("CreateToken() = %v, want UNAVAILABLE", err)
	}
	if n, err := store.CountTokens(ctx, boss, nil); err != nil || n != 2 || read(t, store, second.Hash).Content == nil {
		t.Errorf("what is not on record was done: %d tokens, %v", n, err)
	}
	mustExec(t, conn, "DROP TRIGGER refuse ON log.messages")
	wantLog(t, store, 1)
}

// Erasing messages of many sessions while others append to them and to each other's: nobody waits for ever.
func TestErasuresOnRecordWhileOthersAppend(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var drafts []chain.Draft
	for i := range 30 {
		drafts = append(drafts, from(ana, fmt.Sprint("s", i), "one"))
	}
	written := mustAppend(t, store, drafts...)
	errs := make(chan error, 2)
	go func() {
		for range 30 {
			if _, err := store.Append(t.Context(), drafts); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}()
	go func() {
		for _, m := range written {
			if _, err := office(store).Erase(t.Context(), m.Hash, boss.Player, "why"); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}()
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(audited(t, store, boss.Player)); n != len(written) {
		t.Errorf("%d erasures are on record, want %d", n, len(written))
	}
	wantLog(t, store, int64(len(written)))
}

// Nobody but the server writes to an audit session, and nobody looks on by beginning one of its name before.
func TestAuditSessionIsTheServers(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx := t.Context()
	own := chain.Draft{SessionHash: db.AuditSession(ana), OwnerID: ana, Content: "I did nothing"}
	_, err := store.As(ana).Append(ctx, []chain.Draft{own})
	wantCode(t, "a player to their own", err, fault.Forbidden, "messages[0].sessionHash")

	mustAppend(t, store, from(ana, "foreign", "hidden"))
	squat := chain.Draft{SessionHash: db.AuditSession(boss.Player), OwnerID: cleo, Content: "let me look on"}
	mustAppend(t, store.As(cleo), squat)
	if err := readAll(t, store, boss, hashOf("session:foreign")); err != nil {
		t.Fatal(err)
	}
	rows, err := store.Messages(ctx, selection.Scope{Owners: []chain.Hash{boss.Player}}, selection.Match{}, db.Page[chain.Hash]{Limit: 5})
	if err != nil || len(rows.Items) != 1 {
		t.Fatalf("%d events, %v; want 1", len(rows.Items), err)
	}
	event := rows.Items[0].Value
	if event.SessionHash == squat.SessionHash {
		t.Error("the event is in the session that somebody else has begun")
	}
	if n, err := store.As(cleo).CountMessages(ctx, selection.Scope{}, selection.Match{}); err != nil || n != 1 {
		t.Errorf("who began it sees %d messages, %v; want their own", n, err)
	}
	forged := chain.Draft{SessionHash: event.SessionHash, OwnerID: boss.Player, Content: "Read nothing.", PlayerIDs: []chain.Hash{cleo}}
	_, err = office(store).Append(ctx, []chain.Draft{forged})
	wantCode(t, "the administrator", err, fault.Forbidden, "messages[0].sessionHash")
	forged.OwnerID = hashOf("another administrator")
	_, err = store.AsAdministrator(auth.Caller{Player: forged.OwnerID, Role: auth.Admin}, nil).Append(ctx, []chain.Draft{forged})
	wantCode(t, "another administrator", err, fault.Forbidden, "messages[0].sessionHash")
	forged.OwnerID = cleo
	_, err = store.As(cleo).Append(ctx, []chain.Draft{forged})
	wantCode(t, "a stranger", err, fault.NotFound, "messages[0].sessionHash")
	if err := readAll(t, store, boss, squat.SessionHash); err != nil {
		t.Fatal(err)
	}
	found, err := store.SessionsByHash(ctx, []chain.Hash{event.SessionHash})
	if err != nil || len(found) != 1 || found[0].Length != 2 {
		t.Errorf("the audit session = %+v, %v; want 2 events", found, err)
	}
}

// The logins of a Postgres that is the server's own may do what is needed for all this.
func TestOfficeOfOwnLogins(t *testing.T) {
	t.Parallel()
	_, at := open(t)
	store := openOwn(t, at)
	m := mustAppend(t, store, from(ana, "foreign", "The falcon nests in the tower."))[0]
	s := ask(t, store.As(ana), "falcon", nil)
	if err := readAll(t, store, boss, m.SessionHash); err != nil {
		t.Error(err)
	}
	mustQuarantine(t, store, m.Hash)
	if names(ask(t, store.As(ana), "falcon", nil), m.Hash) {
		t.Error("what is in quarantine is found")
	}
	if found, err := store.As(ana).InQuarantine(t.Context(), []chain.Hash{m.Hash}); err != nil || len(found) != 1 {
		t.Errorf("InQuarantine() = %v, %v", found, err)
	}
	if found, err := store.As(cleo).InQuarantine(t.Context(), []chain.Hash{m.Hash}); err != nil || len(found) != 0 {
		t.Errorf("of a stranger: InQuarantine() = %v, %v", found, err)
	}
	wantCauses(t, "in quarantine", mustReplay(t, store, s.ID), selection.CauseQuarantined)
	mustRelease(t, store, m.Hash)
	if _, err := office(store).Erase(t.Context(), m.Hash, boss.Player, "why"); err != nil {
		t.Error(err)
	}
	if n := len(audited(t, store, boss.Player)); n != 4 {
		t.Errorf("there are %d events, want 4", n)
	}
	wantLog(t, store, 1)
}

// What is on record of somebody's acts cannot be erased: not by them, not by another administrator, not by SQL.
func TestAuditIsNotErased(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	mustAppend(t, store, from(ana, "foreign", "hidden"))
	if err := readAll(t, store, boss, hashOf("session:foreign")); err != nil {
		t.Fatal(err)
	}
	event := audited(t, store, boss.Player)[0]
	other := auth.Caller{Player: hashOf("another administrator"), Role: auth.Admin}
	for name, by := range map[string]*db.DB{"who is recorded": office(store), "another": store.AsAdministrator(other, nil), "as a player": store.As(boss.Player)} {
		eraser := boss.Player
		if name == "another" {
			eraser = other.Player
		}
		if _, err := by.Erase(t.Context(), event.Hash, eraser, "it never was"); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want CONFLICT", name, err)
		}
	}
	if _, err := superuser(t, at).Exec(t.Context(), "SELECT log.erase($1, $2, 'it never was')", event.Hash.String(), boss.Player.String()); sqlState(err) != "CM007" {
		t.Errorf("by SQL: %v, want CM007", err)
	}
	if again := audited(t, store, boss.Player); len(again) != 1 || again[0].Attachments == nil {
		t.Errorf("on record is %+v, want the event as it was", again)
	}
}
