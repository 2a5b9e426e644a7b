package db_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// The players of the tests of views. Ana and Ben share a session, and Cleo has one of her own.
var ana, ben, cleo = hashOf("ply:ana"), hashOf("ply:ben"), hashOf("ply:cleo")

func from(player chain.Hash, session, content string, to ...chain.Hash) chain.Draft {
	d := draft(session, content)
	d.OwnerID, d.PlayerIDs = player, to
	return d
}

// both runs a test with row-level security behind the store's own predicates, and without.
func both(t *testing.T, test func(t *testing.T, store *db.DB)) {
	t.Parallel()
	t.Run("fenced", func(t *testing.T) {
		t.Parallel()
		store, _ := open(t)
		if !store.Fenced() {
			t.Fatal("there is no fence, though the login may make roles")
		}
		test(t, store)
	})
	t.Run("store alone", func(t *testing.T) {
		t.Parallel()
		store, _ := open(t)
		store.Unfence()
		test(t, store)
	})
}

func wantCode(t *testing.T, what string, err error, code fault.Code, field string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	} else if !strings.HasPrefix(err.Error(), field) {
		t.Errorf("%s: %q does not name %s", what, err, field)
	}
}

// What others have is for a player as what nobody has, whatever they ask.
func TestViewOfReads(t *testing.T) {
	both(t, func(t *testing.T, store *db.DB) {
		ctx := t.Context()
		own := mustAppend(t, store, from(ana, "shared", "from ana", ben), from(ben, "shared", "from ben"))
		thread := hashOf("thread")
		secret := from(cleo, "secret", "from cleo")
		secret.Refs = []chain.Ref{{Type: chain.RefContext, Hash: own[0].Hash}}
		secret.ThreadHash = &thread
		hidden := mustAppend(t, store, secret)[0]
		inThread := from(ben, "shared", "ben in the thread")
		inThread.ThreadHash = &thread
		own = append(own, mustAppend(t, store, inThread)...)
		view := store.As(ana)

		found, err := view.MessagesByHash(ctx, []chain.Hash{own[0].Hash, own[1].Hash, hidden.Hash, hashOf("nothing")})
		if err != nil || len(found) != 2 {
			t.Errorf("MessagesByHash gives %d, %v; want Ana's two", len(found), err)
		}
		rows, err := view.Messages(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 10})
		if err != nil || len(rows.Items) != 3 {
			t.Errorf("Messages gives %d, %v; want 3", len(rows.Items), err)
		}
		for _, cursor := range []chain.Hash{hidden.Hash, hashOf("nothing")} {
			if rows, err := view.Messages(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 10, After: &cursor}); err != nil || len(rows.Items) != 0 {
				t.Errorf("Messages behind what is not seen gives %d, %v", len(rows.Items), err)
			}
		}
		if rows, err := view.Messages(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 10, After: &own[1].Hash}); err != nil || len(rows.Items) != 1 {
			t.Errorf("Messages behind the second gives %d, %v; want 1", len(rows.Items), err)
		}
		for name, scope := range map[string]selection.Scope{
			"session": {Sessions: []chain.Hash{hashOf("session:secret")}}, "owner": {Owners: []chain.Hash{cleo}}, "player": {Players: []chain.Hash{cleo}},
		} {
			if n, err := view.CountMessages(ctx, scope, selection.Match{}); err != nil || n != 0 {
				t.Errorf("the scope of a hidden %s has %d messages, %v", name, n, err)
			}
		}
		if n, err := view.CountMessages(ctx, selection.Scope{}, selection.Match{}); err != nil || n != 3 {
			t.Errorf("CountMessages = %d, %v; want 3", n, err)
		}
		if rows, err := view.SessionMessages(ctx, hashOf("session:secret"), db.Page[int64]{Limit: 5}); err != nil || len(rows.Items) != 0 {
			t.Errorf("SessionMessages of a hidden session gives %d, %v", len(rows.Items), err)
		}
		if rows, err := view.ThreadMessages(ctx, thread, db.Page[chain.Hash]{Limit: 5}); err != nil || len(rows.Items) != 1 || rows.Items[0].Value.Hash != own[2].Hash {
			t.Errorf("ThreadMessages gives %d, %v; want Ben's", len(rows.Items), err)
		}
		if rows, err := view.CitingMessages(ctx, own[0].Hash, db.Page[chain.Hash]{Limit: 5}); err != nil || len(rows.Items) != 0 {
			t.Errorf("CitingMessages gives %d, %v; the one is hidden", len(rows.Items), err)
		}
		if n, err := view.CountCitingMessages(ctx, own[0].Hash); err != nil || n != 0 {
			t.Errorf("CountCitingMessages = %d, %v; want 0", n, err)
		}
		if refs, err := view.RefsOf(ctx, []chain.Hash{hidden.Hash}); err != nil || len(refs) != 0 {
			t.Errorf("RefsOf a hidden message gives %d, %v", len(refs), err)
		}
		sessions, err := view.Sessions(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 5})
		if err != nil || len(sessions.Items) != 1 {
			t.Errorf("Sessions gives %d, %v; want 1", len(sessions.Items), err)
		}
		if found, err := view.SessionsByHash(ctx, []chain.Hash{hashOf("session:secret")}); err != nil || len(found) != 0 {
			t.Errorf("SessionsByHash gives %d, %v", len(found), err)
		}
		threads, err := view.ThreadsByHash(ctx, []chain.Hash{thread})
		if err != nil || len(threads) != 1 || threads[0].MessageCount != 1 || threads[0].Last != own[2].Hash {
			t.Errorf("ThreadsByHash gives %+v, %v; want one message", threads, err)
		}
		listed, err := view.Threads(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 5})
		if err != nil || len(listed.Items) != 1 || listed.Items[0].Value.MessageCount != 1 {
			t.Errorf("Threads gives %+v, %v; want one message", listed.Items, err)
		}
		players, err := view.PlayersOf(ctx, []chain.Hash{thread})
		if err != nil || !slices.Equal(players[thread], []chain.Hash{ben}) {
			t.Errorf("PlayersOf gives %v, %v; want Ben", players[thread], err)
		}
		report, err := view.VerifySession(ctx, hashOf("session:secret"), nil)
		if err != nil || report.Length != 0 || report.Head != nil || !report.Valid {
			t.Errorf("VerifySession of a hidden session gives %+v, %v", report, err)
		}
		_, err = view.VerifyLog(ctx, nil)
		wantCode(t, "VerifyLog", err, fault.Forbidden, "")
		if n, err := store.As(hashOf("nobody")).CountMessages(ctx, selection.Scope{}, selection.Match{}); err != nil || n != 0 {
			t.Errorf("a stranger counts %d, %v", n, err)
		}
	})
}

