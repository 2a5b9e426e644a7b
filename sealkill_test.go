package main

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/servertest"
)

// observer is somebody outside who pinned the log's key, and keeps every checkpoint that was ever served. Safe for
// concurrent use.
type observer struct {
	t      *testing.T
	policy seal.Policy

	mu    sync.Mutex
	heads map[int64]seal.Head // by size
}

// newObserver pins the key that a server gives.
func newObserver(t *testing.T, p *servertest.Process) *observer {
	t.Helper()
	_, vkey := p.Get("/log.pub")
	verifier, err := note.NewVerifier(strings.TrimSpace(vkey))
	if err != nil {
		t.Fatalf("/log.pub is %q: %v", vkey, err)
	}
	return &observer{t: t, policy: seal.Policy{Origin: verifier.Name(), Log: verifier}, heads: map[int64]seal.Head{}}
}

// see checks a checkpoint, and holds it against the others of its size.
func (o *observer) see(text string) {
	c, err := seal.Open(text, o.policy)
	if err != nil {
		o.t.Errorf("a checkpoint that the pinned key did not sign: %v\n%s", err, text)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, seen := o.heads[c.Size]; seen && before != c.Head {
		o.t.Errorf("two checkpoints of %d: %s and %s", c.Size, before.Root, c.Root)
	}
	o.heads[c.Size] = c.Head
}

// watch looks at what a server serves, again and again until the server is gone, and says when it is.
func (o *observer) watch(p *servertest.Process) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			r, err := http.Get(p.URL + "/checkpoint")
			if err != nil {
				return
			}
			text, err := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if err == nil && r.StatusCode == http.StatusOK {
				o.see(string(text))
			}
		}
	}()
	return done
}

// consistent asks for the proof between each checkpoint and the next, and checks it.
func (o *observer) consistent(p *servertest.Process) {
	o.t.Helper()
	sizes := slices.Sorted(maps.Keys(o.heads))
	for i := 1; i < len(sizes); i++ {
		older, newer := o.heads[sizes[i-1]], o.heads[sizes[i]]
		var data struct{ ConsistencyProof []string }
		if err := p.Ask(o.t.Context(), `query($from: Int!, $to: Int!) { consistencyProof(from: $from, to: $to) }`,
			object{"from": older.Size, "to": newer.Size}, &data); err != nil {
			o.t.Fatal(err)
		}
		path := make([]chain.Hash, len(data.ConsistencyProof))
		for j, line := range data.ConsistencyProof {
			hash, err := base64.StdEncoding.DecodeString(line)
			if err != nil || len(hash) != len(path[j]) {
				o.t.Fatalf("%q is no hash", line)
			}
			path[j] = chain.Hash(hash)
		}
		if err := seal.CheckConsistency(path, older, newer); err != nil {
			o.t.Errorf("from %d to %d: %v", older.Size, newer.Size, err)
		}
	}
}

