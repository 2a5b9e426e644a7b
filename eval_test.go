package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/servertest"
)

func TestEval(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t))
	conn := connect(t, p.DatabaseURL())
	const scratch = "SELECT count(*) FROM pg_database WHERE datname LIKE 'cm\\_eval\\_%'"
	out, err := command(t, p.DataDir, "eval", "--json", "internal/evaluation/testdata/two-conversations.json").Output()
	var report struct {
		Overall struct {
			Questions int
			Found     []struct{ Share float64 }
		}
	}
	if err != nil || json.Unmarshal(out, &report) != nil || report.Overall.Questions == 0 || report.Overall.Found[3].Share < 0.5 {
		t.Errorf("eval = %s (%v), want a report that finds most", out, err)
	}
	if n := count(t, conn, scratch); n != 0 {
		t.Errorf("%d scratch databases are left, want none", n)
	}
	if n := count(t, conn, "SELECT count(*) FROM log.messages"); n != 0 {
		t.Errorf("eval left %d messages in the log, want none", n)
	}

	// Ended by Ctrl-C, it still tidies up.
	cmd := command(t, p.DataDir, "eval", manyQuestions(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, conn, "a scratch database", scratch)
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err == nil {
		t.Error("eval, interrupted, ends as if it were done")
	}
	if n := count(t, conn, scratch); n != 0 {
		t.Errorf("%d scratch databases are left after Ctrl-C, want none", n)
	}
}

// TestEvalSummary measures summaries without any database.
func TestEvalSummary(t *testing.T) {
	t.Parallel()
	dir := servertest.DataDir(t)
	out, err := command(t, dir, "eval", "--summary", "--json", "internal/evaluation/testdata/two-conversations.json").Output()
	var report struct {
		Summariser struct {
			Overall struct{ Questions int }
			By      []struct{ Name string }
			Over    int `json:"over_budget"`
		}
	}
	if err != nil || json.Unmarshal(out, &report) != nil || report.Summariser.Overall.Questions == 0 || report.Summariser.Over != 0 ||
		len(report.Summariser.By) != 1 || report.Summariser.By[0].Name != "extractive" {
		t.Errorf("eval --summary = %s (%v), want a report of the built-in summariser's", out, err)
	}
	if out, err := command(t, dir, "eval", "--summary", "go.mod").CombinedOutput(); err == nil || !strings.Contains(string(out), "go.mod: is not LoCoMo's JSON") {
		t.Errorf("eval --summary of another file = %s (%v), want what it is not", out, err)
	}
}

// TestEvalJudge measures a judge without any database.
func TestEvalJudge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := command(t, dir, "eval", "--judge", "--json", "testdata/judge/heldout.jsonl").Output()
	var report struct {
		Overall struct{ Pairs, Precision float64 }
		Judges  []struct{ Name string }
	}
	if err != nil || json.Unmarshal(out, &report) != nil || report.Overall.Pairs != 60 || report.Overall.Precision < 0.95 || len(report.Judges) != 1 || report.Judges[0].Name != "rules" {
		t.Errorf("eval --judge = %s (%v), want a report of 60 pairs, judged by rules", out, err)
	}
	bad := filepath.Join(dir, "bad.jsonl")
	if err := os.WriteFile(bad, []byte("\n{\"known\": 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, dir, "eval", "--judge", bad).CombinedOutput(); err == nil || !strings.Contains(string(out), `bad.jsonl, line 2: field "known" must be a text`) {
		t.Errorf("eval --judge of a bad line = %s (%v), want its line and field", out, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the data directory has %v (%v), want nothing but the file", entries, err)
	}
}

// manyQuestions writes a file that takes a while to evaluate.
func manyQuestions(t *testing.T) string {
	t.Helper()
	question := object{"question": "What grows behind the shed?", "evidence": []string{"D1:1"}, "category": 4}
	questions := make([]object, 50_000)
	for i := range questions {
		questions[i] = question
	}
	text, err := json.Marshal([]object{{"sample_id": "long", "qa": questions, "conversation": object{
		"speaker_a": "Ada", "speaker_b": "Ben", "session_1_date_time": "9:05 am on 3 May, 2026",
		"session_1": []object{{"speaker": "Ada", "dia_id": "D1:1", "text": "Tomatoes grow behind the shed."}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
