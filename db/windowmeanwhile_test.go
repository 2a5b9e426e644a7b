package db_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// What is erased while a model thinks about whether it may enter is not kept as rejected either.
func TestRejectedAfterErasure(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	judge := slow{make(chan struct{}), make(chan struct{})}
	_, summariser := db.BuiltIn()
	store.UseModels(judge, summariser)
	m := mustAppend(t, store, draft("s", "xylographer"))[0]
	w := newWindow(t, store, 1000, "")
	if _, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: "A xylographer came."}, nil, agent); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := store.WriteContext(t.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: "xylographer"}, &m.Hash, agent) // a single word does not enter
		done <- err
	}()
	<-judge.asked
	mustErase(t, store, m.Hash)
	judge.say <- struct{}{}
	if err := <-done; fault.CodeOf(err) != fault.BadUserInput || !strings.Contains(err.Error(), "was erased") {
		t.Errorf("a write that quotes it: %v, want that it was erased", err)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE draft ->> 'content' = 'xylographer'"); n != 0 {
		t.Errorf("%d drafts hold what was erased", n)
	}
}

// Whoever reads an entry that is being erased waits, and is not given it.
func TestReadScratchpadWaitsForErasure(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	w := newWindow(t, store, 1000, "")
	put, err := store.Offload(t.Context(), w.ID, []string{"a secret"}, agent)
	if err != nil {
		t.Fatal(err)
	}
	// As memory.leave_windows does.
	mustExec(t, conn, "BEGIN")
	mustExec(t, conn, "SELECT FROM memory.windows FOR UPDATE")
	mustExec(t, conn, "UPDATE memory.windows SET version = version + 1")
	mustExec(t, conn, "DELETE FROM memory.scratchpad")
	done := make(chan error, 1)
	go func() {
		entry, err := store.ReadScratchpad(t.Context(), put[0].ID, agent)
		if err == nil {
			err = fmt.Errorf("given %q", entry.Content)
		}
		done <- err
	}()
	for !value[bool](t, conn, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')") {
		time.Sleep(5 * time.Millisecond)
	}
	mustExec(t, conn, "COMMIT")
	if err := <-done; fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an entry that was erased meanwhile: %v, want %s", err, fault.NotFound)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM memory.window_operations WHERE kind = 'read'"); n != 0 {
		t.Errorf("%d readings are on record", n)
	}
}

// What is selected is checked against records as what is written is: on a server that has only just started, too, and whatever the
// line that it stands in begins with.
func TestSelectKeepsPoisonOut(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	addRecord(t, one, "Eiffel", inParis)
	mustAppend(t, one, draft("s", inLondon))
	fresh := openURL(t, url)
	for range 2 {
		w := newWindow(t, one, 1000, "")
		chosen, err := fresh.SelectIntoWindow(t.Context(), w.ID, selection.Request{Query: "Eiffel Tower London", Limit: 5}, agent)
		if err != nil || len(chosen.Items) != 2 {
			t.Fatalf("%d items, %v; want the message and the record", len(chosen.Items), err)
		}
		is, err := fresh.Window(t.Context(), w.ID)
		if err != nil || len(is.Items) != 1 || !strings.Contains(is.Items[0].Content, inParis) || is.Items[0].VerifiedBy == nil {
			t.Errorf("in the window: %+v, %v; want the record alone, verified", is.Items, err)
		}
		ops, err := fresh.WindowOperations(t.Context(), w.ID, db.Page[string]{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range ops.Items[0].Value.Judgements {
			if j.New != inParis && j.New != inLondon {
				t.Errorf("what was judged is %q, want it without what stands before it", j.New)
			}
		}
	}
}

// Of a long content all is looked up that a judge reads, however short its parts are.
func TestWindowFindsTheRecordLate(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	addRecord(t, store, "Eiffel", inParis)
	w := newWindow(t, store, 500_000, "")
	for _, kib := range []int{30, 50, 63} {
		var long strings.Builder
		for i := 0; long.Len() < kib<<10; i++ { // parts of a little more than half of the longest
			fmt.Fprintf(&long, "w%s%d.\n", strings.Repeat(" filler", 73), i)
		}
		wantPoisoned(t, store, w.ID, fmt.Sprint(kib, " KiB before it"), long.String()+inLondon)
	}
}
