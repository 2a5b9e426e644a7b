package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/fault"
)

func TestServesItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cfg := config(dir)
	delete(cfg.Settings, "fsync") // once as a real server has it
	s, err := Start(deadline(t), cfg)
	check(t, err)
	t.Cleanup(func() { stop(t, s) })
	conn := connect(t, s.URL())
	for sql, want := range map[string]string{
		"SHOW listen_addresses":     "",
		"SHOW data_checksums":       "on",
		"SHOW server_encoding":      "UTF8",
		"SHOW fsync":                "on",
		"SELECT lower('ÑANDÚ')":     "ñandú",
		"SELECT current_database()": database,
		"SELECT rolsuper::text FROM pg_roles WHERE rolname = current_user":      "true",
		"SELECT coalesce(inet_server_addr()::text, 'reached through a socket')": "reached through a socket",
	} {
		if got := query(t, conn, sql); got != want {
			t.Errorf("%s = %q, want %q", sql, got, want)
		}
	}
	run(t, conn, "CREATE EXTENSION vector; CREATE EXTENSION intarray; CREATE EXTENSION pgcrypto")
	for path, want := range map[string]os.FileMode{"postgres": 0o700, "socket": 0o700, "postgres.url": 0o600, "postgres.log": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		check(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s = %o, want %o", path, got, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "postgres.url"))
	check(t, err)
	if got := strings.TrimSpace(string(text)); got != s.URL() {
		t.Errorf("postgres.url = %q, want %q", got, s.URL())
	}
}

func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := start(t, dir)
	writeKept(t, first.URL())
	stop(t, first)
	stop(t, first) // a second time does nothing
	<-first.process.done
	for _, gone := range []string{"postgres.url", "socket", "postgres/postmaster.pid"} {
		if _, err := os.Lstat(filepath.Join(dir, gone)); !os.IsNotExist(err) {
			t.Errorf("%s is still there after Stop: %v", gone, err)
		}
	}
	checkKept(t, start(t, dir).URL())
}

func TestStopWithoutTimeLosesNothing(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	writeKept(t, s.URL())
	none, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Stop(none) // an error, unless Postgres was quicker
	select {
	case <-s.process.done:
	default:
		t.Error("Postgres runs on after Stop")
	}
	checkKept(t, start(t, dir).URL())
}

func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := start(t, dir)
	writeKept(t, first.URL())
	second, err := Start(deadline(t), config(dir))
	if err == nil {
		stop(t, second)
		t.Fatal("a second server started on the same data directory")
	}
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), dir) {
		t.Errorf("Start = %s %q, want %s with the directory's name", fault.CodeOf(err), err, fault.Conflict)
	}
	checkKept(t, first.URL())
}

func TestDeepDataDirGetsAShortSocket(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	for len(dir) < 120 {
		dir = filepath.Join(dir, "a-rather-long-name")
	}
	check(t, os.MkdirAll(dir, 0o711))
	s := start(t, dir)
	writeKept(t, s.URL())
	checkKept(t, s.URL())
	if len(s.socket.path) > maxSocketPath {
		t.Errorf("socket directory = %q of %d bytes, want at most %d", s.socket.path, len(s.socket.path), maxSocketPath)
	}
	stop(t, s)
	if _, err := os.Lstat(s.socket.path); !os.IsNotExist(err) {
		t.Errorf("%s is still there after Stop: %v", s.socket.path, err)
	}
}

// As root, the postgres user cannot enter a private folder, such as one under /root; as an ordinary user Postgres
// runs as ourselves and gets everywhere we do.
func TestPrivateParentFolder(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "local-private-") // mode 0700
	check(t, err)
	dir := filepath.Join(parent, "data")
	link := filepath.Join(dir, "postgres")
	home := dir
	t.Cleanup(func() {
		_ = os.RemoveAll(home)
		_ = os.RemoveAll(parent)
	})
	s := start(t, dir)
	writeKept(t, s.URL())
	stop(t, s)
	if os.Geteuid() == 0 {
		target, err := os.Readlink(link)
		check(t, err)
		home = filepath.Dir(target)
		if filepath.Dir(home) != sharedHome {
			t.Errorf("the cluster is in %s, want a folder of its own in %s", target, sharedHome)
		}
	} else if info, err := os.Lstat(link); err != nil || !info.IsDir() {
		t.Errorf("Lstat(%s) = %v, %v, want a directory", link, info, err)
	}
	checkKept(t, start(t, dir).URL())
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	check(t, os.MkdirAll(filepath.Join(dir, "postgres"), 0o711))
	note := filepath.Join(dir, "postgres", "note.txt")
	check(t, os.WriteFile(note, []byte("mine"), 0o600))
	_, err := Start(deadline(t), config(dir))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "neither empty nor a Postgres cluster") {
		t.Errorf("Start = %v, want a refusal that says why", err)
	}
	if text, err := os.ReadFile(note); err != nil || string(text) != "mine" {
		t.Errorf("the file reads %q, %v after Start, want it untouched", text, err)
	}
}

// What clients wrote does not get into Postgres' log, be it in a statement or in the details of an error.
func TestLogHasNothingOfClients(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	conn := connect(t, start(t, dir).URL())
	_, err := conn.Exec(t.Context(), "CREATE TABLE words (word TEXT PRIMARY KEY); INSERT INTO words VALUES ('secret')")
	check(t, err)
	if _, err := conn.Exec(t.Context(), "INSERT INTO words VALUES ('secret')"); err == nil {
		t.Fatal("the same key twice")
	}
	eventually(t, "the complaint", func() bool { return strings.Contains(printed(t, dir), "words_pkey") })
	check(t, conn.Close(t.Context()))
	if log := printed(t, dir); strings.Contains(log, "secret") || strings.Contains(log, "INSERT") {
		t.Errorf("Postgres printed\n%s", log)
	}
}

// Pages in WAL are compressed by lz4 where this Postgres can.
func TestWALCompression(t *testing.T) {
	s := start(t, dataDir(t))
	defer stop(t, s)
	conn, err := pgx.Connect(t.Context(), s.URL())
	check(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	var method string
	var can bool
	check(t, conn.QueryRow(t.Context(), `SELECT setting, 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'wal_compression'`).Scan(&method, &can))
	if want := walCompression(install{lz4: can}); method != want && !(want == "on" && method == "pglz") {
		t.Errorf("wal_compression is %s, want %s", method, want)
	}
}
