package local

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// helperDataDir names, in a helper process, the data directory to serve until it is killed.
const helperDataDir = "LOCAL_TEST_DATA_DIR"

// TestMain turns a copy of the test program into a server that can be killed, when asked to.
func TestMain(m *testing.M) {
	dir := os.Getenv(helperDataDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Start(context.Background(), config(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.URL())
	select {} // until it is killed
}

// config takes little memory, and does not wait for the disk: what a killed process wrote is in the kernel.
func config(dir string) Config {
	return Config{
		DataDir:  dir,
		Log:      slog.New(slog.DiscardHandler),
		Settings: map[string]string{"shared_buffers": "16MB", "max_connections": "20", "fsync": "off"},
	}
}

// dataDir gives a path for a new data directory that the postgres user can reach; t.TempDir cannot be, as root.
func dataDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "local-")
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	check(t, os.Chmod(parent, 0o711))
	return filepath.Join(parent, "data")
}

func start(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(deadline(t), config(dir))
	check(t, err)
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(deadline(t), url)
	check(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func query(t *testing.T, conn *pgx.Conn, sql string) (text string) {
	t.Helper()
	check(t, conn.QueryRow(deadline(t), sql).Scan(&text))
	return text
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(deadline(t), sql)
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeKept commits the row that every later server on the data directory has to find.
func writeKept(t *testing.T, url string) {
	t.Helper()
	conn := connect(t, url)
	run(t, conn, "CREATE TABLE kept (word text)")
	run(t, conn, "INSERT INTO kept VALUES ('committed')")
}

func checkKept(t *testing.T, url string) {
	t.Helper()
	if got := query(t, connect(t, url), "SELECT string_agg(word, ',') FROM kept"); got != "committed" {
		t.Errorf("kept rows = %q, want %q", got, "committed")
	}
}

// helper is another process that serves a data directory until it is killed.
type helper struct {
	cmd *exec.Cmd
	url string
}

func startHelper(t *testing.T, dir string, untilReady bool) helper {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperDataDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	h := helper{cmd: cmd}
	t.Cleanup(h.kill)
	if untilReady {
		line, err := bufio.NewReader(out).ReadString('\n')
		check(t, err)
		h.url = strings.TrimSpace(line)
	}
	return h
}

// kill ends the process as the kernel's out-of-memory killer would.
func (h helper) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// bystander is a live process that has nothing to do with Postgres, of the user that Postgres runs as.
func bystander(t *testing.T) int {
	t.Helper()
	o, err := currentOwner()
	check(t, err)
	cmd := exec.Command("cat")
	_, err = cmd.StdinPipe() // it waits for input until we end
	check(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
	check(t, cmd.Start())
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("the bystander was ended: %v", err)
		}
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// pidFile is the path of a cluster's postmaster.pid.
func pidFile(dir string) string { return filepath.Join(dir, "postgres", "postmaster.pid") }

// postmaster is the number in it.
func postmaster(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(pidFile(dir))
	check(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	check(t, err)
	return pid
}
