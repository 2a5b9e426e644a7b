package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/selection"
)

// owners have names, or none, and one who asks has preferences.
func owners(t *testing.T, store *db.DB) {
	t.Helper()
	upsert(t, store,
		component.Draft{Namespace: "ply", Key: "anna", Hash: ptr(hashOf("a")), Name: ptr("Anna"), Preferences: []string{"harbour"}},
		component.Draft{Namespace: "ply", Key: "bert", Hash: ptr(hashOf("b")), Name: ptr("Bert")},
		component.Draft{Namespace: "ply", Key: "carla", Hash: ptr(hashOf("c"))},
		component.Draft{Namespace: "hst", Key: "harbour", Hash: ptr(hashOf("harbour")), Name: ptr("harbour")},
	)
}

// sameBest holds what a search gives against what another one gives.
func sameBest(t *testing.T, what string, want, got []selection.Candidate) {
	t.Helper()
	if diff := cmp.Diff(scores(want), scores(got)); diff != "" {
		t.Errorf("%s: scores: %s", what, diff)
		return
	}
	for i, c := range got {
		if c.Lead != want[i].Lead || c.Owner != want[i].Owner || !cmp.Equal(want[i].Matched(), c.Matched()) {
			t.Errorf("%s: %q of %s, matched %q, want %q of %s, %q", what, c.Lead, c.Owner, c.Matched(), want[i].Lead, want[i].Owner, want[i].Matched())
		}
	}
}

// What players may read of few messages is read beside the statements that begin a search; what cannot be is read behind them.
func TestFewBeside(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	v := newVocabulary(3000, 3)
	crowd(t, store, v, 100)
	a, thread := hashOf("a"), hashOf("session:s1")
	in := db.Searching{Request: selection.Request{Query: v.text(6), Scope: selection.Scope{Threads: []chain.Hash{thread, thread}}, Limit: 20}, Viewer: &a}
	scope := in.Request.Scope
	ids, err := store.As(a).InScope(t.Context(), scope)
	if err != nil || len(ids) < 10 {
		t.Fatal(ids, err)
	}
	same := func(what string, want, got db.Found, besides int) {
		t.Helper()
		sameBest(t, what, want.Best, got.Best)
		for i := range min(len(want.Best), len(got.Best)) {
			if w, g := want.Best[i], got.Best[i]; w.Hash != g.Hash || w.Text != g.Text {
				t.Errorf("%s: %s says %q, want %s, %q", what, g.Hash, g.Text, w.Hash, w.Text)
			}
		}
		if got.Way != "few" || got.Besides != besides {
			t.Errorf("%s: searched as %s, %d messages were read beside, want %d", what, got.Way, got.Besides, besides)
		}
	}
	both := mustSearch(t, store, in)
	same("beside", both, both, len(ids))

	// What is there since is not found, nor is what was erased since forgotten, nor what was there in the meantime only.
	in.Meanwhile = func() {
		again := draft("s1", "What came later: "+in.Request.Query)
		again.ThreadHash, again.OwnerID = &thread, a
		mustAppend(t, store, again)
		if _, err := office(store).Erase(t.Context(), both.Best[0].Hash, boss.Player, "asked for"); err != nil {
			t.Fatal(err)
		}
	}
	same("another state", both, mustSearch(t, store, in), len(ids)-1)
	in.Meanwhile = nil
	since := mustSearch(t, store, in) // one is erased, and that is on record; one more was sent
	if len(since.Best) == 0 || since.Best[0].Text != "What came later: "+in.Request.Query || since.Besides != len(ids)+1 {
		t.Errorf("what came later is not found; %d were read beside, want %d", since.Besides, len(ids)+1)
	}
	at := both.At
	in.At = &at
	replayed := mustSearch(t, store, in)
	if len(replayed.Best) == 0 || replayed.Best[0].Hash == since.Best[0].Hash || replayed.Besides != len(ids)-1 {
		t.Errorf("the log as it stood: %d were read beside, want %d", replayed.Besides, len(ids)-1)
	}
	in.At = nil

	letGo, err := store.HoldPlayers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx := db.WithPatience(t.Context())
	held, err := store.Search(ctx, in)
	if err != nil {
		t.Error(err)
	}
	same("no connection is left", since, held, 0)
	if err := store.Impatient(ctx); err != nil {
		t.Error(err)
	}
	letGo()
	same("there are connections again", since, mustSearch(t, store, in), len(ids)+1)
	store.LosePlayers()
	same("they are lost", since, mustSearch(t, store, in), 0)
}

