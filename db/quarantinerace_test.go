package db_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// A search that has found a message before it was quarantined, and is kept afterwards, is made again.
func TestQuarantineWhileASelectionIsKept(t *testing.T) {
	t.Parallel()
	for name, threshold := range map[string]float64{"as an item": 0, "as what was dropped": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quarantineWhileKept(t, threshold)
		})
	}
}

func quarantineWhileKept(t *testing.T, threshold float64) {
	store, url := open(t)
	log := talk(t, store)
	hotel := log["hotel"]
	q := mustQuarantine(t, store, log["spanish"].Hash) // for an event
	ask(t, store, "warm", func(r *selection.Request) { r.Threshold = 1 })
	conn, watch := superuser(t, url), superuser(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO memory.quarantines (message, message_id, reason, placed_by, event) VALUES ($1, $2, 'why', $3, $4)",
		hotel.Hash.String(), hotel.ID, boss.Player.String(), q.Event.String()); err != nil {
		t.Fatal(err)
	}
	kept := make(chan selection.Selection, 1)
	go func() {
		defer close(kept)
		s, err := store.RequestContext(t.Context(), selection.Request{Query: "Which hotel did we book in Lisbon?", Limit: 5, Threshold: threshold})
		if err != nil {
			t.Errorf("RequestContext() = %v", err)
		}
		kept <- s
	}()
	waits(t, watch, `SELECT count(*) FROM pg_stat_activity a WHERE a.datname = current_database() AND a.wait_event = 'advisory' AND a.query LIKE '%KeepSelection%'`)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := <-kept; names(s, hotel.Hash) || s.ID == "" {
		t.Errorf("the selection holds what was quarantined before it was kept: %+v", s.Items)
	}
	if n, err := office(store).CountSelectionsWith(t.Context(), hotel.Hash); err != nil || n != 0 {
		t.Errorf("%d selections hold it, %v", n, err)
	}
}

// Whoever selects and quarantines at once, on two servers: what was quarantined is in no selection that was asked for
// afterwards, what was kept before is listed, and one of several who quarantine the same does.
func TestQuarantineRace(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	servers := []*db.DB{store, openURL(t, url)}
	var drafts []chain.Draft
	for i := range 20 {
		drafts = append(drafts, draft("s", fmt.Sprintf("Guest %d left an umbrella in the hall.", i)))
	}
	victims := mustAppend(t, store, drafts...)
	request := selection.Request{Query: "Who left an umbrella in the hall?", Limit: 50}
	var work sync.WaitGroup
	done := make(chan struct{})
	var kept atomic.Int64
	for w := range 3 {
		work.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				switch _, err := servers[w%2].RequestContext(t.Context(), request); {
				case err == nil:
					kept.Add(1)
				case !strings.Contains(err.Error(), "too much at once; try again"):
					t.Error(err)
					return
				}
			}
		})
	}
	for i, m := range victims {
		var twice sync.WaitGroup
		placed := make([]db.Quarantine, 2)
		for s, server := range servers {
			twice.Go(func() {
				var err error
				by := auth.Caller{Player: hashOf("admin %d", s), Role: auth.Admin}
				if placed[s], err = server.AsAdministrator(by, nil).Quarantine(t.Context(), m.Hash, "why"); err != nil {
					t.Errorf("Quarantine() = %v", err)
				}
			})
		}
		twice.Wait()
		if placed[0] != placed[1] {
			t.Errorf("two quarantines at once: %+v, %+v", placed[0], placed[1])
		}
		held, err := office(store).CountSelectionsWith(t.Context(), m.Hash)
		if err != nil {
			t.Fatal(err)
		}
		s, err := servers[i%2].RequestContext(t.Context(), request)
		if err != nil || names(s, m.Hash) {
			t.Errorf("message %d is in a selection after its quarantine; %v", i, err)
		}
		after, err := office(store).CountSelectionsWith(t.Context(), m.Hash)
		if err != nil || after != held {
			t.Errorf("message %d is in %d selections, and was in %d at its quarantine; %v", i, after, held, err)
		}
	}
	close(done)
	work.Wait()
	if kept.Load() == 0 {
		t.Error("nobody's selection was kept beside the quarantines")
	}
	if n := len(audited(t, store, hashOf("admin 0"))) + len(audited(t, store, hashOf("admin 1"))); n != len(victims) {
		t.Errorf("%d quarantines are on record, want %d", n, len(victims))
	}
	wantLog(t, store, 0)
}
