package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/selection"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// open gives an empty log.
func open(t testing.TB) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.New(t), 2, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

// load imports a text that has to import.
func load(t testing.TB, d *db.DB, text string) ingest.Summary {
	t.Helper()
	summary, err := ingest.Import(t.Context(), d, "test", strings.NewReader(text), ingest.Options{})
	if err != nil {
		t.Fatalf("Import: %v", err)
	}
	return summary
}

// all gives the messages of the log in its order.
func all(t testing.TB, d *db.DB) []chain.Message {
	t.Helper()
	rows, err := d.Messages(t.Context(), selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 5000})
	if err != nil {
		t.Fatalf("Messages: %v", err)
	}
	messages := make([]chain.Message, len(rows.Items))
	for i, item := range rows.Items {
		messages[i] = item.Value
	}
	return messages
}

// contents gives what the messages of the log say, in its order.
func contents(t testing.TB, d *db.DB) []string {
	t.Helper()
	var texts []string
	for _, m := range all(t, d) {
		texts = append(texts, *m.Content)
	}
	return texts
}

func wantContents(t testing.TB, d *db.DB, want ...string) {
	t.Helper()
	if got := contents(t, d); !slices.Equal(got, want) {
		t.Errorf("the log says %q, want %q", got, want)
	}
}

func export(t testing.TB, d *db.DB, session chain.Hash) string {
	t.Helper()
	text, _, err := tryExport(t, d, ingest.What{Session: &session})
	if err != nil {
		t.Fatalf("Export: %v", err)
	}
	return text
}

func tryExport(t testing.TB, d *db.DB, what ingest.What) (text string, done ingest.Exported, err error) {
	t.Helper()
	var out bytes.Buffer
	ctx := context.WithoutCancel(t.Context())
	err = d.Snapshot(ctx, func(s *db.Snapshot) error {
		done, err = ingest.Export(ctx, s, what, &out)
		return err
	})
	return out.String(), done, err
}

// value gives what p points to, and the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// quote writes a text as a JSON string.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}
