package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// What an earlier selection begins with stays to the byte, from beyond reach too, as far as it still qualifies.
func TestRequestContextKeepsTheBeginning(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	first := ask(t, store, "Which hotel did we book in Lisbon? What does breakfast cost?", func(r *selection.Request) { r.Limit = 2 })
	if len(first.Items) != 2 || first.UnchangedTokens != 0 {
		t.Fatalf("first = %+v", first)
	}
	for i := range 70 { // so that the others are beyond reach
		mustAppend(t, store, draft(fmt.Sprint("garden", i), fmt.Sprintf("Rose number %d needs water on the balcony.", i)))
	}
	from := func(id string, change func(*selection.Request)) selection.Selection {
		t.Helper()
		return ask(t, store, "Which rose needs water on the balcony?", func(r *selection.Request) {
			r.PreviousID, r.Limit = id, 4
			if change != nil {
				change(r)
			}
		})
	}
	next := from(first.ID, nil)
	if !strings.HasPrefix(next.Rendered, first.Rendered+"\n- ") || next.UnchangedTokens != first.Tokens || len(next.Items) != 4 || !strings.Contains(next.Rendered, "Rose") {
		t.Errorf("%d tokens unchanged of %d: %q", next.UnchangedTokens, first.Tokens, next.Rendered)
	}
	if *next.Request.Previous != first.Receipt || !next.Holds() {
		t.Errorf("the receipt is not over the earlier selection's: %v", next.Request.Previous)
	}
	wantIdentical(t, "from beyond reach", mustReplay(t, store, next.ID))
	for name, s := range map[string]selection.Selection{
		"out of scope":        from(first.ID, func(r *selection.Request) { r.Scope.Threads = []chain.Hash{hashOf("none")} }),
		"below the threshold": from(first.ID, func(r *selection.Request) { r.Threshold = 0.7 }),
		"over the budget":     from(first.ID, func(r *selection.Request) { r.TokenBudget = ptr(10) }),
	} {
		if s.UnchangedTokens != 0 {
			t.Errorf("%s: %d tokens unchanged: %q", name, s.UnchangedTokens, s.Rendered)
		}
	}
	mustErase(t, store, first.Items[1].Hash)
	half := from(first.ID, nil)
	if line, _, _ := strings.Cut(first.Rendered, "\n- 2024-03-01: "+*log["price"].Content); half.UnchangedTokens == 0 || half.UnchangedTokens >= first.Tokens ||
		!strings.HasPrefix(half.Rendered, line) || half.Items[0].Hash != first.Items[0].Hash || half.Items[1].Hash == first.Items[1].Hash {
		t.Errorf("with the second erased: %d of %d tokens unchanged, %q", half.UnchangedTokens, first.Tokens, half.Rendered)
	}
	r := selection.Request{Query: "x", Limit: 1, PreviousID: "00000000-0000-0000-0000-000000000000"}
	if _, err := store.RequestContext(t.Context(), r); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("RequestContext() with an unknown previous = %v, want NOT_FOUND", err)
	}
}

// Of messages and records that say nearly the same, the newest is shown.
func TestRequestContextSupersedes(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	text := "The meeting of the parents' council on Thursday agreed that the school garden will be dug over in %s, that every class " +
		"gets a bed of its own, and that the water is paid for by the town."
	written := mustAppend(t, store, draft("a", fmt.Sprintf(text, "March")), draft("b", fmt.Sprintf(text, "April")), draft("c", "Room 31 costs 90."), draft("c", "Room 31 costs 95."))
	s := ask(t, store, "Will the school garden be dug over in March? What does room 31 cost?", nil)
	if len(s.Items) != 3 || len(s.Dropped) != 1 || s.Dropped[0].Hash != written[0].Hash || s.Dropped[0].Reason != selection.Superseded {
		t.Errorf("items %+v, dropped %+v; want the older of the nearly same dropped, and both prices", s.Items, s.Dropped)
	}
	other := draft("d", fmt.Sprintf(text, "May"))
	other.OwnerID = hashOf("somebody else")
	mustAppend(t, store, other)
	if s := ask(t, store, "Will the school garden be dug over in March?", nil); len(s.Items) != 4 {
		t.Errorf("items %+v; want what somebody else says beside it", s.Items)
	}
}
