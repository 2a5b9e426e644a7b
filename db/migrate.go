package db

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

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
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the database's address cannot be read")
	}
	steadfast(config)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler forgets what was prepared
	conn := stdlib.OpenDB(*config)
	defer conn.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, Migrations(), goose.WithLocker(&migrateLock{}))
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
	return nil
}
