package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/bench"
	"github.com/tzzr/context-manager/internal/bench/retrieval"
	"github.com/tzzr/context-manager/internal/servertest"
)

// A short run measures every figure beside its limit, says so to people and to programs, and leaves nothing behind. What
// it measures is not this test's business.
func TestBench(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := command(t, servertest.DataDir(t), "bench", "--messages", "2000", "--turn", "300ms", "--turns", "1", "--json", file)
	var progress strings.Builder
	cmd.Stderr = &progress
	table, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench: %v\n%s", err, progress.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report bench.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(report.Figures) != 6 || report.Processors < 1 || report.Postgres == "" {
		t.Fatalf("report = %+v, want six figures and the machine", report)
	}
	for _, f := range report.Figures {
		if f.Value <= 0 || f.P50 <= 0 || f.P99 < f.P50 || f.Size != 2000 || f.Messages < 2000 || f.Target <= 0 {
			t.Errorf("figure = %+v", f)
		}
		if f.Limit != "" && (f.LimitValue <= 0 || f.Ratio != f.Value/f.LimitValue) {
			t.Errorf("figure = %+v, want a ratio to a limit", f)
		}
		verdict := "missed"
		if f.Reached() {
			verdict = "reached"
		}
		found := false
		for line := range strings.Lines(string(table)) {
			found = found || strings.HasPrefix(line, f.Name+" ") && strings.Contains(line, verdict)
		}
		if !found {
			t.Errorf("the table does not say of %s that it is %s:\n%s", f.Name, verdict, table)
		}
	}
}

// The same of ranked context: what is asked of a small log is all found.
func TestBenchRetrieval(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := command(t, servertest.DataDir(t), "bench", "--retrieval", "--messages", "2000", "--turn", "300ms", "--turns", "1", "--json", file)
	var progress strings.Builder
	cmd.Stderr = &progress
	table, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench --retrieval: %v\n%s", err, progress.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report retrieval.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(report.Figures) != 5 || len(report.Builds) != 4 || len(report.Relations) == 0 || report.Vector == "" {
		t.Fatalf("report = %+v, want five figures, what was built and how large it is", report)
	}
	for _, f := range report.Figures {
		if f.Ours.P50 <= 0 || f.Ours.P95 < f.Ours.P50 || f.Theirs.P50 <= 0 || f.Messages != 2000 || f.Ratio <= 0 || f.Target <= 0 {
			t.Errorf("figure = %+v", f)
		}
		if f.Rate == 0 && f.Recall < 0.95 {
			t.Errorf("%s finds %v of the first ten", f.Name, f.Recall)
		}
		if !strings.Contains(string(table), f.Name+" ") {
			t.Errorf("the table does not name %s:\n%s", f.Name, table)
		}
	}
}

// Prompts are measured over HTTP and without, by an agent and by an administrator, each beside the bare SQL.
func TestBenchPrompts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := command(t, servertest.DataDir(t), "bench", "--prompts", "300", "--turn", "100ms", "--turns", "1", "--json", file)
	var progress strings.Builder
	cmd.Stderr = &progress
	table, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench --prompts: %v\n%s", err, progress.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report bench.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(report.Figures) != 8 || report.Postgres == "" {
		t.Fatalf("report = %+v, want eight figures and the machine", report)
	}
	for _, f := range report.Figures {
		if f.P50 <= 0 || f.Value < f.P50 || f.P99 < f.Value || f.LimitP50 <= 0 || f.Ratio != f.Value/f.LimitValue || f.Messages != 300 || !strings.Contains(string(table), f.Name+" ") {
			t.Errorf("figure = %+v", f)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	for flag, value := range map[string]string{"--messages": "10", "--turn": "1ms", "--turns": "0", "--prompts": "-1"} {
		out, err := command(t, servertest.DataDir(t), "bench", flag, value).CombinedOutput()
		if err == nil || !strings.Contains(string(out), flag) {
			t.Errorf("bench %s %s = %v, %s; want an error that names the flag", flag, value, err, out)
		}
	}
}
