package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/fault"
)

// What is erased while it is being embedded does not come back, and what has vectors of two models loses both.
func TestDenseErase(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32, "large": 48})
	first, url := open(t)
	conn := superuser(t, url)
	written := mustAppend(t, first, many(100, "word")...)
	old := embeds(t, url, e.config("small"))
	untilServing(t, old, "small", 100)
	old.Close()

	during := func(part string) {
		e.models["large"].Break(providertest.Only(part, endpointtest.Hang()))
	}
	during("word99 ")
	store := embeds(t, url, e.config("large"))
	eventually(t, "the provider has the text", func() bool { return e.models["large"].Asked(*written[99].Content) > 0 })
	mustErase(t, store, written[99].Hash)
	e.models["large"].Mend()
	untilServing(t, store, "large", 100) // one is gone, and the erasure's message came
	wantGone := func(m chain.Message) {
		t.Helper()
		if n := value[int](t, conn, "SELECT count(*) FROM embedding.dense WHERE kind = 'context' AND source_id = $1", m.ID); n != 0 {
			t.Errorf("the erased message has %d vectors", n)
		}
	}
	wantGone(written[99])
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.dense WHERE kind = 'context' AND source_id = $1", written[5].ID); n != 2 {
		t.Fatalf("a message has %d vectors, want those of two models", n)
	}
	mustErase(t, store, written[5].Hash)
	wantGone(written[5])
	hits, _, _, err := store.Nearest(t.Context(), *written[5].Content, scopeOfAll, nil, nil, 200)
	if err != nil || len(hits) < 99 || slices.ContainsFunc(hits, func(h db.Hit) bool { return h.ID == written[5].ID || h.ID == written[99].ID }) {
		t.Errorf("after it %d hits, %v; want all but the erased ones", len(hits), err)
	}
	id := value[int](t, conn, "SELECT id FROM embedding.models WHERE name = 'large'")
	for _, table := range []string{"embedding.dense", fmt.Sprintf("embedding.dense_%d", id)} {
		for _, role := range []string{"origin", "replica"} {
			mustExec(t, conn, "SET session_replication_role = "+role)
			_, err := conn.Exec(t.Context(), "INSERT INTO "+table+" (model_id, kind, source_id, vector) SELECT $1, 'context', $2, vector FROM embedding.dense WHERE model_id = $1 LIMIT 1", id, written[5].ID)
			if sqlState(err) != "CM008" {
				t.Errorf("%s, as %s: a vector of an erased message is answered by %v, want CM008", table, role, err)
			}
		}
	}
	// As if it were outstanding still.
	mustExec(t, conn, "SET session_replication_role = origin")
	mustExec(t, conn, "INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id) VALUES ($1, FALSE, $2, $2)", id, written[5].ID)
	untilServing(t, store, "large", 100)
	wantGone(written[5])
	wantLog(t, store, 2)
}

// An erasure whose vectors go is all or nothing, and waits for those who write vectors of what they have read.
func TestDenseEraseWaits(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	conn, writer := superuser(t, url), superuser(t, url)
	target := mustAppend(t, first, many(3, "word")...)[0]
	store := embeds(t, url, e.config("small"))
	untilServing(t, store, "small", 3)
	store.Close()
	mustExec(t, writer, "BEGIN; SELECT pg_advisory_xact_lock_shared(log.erasure_lock())")
	mustExec(t, writer, "DELETE FROM embedding.dense WHERE source_id = $1", target.ID)
	outcome := make(chan error, 1)
	go func() {
		_, err := first.Erase(context.WithoutCancel(t.Context()), target.Hash, eraser, "asked for")
		outcome <- err
	}()
	waits(t, conn, blockedErasures)
	mustExec(t, writer, "INSERT INTO embedding.dense SELECT model_id, 'context', $1, NULL, vector FROM embedding.dense LIMIT 1", target.ID)
	mustExec(t, writer, "COMMIT")
	if err := <-outcome; err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.dense"); n != 2 {
		t.Errorf("there are %d vectors, want 2", n)
	}

	locker := superuser(t, url)
	other := mustAppend(t, first, draft("s", "one more"))[0]
	before := logState(t, conn)
	mustExec(t, locker, "BEGIN; LOCK TABLE embedding.dense IN SHARE MODE")
	go func() {
		_, err := first.Erase(context.WithoutCancel(t.Context()), other.Hash, eraser, "asked for")
		outcome <- err
	}()
	waits(t, conn, blockedErasures)
	mustExec(t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity a
		WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query LIKE '%log.erase(%' AND pid <> pg_backend_pid()`)
	if err := <-outcome; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("ended: Erase() = %v, want %s", err, fault.Unavailable)
	}
	mustExec(t, locker, "ROLLBACK")
	if got := logState(t, conn); got != before {
		t.Errorf("the log was %s and is %s", before, got)
	}
}

// ANALYZE keeps no samples of vectors: what is erased would be left in them.
func TestDenseIsNotSampled(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(100, "word")...)
	untilServing(t, embeds(t, url, e.config("small")), "small", 100)
	conn := superuser(t, url)
	mustExec(t, conn, "ANALYZE")
	rows, _ := conn.Query(t.Context(), `SELECT c.relname || '.' || a.attname FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid
		JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum WHERE c.relname LIKE 'dense%' ORDER BY 1`)
	sampled, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(sampled) < 3 {
		t.Fatalf("sampled: %v, %v", sampled, err)
	}
	for _, column := range sampled {
		if contains(column, "vector") || contains(column, "hnsw") {
			t.Errorf("ANALYZE has samples of %s", column)
		}
	}
}