// Of players, one sees who stands in one's sessions by another's word; preferences are one's own.
func TestViewOfPlayers(t *testing.T) {
	both(t, func(t *testing.T, store *db.DB) {
		ctx := t.Context()
		mustAppend(t, store, from(ana, "shared", "from ana", ben), from(cleo, "secret", "from cleo"))
		mustAppend(t, store, from(ben, "shared", "from ben"), from(ana, "mine", "from ana, who gets no answer", cleo))
		for key, hash := range map[string]chain.Hash{"ana": ana, "ben": ben, "cleo": cleo} {
			if _, err := store.UpsertComponents(ctx, []component.Draft{{Namespace: "ply", Key: key, Hash: &hash, Name: ptr(strings.ToUpper(key)), Preferences: []string{"tea"}}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.UpsertComponents(ctx, []component.Draft{{Namespace: "hst", Key: "trip"}}); err != nil {
			t.Fatal(err)
		}
		view := store.As(ana)
		found, err := view.ComponentsByHash(ctx, []chain.Hash{ana, ben, cleo, component.DefaultHash("hst", "trip")})
		if err != nil || len(found) != 3 || found[cleo].Key != nil {
			t.Errorf("ComponentsByHash gives %v, %v; want all but Cleo", found, err)
		}
		if len(found[ana].Preferences) != 1 || len(found[ben].Preferences) != 0 {
			t.Errorf("preferences are %v and Ben's %v; want only one's own", found[ana].Preferences, found[ben].Preferences)
		}
		search := "CLEO"
		rows, err := view.Components(ctx, []component.Namespace{"ply"}, nil, db.Page[db.ComponentKey]{Limit: 10})
		if err != nil || len(rows.Items) != 2 {
			t.Errorf("Components gives %d players, %v; want 2", len(rows.Items), err)
		}
		if n, err := view.CountComponents(ctx, nil, &search); err != nil || n != 0 {
			t.Errorf("CountComponents of a hidden name = %d, %v", n, err)
		}
		_, err = view.UpsertComponents(ctx, []component.Draft{{Namespace: "ply", Key: "ana", Name: ptr("Ana")}})
		if err != nil {
			t.Errorf("Ana changes her own name: %v", err)
		}
		for name, c := range map[string]component.Draft{
			"another player": {Namespace: "ply", Key: "ben", Name: ptr("x")}, "another key": {Namespace: "ply", Key: "ana2", Hash: &ana}, "a tag": {Namespace: "hst", Key: "trip"},
		} {
			_, err := view.UpsertComponents(ctx, []component.Draft{c})
			wantCode(t, name, err, fault.Forbidden, "components[0]")
		}
	})
}

// Only members append to a session that is there, and naming oneself opens nothing.
func TestViewOfAppends(t *testing.T) {
	both(t, func(t *testing.T, store *db.DB) {
		ctx := t.Context()
		first := mustAppend(t, store.As(ana), from(ana, "a", "Ana starts it", ben))[0]
		mustAppend(t, store.As(ben), from(ben, "a", "Ben was named"))
		hidden := mustAppend(t, store.As(cleo), from(cleo, "c", "Cleo's own"))[0]
		_, err := store.As(cleo).Append(ctx, []chain.Draft{from(cleo, "a", "let me in", cleo, ana)})
		wantCode(t, "a stranger", err, fault.NotFound, "messages[0].sessionHash")
		withHead := from(cleo, "a", "with the head")
		withHead.PrevHash = &first.Hash
		_, err = store.As(cleo).Append(ctx, []chain.Draft{withHead})
		wantCode(t, "a stranger who states the head", err, fault.NotFound, "messages[0].sessionHash")
		_, err = store.As(cleo).Append(ctx, []chain.Draft{from(ana, "c", "in Ana's name")})
		wantCode(t, "another owner", err, fault.Forbidden, "messages[0].ownerId")
		var told []string
		for _, ref := range []chain.Hash{hidden.Hash, hashOf("nothing")} {
			citing := from(ana, "a", "citing")
			citing.Refs = []chain.Ref{{Type: chain.RefContext, Hash: ref}}
			_, err = store.As(ana).Append(ctx, []chain.Draft{citing})
			wantCode(t, "a ref to what is not seen", err, fault.BadUserInput, "messages[0].refs[0].hash")
			told = append(told, err.Error())
		}
		if told[0] != told[1] {
			t.Errorf("a hidden ref gives %q and an invented one %q", told[0], told[1])
		}
		citing := from(ben, "b", "a session of Ben's")
		citing.Refs = []chain.Ref{{Type: chain.RefContext, Hash: first.Hash}}
		mustAppend(t, store.As(ben), citing)
		if n, err := store.As(cleo).CountMessages(ctx, selection.Scope{}, selection.Match{}); err != nil || n != 1 {
			t.Errorf("Cleo sees %d, %v; want her own", n, err)
		}
	})
}

// Two who start the same session at once: one of them does, and the other gains nothing.
func TestViewOfSessionsStartedAtOnce(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for i := range 40 {
		session := fmt.Sprint("race", i)
		errs := make(chan error, 2)
		for _, player := range []chain.Hash{ana, cleo} {
			go func() {
				_, err := store.As(player).Append(t.Context(), []chain.Draft{from(player, session, "mine")})
				errs <- err
			}()
		}
		refused := 0
		for range 2 {
			if err := <-errs; err != nil {
				wantCode(t, "the later one", err, fault.NotFound, "messages[0].sessionHash")
				refused++
			}
		}
		if refused != 1 {
			t.Fatalf("%d of two were refused, want 1", refused)
		}
	}
	a, err := store.As(ana).CountMessages(t.Context(), selection.Scope{}, selection.Match{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.As(cleo).CountMessages(t.Context(), selection.Scope{}, selection.Match{})
	if err != nil || a+c != 40 {
		t.Errorf("they see %d and %d, %v; want 40 together", a, c, err)
	}
}

// Of a group of appends that are written together, each is let in and refused by what its own player sees.
func TestViewOfAGroup(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustAppend(t, store.As(ben), from(ben, "shared", "Ana is named", ana))
	cited := mustAppend(t, store.As(ben), from(ben, "cited", "Ana is named here, too", ana))[0] // nobody adds to it
	own := mustAppend(t, store.As(cleo), from(cleo, "own", "Cleo's own"))[0]
	// While both writers wait for sessions that somebody holds, calls gather.
	holder := superuser(t, url)
	mustExec(t, holder, "BEGIN")
	var wait sync.WaitGroup
	for i := range 2 {
		session := fmt.Sprint("held ", i)
		mustExec(t, holder, "SELECT pg_advisory_xact_lock(log.session_lock($1))", hashOf("session:%s", session).String())
		wait.Go(func() { mustAppend(t, store, from(ben, session, "waits")) })
		eventually(t, "a writer waits", func() bool {
			return value[int](t, holder, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == i+1
		})
	}
	citing := func(player chain.Hash, session string, ref chain.Hash) chain.Draft {
		d := from(player, session, "cites")
		d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: ref}}
		return d
	}
	for what, call := range map[string]struct {
		draft chain.Draft
		code  fault.Code
		field string
	}{
		"a member":             {from(ana, "shared", "Ana's"), "", ""},
		"who began it":         {from(ben, "shared", "Ben's"), "", ""},
		"a stranger":           {from(cleo, "shared", "let me in"), fault.NotFound, "messages[0].sessionHash"},
		"another stranger":     {from(ana, "own", "let me in"), fault.NotFound, "messages[0].sessionHash"},
		"a member who cites":   {citing(ana, "Ana's", cited.Hash), "", ""},
		"a stranger who cites": {citing(cleo, "Cleo's", cited.Hash), fault.BadUserInput, "messages[0].refs[0].hash"},
		"a stranger who cites from where others are": {citing(ben, "Ben's", own.Hash), fault.BadUserInput, "messages[0].refs[0].hash"},
		"who cites their own":                        {citing(cleo, "own", own.Hash), "", ""},
	} {
		wait.Go(func() {
			_, err := store.As(call.draft.OwnerID).Append(t.Context(), []chain.Draft{call.draft})
			if call.code != "" {
				wantCode(t, what, err, call.code, call.field)
			} else if err != nil {
				t.Errorf("%s: %v, want it written", what, err)
			}
		})
	}
	eventually(t, "all calls wait", func() bool { return store.Queued() == 8 })
	mustExec(t, holder, "COMMIT")
	wait.Wait()
	const groups = `SELECT count(DISTINCT xmin::TEXT) FROM log.messages WHERE content IN ('Ana''s', 'Ben''s', 'cites')`
	if n := value[int](t, holder, groups); n != 1 {
		t.Errorf("what was let in was written in %d groups, want one", n)
	}
}

// A subscription gives what its player sees, sessions that come later included.
func TestViewOfSubscriptions(t *testing.T) {
	both(t, func(t *testing.T, store *db.DB) {
		mustAppend(t, store, from(ana, "a", "before"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		feed, err := store.As(ana).Subscribe(ctx, func(*chain.Message) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, store, from(cleo, "c", "hidden"), from(ana, "a", "own"), from(cleo, "c", "hidden still"))
		mustAppend(t, store, from(ben, "b", "hidden"), from(ben, "b", "Ana is named", ana), from(ben, "b", "Ana is a member"))
		for _, want := range []string{"own", "Ana is named", "Ana is a member"} {
			m, err := feed.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if *m.Content != want {
				t.Errorf("got %q, want %q", *m.Content, want)
			}
		}
	})
}

// Only who sent a message erases it, administrators apart; what is hidden cannot be told from what is not there.
func TestViewOfErasures(t *testing.T) {
	both(t, func(t *testing.T, store *db.DB) {
		own := mustAppend(t, store, from(ana, "a", "Ana's", ben))[0]
		hidden := mustAppend(t, store, from(cleo, "c", "Cleo's"))[0]
		_, err := store.As(ana).Erase(t.Context(), hidden.Hash, ana, "why")
		wantCode(t, "a hidden one", err, fault.NotFound, "")
		_, absent := store.As(ana).Erase(t.Context(), hashOf("nothing"), ana, "why")
		if diff := cmp.Diff(fmt.Sprint(absent), fmt.Sprint(err)); diff != "" {
			t.Errorf("hidden and absent differ (-absent +hidden):\n%s", diff)
		}
		_, err = store.As(ben).Erase(t.Context(), own.Hash, ben, "why")
		wantCode(t, "another's", err, fault.Forbidden, "")
		if _, err := store.As(ana).Erase(t.Context(), own.Hash, ana, "why"); err != nil {
			t.Errorf("one's own: %v", err)
		}
	})
}
