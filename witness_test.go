package main

import (
	"bufio"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tzzr/context-manager/internal/servertest"
	"github.com/tzzr/context-manager/internal/tile"
)

// witnessProcess is a witness that runs.
type witnessProcess struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	entry string // for WITNESSES
}

// startWitness runs a witness with its files in a folder, and waits until it says what to put into WITNESSES.
func startWitness(t *testing.T, dir, addr, logKey string) *witnessProcess {
	t.Helper()
	cmd := command(t, filepath.Join(dir, "unused"), "witness", "--state", filepath.Join(dir, "state"), "--key", filepath.Join(dir, "key"),
		"--name", "witness.example.org/1", "--addr", addr, "--log", logKey)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &witnessProcess{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(func() { w.end(syscall.SIGKILL) })
	for w.lines.Scan() {
		if entry, ok := strings.CutPrefix(w.lines.Text(), "WITNESSES="); ok {
			w.entry = entry
			return w
		}
	}
	t.Fatal("the witness does not start")
	return nil
}

// end sends a signal, and gives the exit code.
func (w *witnessProcess) end(s syscall.Signal) int {
	_ = w.cmd.Process.Signal(s)
	for w.lines.Scan() {
	}
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

func (w *witnessProcess) addr() string {
	addr, _, _ := strings.Cut(strings.TrimPrefix(w.entry, "http://"), "=")
	return addr
}

func appendOne(t *testing.T, p *servertest.Process, session string) {
	t.Helper()
	if _, err := p.Append(t.Context(), object{"sessionHash": hashOf("session %s", session), "ownerId": hashOf("owner"), "content": "hello"}); err != nil {
		t.Fatal(err)
	}
}

// A server has its checkpoints cosigned by a witness, which may stop, be killed, and come back.
func TestWitness(t *testing.T) {
	t.Parallel()
	dataDir, witnessDir := servertest.DataDir(t), t.TempDir()
	p := start(t, dataDir)
	_, key := p.Get("/log.pub")
	p.Signal(syscall.SIGTERM)
	p.End()

	w := startWitness(t, witnessDir, "127.0.0.1:0", strings.TrimSpace(key))
	p = start(t, dataDir, "WITNESSES="+w.entry)
	conn := connect(t, p.DatabaseURL())
	appendOne(t, p, "one")
	until(t, conn, "the first message is witnessed", "SELECT count(*) FROM seal.cosignatures WHERE size >= 1")
	if _, text := p.Get("/checkpoint"); !strings.Contains(text, "— witness.example.org/1 ") {
		t.Errorf("GET /checkpoint = %q, want it cosigned", text)
	}
	if code := w.end(syscall.SIGTERM); code != 0 {
		t.Errorf("a witness that is stopped ends with %d, want 0", code)
	}

	appendOne(t, p, "two")
	until(t, conn, "the second message is sealed", "SELECT count(*) FROM seal.checkpoints WHERE size >= 2")
	w = startWitness(t, witnessDir, w.addr(), strings.TrimSpace(key))
	until(t, conn, "the second message is witnessed", "SELECT count(*) FROM seal.cosignatures WHERE size >= 2")
	w.end(syscall.SIGKILL)

	w = startWitness(t, witnessDir, w.addr(), strings.TrimSpace(key))
	appendOne(t, p, "three")
	until(t, conn, "the third message is witnessed", "SELECT count(*) FROM seal.cosignatures WHERE size >= 3")
	r, err := http.Get("http://" + w.addr() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("GET /healthz of the witness = %d, want 200", r.StatusCode)
	}
	checkTiles(t, p)
}

// checkTiles reads the tree from the server's address alone.
func checkTiles(t *testing.T, p *servertest.Process) {
	t.Helper()
	client, err := tile.NewClient(p.URL, p.Token)
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := client.Leaves(t.Context(), 0, 3)
	if err != nil || len(leaves) != 3 || leaves[0].Sequence != 1 || leaves[0].Session.String() != hashOf("session one") {
		t.Errorf("the leaves = %+v, %v, want three, of which the first is that of session one", leaves, err)
	}
}

func TestWitnessSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct {
		name, says string
		args       []string
	}{
		{"no settings", "missing flags", nil},
		{"no log", "--log", []string{"--state", dir + "/s", "--key", dir + "/k"}},
		{"no key of a log", "/log.pub", []string{"--state", dir + "/s", "--key", dir + "/k", "--log", "x", "--addr", "127.0.0.1:0"}},
	} {
		out, err := command(t, dir, append([]string{"witness"}, test.args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.says) {
			t.Errorf("witness with %s: %v\n%s\nwant an error that says %q", test.name, err, out, test.says)
		}
	}
}
