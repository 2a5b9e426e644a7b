package db_test

import (
	"slices"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/window"
)

func mustShare(t *testing.T, store *db.DB, segment, through string, draft window.Draft) db.WindowWritten {
	t.Helper()
	o, err := store.WriteToSegment(t.Context(), segment, through, draft, nil, agent)
	if err != nil {
		t.Fatalf("WriteToSegment(%q) = %v", draft.Content, err)
	}
	return o
}

func mustOverrule(t *testing.T, store *db.DB, id string) db.WindowOperation {
	t.Helper()
	o, err := office(store).Overrule(t.Context(), id, "both are so", boss.Player)
	if err != nil {
		t.Fatalf("Overrule() = %v", err)
	}
	return o
}

// holds checks what a window holds, besides what it shares and with it, and that what it uses is the sum, in what is kept as well.
func holds(t *testing.T, store *db.DB, id string, own, shared []string) window.Window {
	t.Helper()
	w, err := store.Window(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	texts := func(items []window.Item) []string {
		out := []string{}
		for _, i := range items {
			out = append(out, i.Content)
		}
		slices.Sort(out)
		return out
	}
	var sharing []window.Item
	for _, s := range w.Segments {
		sharing = append(sharing, s.Items...)
	}
	if got := texts(w.Items); !slices.Equal(got, own) {
		t.Errorf("the window holds %q, want %q", got, own)
	}
	if got := texts(sharing); !slices.Equal(got, shared) {
		t.Errorf("it shares %q, want %q", got, shared)
	}
	listed, err := store.Windows(t.Context(), db.Page[db.WindowKey]{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range listed.Items {
		if row.Value.ID == id && row.Value.Used != w.Used() {
			t.Errorf("%d are used, kept is %d", w.Used(), row.Value.Used)
		}
	}
	return w
}

const inLisbon, inMadrid = "The hotel is in Lisbon.", "The hotel is in Madrid."

// A share whose clashes took items out of the segment, and out of the windows that see it, is overruled: what left the segment comes back
// there, for all of them, and what left a window to that window, once its own operation is overruled.
func TestOverruleShare(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn := superuser(t, at)
	one, two := newWindow(t, store, 1000, ""), newWindow(t, store, 1000, "")
	segment, err := store.CreateSegment(t.Context(), "s", []string{one.ID, two.ID})
	if err != nil {
		t.Fatal(err)
	}
	know := func(text string) window.Draft { return window.Draft{Type: window.Knowledge, Content: text} }
	mustShare(t, store, segment.ID, one.ID, know(inLisbon))
	const ana, ben = "The hotel in Madrid has 48 rooms.", "The hotel in Madrid has 52 rooms."
	for _, w := range []string{one.ID, two.ID} {
		mustEnter(t, store, w, know(ana))
	}
	first := mustShare(t, store, segment.ID, one.ID, know(inMadrid))
	second := mustShare(t, store, segment.ID, one.ID, know(ben))
	holds(t, store, one.ID, []string{}, []string{ben, inMadrid})
	holds(t, store, two.ID, []string{}, []string{ben, inMadrid})

	if o := mustOverrule(t, store, first.Operation.ID); len(o.Entered) != 1 || o.Entered[0] != first.Operation.Superseded[0].ID {
		t.Errorf("what entered is %q, want %+v", o.Entered, first.Operation.Superseded)
	}
	holds(t, store, one.ID, []string{}, []string{ben, inLisbon, inMadrid})
	holds(t, store, two.ID, []string{}, []string{ben, inLisbon, inMadrid})
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE kind = 'overrule' AND window_id = $1 AND entered = ARRAY[$2]", two.ID, first.Operation.Superseded[0].ID); n != 1 {
		t.Errorf("it is on record %d times in the other window", n)
	}
	if _, err := office(store).Overrule(t.Context(), first.Operation.ID, "once more", boss.Player); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("once more: %v", err)
	}

	mustOverrule(t, store, second.Operation.ID) // took nothing out of the segment
	holds(t, store, one.ID, []string{ana}, []string{ben, inLisbon, inMadrid})
	holds(t, store, two.ID, []string{}, []string{ben, inLisbon, inMadrid})
	others := value[string](t, conn, "SELECT id::TEXT FROM memory.window_operations WHERE kind = 'share' AND window_id = $1 ORDER BY place DESC LIMIT 1", two.ID)
	mustOverrule(t, store, others)
	holds(t, store, two.ID, []string{ana}, []string{ben, inLisbon, inMadrid})
}

// What was overruled in a window holds there for what is shared through another one, where it was not.
func TestOverruledHoldsForShares(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	one, two := newWindow(t, store, 1000, ""), newWindow(t, store, 1000, "")
	segment, err := store.CreateSegment(t.Context(), "s", []string{one.ID, two.ID})
	if err != nil {
		t.Fatal(err)
	}
	know := func(text string) window.Draft { return window.Draft{Type: window.Knowledge, Content: text} }
	mustEnter(t, store, one.ID, know(inLisbon))
	mustEnter(t, store, two.ID, know(inLisbon))
	clash, err := store.WriteContext(t.Context(), two.ID, know(inMadrid), nil, agent)
	if err != nil {
		t.Fatal(err)
	}
	mustOverrule(t, store, clash.Operation.ID)
	mustShare(t, store, segment.ID, one.ID, know(inMadrid))
	holds(t, store, one.ID, []string{}, []string{inMadrid})
	holds(t, store, two.ID, []string{inLisbon, inMadrid}, []string{inMadrid})
}

// What comes back to a segment needs room in each window that sees it; without, nothing has changed.
func TestOverruleShareWithoutRoom(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	one, two := newWindow(t, store, 1000, ""), newWindow(t, store, 30, "")
	segment, err := store.CreateSegment(t.Context(), "s", []string{one.ID, two.ID})
	if err != nil {
		t.Fatal(err)
	}
	mustShare(t, store, segment.ID, one.ID, window.Draft{Type: window.Decision, Content: inLisbon})
	clash := mustShare(t, store, segment.ID, one.ID, window.Draft{Type: window.Decision, Content: inMadrid})
	const keep = "We always speak the truth, and nothing but the truth, to all who ask."
	mustEnter(t, store, two.ID, window.Draft{Type: window.Goal, Content: keep})
	mustEnter(t, store, two.ID, window.Draft{Type: window.Goal, Content: "We are kind."})
	if _, err := office(store).Overrule(t.Context(), clash.Operation.ID, "both", boss.Player); fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Errorf("Overrule() = %v, want %s", err, fault.ContextWindowExceeded)
	}
	holds(t, store, one.ID, []string{}, []string{inMadrid})
	w := holds(t, store, two.ID, []string{keep, "We are kind."}, []string{inMadrid})
	if _, err := store.RemoveFromWindow(t.Context(), two.ID, []string{w.Items[0].ID}, agent); err != nil {
		t.Fatal(err)
	}
	mustOverrule(t, store, clash.Operation.ID)
	holds(t, store, two.ID, []string{"We are kind."}, []string{inLisbon, inMadrid})
}

