package evaluation

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/window"
)

// RunFile runs the evaluation of the file at path, shows its progress on stderr and writes the report to stdout: as
// JSON or as a table.
func RunFile(ctx context.Context, log ingest.Log, asker Asker, path string, asJSON bool, stdout, stderr io.Writer) error {
	file, err := open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := Run(ctx, log, asker, path, file, Options{Asked: progress(stderr, "ask", "questions")})
	if err != nil {
		return err
	}
	return write(report, asJSON, stdout)
}

// CalibrateFile does for Calibrate what RunFile does for Run.
func CalibrateFile(ctx context.Context, log ingest.Log, selector Selector, path string, asJSON bool, stdout, stderr io.Writer) error {
	file, err := open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	calibration, err := Calibrate(ctx, log, selector, path, file, progress(stderr, "ask", "questions"))
	if err != nil {
		return err
	}
	return write(calibration, asJSON, stdout)
}

// SummariseFile does for Summaries what RunFile does for Run.
func SummariseFile(ctx context.Context, summariser window.Summariser, path string, asJSON bool, stdout, stderr io.Writer) error {
	file, err := open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	retention, err := Summaries(ctx, file, summariser, progress(stderr, "summarise", "sessions"))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return write(retention, asJSON, stdout)
}

func open(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	return file, nil
}

// progress shows how many things were done.
func progress(stderr io.Writer, what, things string) func(done, total int) {
	var meter *ingest.Meter
	return func(done, total int) {
		if meter == nil {
			meter = ingest.NewMeter(stderr, what, int64(total), things)
		}
		meter.Add(1)
		if done == total {
			meter.Done()
		}
	}
}

func write(report interface {
	WriteTable(io.Writer) error
	WriteJSON(io.Writer) error
}, asJSON bool, stdout io.Writer,
) error {
	if asJSON {
		return report.WriteJSON(stdout)
	}
	return report.WriteTable(stdout)
}
