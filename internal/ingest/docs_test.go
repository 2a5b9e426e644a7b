package ingest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/ingest"
)

// The examples of docs/import.md import as they stand.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	d := open(t)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d examples, want 3", len(blocks))
	}
	for _, block := range blocks {
		want := strings.Count(block[1], `"sessionHash"`) + strings.Count(block[1], `"role"`)*strings.Count(block[1], `"messages"`)
		if summary := load(t, d, block[1]); summary.Messages != want {
			t.Errorf("%s\nbrings %s, want %d messages", block[1], summary, want)
		}
	}
	wantContents(t, d, "Where does the tour start?", "At the old crane, at ten.", "What does it cost for two children?", "12 euros.",
		"Is it open on Sunday?", "Yes, until two.")
	exported := export(t, d, ingest.SessionHash("fares"))
	if lines := strings.Count(exported, "\n"); lines != 2+1+2 {
		t.Errorf("the export has %d lines, want two components, one record and two messages", lines)
	}
}
