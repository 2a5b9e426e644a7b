// Package ingest brings conversations from files into a log and out of it again: JSON lines, chats in OpenAI's
// style and LoCoMo's JSON come in, JSON lines go out. docs/import.md describes the formats. Files are read as
// streams: memory does not grow with them, save for their labels.
//
// It never speaks SQL: a log is whatever implements Log, and what an export reads whatever implements Source.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// Log is what an import writes to. All calls take at most 1,000 entries and are all or nothing.
type Log interface {
	// Append appends messages in order and gives them as they are stored. A draft whose idempotency key its owner
	// used before gives that message again, whatever the head or the time are.
	Append(ctx context.Context, drafts []chain.Draft) ([]chain.Message, error)
	// LogPosition is the highest id of a message, 0 while the log is empty, and how many messages there are.
	LogPosition(ctx context.Context) (position, size int64, err error)
	// MessagesByHash gives those of the messages that are there, in any order.
	MessagesByHash(ctx context.Context, hashes []chain.Hash) ([]chain.Message, error)
	// UpsertComponents creates components or changes those that are there by namespace and key, whose hashes stay
	// and whose fields stay where a draft has nil. No two drafts of a call have the same namespace and key. The
	// answer is in the order of the drafts.
	UpsertComponents(ctx context.Context, drafts []component.Draft) ([]component.Component, error)
	// AddRecords adds records; one that is there already is given back as it is. The answer is in the order of the drafts.
	AddRecords(ctx context.Context, drafts []knowledge.Draft) ([]knowledge.Record, error)
}

// Options are what a caller of Import may want to know on the way. The zero value is fine.
type Options struct {
	// Progress is told after each batch what has been imported so far.
	Progress func(Summary)
	// Labelled is told the message that each label stands for: "label" of JSON lines, and
	// "<sample_id>/<dia_id>" of LoCoMo's messages.
	Labelled func(label string, message chain.Message)
}

// Summary counts what an import brought.
type Summary struct {
	Messages   int // new in the log
	Present    int // messages that the log had already
	Skipped    int // exported messages that were erased or come after such a one in their session
	Components int // components that the file describes
	Records    int // records that the file holds
}

// String says it in words, such as "419 messages (12 of them were there already), 3 components, 1 record".
func (s Summary) String() string {
	text := plural(s.Messages+s.Present, "message")
	if s.Present > 0 {
		text += fmt.Sprintf(" (%d of them there already)", s.Present)
	}
	text += ", " + plural(s.Components, "component") + ", " + plural(s.Records, "record")
	if s.Skipped > 0 {
		text += fmt.Sprintf("; %s skipped: erased, or behind an erased one in its session", plural(s.Skipped, "message"))
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Import reads a file of any of the formats into the log, in batches. name stands for the file in errors. What is
// there already from an earlier import of the same file is not written again.
//
// An entry that is refused ends the import with a *LineError; everything before it is then in the log, as the
// summary says. Any other error (the log or the file cannot be reached) also leaves what the summary says, and
// importing again goes on from there.
func Import(ctx context.Context, log Log, name string, r io.Reader, options Options) (Summary, error) {
	start, _, err := log.LogPosition(ctx)
	if err != nil {
		return Summary{}, err
	}
	w := newWriter(log, start, options)
	err = importAll(ctx, w, r)
	if line, ok := errors.AsType[*LineError](err); ok {
		line.Name = name
	} else if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return w.summary, err
}

func importAll(ctx context.Context, w *writer, r io.Reader) error {
	values, err := newValues(r)
	if err != nil {
		return err
	}
	err = readRows(values, newOrdinals(ordinalPlaces), func(row *row) error { return w.add(ctx, row) })
	// What stands before a line that cannot be read is imported still; a refusal there comes first in the file.
	if flushed := w.flush(ctx); flushed != nil {
		return flushed
	}
	return err
}
