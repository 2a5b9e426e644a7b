//go:build sqlmap

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tzzr/context-manager/internal/servertest"
)

// TestSQLMap runs sqlmap against every string that a request of the API can hold, each by itself in a request that is
// valid otherwise, and against the strings of requests around it. It takes a while: see .ci/sqlmap.sh.
func TestSQLMap(t *testing.T) {
	p := start(t, servertest.DataDir(t), "DEMO=1", "ADDRESS_RATE_LIMIT=0", "RATE_LIMIT=0", "HOOK_SECRETS="+hookSource+"="+hookSecret)
	known := sample(t, p)
	streams, told := endings(t, p, known.Player)
	targets := append(stringArguments(t, p, streams, known), surroundings(t, p, known)...)
	targets = append(targets, some(asAgent(t, p, streams, known), len(targets)/4)...)
	targets = slices.DeleteFunc(targets, func(one target) bool { return !strings.Contains(one.name, os.Getenv("SQLMAP_ONLY")) })
	if verdict, out := sqlmap(t.Context(), t.TempDir(), control(t, p)); verdict != "INJECTABLE" {
		t.Fatalf("of a server that is open to injection sqlmap finds %s:\n%s", verdict, out)
	}
	before := requests(t, p)
	var mu sync.Mutex
	var wait sync.WaitGroup
	found, next := 0, make(chan target)
	for range 2 {
		wait.Go(func() {
			for one := range next {
				verdict, out := sqlmap(t.Context(), t.TempDir(), one)
				for range 2 { // a ranking may follow sqlmap's words by chance, with which it asks anew; an injection is found each time
					if verdict == "INJECTABLE" {
						verdict, out = sqlmap(t.Context(), t.TempDir(), one)
					}
				}
				mu.Lock()
				t.Logf("%-60s %s", one.name, verdict)
				if verdict != "nothing" {
					found++
					t.Errorf("%s: %s\n%s", one.name, verdict, out)
				}
				mu.Unlock()
			}
		})
	}
	for _, one := range targets {
		next <- one
	}
	close(next)
	wait.Wait()
	_, metrics := p.GetAsAdmin("/metrics")
	if strings.Contains(metrics, `graphql_errors_total{code="INTERNAL"}`) || strings.Contains(metrics, `status="500"`) {
		t.Errorf("some request ended in INTERNAL:\n%s", p.Output())
	}
	t.Logf("%d strings, %d requests, %d findings", len(targets), requests(t, p)-before-int(told.Load()), found)
}

// control is a string of a request to a server that puts it into SQL as it is, to see that sqlmap works.
func control(t *testing.T, p *servertest.Process) target {
	t.Helper()
	conn := connect(t, p.DatabaseURL())
	var mu sync.Mutex
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var body struct{ Variables struct{ X string } }
		var n int
		if err := json.NewDecoder(r.Body).Decode(&body); err == nil {
			err = conn.QueryRow(r.Context(), "SELECT count(*) FROM log.messages WHERE owner_id = '"+body.Variables.X+"'").Scan(&n)
			_, _ = fmt.Fprintf(w, `{"data":{"totalCount":%d,"error":%q}}`, n, fmt.Sprint(err))
		}
	}))
	t.Cleanup(open.Close)
	return target{"control", fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n\r\n%s",
		strings.TrimPrefix(open.URL, "http://"), `{"query":"{a}","variables":{"x":"a`+marker+`"}}`)}
}

// requests is how many the server has answered.
func requests(t *testing.T, p *servertest.Process) (n int) {
	t.Helper()
	_, metrics := p.GetAsAdmin("/metrics")
	for _, m := range regexp.MustCompile(`(?m)^http_requests_total\{.*\} (\d+)`).FindAllStringSubmatch(metrics, -1) {
		one, _ := strconv.Atoi(m[1])
		n += one
	}
	return n
}

func sqlmap(ctx context.Context, dir string, one target) (verdict, out string) {
	file := filepath.Join(dir, "request")
	if err := os.WriteFile(file, []byte(one.request), 0o600); err != nil {
		return err.Error(), ""
	}
	level := os.Getenv("SQLMAP_LEVEL")
	if level == "" {
		level = "1"
	}
	cmd := exec.CommandContext(ctx, "sqlmap", "-r", file, "--batch", "--ignore-stdin", "--disable-coloring", "--flush-session", "--output-dir", dir,
		"--dbms", "PostgreSQL", "--technique", "BEUST", "--level", level, "--risk", "1", "--timeout", "30", "--ignore-code", "*")
	text, _ := cmd.CombinedOutput()
	switch out = string(text); {
	case strings.Contains(out, "identified the following injection point"):
		return "INJECTABLE", out
	case strings.Contains(out, "all tested parameters do not appear to be injectable"):
		return "nothing", out
	}
	return "sqlmap did not test it", out
}
