package evaluation_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/evaluation"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
)

func open(t *testing.T) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.New(t), 2, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestRun(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/two-conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d, asked := open(t), 0
	var imported ingest.Summary
	report, err := evaluation.Run(t.Context(), d, asker{d}, "two", file, evaluation.Options{
		Imported: func(s ingest.Summary) { imported = s },
		Asked: func(done, total int) {
			if asked++; done != asked || total != 4 {
				t.Errorf("Asked(%d, %d) after question %d of 4", done, total, asked)
			}
		},
	})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if imported.Messages != 7 || asked != 4 || report.Skipped != 1 {
		t.Errorf("%d messages, %d questions asked, %d skipped; want 7, 4, 1", imported.Messages, asked, report.Skipped)
	}
	// Threads are smaller than 50 messages and the threshold is 0: all that has evidence is found at the end, and
	// D9:9, which no message is, is half of one question's evidence.
	for _, want := range []struct {
		got       evaluation.Share
		name      string
		questions int
		within50  float64
	}{
		{report.Overall, "overall", 4, 3.5 / 4},
		{report.Categories[0], "multi-hop", 1, 1},
		{report.Categories[1], "temporal", 1, 1},
		{report.Categories[2], "single-hop", 2, 0.75},
		{report.Conversations[0], "garden", 3, 2.5 / 3},
		{report.Conversations[1], "trip", 1, 1},
	} {
		last := want.got.Found[len(want.got.Found)-1]
		if want.got.Name != want.name || want.got.Questions != want.questions || last.First != 50 || last.Share != want.within50 {
			t.Errorf("got %+v; want %s with %d questions and %v within 50", want.got, want.name, want.questions, want.within50)
		}
	}
	if len(report.Missing) != 1 || report.Missing[0] != (evaluation.Missing{Conversation: "garden", Evidence: "D9:9"}) {
		t.Errorf("Missing = %v, want D9:9 of garden", report.Missing)
	}
	checkTexts(t, report)
}

func checkTexts(t *testing.T, report *evaluation.Report) {
	t.Helper()
	var table, text bytes.Buffer
	if err := report.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"single-hop            2", "overall               4", "87.5 %", "p95", "no message of conversation garden is D9:9", "skipped: 1"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	if err := report.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Overall struct {
			Found []struct{ Share float64 }
		}
		Latency map[string]float64
	}
	if err := json.Unmarshal(text.Bytes(), &back); err != nil || back.Overall.Found[3].Share != 3.5/4 || back.Latency["p95_ms"] <= 0 {
		t.Errorf("JSON reads back as %+v, %v", back, err)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no questions": `[{"sample_id":"a","conversation":{"speaker_a":"A","speaker_b":"B"}}]`,
		"no JSON":      `{"sample_id":`,
		"lines":        `{"sessionHash":"s","ownerId":"o","content":"c"}`,
		"no text":      `[{"sample_id":"a","qa":[{"question":" ","evidence":["D1:1"],"category":1}]}]`,
	} {
		d := open(t)
		_, err := evaluation.Run(t.Context(), d, asker{d}, name, strings.NewReader(text), evaluation.Options{})
		if fault.CodeOf(err) != fault.BadUserInput || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("Run(%s) = %v, want a BAD_USER_INPUT that names the file", text, err)
		}
		if n, _, err := d.LogPosition(t.Context()); n != 0 || err != nil {
			t.Errorf("%s: the log has messages up to %d, %v", name, n, err)
		}
	}
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/two-conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d, asked := open(t), 0
	got, err := evaluation.Calibrate(t.Context(), d, asker{d}, "two", file, func(done, total int) {
		if asked++; done != asked || total != 8 {
			t.Errorf("asked(%d, %d) after question %d of 8", done, total, asked)
		}
	})
	if err != nil {
		t.Fatalf("Calibrate: %v", err)
	}
	for i, want := range []evaluation.Separation{{Name: "garden", Own: 3, Other: 1}, {Name: "trip", Own: 1, Other: 3}} {
		c := got.Conversations[i]
		if c.Name != want.Name || c.Own != want.Own || c.Other != want.Other || c.Selected < 0.6 || c.Empty < 0.6 || c.Area < 0.9 {
			t.Errorf("got %+v, want %s with %d and %d questions, well apart", c, want.Name, want.Own, want.Other)
		}
	}
	if got.Threshold != 0.7 || got.Overall.Own != 4 || got.Overall.Other != 4 || got.Lengths[0].Own+got.Lengths[1].Own != 4 {
		t.Errorf("calibration = %+v", got)
	}
}

func TestCalibrateRefusesOneConversation(t *testing.T) {
	t.Parallel()
	d := open(t)
	one := `[{"sample_id":"a","qa":[{"question":"Who?","evidence":["D1:1"],"category":1}]}]`
	_, err := evaluation.Calibrate(t.Context(), d, asker{d}, "one", strings.NewReader(one), nil)
	if fault.CodeOf(err) != fault.BadUserInput || !strings.Contains(err.Error(), "needs two") {
		t.Errorf("Calibrate of one conversation = %v, want a BAD_USER_INPUT", err)
	}
}

// In English and in Spanish, at least 80 % of the evidence is among the first five.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"english", "spanish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := os.Open("../../testdata/evaluation/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			d := open(t)
			report, err := evaluation.Run(t.Context(), d, asker{d}, name, file, evaluation.Options{})
			if err != nil {
				t.Fatalf("Run: %v", err)
			}
			if report.Imported.Messages != 40 || report.Overall.Questions != 30 || len(report.Missing) > 0 {
				t.Fatalf("%d messages, %d questions, missing %v; want 40, 30 and none", report.Imported.Messages, report.Overall.Questions, report.Missing)
			}
			if first := report.Overall.Found[0]; first.First != 5 || first.Share < 0.8 {
				t.Errorf("found %.1f %% of the evidence among the first %d, want 80 %% among 5", 100*first.Share, first.First)
			}
		})
	}
}
