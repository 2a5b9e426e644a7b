package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/servertest"
)

// program builds the server once, and TestMain removes it. Tests of a server in this process find a Postgres there.
var program = sync.OnceValues(func() (*servertest.Binary, error) { return servertest.Build(".") })

func TestMain(m *testing.M) {
	code, err := dbtest.With(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = 1
	}
	if binary, err := program(); err == nil {
		binary.Remove()
	}
	os.Exit(code)
}

func start(t *testing.T, dataDir string, settings ...string) *servertest.Process {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return binary.Start(t, dataDir, settings...)
}

func command(t *testing.T, dataDir string, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return binary.Command(dataDir, args...)
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func count(t testing.TB, conn *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// until asks again and again, a hundred times a second, until the count is not 0.
func until(t testing.TB, conn *pgx.Conn, what, sql string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		if count(t, conn, sql) > 0 {
			return
		}
		count(t, conn, "SELECT count(pg_sleep(0.01))")
	}
	t.Fatalf("not within a minute: %s", what)
}

type object = map[string]any

func hashOf(format string, args ...any) string {
	return chain.Sum(fmt.Appendf(nil, format, args...)).String()
}

const overview = "{threads{totalCount} verifyLog{valid messages}}"

type overviewData struct {
	Threads   struct{ TotalCount int }
	VerifyLog struct {
		Valid    bool
		Messages int
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t), "DEMO=1")
	if !strings.Contains(p.Output(), p.URL+"/#token="+p.Token) {
		t.Errorf("the first start does not print the token's address:\n%s", p.Output())
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/graphql": 401, "/session": 401, "/nowhere": 404} {
		if status, body := p.Get(path); status != want {
			t.Errorf("GET %s = %d %.200s, want %d", path, status, body, want)
		}
	}
	var data, again overviewData
	if err := p.Ask(t.Context(), overview, nil, &data); err != nil {
		t.Fatal(err)
	}
	if data.Threads.TotalCount == 0 || !data.VerifyLog.Valid || data.VerifyLog.Messages < 50 {
		t.Errorf("the sample log = %+v, want threads and at least 50 messages, valid", data)
	}
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, p.Output())
	}
	if _, err := os.Stat(filepath.Join(p.DataDir, "postgres", "postmaster.pid")); err == nil {
		t.Error("the private Postgres is still there")
	}

	later := start(t, p.DataDir, "DEMO=1")
	if later.Token != p.Token || strings.Contains(later.Output(), p.Token) {
		t.Errorf("a later start makes another token, or prints it:\n%s", later.Output())
	}
	if err := later.Ask(t.Context(), overview, nil, &again); err != nil || again != data {
		t.Errorf("after a restart the log = %+v, %v, want %+v", again, err, data)
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := command(t, servertest.DataDir(t))
	cmd.Env = append(cmd.Env, "ADDR="+listener.Addr().String())
	out, err := cmd.CombinedOutput()
	want := "cannot listen on " + listener.Addr().String()
	if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "set ADDR") {
		t.Errorf("the server says %s (%v), want %q", out, err, want)
	}
}

func TestDataDirectoryInUse(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t))
	out, err := command(t, p.DataDir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is in use by another context manager") {
		t.Errorf("a second server says %s (%v), want that the data directory is in use", out, err)
	}
}

func TestOtherOrigins(t *testing.T) {
	t.Parallel()
	h := allowOrigins([]string{"https://app.example.org"}, http.NotFoundHandler())
	for origin, want := range map[string]string{"https://app.example.org": "https://app.example.org", "https://evil.example": ""} {
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			r := httptest.NewRequest(method, "/graphql", nil)
			r.Header.Set("Origin", origin)
			if method == http.MethodOptions {
				r.Header.Set("Access-Control-Request-Method", "POST")
				r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != want || w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s, %s: Allow-Origin = %q, want %q and no credentials", method, origin, got, want)
			}
			if got := w.Header().Get("Cross-Origin-Resource-Policy"); got != "cross-origin" {
				t.Errorf("%s, %s: Cross-Origin-Resource-Policy = %q, which is in the way of CORS", method, origin, got)
			}
		}
	}
}

