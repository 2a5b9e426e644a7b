package db_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// details are the attachments of an audit event.
type details struct {
	Kind, ByToken, Reason, Token, TokenKind, ExpiresAt string
	Sessions                                           []chain.Hash
	Message, Event, Player                             *chain.Hash
	Scopes                                             []string
}

func detailsOf(t testing.TB, m chain.Message) (d details) {
	t.Helper()
	if err := json.Unmarshal([]byte(*m.Attachments), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// sessionsRead gives the sessions that stand on record as read by a player, in order, event by event.
func sessionsRead(t testing.TB, store *db.DB, player chain.Hash) (out []chain.Hash) {
	t.Helper()
	for _, m := range audited(t, store, player) {
		if d := detailsOf(t, m); d.Kind == "reading" {
			out = append(out, d.Sessions...)
		}
	}
	return out
}

// Whatever gives messages to an administrator's view has their sessions put on record, once; counting and hashes do not.
func TestReadingIsRecorded(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx := t.Context()
	for name, read := range map[string]func(v *db.DB, m chain.Message, s selection.Selection) error{
		"a message": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			_, err := v.MessagesByHash(ctx, []chain.Hash{m.Hash})
			return err
		},
		"messages": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			_, err := v.Messages(ctx, selection.Scope{Sessions: []chain.Hash{m.SessionHash}}, selection.Match{}, db.Page[chain.Hash]{Limit: 5})
			return err
		},
		"a session": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			_, err := v.SessionMessages(ctx, m.SessionHash, db.Page[int64]{Limit: 5})
			return err
		},
		"a thread": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			_, err := v.ThreadMessages(ctx, *m.ThreadHash, db.Page[chain.Hash]{Limit: 5})
			return err
		},
		"what cites": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			_, err := v.CitingMessages(ctx, m.Hash, db.Page[chain.Hash]{Limit: 5})
			return err
		},
		"an erasure": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			if _, err := store.Erase(ctx, m.Hash, ana, "why"); err != nil {
				return err
			}
			_, err := v.ErasuresOf(ctx, []chain.Hash{m.Hash})
			return err
		},
		"a selection": func(v *db.DB, _ chain.Message, s selection.Selection) error {
			_, err := v.Selection(ctx, s.ID)
			return err
		},
		"a replay": func(v *db.DB, _ chain.Message, s selection.Selection) error {
			_, err := v.ReplayContext(ctx, s.ID)
			return err
		},
		"a request": func(v *db.DB, m chain.Message, _ selection.Selection) error {
			_, err := v.RequestContext(ctx, selection.Request{Query: "falcon", Limit: 5, Scope: selection.Scope{Sessions: []chain.Hash{m.SessionHash}}})
			return err
		},
	} {
		first, second := from(ana, name, "The falcon nests in the tower."), from(ana, name, "It does.")
		first.ThreadHash = ptr(hashOf("thread of %s", name))
		m := mustAppend(t, store, first)[0]
		second.Refs = []chain.Ref{{Type: chain.RefContext, Hash: m.Hash}}
		mustAppend(t, store, second)
		s := ask(t, store.As(ana), "falcon", func(r *selection.Request) { r.Scope.Sessions = []chain.Hash{m.SessionHash} })
		by := auth.Caller{Player: hashOf("reader of %s", name), Role: auth.Admin, TokenID: "its id"}
		for round := range 2 {
			view := store.AsAdministrator(by, db.NewReading())
			if err := read(view, m, s); err != nil && round == 0 {
				t.Errorf("%s: %v", name, err)
			}
			if err := view.RecordReading(ctx); err != nil {
				t.Errorf("%s: RecordReading() = %v", name, err)
			}
		}
		events := audited(t, store, by.Player)
		if got := sessionsRead(t, store, by.Player); len(events) != 1 || !slices.Equal(got, []chain.Hash{m.SessionHash}) {
			t.Errorf("%s: %d events of %v, want one of %s", name, len(events), got, m.SessionHash)
			continue
		}
		if *events[0].Content != "Read messages of 1 session of others." || detailsOf(t, events[0]).ByToken != "its id" {
			t.Errorf("%s: the event says %q %s", name, *events[0].Content, *events[0].Attachments)
		}
	}
	view := store.AsAdministrator(boss, db.NewReading())
	if _, err := view.CountMessages(ctx, selection.Scope{}, selection.Match{}); err != nil {
		t.Fatal(err)
	}
	if _, err := view.Sessions(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 50}); err != nil {
		t.Fatal(err)
	}
	if _, err := view.VerifyLog(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := view.RecordReading(ctx); err != nil || len(audited(t, store, boss.Player)) != 0 {
		t.Errorf("counting, hashes and verifying are on record; %v", err)
	}
	wantLog(t, store, 1)
}

