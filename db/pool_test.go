package db_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/fault"
)

// One operation waits for connections once, however many it takes; another has its own patience.
func TestPatience(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), dbtest.New(t), 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	release, err := store.Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	operation := db.WithPatience(t.Context())
	began := time.Now()
	for range 20 {
		if _, err := store.Reading(operation); fault.CodeOf(err) != fault.Unavailable {
			t.Fatalf("while the only connection is in use: %v, want UNAVAILABLE", err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 of an operation waited %v, want about a second for all", took)
	}
	release()
	for name, ctx := range map[string]context.Context{"the same": operation, "another": db.WithPatience(t.Context())} {
		release, err := store.Reading(ctx)
		if err != nil {
			t.Fatalf("%s operation, with the connection free again: %v", name, err)
		}
		release()
	}
}

// A database that takes longer to connect to than an operation waits for is opened all the same.
func TestOpenSlowly(t *testing.T) {
	t.Parallel()
	slowly := func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(1500 * time.Millisecond)
			return dial(ctx, network, address)
		}
	}
	store, err := db.Open(t.Context(), dbtest.New(t), 1, slog.New(slog.DiscardHandler), slowly)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
}

// A start whose connections are in use for longer than an operation waits for goes on all the same.
func TestSealSlowly(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), dbtest.New(t), 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	release, err := store.HoldConnection(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(1500*time.Millisecond, release)
	dir := t.TempDir()
	if _, err := store.StartSealer(t.Context(), db.SealerConfig{Key: filepath.Join(dir, "key"), Checkpoint: filepath.Join(dir, "checkpoint")}); err != nil {
		t.Error(err)
	}
}

// Statements whose callers have gone end, and their connections stay: whoever comes next has them.
func TestCallersGone(t *testing.T) {
	t.Parallel()
	const conns = 10
	direct := dbtest.New(t)
	store, err := db.Open(t.Context(), direct, conns, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	conn := superuser(t, direct)
	const running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep(%' AND pid <> pg_backend_pid()"
	before, _, err := store.ReadProcesses(t.Context(), conns)
	if err != nil {
		t.Fatal(err)
	}
	reads := store.Reads()
	const sleep = "SELECT pg_sleep(600)::TEXT"
	var slept string
	for name, ask := range map[string]func(context.Context) error{
		"a row": func(ctx context.Context) error { return reads.QueryRow(ctx, sleep).Scan(&slept) },
		"rows": func(ctx context.Context) error {
			rows, err := reads.Query(ctx, "SELECT i, CASE WHEN i > 5000 THEN "+sleep[len("SELECT "):]+" END FROM generate_series(1, 10000) AS i")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		},
		"statements together": func(ctx context.Context) error {
			batch := &pgx.Batch{}
			batch.Queue("SELECT 1")
			batch.Queue(sleep)
			batch.Queue("SELECT 2")
			return reads.SendBatch(ctx, batch).Close()
		},
		"a transaction": func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, reads, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, sleep)
				return err
			})
		},
		"between statements": func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, reads, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), "SELECT 1")
				<-ctx.Done()
				return err
			})
		},
		"before the commit": func(ctx context.Context) error {
			tx, err := reads.Begin(t.Context())
			if err != nil {
				return err
			}
			<-ctx.Done()
			return tx.Commit(ctx)
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, conns)
		for range conns {
			go func() { ended <- ask(ctx) }()
		}
		wanted := running
		if name == "between statements" || name == "before the commit" {
			wanted = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
		}
		eventually(t, name+" are read", func() bool { return value[int](t, conn, wanted) == conns })
		cancel()
		for range conns {
			if err := <-ended; err == nil {
				t.Errorf("%s: no error though the caller has gone", name)
			}
		}
		if n := value[int](t, conn, running); n != 0 {
			t.Errorf("%s: %d statements run on", name, n)
		}
		after, lost, err := store.ReadProcesses(t.Context(), conns)
		if err != nil || lost || !slices.Equal(after, before) {
			t.Errorf("%s: processes %v, lost %t, %v; want those from before, %v", name, after, lost, err, before)
		}
		for range 3 * conns { // no cancellation comes late
			if err := reads.QueryRow(t.Context(), "SELECT pg_sleep(0)::TEXT").Scan(&slept); err != nil {
				t.Errorf("%s: the next statement: %v", name, err)
			}
		}
	}
}

// Where nobody answers that a statement was cancelled, its connection is closed, and the database is looked for.
func TestCallersGoneInSilence(t *testing.T) {
	t.Parallel()
	direct := dbtest.New(t)
	n := newNetwork(t, direct)
	store, err := db.Open(t.Context(), n.url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	before, lost, err := store.ReadProcesses(t.Context(), 2)
	if err != nil || lost {
		t.Fatalf("connections lost %t, %v", lost, err)
	}
	conn := superuser(t, direct)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			var slept string
			ended <- store.Reads().QueryRow(ctx, "SELECT pg_sleep(600)::TEXT").Scan(&slept)
		}()
	}
	eventually(t, "both run", func() bool {
		return value[int](t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'") == 2
	})
	n.set(silenced)
	cancel()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("no error though nobody has answered")
		}
	}
	n.set(connected)
	eventually(t, "there are other connections", func() bool {
		after, lost, err := store.ReadProcesses(t.Context(), 2)
		return err == nil && lost && !slices.Contains(after, before[0]) && !slices.Contains(after, before[1])
	})
}

// What a connection was sent is not kept with it. It is measured alone, so this test is not parallel.
func TestConnectionsForget(t *testing.T) {
	const conns, ids = 8, 1 << 20
	store, err := db.Open(t.Context(), dbtest.New(t), conns, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	reads := store.Reads()
	used := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools keep goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const count = "SELECT cardinality($1::BIGINT[]) FROM pg_sleep(0.3)" // for so long that each has a connection of its own
	list := make([]int64, ids)
	batch := func() *pgx.Batch {
		b := &pgx.Batch{}
		b.Queue(count, list)
		return b
	}
	conn := superuser(t, dbtest.New(t))
	if err := db.Forget(t.Context(), conn); err == nil || sqlState(err) != "" {
		t.Errorf("what is to be forgotten is sent: %v", err)
	}
	before := used()
	for name, ask := range map[string]func(context.Context) error{
		"a row": func(ctx context.Context) error { return reads.QueryRow(ctx, count, list).Scan(new(int)) },
		"rows": func(ctx context.Context) error {
			rows, err := reads.Query(ctx, count, list)
			if err != nil {
				return err
			}
			_, err = pgx.CollectRows(rows, pgx.RowTo[int])
			return err
		},
		"statements together": func(ctx context.Context) error { return reads.SendBatch(ctx, batch()).Close() },
		"a transaction": func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, reads, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch()).Close() })
		},
	} {
		var wait sync.WaitGroup
		failures := make([]error, conns)
		for i := range conns {
			wait.Go(func() { failures[i] = ask(t.Context()) })
		}
		wait.Wait()
		if err := errors.Join(failures...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if more := int64(used() - before); more > ids*12 { // of one connection
			t.Errorf("%s: %d connections keep %d MB of what they were sent", name, conns, more>>20)
		}
	}
}
