package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
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

// openOwn gives another store on a database, with the logins of a Postgres that is the server's own.
func openOwn(t testing.TB, at string) *db.DB {
	t.Helper()
	if err := db.MigrateOwn(t.Context(), at, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	store, err := db.OpenAs(context.Background(), as(t, at, db.WriterRole), as(t, at, db.ReaderRole), 6, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// as gives a database's address with another login.
func as(t testing.TB, at, login string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("user", login)
	u.RawQuery, u.User = q.Encode(), nil
	return u.String()
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