// readAll reads a session as an administrator, and has it put on record.
func readAll(t testing.TB, store *db.DB, by auth.Caller, sessions ...chain.Hash) error {
	t.Helper()
	view := store.AsAdministrator(by, db.NewReading())
	for _, session := range sessions {
		if _, err := view.SessionMessages(t.Context(), session, db.Page[int64]{Limit: 5}); err != nil {
			t.Fatal(err)
		}
	}
	return view.RecordReading(t.Context())
}

// What an administrator is a member of is not on record, and their own audit session neither; another's is.
func TestReadingOfOnesOwn(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, from(ana, "shared", "first"), from(ana, "shared", "for the boss", boss.Player), from(ana, "foreign", "hidden"))
	shared, foreign := hashOf("session:shared"), hashOf("session:foreign")
	if err := readAll(t, store, boss, shared, foreign); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, store, boss, db.AuditSession(boss.Player)); err != nil {
		t.Fatal(err)
	}
	if got := sessionsRead(t, store, boss.Player); !slices.Equal(got, []chain.Hash{foreign}) {
		t.Errorf("on record is %v, want %s", got, foreign)
	}
	other := auth.Caller{Player: hashOf("another"), Role: auth.Admin}
	if err := readAll(t, store, other, db.AuditSession(boss.Player)); err != nil {
		t.Fatal(err)
	}
	if got := sessionsRead(t, store, other.Player); !slices.Equal(got, []chain.Hash{db.AuditSession(boss.Player)}) {
		t.Errorf("of the other is on record %v, want the first one's audit session", got)
	}
}

// What administrators append to sessions that are there, for another or not, makes none their own: else they would read
// unrecorded. What they begin is.
func TestReadingWhereOneHasWritten(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	var sessions []chain.Hash
	for i, d := range []chain.Draft{
		{OwnerID: boss.Player, Content: "as themself"},
		{OwnerID: ana, MasterPlayer: &boss.Player, Content: "for Ana"},
		{OwnerID: ana, MasterPlayer: &boss.Player, PlayerIDs: []chain.Hash{boss.Player}, Content: "for Ana, to themself"},
		{OwnerID: ana, MasterPlayer: &cleo, PlayerIDs: []chain.Hash{boss.Player}, Source: ptr("app; by " + boss.Player.String()), Content: "for Ana and Cleo"},
	} {
		name := fmt.Sprint("written ", i)
		mustAppend(t, store, from(ana, name, "hidden"))
		d.SessionHash = hashOf("session:%s", name)
		mustAppend(t, office(store), d)
		mustAppend(t, store, from(ana, name, "an answer", boss.Player)) // which names the administrator once they are in
		sessions = append(sessions, d.SessionHash)
	}
	erased := mustAppend(t, store, from(ana, "erased", "hidden"), from(ana, "erased", "more"))
	if _, err := office(store).Erase(t.Context(), erased[0].Hash, boss.Player, "asked for"); err != nil {
		t.Fatal(err)
	}
	sessions = append(sessions, erased[0].SessionHash)
	own := mustAppend(t, office(store), from(boss.Player, "begun", "by the boss", ana))[0].SessionHash
	begun := mustAppend(t, office(store), chain.Draft{SessionHash: hashOf("session:begun for ana"), OwnerID: ana, MasterPlayer: &boss.Player, Content: "for Ana"})[0].SessionHash
	slices.SortFunc(sessions, func(a, b chain.Hash) int { return strings.Compare(a.String(), b.String()) })
	for name, server := range map[string]*db.DB{"the server that wrote": store, "another": openURL(t, url)} {
		before := len(sessionsRead(t, store, boss.Player))
		if err := readAll(t, server, boss, append(slices.Clone(sessions), own, begun)...); err != nil {
			t.Fatal(err)
		}
		if got := sessionsRead(t, store, boss.Player)[before:]; !slices.Equal(got, sessions) {
			t.Errorf("%s: on record is %v, want %v", name, got, sessions)
		}
	}
	if n, err := store.As(boss.Player).CountMessages(t.Context(), selection.Scope{Sessions: []chain.Hash{erased[0].SessionHash}}, selection.Match{}); err != nil || n != 0 {
		t.Errorf("by erasing, one has come to see %d messages, %v; want none", n, err)
	}
}

