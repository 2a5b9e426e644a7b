package db_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// pooler runs PgBouncer in transaction mode before a database, and gives the address that leads through it. Whoever
// connects gets one of two sessions, for a transaction.
func pooler(t *testing.T, direct string) (url string) {
	t.Helper()
	config, err := pgx.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	users, ini := filepath.Join(dir, "users.txt"), filepath.Join(dir, "pgbouncer.ini")
	for path, text := range map[string]string{
		users: fmt.Sprintf("%q %q\n", config.User, config.Password),
		ini: fmt.Sprintf(`[databases]
%s = host=%s port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = 6
ignore_startup_parameters = jit,plan_cache_mode,idle_in_transaction_session_timeout,enable_seqscan,enable_sort,enable_hashjoin,enable_mergejoin,synchronous_commit,tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count,extra_float_digits,search_path
max_client_conn = 200
`, config.Database, config.Host, config.Port, port, users),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // where Debian has it, which is not on everybody's path
	}
	cmd := exec.Command(program, ini)
	cmd.Stderr, cmd.SysProcAttr = &printed, &syscall.SysProcAttr{Credential: ordinary(t)}
	if err := cmd.Start(); err != nil {
		t.Fatalf("PgBouncer, which .ci/setup.sh installs, does not start: %v", err)
	}
	end := sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(end)
	url = fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", config.User, port, config.Database)
	deadline := time.Now().Add(patience)
	for {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
			return url
		}
		if time.Now().After(deadline) {
			end()
			t.Fatalf("PgBouncer takes no connections: %v\n%s", err, printed.String())
		}
	}
}

// ordinary is a user that programs run as which refuse to run as root; nil: ourselves.
func ordinary(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// Everything works behind a pooler that forgets what a session was told.
func TestBehindPooler(t *testing.T) {
	t.Parallel()
	direct := dbtest.New(t)
	url := pooler(t, direct)
	for range 3 { // nothing is to do, and no lock stays behind
		if err := db.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	conn := superuser(t, direct)
	if n := value[int](t, conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())"); n != 0 {
		t.Errorf("%d locks are left of migrations", n)
	}
	one, two := openURL(t, url), openURL(t, url)
	dir := t.TempDir()
	for i, store := range []*db.DB{one, two} {
		if _, err := store.StartSealer(t.Context(), db.SealerConfig{
			Key: filepath.Join(dir, "log.key"), Checkpoint: filepath.Join(dir, fmt.Sprint("checkpoint", i)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	feed := mustSubscribe(t, two)
	var wait sync.WaitGroup
	const writers, each = 8, 20
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				d := draft(fmt.Sprint("s", w%3), fmt.Sprintf("hotel %d %d", w, i))
				d.IdempotencyKey = &d.Content
				if _, err := []*db.DB{one, two}[w%2].Append(t.Context(), []chain.Draft{d, draft(fmt.Sprint(w), "by the sea")}); err != nil {
					t.Errorf("Append() = %v", err)
				}
			}
		})
	}
	wait.Wait()
	told := map[int64]bool{}
	for range 2 * writers * each {
		told[next(t, feed).ID] = true
	}
	if len(told) != 2*writers*each {
		t.Errorf("%d messages were told, want each of %d once", len(told), 2*writers*each)
	}
	if n := len(checkChains(t, one)); n != 2*writers*each {
		t.Errorf("%d messages are in the log, want %d", n, 2*writers*each)
	}
	for range 12 { // more often than there are sessions
		if got := ask(t, two, "hotel by the sea", nil); len(got.Items) == 0 {
			t.Error("nothing is found")
		}
	}
	eventually(t, "all is sealed", func() bool {
		return one.Sealer().State().Newest.Size == 2*writers*each && two.Sealer().State().Newest.Size == 2*writers*each
	})
	if a, b := one.Sealer().State(), two.Sealer().State(); a.Leading == b.Leading || a.Newest != b.Newest {
		t.Errorf("the sealers are %+v and %+v, want one that leads, and the same head", a, b)
	}
	leading, other := one, two
	if two.Sealer().State().Leading {
		leading, other = two, one
	}
	leading.Sealer().Stop()
	mustAppend(t, other, draft("s", "after"))
	eventually(t, "the other seals", func() bool { return other.Sealer().State().Newest.Size == 2*writers*each+1 })
}

// What needs a session goes around the pooler, where a way is given.
func TestAroundPooler(t *testing.T) {
	t.Parallel()
	direct := dbtest.New(t)
	url := pooler(t, direct)
	store := openURL(t, url)
	if err := store.UseDirect(t.Context(), url); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "DATABASE_DIRECT_URL") {
		t.Errorf("a direct address that leads to the pooler: %v, want UNAVAILABLE that names the setting", err)
	}
	if err := store.UseDirect(t.Context(), direct); err != nil {
		t.Fatal(err)
	}
	feed := mustSubscribe(t, store)
	conn := superuser(t, direct)
	eventually(t, "it listens", func() bool {
		return value[int](t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'context-manager feed'") == 1
	})
	mustAppend(t, store, draft("s", "one"))
	if got := *next(t, feed).Content; got != "one" {
		t.Errorf("told of %q", got)
	}
}
