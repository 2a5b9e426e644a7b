package main

import (
	"encoding/json"
	"os"
	"path/filepath"
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
