package db_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// unrelatedOf gives what a selection's policy holds of its model.
func unrelatedOf(t *testing.T, s selection.Selection) *ranking.Unrelated {
	t.Helper()
	var policy ranking.Policy
	if err := json.Unmarshal(s.Policy, &policy); err != nil {
		t.Fatal(err)
	}
	return policy.Unrelated
}

// A model is measured when it comes, and never by the log. A selection keeps the measure of its time, so that it is the same on
// replay; and no message has less than by words alone.
func TestDenseMeasure(t *testing.T) {
	t.Parallel()
	first, url := open(t)
	mustAppend(t, first, draft("a", "The hotel by the sea is booked."), draft("a", "Breakfast is at eight."), draft("b", "Is the hotel nice?"))
	e := newEndpoint(t, map[string]int{"one": 64})
	store := embeds(t, url, e.config("one"))
	untilServing(t, store, "one", 3)
	conn := superuser(t, url)
	measured := func() ranking.Unrelated {
		t.Helper()
		return ranking.Unrelated{
			Median: value[float64](t, conn, "SELECT unrelated_median FROM embedding.models WHERE name = 'one'"),
			Spread: value[float64](t, conn, "SELECT unrelated_spread FROM embedding.models WHERE name = 'one'"),
		}
	}
	const query = "Which hotel by the sea is booked?"
	all := func(r *selection.Request) { r.Threshold, r.Limit = 0, 200 }
	var kept []selection.Selection
	check := func(what string) {
		t.Helper()
		words, near := ask(t, first, query, all), ask(t, store, query, all)
		if of := unrelatedOf(t, near); of == nil || *of != measured() || unrelatedOf(t, words) != nil {
			t.Errorf("%s: the policy holds %+v, want %+v; and by words alone nothing", what, of, measured())
		}
		scores := map[chain.Hash]float64{}
		for _, item := range near.Items {
			scores[item.Hash] = item.Score
		}
		for _, item := range words.Items {
			if score, there := scores[item.Hash]; there && score < item.Score {
				t.Errorf("%s: %s has %v, and by words alone %v", what, item.Hash, score, item.Score)
			}
		}
		if len(near.Items) == 0 || near.Items[0].Score <= words.Items[0].Score {
			t.Errorf("%s: the best is no better with a model: %v, %v", what, near.Items[0].Score, words.Items[0].Score)
		}
		kept = append(kept, near)
		for _, s := range kept {
			wantIdentical(t, what, mustReplay(t, store, s.ID))
		}
	}
	was := measured()
	check("as it comes")
	mustAppend(t, store, many(400, "word")...)
	untilServing(t, store, "one", 403)
	if measured() != was {
		t.Errorf("with a larger log it is measured as %+v, want %+v", measured(), was)
	}
	check("with a larger log")
	mustExec(t, conn, "UPDATE embedding.models SET unrelated_median = 0.9 WHERE name = 'one'")
	for _, s := range kept {
		wantIdentical(t, "with another measure", mustReplay(t, store, s.ID))
	}
	if s := ask(t, store, query, all); slices.ContainsFunc(kept, func(k selection.Selection) bool { return k.Receipt == s.Receipt }) || *s.Items[0].Explanation.Semantic != 0 {
		t.Errorf("with another measure: %+v", s.Items[0])
	}
}
