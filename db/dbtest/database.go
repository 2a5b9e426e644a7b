package dbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
)

// templateLock is the key of the advisory lock under which a template is made.
const templateLock = 0x636d7470 // "cmtp"

// New gives the URL of a new database with all migrations applied, for the test alone; it is dropped when the test
// ends, with whatever is still connected. The connection is a superuser's.
//
// The database is copied from a template that is migrated once per content of the migrations; test programs that
// want one at the same time wait for each other.
func New(t testing.TB) string {
	t.Helper()
	admin := os.Getenv(EnvURL)
	if admin == "" {
		t.Fatalf("no Postgres to test on: let TestMain call dbtest.Main, or set %s", EnvURL)
	}
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatalf("connect to %s: %v", EnvURL, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	template, err := ensureTemplate(ctx, conn, admin)
	if err != nil {
		t.Fatalf("make the template database: %v", err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil { // twice as fast as by WAL
		t.Fatalf("copy the template database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(context.WithoutCancel(ctx), admin, name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return withDatabase(t, admin, name)
}

// ensureTemplate gives the name of the migrated template. It is made under another name and renamed when whole, so
// that an interrupted migration is never copied.
func ensureTemplate(ctx context.Context, conn *pgx.Conn, admin string) (string, error) {
	sum, err := migrationsSum(db.Migrations())
	if err != nil {
		return "", err
	}
	name := "template_" + sum
	if found, err := exists(ctx, conn, name); found || err != nil {
		return name, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return "", err
	}
	defer func() { _, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", templateLock) }() // closing frees it, too
	if found, err := exists(ctx, conn, name); found || err != nil {
		return name, err
	}
	return name, makeTemplate(ctx, conn, admin, name)
}

func makeTemplate(ctx context.Context, conn *pgx.Conn, admin, name string) error {
	unfinished := name + "_unfinished"
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + unfinished + " WITH (FORCE)",
		"CREATE DATABASE " + unfinished + " TEMPLATE template0 ENCODING 'UTF8'",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	target, err := replaceDatabase(admin, unfinished)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, target, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	// Nobody may connect from here on: a connection to a template keeps it from being copied.
	for _, sql := range []string{
		"ALTER DATABASE " + unfinished + " ALLOW_CONNECTIONS false",
		"ALTER DATABASE " + unfinished + " RENAME TO " + name,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// migrationsSum is a name for the content of the migrations: the first 16 hexadecimal digits of a SHA-256.
func migrationsSum(files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%s\x00%d\x00%s", path, len(text), text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

func exists(ctx context.Context, conn *pgx.Conn, name string) (found bool, err error) {
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&found)
	return found, err
}

func drop(ctx context.Context, admin, name string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
	return err
}

func withDatabase(t testing.TB, admin, name string) string {
	t.Helper()
	target, err := replaceDatabase(admin, name)
	if err != nil {
		t.Fatalf("%s: %v", EnvURL, err)
	}
	return target
}

// replaceDatabase gives the URL of another database of the same Postgres.
func replaceDatabase(admin, name string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil {
		return "", err
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", fmt.Errorf("%q is not a postgres:// URL", admin)
	}
	u.Path = "/" + name
	return u.String(), nil
}
