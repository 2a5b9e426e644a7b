package db_test

import (
	"slices"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

func mustEnter(t testing.TB, store *db.DB, id string, draft window.Draft) window.Item {
	t.Helper()
	o, err := store.WriteContext(t.Context(), id, draft, nil, agent)
	if err != nil || o.Item == nil {
		t.Fatalf("WriteContext(%q): rejected is %q, %v", draft.Content, o.Rejected, err)
	}
	return *o.Item
}

// What a write to a segment takes out of the window that it goes through, and out of others, is on record there, with why.
func TestSegmentSaysWhatItSupersedes(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn := superuser(t, at)
	through, other := newWindow(t, store, 1000, ""), newWindow(t, store, 1000, "")
	segment, err := store.CreateSegment(t.Context(), "s", []string{through.ID, other.ID})
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]string{}
	for _, id := range []string{through.ID, other.ID} {
		left[id] = mustEnter(t, store, id, window.Draft{Type: window.Knowledge, Content: "The hotel is in Lisbon."}).ID
	}
	o, err := store.WriteToSegment(t.Context(), segment.ID, through.ID, window.Draft{Type: window.Knowledge, Content: "The hotel is in Madrid."}, nil, agent)
	if err != nil || o.Item == nil {
		t.Fatal(o.Rejected, err)
	}
	if own := left[through.ID]; len(o.Mitigations) != 1 || !slices.Equal(o.Mitigations[0].Items, []string{own}) || len(o.Judgements) != 1 || o.Judgements[0].Item != own || len(o.Operation.Superseded) != 1 {
		t.Errorf("it says %+v, %+v, %+v", o.Mitigations, o.Judgements, o.Operation.Superseded)
	}
	for id, item := range left {
		if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE kind = 'share' AND window_id = $1 AND jsonb_array_length(mitigations) = 1 AND jsonb_array_length(judgements) = 1 AND superseded -> 0 ->> 'id' = $2 AND jsonb_array_length(superseded) = 1", id, item); n != 1 {
			t.Errorf("the clash is on record %d times", n)
		}
	}
}

// What is written to a segment takes no slot in a window of another agent that does not give it up, nor does it say whose.
func TestSegmentTakesNoInstruction(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	windows := map[chain.Hash]string{}
	for _, who := range []chain.Hash{ana, cleo} {
		w, err := store.As(who).CreateWindow(t.Context(), db.NewWindow{Name: "w", Agent: who, Capacity: 1000})
		if err != nil {
			t.Fatal(err)
		}
		windows[who] = w.ID
	}
	segment, err := office(store).CreateSegment(t.Context(), "s", []string{windows[ana], windows[cleo]})
	if err != nil {
		t.Fatal(err)
	}
	instruction := mustEnter(t, store, windows[cleo], window.Draft{Type: window.SystemInstruction, Content: "Never spend more than 100 euros.", Key: "k"})
	o, err := store.As(ana).WriteToSegment(t.Context(), segment.ID, windows[ana], window.Draft{Type: window.ToolResult, Content: "The weather is fine.", Key: "k"}, nil, ana)
	if err != nil || o.Item != nil || len(o.Mitigations) != 1 || o.Mitigations[0].Failure != window.Clash || len(o.Mitigations[0].Items) != 0 {
		t.Errorf("%+v, %v", o.Outcome, err)
	}
	w, err := store.Window(t.Context(), windows[cleo])
	if err != nil || len(w.Items) != 1 || w.Items[0].ID != instruction.ID {
		t.Errorf("the window holds %+v, %v", w.Items, err)
	}
}

// What was injected leaves for what contradicts it, but not the scratchpad; brought back, it is refused as older.
func TestInjectedIsSuperseded(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	w := newWindow(t, store, 1000, "")
	entries, err := store.Offload(t.Context(), w.ID, []string{"The hotel is in Lisbon."}, agent)
	if err != nil {
		t.Fatal(err)
	}
	id := entries[0].ID
	if _, err := store.InjectFromScratchpad(t.Context(), w.ID, id, agent); err != nil {
		t.Fatal(err)
	}
	o, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: "The hotel is in Madrid."}, nil, agent)
	if err != nil || o.Item == nil || len(o.Operation.Superseded) != 1 || o.Operation.Superseded[0].ID != id || len(o.Window.Items) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := store.ReadScratchpad(t.Context(), id, agent); err != nil {
		t.Errorf("its entry: %v", err)
	}
	if _, err := store.InjectFromScratchpad(t.Context(), w.ID, id, agent); fault.CodeOf(err) != fault.ContentRejected {
		t.Errorf("once more: %v", err)
	}
	if _, err := office(store).Overrule(t.Context(), o.Operation.ID, "there are two", boss.Player); err != nil {
		t.Fatal(err)
	}
	is, err := store.Window(t.Context(), w.ID)
	if err != nil || len(is.Items) != 2 || !slices.ContainsFunc(is.Items, func(i window.Item) bool { return i.ID == id && i.Injected }) {
		t.Errorf("overruled: %+v, %v", is.Items, err)
	}
}
