package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/window"
)

// afterRead does something once, after the nth time that an operation on a window is read.
type afterRead struct {
	n  int
	do func()
}

type ofOperation struct{}

func (a *afterRead) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "name: WindowOperation :") {
		return context.WithValue(ctx, ofOperation{}, true)
	}
	return ctx
}

func (a *afterRead) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(ofOperation{}) == nil {
		return
	}
	if a.n--; a.n == 0 {
		a.do()
	}
}

// An administrator overrules what judges said, and has read it, when the message behind it is erased: nothing of the message comes back,
// nor what tells whoever has a guess of it that it is right.
func TestOverruleWhileTheSourceGoes(t *testing.T) {
	t.Parallel()
	lisbon, madrid := "The xylographer is in Lisbon.", "The xylographer is in Madrid."
	clashes := map[string]func(t *testing.T, view *db.DB, id string, source *chain.Hash) db.WindowWritten{
		"a summary": func(t *testing.T, view *db.DB, id string, source *chain.Hash) db.WindowWritten {
			mustWrite(t, view, id, ana, lisbon, source)
			for i := range 20 {
				mustWrite(t, view, id, ana, fmt.Sprintf("Note %d is of a garden.", i), nil)
			}
			clash := mustWrite(t, view, id, ana, madrid, nil)
			if gone := clash.Operation.Superseded; len(gone) != 1 || !gone[0].IsSummary() {
				t.Fatalf("superseded is %+v, want a summary", gone)
			}
			return clash
		},
		"a message": func(t *testing.T, view *db.DB, id string, source *chain.Hash) db.WindowWritten {
			mustWrite(t, view, id, ana, lisbon, source)
			return mustWrite(t, view, id, ana, madrid, nil)
		},
		"in a segment": func(t *testing.T, view *db.DB, id string, source *chain.Hash) (clash db.WindowWritten) {
			segment, err := view.CreateSegment(t.Context(), "s", []string{id})
			if err != nil {
				t.Fatal(err)
			}
			for _, write := range []struct {
				text   string
				source *chain.Hash
			}{{lisbon, source}, {madrid, nil}} {
				clash, err = view.WriteToSegment(t.Context(), segment.ID, id, window.Draft{Type: window.UserMessage, Content: write.text}, write.source, ana)
				if err != nil || clash.Item == nil {
					t.Fatalf("WriteToSegment() = %q, %v", clash.Rejected, err)
				}
			}
			return clash
		},
	}
	for name, clashing := range clashes {
		for _, read := range []int{1, 2} { // to find its window, and in its turn
			t.Run(fmt.Sprintf("%s, read %d", name, read), func(t *testing.T) {
				t.Parallel()
				one, url := open(t)
				conn := superuser(t, url)
				m := mustAppend(t, one, from(ana, "a", lisbon))[0]
				view := one.As(ana)
				w, err := view.CreateWindow(t.Context(), db.NewWindow{Name: "w", Agent: ana, Capacity: 4000})
				if err != nil {
					t.Fatal(err)
				}
				clash := clashing(t, view, w.ID, &m.Hash)
				if len(clash.Judgements) != 1 {
					t.Fatalf("judged is %+v", clash.Judgements)
				}
				erased := false
				two, err := db.Open(t.Context(), url, 4, slog.New(slog.DiscardHandler), db.WithTracer(&afterRead{read, func() {
					mustErase(t, one, m.Hash)
					erased = true
				}}))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(two.Close)
				if _, err := office(two).Overrule(t.Context(), clash.Operation.ID, "it is so", boss.Player); err != nil {
					t.Errorf("Overrule() = %v", err)
				}
				if !erased {
					t.Fatal("nothing was erased meanwhile")
				}
				for _, tables := range tablesWith(t, conn, map[string]string{"the words": "is in Lisbon"}) {
					t.Errorf("what was erased is left in %s", strings.Join(tables, ", "))
				}
				pairs, _ := conn.Query(t.Context(), "SELECT pair FROM memory.window_overruled")
				if kept, err := pgx.CollectRows(pairs, pgx.RowTo[string]); err != nil || slices.Contains(kept, window.PairKey(clash.Judgements[0].Pair)) {
					t.Errorf("the hash of a pair is left: %v, %v", kept, err)
				}
			})
		}
	}
}
