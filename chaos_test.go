package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db/local"
	"github.com/tzzr/context-manager/internal/chaos"
	"github.com/tzzr/context-manager/internal/servertest"
)

// Every fault in the size of a test. What depends on how fast the machine is, is measured and not judged here.
func TestChaos(t *testing.T) {
	t.Parallel()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := local.Programs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := chaos.Open(t.Context(), chaos.Config{Program: binary.Path(), Source: ".", Postgres: programs, Patience: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	// Most of the time they wait for something, so more of them run at once than there are processors.
	const atOnce = 5
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	defer wait.Wait()
	for _, name := range chaos.Names() {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			t.Run(name[0], func(t *testing.T) { makeFault(t, h, name[0]) })
		})
	}
}

func makeFault(t *testing.T, h *chaos.Harness, name string) {
	report, err := h.Run(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	kept := false
	for _, row := range report.Rows {
		kept = kept || row.Values["acknowledged"] > 0 && row.Values["checks"] > 0
		if row.Must == "" || row.Measured == "" || row.Timed && len(row.Values) == 0 {
			t.Errorf("row = %+v", row)
		}
		if !row.OK && !row.Timed {
			t.Errorf("%s: must hold: %s; measured: %s", row.Done, row.Must, row.Measured)
		}
	}
	if (name == "server" || name == "postgres") && !slices.ContainsFunc(report.Rows, func(r chaos.Row) bool { return r.Values["deeds"] > 0 }) {
		t.Errorf("%s: exchanges, quarantines, erasures and revocations were not held against the journal: %+v", name, report.Rows)
	}
	if !kept {
		t.Error("no check compared the log with what was acknowledged")
	}
}

// The command says what it found to people and to programs.
func TestChaosCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := command(t, servertest.DataDir(t), "chaos", "server-alone", "--patience", "20", "--json", file)
	var progress strings.Builder
	cmd.Stderr = &progress
	table, err := cmd.Output()
	if err != nil {
		t.Fatalf("chaos: %v\n%s", err, progress.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report chaos.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(report.Rows) != 2 || report.Rows[0].Values["acknowledged"] == 0 || report.Postgres == "" {
		t.Errorf("report = %+v, want two rows and the machine", report)
	}
	for _, row := range report.Rows {
		if !strings.Contains(string(table), row.Measured) {
			t.Errorf("the table has no %q:\n%s", row.Measured, table)
		}
	}
	cmd = command(t, servertest.DataDir(t), "chaos", "earthquake")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `"earthquake" is none of server`) {
		t.Errorf("chaos earthquake: %v, %s, want what there is", err, out)
	}
}

// Nothing outlives the harness: not when it is interrupted, and not when it is killed.
func TestChaosEnds(t *testing.T) {
	t.Parallel()
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			temporary, err := os.MkdirTemp("", "chaos-test-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(temporary) })
			if err := os.Chmod(temporary, 0o711); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, servertest.DataDir(t), "chaos", "soak")
			cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the soak works", func() bool {
				found, _ := filepath.Glob(filepath.Join(temporary, "*", "*", "journal-*"))
				if len(found) == 0 {
					return false
				}
				info, err := os.Stat(found[0])
				return err == nil && info.Size() > 0
			})
			if len(within(t, temporary)) < 2 {
				t.Errorf("%v run, want a server and Postgres", within(t, temporary))
			}
			_ = cmd.Process.Signal(by)
			_ = cmd.Wait()
			eventually(t, "the end of all", func() bool { return len(within(t, temporary)) == 0 })
			if left, _ := filepath.Glob(filepath.Join(temporary, "*")); by == syscall.SIGINT && len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// within lists the processes whose working directory, or whose command line, is in a directory.
func within(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if filepath.Base(p) == strconv.Itoa(os.Getpid()) {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		text, _ := os.ReadFile(filepath.Join(p, "environ"))
		if strings.HasPrefix(cwd, dir) || strings.Contains(string(text), "DATA_DIR="+dir) {
			found = append(found, p)
		}
	}
	return found
}

// eventually waits for what tells nobody.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !happened() {
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
