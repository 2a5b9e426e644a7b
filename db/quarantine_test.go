package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// boss is an administrator.
var boss = auth.Administrator()

func office(store *db.DB) *db.DB { return store.AsAdministrator(boss, nil) }

func mustQuarantine(t testing.TB, store *db.DB, message chain.Hash) db.Quarantine {
	t.Helper()
	q, err := office(store).Quarantine(t.Context(), message, "it tells what is not true")
	if err != nil {
		t.Fatalf("Quarantine() = %v", err)
	}
	return q
}

func mustRelease(t testing.TB, store *db.DB, message chain.Hash) db.Quarantine {
	t.Helper()
	q, err := office(store).ReleaseQuarantine(t.Context(), message, "it does")
	if err != nil {
		t.Fatalf("ReleaseQuarantine() = %v", err)
	}
	return q
}

// names tells whether a selection names a message, as an item or as what was dropped.
func names(s selection.Selection, message chain.Hash) bool {
	return slices.ContainsFunc(s.Items, func(i selection.Item) bool { return i.Hash == message }) ||
		slices.ContainsFunc(s.Dropped, func(d selection.Dropped) bool { return d.Hash == message })
}

// audited gives an administrator's audit session, in order.
func audited(t testing.TB, store *db.DB, player chain.Hash) []chain.Message {
	t.Helper()
	rows, err := store.SessionMessages(t.Context(), db.AuditSession(player), db.Page[int64]{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var out []chain.Message
	for _, item := range rows.Items {
		m := item.Value
		if m.EventType != chain.EventSystem || m.OwnerID != player || len(m.PlayerIDs) > 0 || m.MasterPlayer != nil {
			t.Errorf("the audit session holds %+v", m)
		}
		out = append(out, m)
	}
	return out
}

// A message in quarantine is in no new selection of any server: not found by words, by neighbours, nor kept as the
// beginning of an earlier one. Once released it is as before.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	log := talk(t, store)
	hotel := log["hotel"].Hash
	const query = "Which hotel did we book in Lisbon, and for which week of May?"
	everything := func(r *selection.Request) { r.Threshold, r.Limit = 0, 20 }
	before := ask(t, store, query, everything)
	if !names(before, hotel) {
		t.Fatal("the message is not found before")
	}
	q := mustQuarantine(t, other, hotel)
	if q.Message != hotel || q.PlacedBy != boss.Player || q.Reason != "it tells what is not true" || q.Release != nil {
		t.Errorf("Quarantine() = %+v", q)
	}
	for name, server := range map[string]*db.DB{"the same server": other, "another server": store} {
		for what, change := range map[string]func(*selection.Request){
			"everything": everything, "within the session": func(r *selection.Request) {
				everything(r)
				r.Scope.Sessions = []chain.Hash{log["hotel"].SessionHash}
			},
			"after the earlier one": func(r *selection.Request) {
				everything(r)
				r.PreviousID = before.ID
			},
		} {
			s := ask(t, server, query, change)
			if names(s, hotel) || strings.Contains(s.Rendered, "Miramar") || len(s.Items) == 0 {
				t.Errorf("%s, %s: the message is found: %+v", name, what, s.Items)
			}
		}
		s := ask(t, server, "How much is breakfast and a night?", everything) // said just after it
		if names(s, hotel) {
			t.Errorf("%s: the message is found by its neighbour", name)
		}
	}
	if again := mustQuarantine(t, store, hotel); again != q {
		t.Errorf("again gives %+v, want the quarantine that there is", again)
	}
	released := mustRelease(t, store, hotel)
	if released.ID != q.ID || released.Release == nil || released.Release.By != boss.Player || released.Release.Reason != "it does" {
		t.Errorf("ReleaseQuarantine() = %+v", released)
	}
	if again := mustRelease(t, other, hotel); *again.Release != *released.Release {
		t.Errorf("released again gives %+v", again)
	}
	if after := ask(t, other, query, everything); !names(after, hotel) {
		t.Error("the message is not found after its release")
	}
	second := mustQuarantine(t, store, hotel)
	if second.ID == q.ID || second.Release != nil {
		t.Errorf("a second quarantine = %+v", second)
	}
	events := audited(t, store, boss.Player)
	if len(events) != 3 || events[0].Hash != q.Event || events[1].Hash != released.Release.Event || events[2].Hash != second.Event {
		t.Errorf("there are %d events", len(events))
	}
	if want := `{"kind": "quarantine", "reason": "it tells what is not true", "message": "` + hotel.String() + `", "sessions": ["` + log["hotel"].SessionHash.String() + `"]}`; string(*events[0].Attachments) != want {
		t.Errorf("the event says %s, want %s", *events[0].Attachments, want)
	}
	if _, err := store.Erase(t.Context(), hotel, eraser, "asked for"); err != nil {
		t.Errorf("erasing what is in quarantine: %v", err)
	}
	wantLog(t, store, 1)
}

func TestQuarantineFaults(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	m := mustAppend(t, store, draft("s", "one"))[0]
	ctx := t.Context()
	for what, test := range map[string]struct {
		err  func() error
		code fault.Code
	}{
		"no reason":       {func() error { _, err := office(store).Quarantine(ctx, m.Hash, ""); return err }, fault.BadUserInput},
		"a long reason":   {func() error { _, err := office(store).Quarantine(ctx, m.Hash, strings.Repeat("x", 1025)); return err }, fault.BadUserInput},
		"no message":      {func() error { _, err := office(store).Quarantine(ctx, hashOf("none"), "why"); return err }, fault.NotFound},
		"nobody":          {func() error { _, err := store.Quarantine(ctx, m.Hash, "why"); return err }, fault.Forbidden},
		"a player":        {func() error { _, err := store.As(m.OwnerID).Quarantine(ctx, m.Hash, "why"); return err }, fault.Forbidden},
		"release of none": {func() error { _, err := office(store).ReleaseQuarantine(ctx, m.Hash, "why"); return err }, fault.NotFound},
		"a player's list": {func() error {
			_, err := store.As(m.OwnerID).Quarantines(ctx, nil, db.Page[int64]{Limit: 1})
			return err
		}, fault.Forbidden},
		"a player's holds": {func() error { _, err := store.As(m.OwnerID).CountSelectionsWith(ctx, m.Hash); return err }, fault.Forbidden},
	} {
		if err := test.err(); fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", what, err, test.code)
		}
	}
	if events := audited(t, store, boss.Player); len(events) != 0 {
		t.Errorf("what was refused is on record: %d events", len(events))
	}
}

