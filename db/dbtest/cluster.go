// Package dbtest gives tests real Postgres databases, each its own and up to date, at the price of a copy.
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
//
//	func TestAppend(t *testing.T) {
//		t.Parallel()
//		url := dbtest.New(t)
//
// It is for tests only: nothing in it is durable.
package dbtest

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db/local"
)

// EnvURL is the environment variable that names a Postgres to test on, as the URL of any database in it, with
// superuser rights. Without it, Main starts a private one.
const EnvURL = "TEST_DATABASE_URL"

// checks are how many of a property are made on a database, unless RAPID_CHECKS or -rapid.checks says otherwise. Each run makes
// others.
const checks = "40"

// startLimit is how long Postgres may take to start, stopLimit to stop.
const (
	startLimit = 2 * time.Minute
	stopLimit  = time.Minute
)

// Main runs the tests of a package with a Postgres that New finds, and ends the process with their result. Call it
// from TestMain.
func Main(m *testing.M) {
	code, err := With(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = 1
	}
	os.Exit(code)
}

// With runs a function while EnvURL names a Postgres: the one it names already or, for as long as the function
// runs, a private one in a directory for temporary files. It gives what the function gave.
func With(ctx context.Context, run func() int) (int, error) {
	if f := flag.Lookup("rapid.checks"); f != nil && os.Getenv("RAPID_CHECKS") == "" {
		_ = f.Value.Set(checks) // the command line comes later
	}
	if os.Getenv(EnvURL) != "" {
		return run(), nil
	}
	dir, err := os.MkdirTemp("", "context-manager-test-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o711); err != nil { // as root, for the postgres user to pass
		return 1, err
	}
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	server, err := local.Start(starting, local.Config{DataDir: dir, Log: slog.New(slog.DiscardHandler), Settings: settings()})
	if err != nil {
		return 1, err
	}
	if err := os.Setenv(EnvURL, server.URL()); err != nil {
		return 1, err
	}
	code := run()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	return code, server.Stop(stopping)
}

// settings trade what a test does not need, surviving a power cut, for time; and let many packages in at once.
func settings() map[string]string {
	return map[string]string{
		"fsync":              "off", // so that commits, which are awaited, wait for nothing
		"full_page_writes":   "off",
		"wal_level":          "minimal",
		"max_wal_senders":    "0",
		"max_connections":    "400",
		"shared_buffers":     "256MB",
		"autovacuum_naptime": "10min", // it would look at every short-lived database
	}
}