// A day later reading goes on record again; another server knows nothing of the first one's record.
func TestReadingADayLater(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	now := time.Now()
	store.Clock = func() time.Time { return now }
	mustAppend(t, store, from(ana, "foreign", "hidden"))
	want := 0
	for _, step := range []struct {
		server *db.DB
		after  time.Duration
		more   int
	}{{store, 0, 1}, {store, 24*time.Hour - 1, 0}, {store, 1, 1}, {store, time.Hour, 0}, {other, 0, 1}} {
		now = now.Add(step.after)
		if err := readAll(t, step.server, boss, hashOf("session:foreign")); err != nil {
			t.Fatal(err)
		}
		want += step.more
		if got := len(audited(t, store, boss.Player)); got != want {
			t.Errorf("after %v: %d events, want %d", step.after, got, want)
		}
	}
}

// An event lists at most 1,000 sessions; more are in more events, of one transaction.
func TestReadingOfManySessions(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	view := store.AsAdministrator(boss, db.NewReading())
	for range 3 {
		var drafts []chain.Draft
		for i := range 700 {
			drafts = append(drafts, from(ana, fmt.Sprint(time.Now().UnixNano(), i), "one"))
		}
		var hashes []chain.Hash
		for _, m := range mustAppend(t, store, drafts...) {
			hashes = append(hashes, m.Hash)
		}
		if _, err := view.MessagesByHash(t.Context(), hashes); err != nil {
			t.Fatal(err)
		}
	}
	if err := view.RecordReading(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, m := range audited(t, store, boss.Player) {
		sizes = append(sizes, len(detailsOf(t, m).Sessions))
	}
	if !slices.Equal(sizes, []int{1000, 1000, 100}) {
		t.Errorf("events list %v sessions", sizes)
	}
	wantLog(t, store, 0)
}

// While nothing can be written, nothing of others is read: not a message of the log is shown that is not on record.
func TestReadingWhileNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustAppend(t, store, from(ana, "foreign", "hidden"), from(boss.Player, "own", "mine"))
	conn := superuser(t, url)
	name := conn.Config().Database
	mustExec(t, conn, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	reader := openURL(t, url)
	err := readAll(t, reader, boss, hashOf("session:foreign"))
	if fault.CodeOf(err) != fault.Unavailable || !strings.HasPrefix(err.Error(), "reading others' sessions is recorded in the log") {
		t.Errorf("RecordReading() = %v", err)
	}
	if err := readAll(t, reader, boss, hashOf("session:own")); err != nil {
		t.Errorf("reading one's own: %v", err)
	}
	if _, err := office(reader).Quarantine(t.Context(), mustFirst(t, reader), "why"); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Quarantine() = %v, want UNAVAILABLE", err)
	}
	mustExec(t, conn, "SET default_transaction_read_only = off")
	mustExec(t, conn, "ALTER DATABASE "+name+" RESET default_transaction_read_only")
	writer := openURL(t, url)
	if err := readAll(t, writer, boss, hashOf("session:foreign")); err != nil {
		t.Errorf("once it can be written: %v", err)
	}
	if got := sessionsRead(t, writer, boss.Player); len(got) != 1 {
		t.Errorf("on record is %v", got)
	}
}

func mustFirst(t testing.TB, store *db.DB) chain.Hash {
	t.Helper()
	rows, err := store.Messages(t.Context(), selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 1})
	if err != nil || len(rows.Items) != 1 {
		t.Fatalf("%d messages, %v", len(rows.Items), err)
	}
	return rows.Items[0].Key
}

// What several read at once goes on record once.
func TestReadingAtOnce(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, from(ana, "foreign", "hidden"))
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() { errs <- readAll(t, store, boss, hashOf("session:foreign")) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(audited(t, store, boss.Player)); n != 1 {
		t.Errorf("there are %d events, want 1", n)
	}
}
