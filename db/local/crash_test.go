package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/fault"
)

// eventually waits for something that another process does and tells nobody.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx := deadline(t)
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for !happened() {
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatalf("%s did not happen in time", what)
		}
	}
}

func printed(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	check(t, err)
	return string(text)
}

func TestKilledServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	h := startHelper(t, dir, true)
	writeKept(t, h.url)
	open := connect(t, h.url)
	tx, err := open.Begin(t.Context())
	check(t, err)
	_, err = tx.Exec(t.Context(), "INSERT INTO kept VALUES ('never committed')")
	check(t, err)

	h.kill()
	checkKept(t, start(t, dir).URL()) // at once: Postgres may still be there
	if err := open.Ping(t.Context()); err == nil {
		t.Error("the killed server's Postgres still answers")
	}
}

func TestPostgresEndsWithItsKilledServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	h := startHelper(t, dir, true)
	conn := connect(t, h.url)
	h.kill()
	// Nobody starts anything: the only way for this to end is Postgres' end.
	if _, err := conn.WaitForNotification(deadline(t)); err == nil || pgconn.Timeout(err) {
		t.Fatalf("WaitForNotification = %v, want the connection's end", err)
	}
	eventually(t, "the end of Postgres", func() bool {
		_, err := os.Stat(pidFile(dir))
		return os.IsNotExist(err)
	})
}

func TestLiveOrphanIsStopped(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := start(t, dir)
	writeKept(t, first.URL())
	stop(t, first)

	// A Postgres that outlived its server, as where the kernel sends no signal.
	o, err := currentOwner()
	check(t, err)
	socket, err := makeSocketDir(filepath.Join(dir, "postgres"), o)
	check(t, err)
	i, err := findInstall(deadline(t), 0)
	check(t, err)
	orphan := exec.Command(i.program("postgres"), arguments(filepath.Join(dir, "postgres"), i, socket, config(dir).Settings)...)
	orphan.Dir = filepath.Join(dir, "postgres")
	orphan.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
	check(t, orphan.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = orphan.Wait() }()
	var conn *pgx.Conn
	eventually(t, "the orphan's start", func() bool {
		conn, err = pgx.Connect(t.Context(), socket.url(database, superuser))
		return err == nil
	})
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()

	second := start(t, dir)
	<-ended
	checkKept(t, second.URL())
}

// eventuallyKept waits until what was committed is there, and so Postgres.
func eventuallyKept(t *testing.T, s *Server) {
	t.Helper()
	eventually(t, "the return of Postgres", func() bool {
		conn, err := pgx.Connect(t.Context(), s.URL())
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
		var word string
		return conn.QueryRow(t.Context(), "SELECT word FROM kept").Scan(&word) == nil && word == "committed"
	})
	eventually(t, "the end of the problem", func() bool { return s.Problem() == nil })
}

func TestEndedPostgresIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{
		"killed": syscall.SIGKILL, "stopped at once": syscall.SIGQUIT, "stopped in order": syscall.SIGINT,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := dataDir(t)
			s := start(t, dir)
			writeKept(t, s.URL())
			for range 3 {
				pid := postmaster(t, dir)
				check(t, syscall.Kill(pid, signal))
				eventually(t, "another Postgres", func() bool {
					text, err := os.ReadFile(pidFile(dir))
					first, _, whole := strings.Cut(string(text), "\n")
					return err == nil && whole && first != strconv.Itoa(pid) && first != strconv.Itoa(os.Getpid())
				})
				eventuallyKept(t, s)
			}
			if log := printed(t, dir); signal != syscall.SIGINT && !strings.Contains(log, "automatic recovery in progress") {
				t.Errorf("Postgres did not recover; it printed\n%s", log)
			}
			stop(t, s)
			checkKept(t, start(t, dir).URL())
		})
	}
}

// While Postgres cannot start, whoever runs the server is told why, in Postgres' own words; once it can, it does.
func TestPostgresThatCannotStart(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	writeKept(t, s.URL())
	control := filepath.Join(dir, "postgres", "global", "pg_control")
	check(t, os.Rename(control, control+".away"))
	check(t, syscall.Kill(postmaster(t, dir), syscall.SIGKILL))
	eventually(t, "the reason", func() bool {
		err := s.Problem()
		return err != nil && strings.Contains(err.Error(), "could not find the database system")
	})
	if err := s.Problem(); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Problem = %v, want UNAVAILABLE", err)
	}
	check(t, os.Rename(control+".away", control))
	eventuallyKept(t, s)
}

