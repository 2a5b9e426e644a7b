package db_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// What players read by keys is read in sessions of their role, in the name of whoever asks: whoever asked before, and however
// that ended.
func TestFenceOfKeys(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t)
	store, err := db.Open(t.Context(), at, 1, slog.New(slog.DiscardHandler)) // so that all share a session
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	mustAppend(t, store, from(ana, "a", "Ana's"), from(cleo, "c", "Cleo's"), from(cleo, "c", "Cleo's second"))
	sees := map[chain.Hash]int{ana: 1, cleo: 2, ben: 0}
	endings := map[string]func(viewer chain.Hash){
		"a read": func(chain.Hash) {},
		"an error": func(viewer chain.Hash) {
			wantState(t, store, viewer, "SELECT 1 / (SELECT count(*) - count(*) FROM log.messages)", "22012")
		},
		"a text that is none": func(viewer chain.Hash) { wantState(t, store, viewer, "SELECT nothing FROM nowhere", "42P01") },
		"a row that nobody can scan": func(viewer chain.Hash) {
			var n int
			if err := store.As(viewer).ByKey(t.Context(), "SELECT 'none' FROM generate_series(1, 2)").Scan(&n); err == nil {
				t.Error("a text was scanned as a number")
			}
		},
		"a caller who did not wait": func(viewer chain.Hash) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := store.As(viewer).ByKey(ctx, "SELECT 1 FROM pg_sleep(10)").Scan(new(int)); err == nil {
				t.Error("ten seconds went by in 20 ms")
			}
		},
	}
	for ending, end := range endings {
		for _, before := range []chain.Hash{ana, cleo} {
			for _, viewer := range []chain.Hash{ana, ana, cleo, ben, ana} {
				end(before)
				var role, name string
				var n int
				const all = "SELECT current_user::TEXT, COALESCE(log.viewer(), ''), (SELECT count(*) FROM log.messages)"
				var err error
				eventually(t, "there is a connection", func() bool { // the only one may be closing still
					err = store.As(viewer).ByKey(t.Context(), all).Scan(&role, &name, &n)
					return fault.CodeOf(err) != fault.Unavailable
				})
				if err != nil || role != "cm_player" || name != viewer.String() || n != sees[viewer] {
					t.Errorf("by key, after %s of %s, %q sees %d messages as %q, %v; want %s, %d and cm_player", ending, before, name, n, role, err, viewer, sees[viewer])
				}
			}
		}
	}
	var role, name string
	if err := store.Players().QueryRow(t.Context(), "SELECT session_user::TEXT, log.viewer()").Scan(&role, &name); err != nil || name != ana.String() {
		t.Errorf("the session is in the name of %q of %q, %v; want Ana, who asked last, or none of this was asked in one session", name, role, err)
	}
}

// A statement that fails in the same transaction as the name takes the name back, and does not take it for known.
func TestFenceOfFailedKeys(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t)
	store, err := db.Open(t.Context(), at, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	name := func(viewer chain.Hash) (name string) {
		t.Helper()
		if err := store.As(viewer).ByKey(t.Context(), "SELECT log.viewer()").Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	if got := name(cleo); got != cleo.String() {
		t.Fatalf("Cleo reads as %s", got)
	}
	for _, sql := range []string{
		"SELECT 1 / (SELECT count(*) - count(*) FROM log.messages)",
		"SELECT 1 / (2 - n) FROM generate_series(1, 100000) AS n", // behind a row that is right
	} {
		for range 2 { // the text is new to the session, and is not any more
			wantState(t, store, ana, sql, "22012") // Ana's name went with it
			if got := name(ana); got != ana.String() {
				t.Errorf("Ana reads as %s after an error in %s", got, sql)
			}
			if got := name(cleo); got != cleo.String() {
				t.Errorf("Cleo reads as %s after Ana", got)
			}
		}
	}
}

// Whoever reads at the same time, over fewer sessions than they are, whichever of it fails, is not waited for or is lost with its
// session: nobody reads in another's name, and every connection is given back.
func TestFenceOfKeysAtOnce(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t)
	const sessions = 2
	store, err := db.Open(t.Context(), at, sessions, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var wait sync.WaitGroup
	var read atomic.Int64
	for i, viewer := range []chain.Hash{ana, ben, cleo, ana, cleo} {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for range 150 {
				ctx, cancel := context.WithCancel(t.Context())
				sql := "SELECT log.viewer() FROM pg_sleep(0.001)"
				switch random.IntN(8) {
				case 0:
					sql = "SELECT CASE WHEN n < 5000 THEN log.viewer() ELSE (1 / (n - 5000))::TEXT END FROM generate_series(1, 9999) AS n"
				case 1:
					sql = "SELECT log.viewer() FROM generate_series(1, 100000)" // of which one is read
				case 2:
					time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, cancel)
				case 3:
					ctx, cancel = context.WithTimeout(t.Context(), time.Duration(random.IntN(3000))*time.Microsecond)
				case 4:
					if random.IntN(10) == 0 {
						sql = "SELECT pg_terminate_backend(pg_backend_pid())::TEXT"
					}
				}
				var name string
				err := store.As(viewer).ByKey(ctx, sql).Scan(&name)
				cancel()
				if name != "" && name != viewer.String() {
					t.Errorf("%s reads as %s by %s, %v", viewer, name, sql, err)
				}
				if err == nil {
					read.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if read.Load() == 0 {
		t.Error("nobody has read anything")
	}
	eventually(t, "all connections are given back", func() bool { return store.PlayersInUse() == 0 })
}

func wantState(t *testing.T, store *db.DB, viewer chain.Hash, sql, state string) {
	t.Helper()
	if err := store.As(viewer).ByKey(t.Context(), sql).Scan(new(int)); sqlState(err) != state {
		t.Errorf("%s: %v, want %s", sql, err, state)
	}
}

// A pooler that takes Postgres' place while the server runs gives sessions that others have, too: no player reads in one.
func TestPlayersReadThroughNoPooler(t *testing.T) {
	t.Parallel()
	direct := dbtest.New(t)
	through, err := pgx.ParseConfig(pooler(t, direct))
	if err != nil {
		t.Fatal(err)
	}
	var switched atomic.Bool
	store, err := db.Open(t.Context(), direct, 1, slog.New(slog.DiscardHandler), func(config *pgxpool.Config) {
		dial := config.ConnConfig.DialFunc
		config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			if switched.Load() {
				network, address = "tcp", net.JoinHostPort(through.Host, strconv.Itoa(int(through.Port)))
			}
			return dial(ctx, network, address)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	mustAppend(t, store, from(ana, "a", "Ana's"))
	const count = "SELECT count(*) FROM log.messages"
	var n int
	if err := store.As(ana).ByKey(t.Context(), count).Scan(&n); err != nil || n != 1 {
		t.Fatalf("Ana sees %d messages, %v", n, err)
	}
	switched.Store(true)
	var pid int32
	if err := store.As(ana).ByKey(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	mustExec(t, superuser(t, direct), "SELECT pg_terminate_backend($1)", pid)
	eventually(t, "no player reads through the pooler", func() bool {
		err := store.As(ana).ByKey(t.Context(), count).Scan(&n)
		return fault.CodeOf(err) == fault.Unavailable && strings.Contains(err.Error(), "pooler")
	})
}