// A server that is asked to stop ends its streams, takes no connections and lets what is under way finish.
func TestStopsInOrder(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t))
	stream, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/graphql?query=subscription{messageAppended{hash}}", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream.Header.Set("Accept", "text/event-stream")
	stream.Header.Set("Authorization", "Bearer "+p.Token)
	events, err := http.DefaultClient.Do(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()

	// A lock that is held from outside keeps an append waiting.
	tx, err := connect(t, p.DatabaseURL()).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE log.messages IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	appended := make(chan error, 1)
	go func() {
		_, err := p.Append(context.Background(), object{"sessionHash": hashOf("s"), "ownerId": hashOf("o"), "content": "last"})
		appended <- err
	}()
	until(t, connect(t, p.DatabaseURL()), "the append waits", "SELECT count(*) FROM pg_locks WHERE NOT granted")

	p.Signal(syscall.SIGTERM)
	if _, err := io.ReadAll(events.Body); err != nil {
		t.Errorf("the stream ended with %v, want its end", err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://")); err == nil {
		_ = conn.Close()
		t.Error("a server that stops takes connections")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-appended; err != nil {
		t.Errorf("the append that was under way: %v, want it done", err)
	}
	if code := p.End(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, p.Output())
	}
}

// Writers hammer a server that is killed with SIGKILL, then one whose Postgres is. What was acknowledged is there when
// it is back, once, in chains that are whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	const writers, hot, each = 64, 16, 2000 // the first 16 writers share a session
	dataDir := servertest.DataDir(t)
	acknowledged := map[string]string{} // content by hash

	p := start(t, dataDir)
	l := p.Load("first", writers, hot)
	l.Until(each)
	p.Signal(syscall.SIGKILL)
	p.End()
	maps.Copy(acknowledged, l.Wait())

	p = start(t, dataDir)
	l = p.Load("second", writers, hot)
	l.Until(each)
	p.KillPostgres()
	maps.Copy(acknowledged, l.Wait())
	writes(t, p)
	checkLog(t, p, acknowledged)
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code = %d, want 0 after a Postgres that was killed:\n%s", code, p.Output())
	}

	p = start(t, dataDir)
	checkLog(t, p, acknowledged)
}

// writes waits until a server takes messages again.
func writes(t *testing.T, p *servertest.Process) {
	t.Helper()
	var err error
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for ctx.Err() == nil {
		if _, err = p.Append(ctx, object{"sessionHash": hashOf("hot"), "ownerId": hashOf("o"), "content": "again " + p.URL, "idempotencyKey": p.URL}); err == nil {
			return
		}
		<-poll.C
	}
	t.Fatalf("the server takes no messages: %v\n%s", err, p.Output())
}

// checkLog compares the log with what was acknowledged, and checks its chains.
func checkLog(t *testing.T, p *servertest.Process, acknowledged map[string]string) {
	t.Helper()
	conn := connect(t, p.DatabaseURL())
	rows, err := conn.Query(t.Context(), "SELECT hash::text, content FROM log.messages")
	if err != nil {
		t.Fatal(err)
	}
	found, times := map[string]string{}, map[string]int{}
	var hash, content string
	if _, err := pgx.ForEachRow(rows, []any{&hash, &content}, func() error {
		found[hash] = content
		times[content]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for hash, content := range acknowledged {
		if found[hash] != content {
			t.Errorf("the acknowledged message %q is %q in the log", content, found[hash])
		}
	}
	for content, n := range times {
		if n > 1 {
			t.Errorf("%q is there %d times, want once", content, n)
		}
	}
	for name, sql := range map[string]string{
		"sessions whose sequences are not 1, 2, 3, …": `SELECT count(*) FROM (SELECT FROM log.messages GROUP BY session_hash
			HAVING min(sequence) <> 1 OR max(sequence) <> count(*) OR count(DISTINCT sequence) <> count(*)) s`,
		"predecessors that two messages have": `SELECT count(*) FROM (SELECT FROM log.messages GROUP BY session_hash, prev_hash
			HAVING count(*) > 1) s`,
		"messages whose id is not in the order of the chain": `SELECT count(*) FROM (SELECT id, lag(id) OVER
			(PARTITION BY session_hash ORDER BY sequence) AS before FROM log.messages) s WHERE before >= id`,
	} {
		if n := count(t, conn, sql); n != 0 {
			t.Errorf("%s: %d, want none", name, n)
		}
	}
	var data overviewData
	if err := p.Ask(t.Context(), overview, nil, &data); err != nil || !data.VerifyLog.Valid || data.VerifyLog.Messages != len(found) {
		t.Errorf("verifyLog = %+v, %v, want %d messages without a break", data.VerifyLog, err, len(found))
	}
	t.Logf("%d messages acknowledged, %d in the log", len(acknowledged), len(found))
}

// What one log exports, another imports, to the same bytes; with a server running or without.
func TestImportAndExport(t *testing.T) {
	t.Parallel()
	source := start(t, servertest.DataDir(t), "DEMO=1")
	var session string
	if err := connect(t, source.DatabaseURL()).QueryRow(t.Context(),
		"SELECT session_hash::text FROM log.messages GROUP BY 1 ORDER BY count(*) DESC LIMIT 1").Scan(&session); err != nil {
		t.Fatal(err)
	}
	exported, err := command(t, source.DataDir, "export", "--session", session).Output()
	if err != nil || len(exported) == 0 {
		t.Fatalf("export: %v", err)
	}
	file := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(file, exported, 0o600); err != nil {
		t.Fatal(err)
	}
	bare := servertest.DataDir(t)
	for _, want := range []string{"", "there already"} {
		if out, err := command(t, bare, "import", file).CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("import: %s (%v), want %q", out, err, want)
		}
	}
	again, err := command(t, bare, "export", "--session", session).Output()
	if err != nil || !bytes.Equal(again, exported) {
		t.Errorf("the export of the import = %d bytes, %v, want the same %d", len(again), err, len(exported))
	}
	out, err := command(t, bare, "export", "--session", hashOf("nothing")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "there is no session") {
		t.Errorf("export of nothing: %s (%v), want that there is no such session", out, err)
	}
}
