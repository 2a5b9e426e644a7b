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
	file, err := os.Open(path)
	if err != nil {
		return fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	defer file.Close()
	var meter *ingest.Meter
	report, err := Run(ctx, log, asker, path, file, Options{Asked: func(done, total int) {
		if meter == nil {
			meter = ingest.NewMeter(stderr, "ask", int64(total), "questions")
		}
		meter.Add(1)
		if done == total {
			meter.Done()
		}
	}})
	if err != nil {
		return err
	}
	if asJSON {
		return report.WriteJSON(stdout)
	}
	return report.WriteTable(stdout)
}
