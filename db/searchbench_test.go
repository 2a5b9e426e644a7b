package db_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// BenchmarkSearchThread searches a thread of some 25 messages of 10,000; beside it, the bare statement that ranks them.
func BenchmarkSearchThread(b *testing.B) {
	store, url := open(b)
	v := newVocabulary(5000, 3)
	crowd(b, store, v, 10_000)
	in := db.Searching{Request: selection.Request{Query: v.text(6), Limit: 10, Scope: selection.Scope{Threads: []chain.Hash{hashOf("session:s3")}}}}
	found := mustSearch(b, store, in)
	conn := superuser(b, url)
	mustExec(b, conn, "VACUUM ANALYZE")
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			mustSearch(b, store, in)
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			rows, err := conn.Query(b.Context(), `SELECT l.source_id, -(l.vector <#> CAST($1::TEXT AS sparsevec)) AS product
				FROM embedding.lexical l JOIN log.messages m ON m.id = l.source_id AND l.kind = 'context'
				WHERE m.thread_hash = $2 ORDER BY product DESC LIMIT 10`, found.Vector, hashOf("session:s3"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := pgx.CollectRows(rows, pgx.RowToMap); err != nil {
				b.Fatal(err)
			}
		}
	})
}
