package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// open gives a store on a database of its own.
func open(t testing.TB) (*db.DB, string) {
	t.Helper()
	url := dbtest.New(t)
	return openURL(t, url), url
}

func openURL(t testing.TB, url string) *db.DB {
	t.Helper()
	store, err := db.Open(context.Background(), url, 8, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	t.Cleanup(store.Close)
	return store
}

func hashOf(format string, args ...any) chain.Hash {
	return chain.Sum(fmt.Appendf(nil, format, args...))
}

func draft(session, content string) chain.Draft {
	return chain.Draft{SessionHash: hashOf("session:%s", session), OwnerID: hashOf("ply:owner"), Content: content}
}

func mustAppend(t testing.TB, store *db.DB, drafts ...chain.Draft) []chain.Message {
	t.Helper()
	written, err := store.Append(t.Context(), drafts)
	if err != nil {
		t.Fatalf("Append() = %v", err)
	}
	return written
}

func ptr[T any](v T) *T { return &v }
