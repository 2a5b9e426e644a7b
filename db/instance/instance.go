// Package instance opens the log for a program: the database that the settings name, or a private Postgres of its own,
// brought up to date.
package instance

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/local"
	"github.com/tzzr/context-manager/internal/config"
)

// How long the private Postgres may take to start, which may mean to recover from a crash, and to stop.
const (
	startLimit = 5 * time.Minute
	stopLimit  = 30 * time.Second
)

// poolSize is how many connections a program may hold for reading and the like: more would wait for each other's work
// on a few cores anyway. The writer of appends has two of its own besides.
const poolSize = 16

// Instance is the log, with what has to be stopped after it.
type Instance struct {
	*db.DB
	URL      string        // of the database
	DataDir  string        // of the settings
	Postgres *local.Server // nil if it is somebody else's
	Log      *slog.Logger
}

// Open opens the log: the one that DATABASE_URL names or, with nobody's private Postgres running, its own. With
// share, a private Postgres that another process runs will do.
func Open(ctx context.Context, cfg config.Database, share bool, log *slog.Logger) (*Instance, error) {
	s := &Instance{URL: cfg.DatabaseURL, DataDir: cfg.DataDir, Log: log}
	if s.URL == "" {
		cfg.DirectURL = "" // a private Postgres has no pooler before it
	}
	if s.URL == "" && share {
		s.URL = runningPostgres(ctx, cfg.DataDir)
	}
	if s.URL == "" {
		starting, cancel := context.WithTimeout(ctx, startLimit)
		defer cancel()
		var err error
		if s.Postgres, err = local.Start(starting, local.Config{DataDir: cfg.DataDir, Log: log}); err != nil {
			return nil, err
		}
		s.URL = s.Postgres.URL()
	}
	if err := s.connect(ctx, cfg.DirectURL); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// connect opens the database, with as few rights as will do where the Postgres is its own. Migrations go around a pooler, if
// there is a way.
func (s *Instance) connect(ctx context.Context, direct string) (err error) {
	if s.Postgres != nil {
		if err = db.MigrateOwn(ctx, s.URL, s.Log); err == nil {
			s.DB, err = db.OpenAs(ctx, s.Postgres.URLAs(db.WriterRole), s.Postgres.URLAs(db.ReaderRole), poolSize, s.Log)
		}
		return err
	}
	if err = db.Migrate(ctx, cmp.Or(direct, s.URL), s.Log); err != nil {
		return err
	}
	if s.DB, err = db.Open(ctx, s.URL, poolSize, s.Log); err != nil || direct == "" {
		return err
	}
	return s.UseDirect(ctx, direct)
}

// Close lets appends finish, closes the pool and stops Postgres.
func (s *Instance) Close() {
	if s.DB != nil {
		s.DB.Close()
	}
	if s.Postgres == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if err := s.Postgres.Stop(ctx); err != nil {
		s.Log.Error("the private Postgres did not stop in order", "cause", err)
	}
}

// runningPostgres gives the address of the private Postgres that a server of this data directory runs, or "".
func runningPostgres(ctx context.Context, dataDir string) string {
	text, err := os.ReadFile(filepath.Join(dataDir, "postgres.url"))
	if err != nil {
		return ""
	}
	url := strings.TrimSpace(string(text))
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	running, err := db.Open(ctx, url, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		return "" // what a killed server left behind
	}
	running.Close()
	return url
}