// What was rejected from a segment enters it, for all windows that see it.
func TestOverruleRejectedShare(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	if _, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "b", Title: "The hotel", Content: inLisbon, Verified: true}}); err != nil {
		t.Fatal(err)
	}
	one, two := newWindow(t, store, 1000, ""), newWindow(t, store, 1000, "")
	segment, err := store.CreateSegment(t.Context(), "s", []string{one.ID, two.ID})
	if err != nil {
		t.Fatal(err)
	}
	own := mustEnter(t, store, two.ID, window.Draft{Type: window.Knowledge, Content: "The tower of the town is tall.", Key: "k"})
	refused := mustShare(t, store, segment.ID, one.ID, window.Draft{Type: window.Knowledge, Content: inMadrid, Key: "k"})
	if refused.Item != nil {
		t.Fatal("it was not rejected")
	}
	mustOverrule(t, store, refused.Operation.ID)
	holds(t, store, one.ID, []string{}, []string{inMadrid})
	w := holds(t, store, two.ID, []string{own.Content}, []string{inMadrid})
	if w.Items[0].Key != "k" || w.Segments[0].Items[0].Key != "" {
		t.Errorf("the slot is %q's and %q's", w.Items[0].Key, w.Segments[0].Items[0].Key)
	}
}

// A clash by key alone, of which no judge said anything, is overruled: what made way comes back beside the newer one, which keeps the slot.
func TestOverruleByKey(t *testing.T) {
	t.Parallel()
	const garden, sea, street = "A room near the garden", "A room that looks at the sea", "A room away from the street"
	prefer := func(text string) window.Draft {
		return window.Draft{Type: window.UserPreference, Content: text, Key: "room"}
	}
	slots := func(t *testing.T, items []window.Item) map[string]string {
		t.Helper()
		out := map[string]string{}
		for _, i := range items {
			out[i.Content] = i.Key
		}
		return out
	}
	t.Run("in a window", func(t *testing.T) {
		t.Parallel()
		store, _ := open(t)
		w := newWindow(t, store, 1000, "")
		mustEnter(t, store, w.ID, prefer(garden))
		clash, err := store.WriteContext(t.Context(), w.ID, prefer(sea), nil, agent)
		if err != nil || len(clash.Judgements) != 0 || len(clash.Operation.Superseded) != 1 {
			t.Fatalf("%+v, %v", clash, err)
		}
		mustOverrule(t, store, clash.Operation.ID)
		is := holds(t, store, w.ID, []string{garden, sea}, []string{})
		if got := slots(t, is.Items); got[garden] != "" || got[sea] != "room" {
			t.Errorf("slots are %q", got)
		}
		mustEnter(t, store, w.ID, prefer(street)) // takes the place of the one that has the slot
		holds(t, store, w.ID, []string{street, garden}, []string{})
	})
	t.Run("the slot is free again", func(t *testing.T) {
		t.Parallel()
		store, _ := open(t)
		w := newWindow(t, store, 1000, "")
		mustEnter(t, store, w.ID, prefer(garden))
		clash, err := store.WriteContext(t.Context(), w.ID, prefer(sea), nil, agent)
		if err == nil {
			_, err = store.RemoveFromWindow(t.Context(), w.ID, []string{clash.Item.ID}, agent)
		}
		if err != nil {
			t.Fatal(err)
		}
		mustOverrule(t, store, clash.Operation.ID)
		if got := slots(t, holds(t, store, w.ID, []string{garden}, []string{}).Items); got[garden] != "room" {
			t.Errorf("slots are %q", got)
		}
	})
	t.Run("in a segment", func(t *testing.T) {
		t.Parallel()
		store, _ := open(t)
		one, two := newWindow(t, store, 1000, ""), newWindow(t, store, 1000, "")
		segment, err := store.CreateSegment(t.Context(), "s", []string{one.ID, two.ID})
		if err != nil {
			t.Fatal(err)
		}
		mustEnter(t, store, one.ID, prefer(street)) // makes way for what is shared
		first := mustShare(t, store, segment.ID, one.ID, prefer(garden))
		clash := mustShare(t, store, segment.ID, one.ID, prefer(sea))
		mustOverrule(t, store, clash.Operation.ID)
		mustOverrule(t, store, first.Operation.ID)
		holds(t, store, one.ID, []string{street}, []string{garden, sea})
		is := holds(t, store, two.ID, []string{}, []string{garden, sea})
		if got := slots(t, is.Segments[0].Items); got[garden] != "" || got[sea] != "room" {
			t.Errorf("slots are %q", got)
		}
	})
	t.Run("what made way was erased", func(t *testing.T) {
		t.Parallel()
		store, _ := open(t)
		m := mustAppend(t, store, from(ana, "a", garden))[0]
		view := store.As(ana)
		w, err := view.CreateWindow(t.Context(), db.NewWindow{Name: "w", Agent: ana, Capacity: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := view.WriteContext(t.Context(), w.ID, prefer(garden), &m.Hash, ana); err != nil {
			t.Fatal(err)
		}
		clash, err := view.WriteContext(t.Context(), w.ID, prefer(sea), nil, ana)
		if err != nil {
			t.Fatal(err)
		}
		mustErase(t, store, m.Hash)
		if _, err := office(store).Overrule(t.Context(), clash.Operation.ID, "both", boss.Player); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("Overrule() = %v", err)
		}
		holds(t, store, w.ID, []string{sea}, []string{})
	})
}
