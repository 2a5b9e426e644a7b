package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tzzr/context-manager/db/local"
	"github.com/tzzr/context-manager/internal/chaos"
	"github.com/tzzr/context-manager/internal/fault"
)

type chaosCommand struct {
	Faults   []string      `arg:"" optional:"" name:"fault" help:"Which faults; none: all. --list names them."`
	Full     bool          `help:"In full size, which takes hours; without it, in the size of a test."`
	Soak     time.Duration `placeholder:"DURATION" help:"How long the soak takes; none: as the size says."`
	Patience float64       `default:"1" help:"How many times longer than they should things may take, for a machine that does other work as well."`
	JSON     string        `name:"json" placeholder:"FILE" help:"Write the report to a file as JSON, too."`
	List     bool          `help:"Name the faults and do nothing."`
}

// Validate refuses what would measure nothing. Kong calls it.
func (c *chaosCommand) Validate() error {
	if c.Patience < 1 || c.Patience > 100 {
		return fault.Input("--patience", "%v is outside of 1 to 100", c.Patience)
	}
	if c.Soak < 0 || c.Soak > 0 && c.Soak < 5*time.Second {
		return fault.Input("--soak", "%s is less than 5 s", c.Soak)
	}
	return nil
}

// Run makes faults, and fails if something does not hold.
func (c *chaosCommand) Run(ctx context.Context) error {
	if c.List {
		for _, n := range chaos.Names() {
			fmt.Printf("%-14s %s\n", n[0], n[1])
		}
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	programs, err := local.Programs(ctx)
	if err != nil {
		return err
	}
	report, err := chaos.Run(ctx, chaos.Config{
		Program: program, Postgres: programs, Full: c.Full, Soak: c.Soak, Patience: c.Patience, Progress: os.Stderr,
	}, c.Faults...)
	if len(report.Rows) == 0 {
		return err
	}
	if c.JSON != "" {
		err = errors.Join(err, report.WriteJSONFile(c.JSON))
	}
	if err := errors.Join(err, report.WriteTable(os.Stdout)); err != nil {
		return err
	}
	if n := report.Missed(); n > 0 {
		return fault.New(fault.Unavailable, "%d of %d do not hold", n, len(report.Rows))
	}
	return nil
}
