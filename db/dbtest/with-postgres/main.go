// Command with-postgres runs a command with TEST_DATABASE_URL set to a Postgres that lives as long as the command,
// unless it is set already: packages whose tests run one after the other then share it.
//
//	with-postgres go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/tzzr/context-manager/db/dbtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: with-postgres COMMAND [ARGUMENT]...")
		os.Exit(2)
	}
	// Ctrl-C reaches the command by itself; we outlive it, to stop Postgres.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := dbtest.With(ctx, func() int { return run(ctx) })
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		code = 1
	}
	os.Exit(code)
}

// run gives the command's exit code. SIGTERM, which unlike Ctrl-C reaches us alone, is passed on.
func run(ctx context.Context) int {
	cmd := exec.CommandContext(ctx, os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() >= 0 {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		return 1
	}
	return 0
}
