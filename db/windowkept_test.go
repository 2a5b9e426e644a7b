package db_test

import (
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// What made way in a slot, and what judges said, is kept of the newest only, as what was rejected is: so that nobody fills the disk by
// writing to one slot again and again. What carries little stays, and so does what judges said of what was overruled.
func TestSupersededAreFew(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, ctx := superuser(t, url), t.Context()
	w := newWindow(t, store, 8192, "")
	supersede := func(key, content string) string {
		t.Helper()
		mustEnter(t, store, w.ID, window.Draft{Type: window.Knowledge, Content: "Before: " + content, Key: key})
		o, err := store.WriteContext(ctx, w.ID, window.Draft{Type: window.Knowledge, Content: "After: " + content, Key: key}, nil, agent)
		if err != nil || len(o.Operation.Superseded) != 1 {
			t.Fatalf("WriteContext() = %+v, %v, want one superseded", o.Operation, err)
		}
		return o.Operation.ID
	}
	light := supersede("light", "breakfast is at eight")
	long := supersede("long", strings.Repeat("the garden is watered in the evening ", 80))
	overruled := supersede("overruled", strings.Repeat("the train leaves in the morning ", 80))
	mustExec(t, conn, `UPDATE memory.window_operations SET overruled = 'so', judgements = '[{"relation": 2, "reason": "", "by": "", "known": "a", "new": "b"}]' WHERE id = $1::UUID`, overruled)
	for range 2 { // the second time, what stays is met again
		mustExec(t, conn, `INSERT INTO memory.window_operations (window_id, kind, at, capacity, tokens_before, tokens_after, took_us, superseded, judgements)
			SELECT o.window_id, o.kind, o.at, o.capacity, 0, 0, 0, jsonb_build_array(jsonb_build_object('content', l.content)), jsonb_build_array(jsonb_build_object('known', l.content))
			FROM memory.window_operations o, (SELECT string_agg(md5(g::TEXT), '') AS content FROM generate_series(1, 1 << 14) g) l, generate_series(1, 30) WHERE o.id = $1::UUID`, light)
	}
	if n := value[int](t, conn, "SELECT sum(pg_column_size(superseded) + pg_column_size(judgements))::INT FROM memory.window_operations"); n > 17<<20 || n < 12<<20 {
		t.Errorf("%d bytes are kept, want nearly 16 MiB", n)
	}
	if o, err := store.WindowOperation(ctx, light); err != nil || len(o.Superseded) != 1 {
		t.Errorf("what carries little is %+v, %v", o, err)
	}
	if o, err := store.WindowOperation(ctx, overruled); err != nil || len(o.Superseded) != 0 || len(o.Judgements) != 1 {
		t.Errorf("what was overruled is %+v, %v, want what judges said", o, err)
	}
	_, err := office(store).Overrule(ctx, long, "it is so", boss.Player)
	wantCode(t, "what carried much", err, fault.BadUserInput, "operation")
}
