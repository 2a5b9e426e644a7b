package ingest_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
)

func TestImportFile(t *testing.T) {
	t.Parallel()
	d := open(t)
	good, bad := `{"sessionHash":"s","ownerId":"a","content":"one"}`+"\n", `{"sessionHash":"s","ownerId":"a"}`
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(good+bad), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ingest.ImportFile(t.Context(), d, path, nil, io.Discard)
	want := path + ": line 2: content: is missing\nimported before it: 1 message, 0 components, 0 records; " +
		"once the line is right, import again: what is there already is not written twice"
	if err == nil || err.Error() != want || fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("ImportFile = %v, want %s", err, want)
	}
	summary, err := ingest.ImportFile(t.Context(), d, "-", strings.NewReader(good+strings.Replace(good, "one", "two", 1)), io.Discard)
	if err != nil || summary.String() != "2 messages (1 of them there already), 0 components, 0 records" {
		t.Errorf("ImportFile(-) = %s, %v", summary, err)
	}
	if _, err := ingest.ImportFile(t.Context(), d, path+".no", nil, io.Discard); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("ImportFile of no file = %v", err)
	}
	wantContents(t, d, "one", "two")
}
