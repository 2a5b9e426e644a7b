package db_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// With a model, what is near is a candidate though it has no word of the query; it has its share by n-grams all the same,
// and every candidate says how near it is. What was nearest is not looked for when it is given.
func TestSearchByMeaning(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustAppend(t, store, draft("a", "The hotel is booked."))
	mustAppend(t, store, draft("b", "Superhotels by the sea."))
	mustAppend(t, store, draft("c", "Mimsy zorble."), draft("c", "Nothing else."))
	endpoint := newEndpoint(t, map[string]int{"one": 1536})
	embedding := embeds(t, url, endpoint.config("one"))
	untilServing(t, embedding, "one", 4)

	request := selection.Request{Query: "hotel", Limit: 10}
	for _, small := range []int{100, 1} {
		in := db.Searching{Request: request, Small: small, Dense: true}
		found := mustSearch(t, embedding, in)
		if len(found.Best) != 4 || len(found.Nearest) != 4 {
			t.Fatalf("searched as %s: %d found, %d of them near; want 4", found.Way, len(found.Best), len(found.Nearest))
		}
		for _, c := range found.Best {
			e := c.Explanation
			lexical := c.Text == "The hotel is booked." || c.Text == "Superhotels by the sea."
			if e.Semantic == nil || (*e.Semantic > 0) != (c.Text == "The hotel is booked." || c.Text == "Mimsy zorble.") || (e.Lexical > 0) != lexical {
				t.Errorf("searched as %s: %q has %+v", found.Way, c.Text, e)
			}
		}
		in.At, in.Nearest = &found.At, found.Nearest
		again := mustSearch(t, embedding, in)
		if diff := cmp.Diff(scores(found.Best), scores(again.Best)); diff != "" {
			t.Errorf("searched as %s again: %s", found.Way, diff)
		}
		if small > 1 {
			continue
		}
		in.Nearest = found.Nearest[:1]
		if few := mustSearch(t, embedding, in); len(few.Best) >= 4 || slices.ContainsFunc(few.Best, func(c selection.Candidate) bool { return c.Explanation.Semantic == nil }) {
			t.Errorf("given the nearest: %d found, want fewer than 4, all of which say how near they are", len(few.Best))
		}
	}
}

// What keeps the dense vectors from being searched leaves words, and the selection says so; asked again it is the same. What was
// ranked with them is not ranked without.
func TestSearchWithoutDense(t *testing.T) {
	t.Parallel()
	first, url := open(t)
	mustAppend(t, first, draft("a", "The hotel is booked."), draft("b", "Superhotels by the sea."))
	endpoint := newEndpoint(t, map[string]int{"one": 64})
	store := embeds(t, url, endpoint.config("one"))
	untilServing(t, store, "one", 2)
	conn := superuser(t, url)
	partition := "embedding.dense_" + value[string](t, conn, "SELECT id::TEXT FROM embedding.models WHERE name = 'one'")
	near := ask(t, store, "Which hotel is booked?", nil)
	if near.DenseModel != "one" || len(near.Notices) > 0 {
		t.Fatalf("asked with dense vectors: by %q, %q", near.DenseModel, near.Notices)
	}
	for what, change := range map[string][2]string{
		"no right to them": {"REVOKE SELECT ON " + partition + " FROM cm_reader", "GRANT SELECT ON " + partition + " TO cm_reader"},
		"no such table":    {"ALTER TABLE " + partition + " RENAME TO gone", "ALTER TABLE embedding.gone RENAME TO " + partition[len("embedding."):]},
	} {
		mustExec(t, conn, change[0])
		for _, view := range []*db.DB{store, store.As(hashOf("ply:owner"))} {
			s := ask(t, view, "Which hotel is booked?", nil)
			if len(s.Items) == 0 || s.DenseModel != "" || s.Items[0].Explanation.Semantic != nil {
				t.Errorf("%s: %d items by %q", what, len(s.Items), s.DenseModel)
			}
			if told := s.NoticeDetails(); len(told) != 1 || told[0].Code != selection.NoticeWords {
				t.Errorf("%s: notices %q", what, s.Notices)
			}
			wantIdentical(t, what, mustReplay(t, view, s.ID))
		}
		if _, err := store.ReplayContext(t.Context(), near.ID); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: ReplayContext() = %v, want %s", what, err, fault.Unavailable)
		}
		mustExec(t, conn, change[1])
		wantIdentical(t, "after "+what, mustReplay(t, store, near.ID))
	}
}
