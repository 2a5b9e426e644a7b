package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/selection"
)

// before gives a database as it was after a migration.
func before(t *testing.T, version int64) string {
	t.Helper()
	at := dbtest.New(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	admin, name := superuser(t, at), strings.TrimPrefix(u.Path, "/")+"_older"
	mustExec(t, admin, "CREATE DATABASE "+name+" TEMPLATE template0")
	t.Cleanup(func() {
		if _, err := admin.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u.Path = "/" + name
	pool, err := sql.Open("pgx", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, db.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// An upgrade does not hold appends up behind a reader: it gives up, says so, and succeeds the next time. What waits for
// vectors then is in runs that servers can share, and selections stay where they are.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	url := before(t, 10)
	conn, reader := superuser(t, url), superuser(t, url)
	mustExec(t, conn, `INSERT INTO log.messages (session_hash, owner_id, content)
		SELECT log.sha256('s' || i % 100), log.sha256('o'), 'message ' || i FROM generate_series(1, 12000) i`)
	mustExec(t, conn, `INSERT INTO memory.selections (receipt, request, policy, log_position, log_size, items, dropped, rendered, tokens, embedding_model, created_at)
		VALUES (log.sha256('r'), '{}', '{"version": "older"}', 1, 1, '[]', '[]', '', 0, 'lexical-v1', now())`)
	where := value[int64](t, conn, "SELECT pg_relation_filenode('memory.selections')::BIGINT")
	tx, err := reader.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM embedding.lexical LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "tried again at the next start") {
		t.Fatalf("Migrate() behind a reader = %v, want that it is tried again", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if runs := value[string](t, conn, "SELECT string_agg(first_id || '-' || last_id, ' ' ORDER BY first_id) FROM embedding.backlog"); runs != "1-10000 10001-12000" {
		t.Errorf("to be indexed: %s, want runs of 10,000", runs)
	}
	if now := value[int64](t, conn, "SELECT pg_relation_filenode('memory.selections')::BIGINT"); now != where {
		t.Error("selections were written anew")
	}
	store := openURL(t, url)
	store.HoldIndexing(true)
	s, err := store.Selection(t.Context(), value[string](t, conn, "SELECT id::TEXT FROM memory.selections"))
	if err != nil || string(s.Policy) != `{"version": "older"}` {
		t.Errorf("the policy that was kept before is %s, %v", s.Policy, err)
	}
}

// While very much has no search vectors, a search does not wait for what others have taken, and takes one of many runs.
func TestSearchDoesNotWaitForOthers(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	store.HoldIndexing(true)
	conn, other := superuser(t, url), superuser(t, url)
	for i := range 3 {
		mustExec(t, conn, fmt.Sprintf(`INSERT INTO log.messages (session_hash, owner_id, content)
			SELECT log.sha256('b%d'), log.sha256('o'), 'tortoise ' || i FROM generate_series(1, 2000) i`, i))
	}
	made, waiting := vectors(t, store)
	if waiting <= 4000 {
		t.Fatalf("%d wait, want more than a search waits for", waiting)
	}
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM embedding.backlog ORDER BY last_id DESC LIMIT 1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := store.RequestContext(t.Context(), selection.Request{Query: "tortoise", Limit: 5})
		answered <- err
	}()
	select {
	case err := <-answered:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the search waits for what another has taken")
	}
	now, _ := vectors(t, store)
	if _, err := tx.Exec(t.Context(), "DELETE FROM embedding.backlog WHERE first_id = 4001"); err != nil {
		t.Fatalf("what another has taken is no longer there: %v", err)
	}
	if now <= made {
		t.Errorf("%d have vectors, want more than %d", now, made)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}
