package db_test

import (
	"testing"

	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
)

// What is read for a message grows neither with its session nor with the sessions of those who write: not even by plans that were
// made before there was anything, and are kept until statistics are gathered.
func TestAppendReadsNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t)
	conn := superuser(t, at)
	mustExec(t, conn, "ALTER TABLE log.messages SET (autovacuum_enabled = off); ALTER TABLE log.members SET (autovacuum_enabled = off)")
	store := openURL(t, at)
	agent := hashOf("agent")
	view := store.As(agent)
	const sessions, repeats = 300, 300
	var earlier []chain.Draft
	for i := range sessions {
		d := draft(hashOf("%d", i).String(), "one of many")
		d.OwnerID = agent
		earlier = append(earlier, d)
	}
	first := mustAppend(t, view, earlier...)
	d := draft("long", "one of a long session")
	d.OwnerID = agent
	d.Refs = []chain.Ref{{Hash: first[0].Hash, Type: chain.RefContext}}
	for range repeats {
		mustAppend(t, view, d)
	}
	store.Close() // its connections tell what they have read when they end
	for _, table := range []string{"messages", "members"} {
		const read = "SELECT (sum(idx_tup_read) / $1)::FLOAT8 FROM pg_stat_user_indexes WHERE schemaname = 'log' AND relname = $2"
		n := value[float64](t, conn, read, repeats, table)
		if n == 0 || n > 30 {
			t.Errorf("of the indexes of log.%s %.1f entries are read for a message, want some, and at most 30", table, n)
		}
	}
}