// Every selection that holds the message is listed, the latest first, with its place; also where it was kept as the
// beginning of an earlier one.
func TestSelectionsWithMessage(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	hotel := log["hotel"]
	first := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	kept := ask(t, store, "the plants on the balcony", func(r *selection.Request) { r.PreviousID = first.ID })
	ask(t, store, "the accounting backup", func(r *selection.Request) { r.Threshold = 0.5 })
	players := store.As(hotel.OwnerID)
	own := ask(t, players, "Which hotel did we book in Lisbon?", nil)
	mustQuarantine(t, store, hotel.Hash)
	var got []db.Holder
	page := db.Page[db.SelectionKey]{Limit: 2}
	for {
		rows, err := office(store).SelectionsWith(t.Context(), hotel.Hash, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range rows.Items {
			got = append(got, item.Value)
		}
		if !rows.More {
			break
		}
		page.After = &rows.Items[len(rows.Items)-1].Key
	}
	n, err := office(store).CountSelectionsWith(t.Context(), hotel.Hash)
	if err != nil || int(n) != len(got) || len(got) != 3 {
		t.Fatalf("%d selections are listed and %d counted, %v; want 3", len(got), n, err)
	}
	for i, want := range []selection.Selection{own, kept, first} {
		if got[i].ID != want.ID || got[i].Receipt != want.Receipt || got[i].Position != 1 || (got[i].Viewer == nil) != (want.Viewer == nil) {
			t.Errorf("selection %d = %+v, want %s", i, got[i], want.ID)
		}
	}
	if kept.UnchangedTokens == 0 {
		t.Error("nothing was kept of the earlier selection")
	}
}

// However large the scope is, what is in quarantine is not found, and takes the place of nothing that is.
func TestQuarantineInScopesOfAnySize(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	const poisoned = 2200 // more than there are candidates
	var drafts []chain.Draft
	for i := range poisoned {
		drafts = append(drafts, draft("poison", fmt.Sprintf("The falcon nests in the tower. The falcon nests! %d", i)))
	}
	for part := range slices.Chunk(drafts, 1000) {
		mustAppend(t, store, part...)
	}
	true1 := mustAppend(t, store, draft("facts", "Somebody saw once that a falcon nests in the old tower of the church by the river."), draft("poison", "Not about birds."))[0]
	q := mustQuarantine(t, store, mustAppend(t, store, draft("poison", "The falcon nests in the tower."))[0].Hash)
	mustExec(t, superuser(t, url), `INSERT INTO memory.quarantines (message, message_id, reason, placed_by, event)
		SELECT m.hash, m.id, 'poison', $1, $2 FROM log.messages m WHERE m.session_hash = $3 AND m.sequence <= $4`,
		boss.Player.String(), q.Event.String(), hashOf("session:poison").String(), poisoned)
	for what, limits := range map[string][2]int{"small": {10_000, 10_000}, "listed": {10, 10_000}, "large": {10, 10}} {
		server := openURL(t, url)
		server.LimitScopes(limits[0], limits[1])
		for view, as := range map[string]*db.DB{"all": server, "a player": server.As(true1.OwnerID)} {
			for part, change := range map[string]func(*selection.Request){
				"everywhere": func(*selection.Request) {},
				"in sessions": func(r *selection.Request) {
					r.Scope.Sessions = []chain.Hash{true1.SessionHash, hashOf("session:poison")}
				},
			} {
				s := ask(t, as, "Where does the falcon nest?", change)
				if len(s.Items) == 0 || s.Items[0].Hash != true1.Hash || strings.Contains(s.Rendered, "!") {
					t.Errorf("%s, %s, %s: items %d, rendered %q", what, view, part, len(s.Items), s.Rendered)
				}
			}
		}
	}
}

// A replay says that a message has come into quarantine since, or out of it.
func TestReplayNamesQuarantine(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	hotel := log["hotel"].Hash
	with := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	foreign := ask(t, store, "Which hotel did we book in Lisbon?", func(r *selection.Request) { r.Scope.Sessions = []chain.Hash{log["plants"].SessionHash} })
	mustQuarantine(t, store, hotel)
	causes := wantCauses(t, "in quarantine", mustReplay(t, store, with.ID), selection.CauseQuarantined)
	if got := causes[selection.CauseQuarantined].Messages; !slices.Equal(got, []chain.Hash{hotel}) {
		t.Errorf("the cause names %v", got)
	}
	wantIdentical(t, "out of scope", mustReplay(t, store, foreign.ID))
	without := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	wantIdentical(t, "made in quarantine", mustReplay(t, store, without.ID))
	mustRelease(t, store, hotel)
	wantIdentical(t, "released", mustReplay(t, store, with.ID))
	wantCauses(t, "made in quarantine, and released", mustReplay(t, store, without.ID), selection.CauseQuarantined)
}

// The table holds what was done, whoever changes it, in replica mode as well.
func TestQuarantinesAreKept(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	written := mustAppend(t, store, draft("s", "one"), draft("s", "two"))
	mustQuarantine(t, store, written[0].Hash)
	conn := superuser(t, url)
	mustExec(t, conn, "SET session_replication_role = replica")
	for _, sql := range []string{
		"DELETE FROM memory.quarantines", "TRUNCATE memory.quarantines", "UPDATE memory.quarantines SET reason = 'another'",
		"UPDATE memory.quarantines SET released_at = now(), released_by = placed_by, release_reason = 'x', release_event = message",
		"INSERT INTO memory.quarantines (message, message_id, reason, placed_by, event) SELECT hash, id, 'x', owner_id, hash FROM log.messages WHERE id = " + fmt.Sprint(written[1].ID),
		"DELETE FROM log.audit_sessions", "TRUNCATE log.audit_sessions", "UPDATE log.audit_sessions SET session_hash = player",
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); sqlState(err) != "CM004" {
			t.Errorf("%s: %v, want CM004", sql, err)
		}
	}
}

// Items say whose they are, as they are kept and in receipts of the first version, which they leave as they were.
func TestItemsSayWhose(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	d := draft("s", "The falcon nests in the old tower.")
	d.Role, d.Source = ptr("user"), ptr("mail")
	m := mustAppend(t, store, d)[0]
	s := ask(t, store, "Where does the falcon nest?", nil)
	again, err := store.Selection(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]selection.Selection{"as given": s, "as kept": again} {
		p := got.Items[0].Provenance
		if p == nil || p.Owner != m.OwnerID || *p.Role != "user" || *p.Source != "mail" || p.Session != m.SessionHash {
			t.Errorf("%s: %+v", what, p)
		}
	}
	first := again
	first.RenderedDigest = nil
	with, err := first.Preimage()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(with), "provenance") || again.Items[0].Provenance == nil {
		t.Error("the receipt of version 1 covers what it did not")
	}
}
