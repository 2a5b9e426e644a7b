package db_test

import (
	"fmt"
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
	tables := []string{"messages", "members", "append_keys", "audit_sessions"}
	for _, table := range tables {
		mustExec(t, conn, "ALTER TABLE log."+table+" SET (autovacuum_enabled = off)")
	}
	store := openURL(t, at)
	agent := hashOf("agent")
	view := store.As(agent)
	const sessions, repeats = 300, 300
	from := func(session string, n int) chain.Draft {
		d := draft(session, "one of many")
		key := fmt.Sprint(session, " ", n)
		d.OwnerID, d.IdempotencyKey = agent, &key
		return d
	}
	first := mustAppend(t, view, from("long", 0)) // by it the plans are made
	var many []chain.Draft
	for i := range sessions {
		many = append(many, from(fmt.Sprint(i), 0))
	}
	mustAppend(t, view, many...)
	for i := range repeats {
		d := from("long", i+1)
		d.Refs = []chain.Ref{{Hash: first[0].Hash, Type: chain.RefContext}}
		mustAppend(t, view, d)
	}
	store.Close()
	// Sessions tell what they have read before they are gone.
	eventually(t, "all others have ended", func() bool {
		return value[int](t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()") == 0
	})
	for _, table := range tables {
		const read = `SELECT (sum(r.n) / $1)::FLOAT8 FROM (
			SELECT seq_tup_read AS n FROM pg_stat_user_tables WHERE schemaname = 'log' AND relname = $2
			UNION ALL SELECT idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = 'log' AND relname = $2) r`
		n := value[float64](t, conn, read, repeats, table)
		if n > 30 {
			t.Errorf("of log.%s %.1f rows or entries of indexes are read for a message, want at most 30", table, n)
		}
		if table == "messages" && n < 1 {
			t.Errorf("of log.messages %.1f are read for a message, want the one before it at least", n)
		}
	}
}
