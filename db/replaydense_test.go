package db_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

func awaits(s selection.Selection) bool {
	return slices.ContainsFunc(s.Notices, func(n string) bool { return strings.Contains(n, "not everything was embedded yet") })
}

// What had no dense vector when it was asked has one when it is asked again, and makes no difference. Only who might have
// got it hears of it.
func TestReplayOfUnembedded(t *testing.T) {
	t.Parallel()
	first, url := open(t)
	mustAppend(t, first, draft("a", "The hotel in Lisbon is booked."), draft("a", "Breakfast is at eight."))
	e := newEndpoint(t, map[string]int{"one": 64})
	store := embeds(t, url, e.config("one"))
	untilServing(t, store, "one", 2)
	e.models["one"].Break(providertest.Only("quartz", endpointtest.Hang()))
	mustAppend(t, store, draft("b", "Another hotel in Lisbon has walls of quartz."), draft("b", "A zorble by quartz cliffs."))
	if _, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "files", Title: "Hotels in Lisbon", Content: "quartz"}}); err != nil {
		t.Fatal(err)
	}

	var asked []selection.Selection
	for _, c := range []struct {
		change func(*selection.Request)
		awaits bool
	}{
		{nil, true},
		{func(r *selection.Request) { r.Scope.Types = []chain.RefType{chain.RefSecretary} }, true},
		{func(r *selection.Request) { r.Scope.Threads = []chain.Hash{hashOf("none")} }, false},
		{func(r *selection.Request) { r.Scope.Sessions = []chain.Hash{hashOf("session:a")} }, false},
	} {
		s := ask(t, store, "Which hotel in Lisbon is booked?", c.change)
		if awaits(s) != c.awaits || s.DenseModel == "" {
			t.Errorf("scope %+v: model %q, notices %q, want one of what is not embedded: %t", s.Request.Scope, s.DenseModel, s.Notices, c.awaits)
		}
		asked = append(asked, s)
	}
	e.models["one"].Mend()
	untilServing(t, store, "one", 5)
	for _, s := range asked {
		wantIdentical(t, "with all embedded", mustReplay(t, store, s.ID))
	}
	if s := ask(t, store, "Which hotel in Lisbon is booked?", nil); awaits(s) || s.Receipt == asked[0].Receipt {
		t.Errorf("with all embedded the notices are %q, and the receipt is another: %t", s.Notices, s.Receipt != asked[0].Receipt)
	}
}

// What the provider refuses is waited for by nobody.
func TestRefusedIsNotAwaited(t *testing.T) {
	t.Parallel()
	first, url := open(t)
	mustAppend(t, first, draft("a", "The hotel in Lisbon is booked."), draft("a", "A hotel of quartz."))
	e := newEndpoint(t, map[string]int{"one": 64})
	e.models["one"].Break(providertest.Only("quartz", endpointtest.Status(400, "")))
	store := embeds(t, url, e.config("one"))
	eventually(t, "all is embedded or refused", func() bool {
		m := model(t, store, "one")
		_, by, _ := nearest(t, store, "hotel")
		return m.Refused == 1 && by == "one"
	})
	s := ask(t, store, "Which hotel is booked?", nil)
	if len(s.Items) != 2 || awaits(s) || s.DenseModel == "" {
		t.Errorf("%d items, notices %q, model %q", len(s.Items), s.Notices, s.DenseModel)
	}
	wantIdentical(t, "with a refused text", mustReplay(t, store, s.ID))
}

// The id of what is erased goes from what was near, and from what had no vector, in every selection, and does not come
// back with one that is kept later.
func TestErasedIsNotNear(t *testing.T) {
	t.Parallel()
	first, url := open(t)
	written := mustAppend(t, first, draft("a", "The hotel in Lisbon is booked."), draft("a", "A zorble with views."))
	e := newEndpoint(t, map[string]int{"one": 64})
	store := embeds(t, url, e.config("one"))
	untilServing(t, store, "one", 2)
	e.models["one"].Break(providertest.Only("quartz", endpointtest.Hang()))
	written = append(written, mustAppend(t, store, draft("a", "A hotel of quartz."), draft("a", "Hotels by the quartz."))...)
	conn := superuser(t, url)
	// Without items, so that nothing but these lists names a message.
	s := ask(t, store, "hotel", func(r *selection.Request) { r.Threshold = 1 })
	near := func() (ids []int64) {
		t.Helper()
		return value[[]int64](t, conn, "SELECT ARRAY(SELECT unnest(nearest_messages || unembedded_messages) FROM memory.selections ORDER BY 1)")
	}
	if got := near(); !slices.Equal(got, []int64{1, 2, 3, 4}) {
		t.Fatalf("near or without a vector: %v, want all four", got)
	}
	mustErase(t, store, written[1].Hash)
	mustErase(t, store, written[2].Hash)
	if got := near(); !slices.Equal(got, []int64{1, 4}) {
		t.Errorf("after the erasure: %v, want what was not erased", got)
	}
	for _, list := range []string{"nearest_messages", "unembedded_messages"} {
		_, err := conn.Exec(t.Context(), `INSERT INTO memory.selections SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), '`+list+`', ARRAY[2]))).* FROM memory.selections s`)
		if err == nil || !strings.Contains(err.Error(), "CM008") {
			t.Errorf("kept with what is erased in %s: %v, want CM008", list, err)
		}
	}
	if again := ask(t, store, "hotel", func(r *selection.Request) { r.Threshold = 1 }); again.ID == s.ID || len(near()) < 4 || slices.Contains(near(), 2) || slices.Contains(near(), 3) {
		t.Errorf("asked again: %v", near())
	}
}
