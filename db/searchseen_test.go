package db_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// What a search says that a viewer saw is what they see, however often they have looked before, and whatever came since.
func TestSearchTellsWhatViewerSaw(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	conn := superuser(t, at)
	random := rand.New(rand.NewPCG(1, 2))
	viewers := make([]chain.Hash, 6)
	for i := range viewers {
		viewers[i] = hashOf("viewer %d", i)
	}
	anyOf := func() chain.Hash { return viewers[random.IntN(len(viewers))] }
	draft := func() chain.Draft {
		return from(anyOf(), fmt.Sprint("session ", random.IntN(30)), fmt.Sprint("about ferries ", random.Int()), anyOf())
	}
	search := func(viewer chain.Hash) (saw selection.Selection) {
		result, err := store.As(viewer).RequestContext(t.Context(), selection.Request{Query: "ferries", Limit: 1, Threshold: 0.9})
		if err != nil {
			t.Error(err)
			return saw
		}
		return result
	}
	check := func(when string) {
		t.Helper()
		for _, viewer := range viewers {
			saw := search(viewer)
			size, newest := seenBy(t, conn, viewer)
			if saw.LogSize != size || (saw.Newest == nil) != (newest == nil) || newest != nil && *saw.Newest != *newest {
				t.Fatalf("%s: %s saw %d messages up to %v, want %d up to %v", when, viewer, saw.LogSize, saw.Newest, size, newest)
			}
		}
	}
	check("an empty log")
	for round := range 15 {
		late := beginLate(t, at, fmt.Sprint("late ", round%5), anyOf())
		var wait sync.WaitGroup
		for range 4 {
			drafts := []chain.Draft{draft(), draft(), draft()}
			viewer := anyOf()
			wait.Go(func() { mustAppend(t, store, drafts...) })
			wait.Go(func() { search(viewer) })
		}
		wait.Wait()
		check(fmt.Sprint("round ", round))
		if err := late.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("late in round ", round))
	}

	// More than is gone through, of others.
	appendMany(t, store)
	mustAppend(t, store, draft())
	check("after many messages of others")

	// Another log, as far as this one, and then one that has lost its end.
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, conn, "UPDATE log.messages SET hash = log.sha256(hash) WHERE id = (SELECT max(id) FROM log.messages)")
	check("another log")
	mustExec(t, conn, "DELETE FROM log.messages WHERE id > (SELECT max(id) - 6 FROM log.messages)")
	check("after a loss")
}

// beginLate writes a message in a transaction that is still open, with a lesser id than those that are seen before it.
func beginLate(t *testing.T, at, session string, owner chain.Hash) pgx.Tx {
	t.Helper()
	late, err := superuser(t, at).Begin(t.Context())
	if err == nil {
		_, err = late.Exec(t.Context(), "INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256($1), $2, 'late')", session, owner.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return late
}

// appendMany appends more messages of others than are gone through to tell what is new.
func appendMany(t *testing.T, store *db.DB) {
	t.Helper()
	many := make([]chain.Draft, 1000)
	for range db.MaxAddedSince/len(many) + 1 {
		for i := range many {
			many[i] = from(hashOf("another"), fmt.Sprint("other ", i%7), "their own")
		}
		mustAppend(t, store, many...)
	}
}

// seenBy gives how many messages a player sees, and the newest of them.
func seenBy(t *testing.T, conn *pgx.Conn, player chain.Hash) (size int64, newest *chain.Hash) {
	t.Helper()
	err := conn.QueryRow(t.Context(), `WITH seen AS (SELECT m.id, m.hash FROM log.messages m
			WHERE m.session_hash IN (SELECT v.session_hash FROM log.members v WHERE v.player = $1))
		SELECT (SELECT count(*) FROM seen), (SELECT s.hash FROM seen s ORDER BY s.id DESC LIMIT 1)`, player.String()).Scan(&size, &newest)
	if err != nil {
		t.Fatal(err)
	}
	return size, newest
}