// Another server of several may have lost the end of the log, and have other messages under its ids.
func TestBesideOfAnotherLog(t *testing.T) {
	t.Parallel()
	a, b := hashOf("a"), hashOf("b")
	for _, tt := range []struct {
		what string
		has  *chain.Hash
		want bool
	}{{"the same message", &a, true}, {"another message", &b, false}, {"none", nil, false}} {
		if got := db.TakenBeside(a, tt.has); got != tt.want {
			t.Errorf("%s: taken is %t, want %t", tt.what, got, tt.want)
		}
	}
}

// What is reckoned of few messages here is what the database reckons, to the last digit: products, scores and counts, of
// short and long messages, of some that have no words, are erased or in quarantine, for all and for a viewer, behind
// row-level security and without it, with owners that the query names and with preferences.
func TestFewAsSmall(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			testFewAsSmall(t, fenced)
		})
	}
}

func testFewAsSmall(t *testing.T, fenced bool) {
	store, _ := open(t)
	if !fenced {
		store.Unfence()
	}
	v := newVocabulary(3000, 3)
	crowd(t, store, v, 400)
	owners(t, store)
	long := draft("s3", strings.Repeat(v.text(300)+"\n", 12)) // several passages
	long.OwnerID, long.ThreadHash, long.Hashtags = hashOf("c"), &[]chain.Hash{hashOf("session:s3")}[0], []chain.Hash{hashOf("harbour")}
	wordless := long
	wordless.Content = "… !"
	appended := mustAppend(t, store, long, wordless, long)
	if _, err := office(store).Erase(t.Context(), appended[2].Hash, boss.Player, "asked for"); err != nil {
		t.Fatal(err)
	}
	mustQuarantine(t, store, mustFirst(t, store))
	named := 0
	ways := map[string]int{}
	for _, scope := range []selection.Scope{
		{Threads: []chain.Hash{hashOf("session:s3")}},
		{Sessions: []chain.Hash{hashOf("session:s1"), hashOf("session:s3")}},
		{Threads: []chain.Hash{hashOf("session:s2"), hashOf("session:s3")}, Types: []chain.RefType{chain.RefContext}},
		{Threads: []chain.Hash{hashOf("of nobody")}},
	} {
		a := hashOf("a")
		for _, viewer := range []*chain.Hash{nil, &a} {
			for i := range 8 {
				query := v.text(6) + " " + v.words[v.random.IntN(900)] + []string{"", " of Anna", " Bert and Carla", " carla's"}[i%4]
				in := db.Searching{Request: selection.Request{Query: query, Scope: scope, Limit: 20}, Viewer: viewer}
				if i%2 == 0 {
					in.Request.Player = &a
				}
				few := mustSearch(t, store, in)
				in.Few = -1
				small := mustSearch(t, store, in)
				ways[few.Way+" "+small.Way]++
				if few.Vector != small.Vector {
					t.Errorf("the query is %s, and by the database's counts %s", few.Vector, small.Vector)
				}
				if diff := cmp.Diff(small.Products, few.Products); diff != "" {
					t.Errorf("products: %s", diff)
				}
				sameBest(t, query, small.Best, few.Best)
				for _, c := range few.Best {
					if strings.Contains(c.Lead, "Anna") || strings.Contains(c.Lead, "Bert") || strings.Contains(c.Lead, "carla") {
						named++
					}
				}
			}
		}
	}
	if named == 0 {
		t.Error("no owner is called by name")
	}
	if ways["few small"] != 7*8 || ways["small small"] != 8 { // where a player sees nothing, there may be much
		t.Errorf("searched as %v", ways)
	}
}

