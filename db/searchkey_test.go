package db_test

import (
	"fmt"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// A scope of sessions or threads holds all of them that the viewer sees, whether they are few, which is found out first, or
// more, and at an earlier position what was there then.
func TestScopeByKeyOfAnySize(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	member, stranger := hashOf("member"), hashOf("stranger")
	sizes := []int{3, 500, 501, 700}
	for _, size := range sizes {
		name := fmt.Sprint("of ", size)
		drafts := make([]chain.Draft, size)
		for i := range drafts {
			drafts[i] = draft(name, fmt.Sprint("the weather on day ", i))
			drafts[i].OwnerID, drafts[i].ThreadHash = member, &[]chain.Hash{hashOf("thread of %d", size)}[0]
		}
		mustAppend(t, store, drafts...)
	}
	if err := store.IndexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	type question struct {
		what string
		view *db.DB
		id   string
	}
	var asked []question
	for _, size := range sizes {
		for what, scope := range map[string]selection.Scope{
			"session":  {Sessions: []chain.Hash{hashOf("session:of %d", size)}},
			"thread":   {Threads: []chain.Hash{hashOf("thread of %d", size)}},
			"both":     {Sessions: []chain.Hash{hashOf("session:of %d", size)}, Threads: []chain.Hash{hashOf("thread of %d", size)}},
			"another":  {Sessions: []chain.Hash{hashOf("session:of 3")}, Threads: []chain.Hash{hashOf("thread of %d", size)}},
			"no other": {Threads: []chain.Hash{hashOf("thread of %d", size), hashOf("thread of nobody")}},
		} {
			want := int64(size)
			if what == "another" && size != 3 {
				want = 0
			}
			for who, in := range map[string]struct {
				viewer *chain.Hash
				want   int64
			}{"all": {nil, want}, "a member": {&member, want}, "a stranger": {&stranger, 0}} {
				view := store
				if in.viewer != nil {
					view = store.As(*in.viewer)
				}
				s, err := view.RequestContext(t.Context(), selection.Request{Query: "weather", Limit: 5, Scope: scope})
				if err != nil || s.Stages[0].Out != in.want {
					t.Fatalf("%s of %d, for %s: %+v in scope, %v; want %d", what, size, who, s.Stages, err, in.want)
				}
				asked = append(asked, question{fmt.Sprintf("%s of %d, for %s", what, size, who), view, s.ID})
			}
		}
	}
	for _, size := range sizes {
		later := draft(fmt.Sprint("of ", size), "the weather afterwards")
		later.OwnerID, later.ThreadHash = member, &[]chain.Hash{hashOf("thread of %d", size)}[0]
		mustAppend(t, store, later)
	}
	for _, q := range asked {
		if replayed, err := q.view.ReplayContext(t.Context(), q.id); err != nil || !replayed.Identical {
			t.Errorf("%s, replayed: %v, %v", q.what, replayed.Differences, err)
		}
	}
}
