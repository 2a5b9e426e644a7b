package verifier_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/servertest"
	"github.com/tzzr/context-manager/internal/verifier"
)

// program builds the server once, if a test needs it, and TestMain removes it.
var (
	program = sync.OnceValues(func() (*servertest.Binary, error) {
		binary, err := servertest.Build("../..")
		built.Store(binary)
		return binary, err
	})
	built atomic.Pointer[servertest.Binary]
)

func TestMain(m *testing.M) {
	code := m.Run()
	if binary := built.Load(); binary != nil {
		binary.Remove()
	}
	os.Exit(code)
}

// live is a server with a sealed log of the sample and 300 messages more, one of them erased.
type live struct {
	*servertest.Process
	t    *testing.T
	key  string // file of its public key
	conn *pgx.Conn
}

func start(t *testing.T, settings ...string) *live {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	l := &live{Process: binary.Start(t, servertest.DataDir(t), settings...), t: t}
	_, key := l.Get("/log.pub")
	l.key = l.write("log.pub", []byte(key))
	if l.conn, err = pgx.Connect(t.Context(), l.DatabaseURL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.conn.Close(context.Background()) })
	return l
}

func (l *live) write(name string, text []byte) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func hashOf(text string) chain.Hash { return chain.Sum([]byte(text)) }

// fill appends messages to a session.
func (l *live) fill(session string, count int) (hashes []string) {
	l.t.Helper()
	messages := make([]map[string]any, count)
	for i := range messages {
		messages[i] = map[string]any{
			"sessionHash": hashOf(session), "ownerId": hashOf("owner"), "content": "message of " + session, "attachments": map[string]any{"n": i},
		}
	}
	hashes, err := l.Append(l.t.Context(), messages...)
	if err != nil {
		l.t.Fatal(err)
	}
	return hashes
}

// run runs the program's command, and gives what it prints and how it ends.
func (l *live) run(args ...string) (stdout, stderr string, ok bool) {
	l.t.Helper()
	binary, err := program()
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := binary.Command(l.DataDir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err == nil
}

func (l *live) must(args ...string) string {
	l.t.Helper()
	out, errs, ok := l.run(args...)
	if !ok {
		l.t.Fatalf("%s: %s\n%s", args, errs, out)
	}
	return out
}

func (l *live) exec(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.conn.Exec(l.t.Context(), sql, args...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

// python runs docs/verify.py.
func (l *live) python(export, key string) (said string, ok bool) {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), "python3", "../../docs/verify.py", export, key).CombinedOutput()
	if strings.Contains(string(out), "Traceback") {
		l.t.Fatalf("docs/verify.py: %s", out)
	}
	return string(out), err == nil
}

// What a server exports, verify finds whole, and so does the verifier in Python; whatever is altered, both see.
func TestExportOfServer(t *testing.T) {
	t.Parallel()
	l := start(t, "DEMO=1")
	l.exec("SELECT log.erase($1::text::char(64), $2::text::char(64), 'asked for it')", l.fill("long", 300)[7], hashOf("admin").String())
	text := l.must("export", "--all", "--proofs")
	whole := l.write("all.jsonl", []byte(text))
	if out := l.must("verify", whole, "--key", l.key, "--complete"); !strings.Contains(out, "1 of them erased on record") || !strings.Contains(out, "all of them are in the file") {
		t.Errorf("verify says\n%s", out)
	}
	if said, ok := l.python(whole, l.key); !ok || !strings.Contains(said, ", all of the ") {
		t.Errorf("docs/verify.py: %t\n%s", ok, said)
	}

	part := l.write("part.jsonl", []byte(l.must("export", "--session", hashOf("long").String(), "--proofs")))
	if out := l.must("verify", part, "--key", l.key); !strings.Contains(out, "301 messages of 1 session") || !strings.Contains(out, "partial: 301 of them") {
		t.Errorf("verify says\n%s", out)
	}
	if out, errs, ok := l.run("verify", part, "--key", l.key, "--complete"); ok || !strings.Contains(out, "ROOT_MISMATCH") || !strings.Contains(errs, "does not hold") {
		t.Errorf("verify --complete of a part: %t\n%s%s", ok, out, errs)
	}
	var report verifier.Report
	if err := json.Unmarshal([]byte(l.must("verify", part, "--key", l.key, "--json")), &report); err != nil || !report.Valid || report.Erased != 1 {
		t.Errorf("verify --json = %+v, %v", report, err)
	}
	other := start(t)
	if out, _, ok := l.run("verify", whole, "--key", other.key); ok || !strings.Contains(out, "ROOT_MISMATCH: the checkpoint does not hold") {
		t.Errorf("with another log's key: %t\n%s", ok, out)
	}
	l.tamper(text)
}

// tamper alters the export in each way, and wants both verifiers to say so.
func (l *live) tamper(text string) {
	lines := strings.SplitAfter(text, "\n")
	at := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, `\"n\": 20}`) })
	replace := func(old, new string) func([]string) {
		return func(s []string) { s[at] = strings.Replace(s[at], old, new, 1) }
	}
	flip := func(mark string) func([]string) {
		return func(s []string) {
			i := strings.Index(s[at], mark) + len(mark)
			letter := "A"
			if s[at][i] == 'A' {
				letter = "B"
			}
			s[at] = s[at][:i] + letter + s[at][i+1:]
		}
	}
	for _, c := range []struct {
		name, want string
		change     func([]string)
	}{
		{"content", "HASH_MISMATCH", replace("message of long", "message of lung")},
		{"attachments", "HASH_MISMATCH", replace(`\"n\": 20`, `\"n\": 21`)},
		{"salt", "HASH_MISMATCH", flip(`"salt":"`)},
		{"refs", "REFS_MISMATCH", replace(`"createdAt"`, `"refs":[{"hash":"`+hashOf("x").String()+`","type":"CONTEXT"}],"createdAt"`)},
		{"order", "BROKEN_LINK", func(s []string) { s[at], s[at+1] = s[at+1], s[at] }},
		{"left out", "GAP", func(s []string) { s[at] = "" }},
		{"proof", "LEAF_MISMATCH", func(s []string) { // the first hash of the path
			i := strings.Index(s[at], `index `)
			i += strings.Index(s[at][i:], `\n`) + 2
			letter := "A"
			if s[at][i] == 'A' {
				letter = "B"
			}
			s[at] = s[at][:i] + letter + s[at][i+1:]
		}},
		{"signature", "ROOT_MISMATCH", func(s []string) {
			i := strings.LastIndex(s[at], " ") + 30
			s[at] = s[at][:i] + string(s[at][i]^1) + s[at][i+1:]
		}},
	} {
		changed := slices.Clone(lines)
		c.change(changed)
		if slices.Equal(changed, lines) {
			l.t.Fatalf("%s: nothing was changed", c.name)
		}
		path := l.write("changed.jsonl", []byte(strings.Join(changed, "")))
		if out, errs, ok := l.run("verify", path, "--key", l.key); ok || !strings.Contains(out, c.want) || !strings.Contains(errs, "does not hold") {
			l.t.Errorf("%s altered: verify says %t\n%s%s, want %s", c.name, ok, out, errs, c.want)
		}
		if said, ok := l.python(path, l.key); ok {
			l.t.Errorf("%s altered: docs/verify.py says %s", c.name, said)
		}
	}
}