// A scope is searched as one of few up to their limit, whoever asks, and beyond it as any other.
func TestFewEnd(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	a := hashOf("a")
	thread := hashOf("a thread")
	for i := range 12 { // sessions of two messages each, every other of them a's
		d := draft(fmt.Sprint("s", i), "about ferries")
		d.OwnerID, d.ThreadHash = hashOf("b"), &thread
		if i%2 == 0 {
			d.OwnerID = a
		}
		mustAppend(t, store, d, d)
	}
	for _, of := range []struct {
		viewer *chain.Hash
		few    int
		way    string
		found  int
	}{{nil, 24, "few", 24}, {nil, 23, "small", 24}, {&a, 12, "few", 12}, {&a, 11, "small", 12}} {
		found := mustSearch(t, store, db.Searching{
			Request: selection.Request{Query: "ferries", Scope: selection.Scope{Threads: []chain.Hash{thread}}, Limit: 50}, Viewer: of.viewer, Few: of.few})
		if found.Way != of.way || len(found.Products) != of.found {
			t.Errorf("with at most %d: %d found, searched as %s, want %d, %s", of.few, len(found.Products), found.Way, of.found, of.way)
		}
	}
}

// Of a thread with more messages than are looked through for those that a viewer sees, theirs are found as of any other scope:
// what was read of the first of them counts for nothing, however many of others' stand between.
func TestFewOfMany(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			store, _ := open(t)
			if !fenced {
				store.Unfence()
			}
			owners(t, store)
			a, thread := hashOf("a"), hashOf("a thread")
			of := func(session string, owner chain.Hash, n int, about string) {
				var drafts []chain.Draft
				for i := range n {
					d := draft(session, fmt.Sprint(about, " ", i))
					d.OwnerID, d.ThreadHash, d.CreatedAt = owner, &thread, &longAgo
					drafts = append(drafts, d)
				}
				mustAppend(t, store, drafts...)
			}
			of("own", a, 100, "ferries") // the best, and what is read first
			for range db.FewAsked / 1000 {
				of("others", hashOf("b"), 1000, "about ferries and others")
			}
			for range 3 { // more than are read together with what ranking has to know
				of("own", a, 700, "about ferries and more")
			}
			in := db.Searching{Request: selection.Request{Query: "Anna about ferries", Scope: selection.Scope{Threads: []chain.Hash{thread}}, Limit: 50}, Viewer: &a}
			found := mustSearch(t, store, in)
			again := mustSearch(t, store, in)
			if found.Beside != fenced || again.Beside {
				t.Errorf("read beside: %v, then %v; want %v, and never where messages are known not to be few", found.Beside, again.Beside, fenced)
			}
			if got := store.Listings(); got != 1 {
				t.Errorf("what %d scopes hold is remembered, want that of the thread, as of any other scope that is not small", got)
			}
			stranger := in
			nobody := hashOf("nobody")
			stranger.Viewer = &nobody
			for i := range 2 { // who sees none of so many is no reason to look again
				if found := mustSearch(t, store, stranger); found.Beside != (fenced && i == 0) || len(found.Best) > 0 {
					t.Errorf("a stranger's search %d: %d found, read beside %v", i, len(found.Best), found.Beside)
				}
			}
			in.Few = -1
			if want := mustSearch(t, store, in); found.Way != "small" || len(found.Products) != len(want.Products) {
				t.Errorf("%d found, searched as %s, want %d, small", len(found.Products), found.Way, len(want.Products))
			} else {
				sameBest(t, in.Request.Query, want.Best, found.Best)
			}
			for _, c := range found.Best {
				if !strings.Contains(c.Lead, "Anna") {
					t.Fatalf("%q does not say whose it is", c.Lead)
				}
			}
		})
	}
}