// Stop ends what is being started, too.
func TestStopWhilePostgresCannotStart(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	control := filepath.Join(dir, "postgres", "global", "pg_control")
	check(t, os.Rename(control, control+".away"))
	check(t, syscall.Kill(postmaster(t, dir), syscall.SIGKILL))
	eventually(t, "the reason", func() bool { return s.Problem() != nil })
	stop(t, s)
	check(t, os.Rename(control+".away", control))
	if pids := processesOn(filepath.Join(dir, "postgres")); len(pids) > 0 {
		t.Errorf("after Stop, %v run on", pids)
	}
	check(t, start(t, dir).Problem())
}

// A backend in the midst of a long computation does not see at once that Postgres is gone, and nothing else may
// touch the cluster while it works: it is ended.
func TestOrphanedBackendIsEnded(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	writeKept(t, s.URL())
	busy, other := connect(t, s.URL()), connect(t, s.URL())
	busyPID := int(busy.PgConn().PID())
	broken := make(chan error, 1)
	go func() {
		_, err := busy.Exec(deadline(t), "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b")
		broken <- err
	}()
	eventually(t, "the computation's start", func() bool {
		return query(t, other, fmt.Sprintf("SELECT state FROM pg_stat_activity WHERE pid = %d", busyPID)) == "active"
	})
	check(t, syscall.Kill(postmaster(t, dir), syscall.SIGKILL))
	if err := <-broken; err == nil || pgconn.Timeout(err) {
		t.Errorf("the orphan's query = %v, want its end", err)
	}
	eventuallyKept(t, s)
	if isAlive(busyPID) && isPostmaster(busyPID, filepath.Join(dir, "postgres")) {
		t.Error("Postgres started while an orphaned backend was still at work")
	}
	if log := printed(t, dir); !strings.Contains(log, "is still in use") {
		t.Errorf("Postgres saw no orphaned backend; it printed\n%s", log)
	}
}

func TestKilledBackendDoesNotEndPostgres(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	writeKept(t, s.URL())
	conn := connect(t, s.URL())
	check(t, syscall.Kill(int(conn.PgConn().PID()), syscall.SIGKILL))
	eventually(t, "recovery", func() bool {
		if !strings.Contains(printed(t, dir), "reinitializing") {
			return false // it has not noticed yet
		}
		again, err := pgx.Connect(t.Context(), s.URL())
		if err == nil {
			_ = again.Close(t.Context())
		}
		return err == nil
	})
	checkKept(t, s.URL())
}

// What a killed Postgres leaves behind names a process; after a restart of the machine, that number may be
// another program's.
func TestLeftBehindFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		pid  func(*testing.T) int
	}{
		{"of a dead process", deadProcess},
		{"of another program", bystander},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := dataDir(t)
			first := start(t, dir)
			writeKept(t, first.URL())
			left, err := os.ReadFile(pidFile(dir))
			check(t, err)
			stop(t, first)

			pid := c.pid(t)
			_, rest, _ := strings.Cut(string(left), "\n")
			place(t, pidFile(dir), fmt.Sprintf("%d\n%s", pid, rest))
			check(t, os.Mkdir(filepath.Join(dir, "socket"), 0o711))
			place(t, filepath.Join(dir, "socket", ".s.PGSQL."+port), "")
			place(t, filepath.Join(dir, "socket", ".s.PGSQL."+port+".lock"), fmt.Sprintf("%d\n", pid))
			place(t, filepath.Join(dir, "postgres.url"), "postgres://old")

			second := start(t, dir)
			checkKept(t, second.URL())
			stop(t, second)
			check(t, os.WriteFile(pidFile(dir), nil, 0o600)) // cut off while being written
			checkKept(t, start(t, dir).URL())
		})
	}
}

func deadProcess(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	check(t, cmd.Run())
	return cmd.Process.Pid
}

// place writes a file as the user that Postgres runs as.
func place(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o600))
	o, err := currentOwner()
	check(t, err)
	if o.credential != nil {
		check(t, os.Chown(path, int(o.credential.Uid), int(o.credential.Gid)))
	}
}

func TestInterruptedInitdb(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	h := startHelper(t, dir, false)
	eventually(t, "the first files of initdb", func() bool {
		half, _ := filepath.Glob(filepath.Join(dir, "initdb-*", "PG_VERSION"))
		return len(half) > 0
	})
	h.kill()
	s := start(t, dir)
	writeKept(t, s.URL())
	checkKept(t, s.URL())
	if half, _ := filepath.Glob(filepath.Join(dir, "initdb-*")); len(half) > 0 {
		t.Errorf("left behind: %v", half)
	}
}
