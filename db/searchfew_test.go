package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// What is reckoned of few messages here is what the database reckons, to the last digit: products, scores and counts, of
// short and long messages, of some that have no words, are erased or in quarantine, for all and for a viewer.
func TestFewAsSmall(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	v := newVocabulary(3000, 3)
	crowd(t, store, v, 400)
	long := draft("s3", strings.Repeat(v.text(300)+"\n", 12)) // several passages
	long.OwnerID, long.ThreadHash = hashOf("c"), &[]chain.Hash{hashOf("session:s3")}[0]
	wordless := long
	wordless.Content = "… !"
	appended := mustAppend(t, store, long, wordless, long)
	if _, err := office(store).Erase(t.Context(), appended[2].Hash, boss.Player, "asked for"); err != nil {
		t.Fatal(err)
	}
	mustQuarantine(t, store, mustFirst(t, store))
	ways := map[string]int{}
	for _, scope := range []selection.Scope{
		{Threads: []chain.Hash{hashOf("session:s3")}},
		{Sessions: []chain.Hash{hashOf("session:s1"), hashOf("session:s3")}},
		{Threads: []chain.Hash{hashOf("session:s2"), hashOf("session:s3")}, Types: []chain.RefType{chain.RefContext}},
		{Threads: []chain.Hash{hashOf("of nobody")}},
	} {
		a := hashOf("a")
		for _, viewer := range []*chain.Hash{nil, &a} {
			for range 8 {
				in := db.Searching{Request: selection.Request{Query: v.text(6) + " " + v.words[v.random.IntN(900)], Scope: scope, Limit: 20}, Viewer: viewer}
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
				if diff := cmp.Diff(scores(small.Best), scores(few.Best)); diff != "" {
					t.Errorf("scores: %s", diff)
				}
				for i, c := range few.Best {
					if diff := cmp.Diff(small.Best[i].Matched(), c.Matched()); diff != "" {
						t.Errorf("matched words of %q: %s", c.Text, diff)
					}
				}
			}
		}
	}
	if ways["few small"] != 4*2*8 {
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

// Of a thread with more messages than are looked through for those that a viewer sees, theirs are found as of any other scope.
func TestFewOfMany(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	a, thread := hashOf("a"), hashOf("a thread")
	of := func(session string, owner chain.Hash, n int) (drafts []chain.Draft) {
		for range n {
			d := draft(session, "about ferries")
			d.OwnerID, d.ThreadHash = owner, &thread
			drafts = append(drafts, d)
		}
		return drafts
	}
	for range db.FewAsked / 1000 {
		mustAppend(t, store, of("others", hashOf("b"), 1000)...)
	}
	mustAppend(t, store, of("own", a, 3)...)
	in := db.Searching{Request: selection.Request{Query: "ferries", Scope: selection.Scope{Threads: []chain.Hash{thread}}, Limit: 50}, Viewer: &a}
	if found := mustSearch(t, store, in); found.Way != "small" || len(found.Products) != 3 {
		t.Errorf("%d found, searched as %s, want 3, small", len(found.Products), found.Way)
	}
}
