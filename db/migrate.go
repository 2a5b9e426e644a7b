package db

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib" // goose speaks database/sql
	"github.com/pressly/goose/v3"

	"github.com/tzzr/context-manager/internal/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations gives the migration files, for whoever has to know whether they changed.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil { // the folder is part of the binary
		panic(err)
	}
	return sub
}

// Migrate brings the database at url to the schema of this binary. Servers that start at once wait for each
// other, by a lock in the database. A step that fails leaves nothing behind and is tried again by the next call.
//
// Where the login may make roles, those that players read as are made, too; where it may not, the store's own predicates
// are all there is, and DB.Fenced says so.
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	return migrateAs(ctx, url, false, log)
}

// MigrateOwn is Migrate for a Postgres that is the server's own: everything becomes the property of a role that cannot log
// in, and the server goes on as WriterRole and ReaderRole.
func MigrateOwn(ctx context.Context, url string, log *slog.Logger) error {
	return migrateAs(ctx, url, true, log)
}

func migrateAs(ctx context.Context, url string, logins bool, log *slog.Logger) error {
	config, err := sessionlessConfig(url)
	if err != nil {
		return err
	}
	return patiently(ctx, func() error { return migrateOnce(ctx, config, logins, log) })
}

func migrateOnce(ctx context.Context, config *pgx.ConnConfig, logins bool, log *slog.Logger) error {
	conn := stdlib.OpenDB(*config)
	defer conn.Close()
	files, err := migrationsFor(ctx, conn)
	if err != nil {
		return mapError(err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, files, goose.WithLocker(&migrateLock{}))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	if lockedOut(err) {
		return fmt.Errorf("migrate: others use what this step changes; nothing was changed, and it is tried again at the next start: %w", err)
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, r := range results {
		log.InfoContext(ctx, "migrated", "step", r.Source.Path, "took", r.Duration)
	}
	return raiseFence(ctx, config, logins)
}

// sessionlessConfig gives how to connect with no trust in the session: a pooler forgets what was prepared in it.
func sessionlessConfig(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the database's address cannot be read")
	}
	steadfast(config)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return config, nil
}

// superusersClause is what only a superuser may write into a function: that a setting of ours is off, as it is anyway. A
// later step no longer asks for it.
const superusersClause = " SET context_manager.embeds = 'off'"

// migrationsFor gives the migrations as the login may apply them.
func migrationsFor(ctx context.Context, conn *sql.DB) (fs.FS, error) {
	var super bool
	if err := conn.QueryRowContext(ctx, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&super); err != nil || super {
		return Migrations(), err
	}
	files := fstest.MapFS{}
	return files, fs.WalkDir(Migrations(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Migrations(), path)
		files[path] = &fstest.MapFile{Data: bytes.ReplaceAll(text, []byte(superusersClause), nil)}
		return err
	})
}
