package db_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// What a scope holds is what the log says, however often it was listed before and whatever came since: messages that are committed
// late, sessions that a player comes into, many messages of others, a database that has lost its end.
func TestListingIsAsTheLog(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn := superuser(t, at)
	random := rand.New(rand.NewPCG(3, 4))
	players := []chain.Hash{hashOf("one"), hashOf("two"), hashOf("three")}
	anyOf := func() chain.Hash { return players[random.IntN(len(players))] }
	draft := func() chain.Draft {
		d := from(anyOf(), fmt.Sprint("session ", random.IntN(40)), "about ferries")
		if random.IntN(8) == 0 {
			d.PlayerIDs = []chain.Hash{anyOf()}
		}
		return d
	}
	check := func(when string) {
		t.Helper()
		for _, owners := range [][]chain.Hash{nil, players[:1], players[1:]} {
			scope := selection.Scope{Owners: owners}
			for _, viewer := range append([]chain.Hash{{}}, players...) {
				view := store
				if viewer != (chain.Hash{}) {
					view = store.As(viewer)
				} else if owners == nil {
					continue
				}
				held, err := view.InScope(t.Context(), scope)
				if want := heldBy(t, conn, viewer, owners); err != nil || !slices.Equal(held, want) {
					t.Fatalf("%s: as %s of %d owners %d are held, %v; want %d", when, viewer, len(owners), len(held), err, len(want))
				}
			}
		}
	}
	mustAppend(t, store, draft(), draft(), draft(), draft(), draft(), draft())
	check("a few messages")
	if store.Listings() == 0 {
		t.Fatal("no listing is remembered")
	}
	for round := range 15 {
		late := beginLate(t, at, fmt.Sprint("late ", round%5), anyOf())
		var wait sync.WaitGroup
		for range 3 {
			drafts := []chain.Draft{draft(), draft()}
			wait.Go(func() { mustAppend(t, store, drafts...) })
			wait.Go(func() { _, _ = store.As(players[0]).InScope(t.Context(), selection.Scope{}) })
		}
		wait.Wait()
		check(fmt.Sprint("round ", round))
		if err := late.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("late in round ", round))
	}
	appendMany(t, store)
	mustAppend(t, store, draft())
	check("after many messages of others")
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, conn, "DELETE FROM log.messages WHERE id > (SELECT max(id) - 6 FROM log.messages)")
	check("after a loss")
	mustExec(t, conn, "ALTER TABLE log.messages ENABLE TRIGGER ALL")
	mustExec(t, conn, "SELECT setval(pg_get_serial_sequence('log.messages', 'id'), (SELECT max(id) FROM log.messages))")
	other := openURL(t, at) // which remembers no heads
	for range 4 {
		mustAppend(t, other, draft(), draft(), draft())
	}
	check("with other messages in the place of those that were lost")
}

// heldBy gives the messages of these owners, nil for any, in the sessions of a player, zero for any.
func heldBy(t *testing.T, conn *pgx.Conn, player chain.Hash, owners []chain.Hash) (ids []int64) {
	t.Helper()
	var of []string
	for _, owner := range owners {
		of = append(of, owner.String())
	}
	rows, err := conn.Query(t.Context(), `SELECT m.id FROM log.messages m
		WHERE ($2::TEXT[] IS NULL OR m.owner_id = ANY ($2::TEXT[]))
			AND ($1 OR m.session_hash IN (SELECT v.session_hash FROM log.members v WHERE v.player = $3)) ORDER BY m.id`,
		player == (chain.Hash{}), of, player.String())
	if err == nil {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
