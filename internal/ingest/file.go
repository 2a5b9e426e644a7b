package ingest

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tzzr/context-manager/internal/fault"
)

// ImportFile imports the file at path ("-": standard input) and shows its progress on stderr. On failure the
// error says, next to the line and the reason, what was imported before it.
func ImportFile(ctx context.Context, log Log, path string, stdin io.Reader, stderr io.Writer) (Summary, error) {
	name, in, size := "standard input", stdin, int64(-1)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return Summary{}, fault.Wrap(err, fault.BadUserInput, "%s", err)
		}
		defer file.Close()
		name, in = path, file
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	meter := NewMeter(stderr, "import "+name, size, "")
	defer meter.Done()
	summary, err := Import(ctx, log, name, meter.Reader(in), Options{})
	if err == nil {
		return summary, nil
	}
	hint := "importing again goes on from there"
	if _, ok := errors.AsType[*LineError](err); ok {
		hint = "once the line is right, import again: what is there already is not written twice"
	}
	return summary, fmt.Errorf("%w\nimported before it: %s; %s", err, summary, hint)
}

//go:embed sample.jsonl
var sampleLog []byte

// Sample imports the sample log that the project ships: conversations of a small company with its agents, in
// Spanish and English.
func Sample(ctx context.Context, log Log) (Summary, error) {
	return Import(ctx, log, "sample.jsonl", bytes.NewReader(sampleLog), Options{})
}
