package evaluation

import (
	"context"
	"io"
	"os"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
)

// RunFile runs the evaluation of the file at path, shows its progress on stderr and writes the report to stdout: as
// JSON or as a table.
func RunFile(ctx context.Context, log ingest.Log, asker Asker, path string, asJSON bool, stdout, stderr io.Writer) error {
	file, err := open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := Run(ctx, log, asker, path, file, Options{Asked: progress(stderr)})
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
	calibration, err := Calibrate(ctx, log, selector, path, file, progress(stderr))
	if err != nil {
		return err
	}
	return write(calibration, asJSON, stdout)
}

func open(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	return file, nil
}

// progress shows how many questions were asked.
func progress(stderr io.Writer) func(done, total int) {
	var meter *ingest.Meter
	return func(done, total int) {
		if meter == nil {
			meter = ingest.NewMeter(stderr, "ask", int64(total), "questions")
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