// Under load the server is killed, and its Postgres is, again and again. What was acknowledged is there and sealed;
// what was signed and served before still holds, under the key that was pinned then.
func TestKilledWhileSealing(t *testing.T) {
	t.Parallel()
	const writers, hot, each = 32, 8, 800
	dataDir := servertest.DataDir(t)
	acknowledged := map[string]string{}
	var o *observer
	ends := []func(*servertest.Process){
		func(p *servertest.Process) { p.Signal(syscall.SIGKILL) }, (*servertest.Process).KillPostgres, (*servertest.Process).StopPostgres,
	}
	for i := range 2 * len(ends) {
		p := start(t, dataDir)
		if o == nil {
			o = newObserver(t, p)
		}
		seen := o.watch(p)
		l := p.Load(string(rune('a'+i)), writers, hot)
		l.Until(each)
		ends[i%len(ends)](p)
		maps.Copy(acknowledged, l.Wait())
		if i%len(ends) > 0 { // the server has started Postgres again
			writes(t, p)
			p.Signal(syscall.SIGTERM)
		}
		p.End()
		<-seen
	}
	p := start(t, dataDir)
	conn := connect(t, p.DatabaseURL())
	until(t, conn, "all is sealed", `SELECT count(*) FROM (SELECT max(size) AS size FROM seal.checkpoints) c
		WHERE size = (SELECT count(*) FROM log.messages) AND NOT EXISTS (SELECT FROM seal.outbox)`)
	checkLog(t, p, acknowledged)
	rows, err := conn.Query(t.Context(), "SELECT note FROM seal.checkpoints")
	if err != nil {
		t.Fatal(err)
	}
	served := len(o.heads)
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		o.see(text)
	}
	if rows.Err() != nil || len(o.heads) != count(t, conn, "SELECT count(*) FROM seal.checkpoints") || served < 5 {
		t.Errorf("%d checkpoints were served and %d are known, %v; want each in the database", served, len(o.heads), rows.Err())
	}
	o.consistent(p)
	var data struct {
		VerifyLog struct{ Messages, Sealed int }
		Seal      struct {
			Condition string
			Problem   *string
			Waiting   int
		}
	}
	if err := p.Ask(t.Context(), "{verifyLog{messages sealed} seal{condition problem waiting}}", nil, &data); err != nil ||
		data.VerifyLog.Sealed != data.VerifyLog.Messages || data.Seal.Condition != "SEALING" || data.Seal.Problem != nil || data.Seal.Waiting != 0 {
		t.Errorf("in the end: %+v, %v", data, err)
	}
	t.Logf("%d checkpoints, %d of them served before", len(o.heads), served)
}

// A server whose tree may not be signed goes on serving, and says so wherever somebody looks.
func TestServeRefusedTree(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t), "DEMO=1", "LOG_ORIGIN=example.org/log")
	conn := connect(t, p.DatabaseURL())
	until(t, conn, "all is sealed", "SELECT count(*) FROM seal.checkpoints WHERE size = (SELECT count(*) FROM log.messages)")
	for _, sql := range []string{
		"ALTER TABLE seal.leaves DISABLE TRIGGER ALL", "DELETE FROM seal.leaves WHERE leaf_index = (SELECT max(leaf_index) FROM seal.leaves)",
		"ALTER TABLE seal.leaves ENABLE TRIGGER ALL",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var status int
	var body string
	for range 3000 {
		if status, body = p.Get("/readyz"); status != http.StatusOK {
			break
		}
		count(t, conn, "SELECT count(pg_sleep(0.01))")
	}
	if status != http.StatusServiceUnavailable || body != "the log is not sealed\n" {
		t.Errorf("GET /readyz = %d %q, want 503 and no reason", status, body)
	}
	if status, body = p.GetAsAdmin("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "its leaves go to") {
		t.Errorf("GET /readyz by an administrator = %d %q, want 503 and the reason", status, body)
	}
	if status, _ := p.Get("/healthz"); status != http.StatusOK {
		t.Errorf("GET /healthz = %d, want 200", status)
	}
	if _, metrics := p.GetAsAdmin("/metrics"); !strings.Contains(metrics, "context_manager_seal_refused 1\n") {
		t.Error("the metrics do not say that the tree is refused")
	}
	if !strings.Contains(p.Output(), "the tree is refused") {
		t.Errorf("the server's log does not say so:\n%s", p.Output())
	}
	var data struct {
		Seal      struct{ Condition, Origin, Problem string }
		VerifyLog struct{ Valid bool }
	}
	if err := p.Ask(t.Context(), "{seal{condition origin problem} verifyLog{valid}}", nil, &data); err != nil ||
		data.Seal.Condition != "REFUSED" || data.Seal.Origin != "example.org/log" || !strings.Contains(body, data.Seal.Problem) || data.VerifyLog.Valid {
		t.Errorf("%+v, %v, want REFUSED, the reason, and a break", data, err)
	}
	if _, err := p.Append(t.Context(), object{"sessionHash": hashOf("s"), "ownerId": hashOf("o"), "content": "still"}); err != nil {
		t.Errorf("append to a log whose tree is refused: %v", err)
	}
}