// check checks the server through the command, with what --state keeps.
func (l *live) check(state string, more ...string) (out string, ok bool) {
	l.t.Helper()
	out, errs, ok := l.run(append([]string{"verify", "--key", l.key, "--state", state}, more...)...)
	return out + errs, ok
}

func TestServer(t *testing.T) {
	t.Parallel()
	l := start(t, "DEMO=1")
	l.fill("long", 300)
	state := filepath.Join(t.TempDir(), "state")
	out, ok := l.check(state, "--server", l.URL)
	if !ok || !strings.Contains(out, "no break was found") || !strings.Contains(out, "the server checked 361 messages") || !strings.Contains(out, "read from the tree: 361 messages") {
		t.Fatalf("verify: %t\n%s", ok, out)
	}
	var report verifier.ServerReport
	if err := json.Unmarshal([]byte(l.must("verify", "--key", l.key, "--server", l.URL, "--json")), &report); err != nil || !report.Valid || report.Leaves != 361 {
		t.Errorf("verify --json = %+v, %v", report, err)
	}
	l.through(state)
	l.rewritten(state)
}

// through checks a server that lies: what it serves is altered on the way.
func (l *live) through(state string) {
	target, err := url.Parse(l.URL)
	if err != nil {
		l.t.Fatal(err)
	}
	_, checkpoint := l.Get("/checkpoint")
	for _, c := range []struct {
		name, path, want string
		change           func([]byte) []byte
	}{
		{"a leaf altered", "/tile/entries/000", "ROOT_MISMATCH: the leaves that the server shows do not give", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		{"a tile altered", "/tile/0/000", "ROOT_MISMATCH: tile 0 of level 0 is not that of the leaves", func(b []byte) []byte { b[0] ^= 1; return b }},
		{"a signature altered", "/checkpoint", "ROOT_MISMATCH: the checkpoint does not hold", func(b []byte) []byte { b[len(b)-9] ^= 1; return b }},
		{"a session hidden", "/graphql", "MISSING_SESSION: its 300 messages", func(b []byte) []byte {
			b = bytes.ReplaceAll(b, []byte(`"hash":"`+hashOf("long").String()), []byte(`"hash":"`+hashOf("nothing").String()))
			return bytes.ReplaceAll(b, []byte(`{"data":{"session":{`), []byte(`{"data":{"session":null,"x":{`))
		}},
		{"a tail hidden", "/graphql", "MISSING_TAIL: messages 200 to 300", func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"length":300`), []byte(`"length":199`))
		}},
	} {
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.Transport = new(http.Transport) // every server that a test closes closes connections of the default one
		proxy.ModifyResponse = func(r *http.Response) error {
			if r.Request.URL.Path != c.path {
				return nil
			}
			var b bytes.Buffer
			if _, err := b.ReadFrom(r.Body); err != nil {
				return err
			}
			_ = r.Body.Close()
			r.Body = readCloser{bytes.NewReader(c.change(b.Bytes()))}
			r.Header.Del("Content-Length")
			r.ContentLength = -1
			return nil
		}
		liar := httptest.NewServer(proxy)
		if out, ok := l.check(state, "--server", liar.URL); ok || !strings.Contains(out, c.want) {
			l.t.Errorf("%s: verify says %t\n%s, want %s", c.name, ok, out, c.want)
		}
		liar.Close()
	}
	// A checkpoint of before is no lie, but an old one.
	l.fill("later", 3)
	if out, ok := l.check(state, "--server", l.URL); !ok {
		l.t.Fatalf("verify: %s", out)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = new(http.Transport)
	mux := http.NewServeMux()
	mux.HandleFunc("/checkpoint", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(checkpoint)) })
	mux.Handle("/", proxy)
	liar := httptest.NewServer(mux)
	defer liar.Close()
	if out, ok := l.check(state, "--server", liar.URL); ok || !strings.Contains(out, "it is an older one") {
		l.t.Errorf("a checkpoint replayed: verify says %t\n%s", ok, out)
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// rewritten checks a server whose database was altered by its superuser: the server says so, and so do its leaves.
func (l *live) rewritten(state string) {
	l.exec("ALTER TABLE log.messages DISABLE TRIGGER ALL; ALTER TABLE log.message_refs DISABLE TRIGGER ALL")
	l.exec("CREATE TABLE kept AS SELECT * FROM log.messages")
	for _, c := range []struct{ name, sql, want string }{
		{"the last message", `UPDATE log.messages SET importance = 2 WHERE content = 'message of later' AND sequence = 3;
			UPDATE log.messages m SET hash = log.message_hash(m), id_digest = log.id_digest(m.id, log.message_hash(m)) WHERE importance = 2 AND content = 'message of later'`, "LEAF_MISMATCH: the server's session ends with"},
		{"tail", `DELETE FROM log.messages WHERE session_hash = '` + hashOf("long").String() + `' AND sequence > 290`, "MISSING_TAIL: messages 291 to 300"},
		{"session", `DELETE FROM log.messages WHERE session_hash = '` + hashOf("later").String() + `'`, "MISSING_SESSION: its 3 messages"},
	} {
		l.exec(c.sql)
		out, ok := l.check(state, "--server", l.URL)
		if ok || !strings.Contains(out, "BROKEN: the server says: ") || !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "BROKEN: session ") && strings.Contains(line, c.want)
		}) {
			l.t.Errorf("%s altered: verify says %t\n%s, want %s", c.name, ok, out, c.want)
		}
		l.exec("DELETE FROM log.messages")
		l.exec("INSERT INTO log.messages OVERRIDING SYSTEM VALUE SELECT * FROM kept")
	}
}

// Another log under the same name and key is not the one that was kept.
func TestAnotherLog(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.fill("first", 5)
	state := filepath.Join(t.TempDir(), "state")
	if out, ok := first.check(state, "--server", first.URL); !ok {
		t.Fatalf("verify: %s", out)
	}
	second := start(t, "LOG_KEY="+filepath.Join(first.DataDir, "log.key"))
	second.fill("second", 7)
	if out, ok := second.check(state, "--server", second.URL); ok || !strings.Contains(out, "ROOT_MISMATCH: the tree does not extend the one of 5 messages that was kept") {
		t.Errorf("verify of another log says %t\n%s", ok, out)
	}
	if out, ok := second.check(filepath.Join(t.TempDir(), "none"), "--server", second.URL); !ok {
		t.Errorf("verify without what was kept: %s", out)
	}
}

// Without a server that seals, an export with proofs says how much is not sealed.
func TestNotSealed(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.exec("BEGIN; LOCK TABLE seal.leaves IN EXCLUSIVE MODE")
	l.fill("s", 4)
	if out, errs, ok := l.run("export", "--all", "--proofs"); ok || out != "" || !strings.Contains(errs, "4 messages are not sealed yet") {
		t.Errorf("export: %t\n%s%s", ok, out, errs)
	}
	l.exec("COMMIT")
	l.must("export", "--all", "--proofs")
}
