package ingest

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// Limits of a batch, well below those of a call of Log.
const (
	batchRows  = 500
	batchBytes = 8 << 20
)

// nameCacheSize is how many components are remembered by name before they are looked up again.
const nameCacheSize = 1 << 16

// writer gathers rows into batches and writes them, in order. It is not safe for concurrent use.
type writer struct {
	log     Log
	options Options
	summary Summary

	pending   []*row
	bytes     int
	described map[componentName]bool // components that pending describes
	expected  map[string]bool        // labels that pending brings

	last   int64 // the highest id seen: a message that has a lower one was there already
	labels map[string]target
	names  map[componentName]chain.Hash // a cache

	skipped map[chain.Hash]bool // sessions of which an erased message could not be written
}

type componentName struct {
	namespace component.Namespace
	key       string
}

// target is what a label stands for.
type target struct {
	kind chain.RefType
	hash chain.Hash
	line int
}

func newWriter(log Log, position int64, options Options) *writer {
	return &writer{
		log: log, options: options, last: position,
		described: map[componentName]bool{}, expected: map[string]bool{},
		labels: map[string]target{}, names: map[componentName]chain.Hash{},
		skipped: map[chain.Hash]bool{},
	}
}

// add takes a row for the next batch, and writes what is pending first if the row needs it in the log or does
// not fit any more.
func (w *writer) add(ctx context.Context, r *row) error {
	if err := w.checkLabel(r); err != nil {
		if flushed := w.flush(ctx); flushed != nil {
			return flushed
		}
		return &LineError{Line: r.line, Err: err}
	}
	if len(w.pending) == batchRows || w.bytes+r.size() > batchBytes || w.waits(r) {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.pending = append(w.pending, r)
	w.bytes += r.size()
	if r.label != "" {
		w.expected[r.label] = true
	}
	if r.component != nil {
		w.described[nameOf(r.component)] = true
	}
	return nil
}

func (w *writer) checkLabel(r *row) error {
	if r.label == "" {
		return nil
	}
	if earlier, taken := w.labels[r.label]; taken {
		return fault.Input("label", "%q is that of line %d already", r.label, earlier.line)
	}
	if w.expected[r.label] {
		return fault.Input("label", "%q is that of an earlier line already", r.label)
	}
	return nil
}

// waits tells whether the row depends on one that is pending.
func (w *writer) waits(r *row) bool {
	if r.component != nil {
		return w.described[nameOf(r.component)]
	}
	if r.message != nil {
		for _, to := range r.message.refs {
			if to.label != "" && w.expected[to.label] {
				return true
			}
		}
	}
	return false
}

func nameOf(d *component.Draft) componentName { return componentName{d.Namespace, d.Key} }

// flush writes what is pending. If the log refuses it, its rows are written one by one, so that the one to blame
// is found and everything before it is in the log.
func (w *writer) flush(ctx context.Context) error {
	rows := w.pending
	w.pending, w.bytes = nil, 0
	clear(w.described)
	clear(w.expected)
	if len(rows) == 0 {
		return nil
	}
	before := w.summary
	err := w.write(ctx, rows)
	if err != nil {
		w.summary = before
	}
	for i := 0; err != nil && i < len(rows); i++ {
		if ctx.Err() != nil || fault.CodeOf(err) == fault.Unavailable {
			return err
		}
		if refused := w.write(ctx, rows[i:i+1]); refused != nil {
			if fault.CodeOf(refused) == fault.Unavailable {
				return refused
			}
			return &LineError{Line: rows[i].line, Err: ofRow(refused)}
		}
	}
	if w.options.Progress != nil {
		w.options.Progress(w.summary)
	}
	return nil
}

// write writes rows, none of which depends on another, in as few calls as there are kinds.
func (w *writer) write(ctx context.Context, rows []*row) error {
	if err := w.writeComponents(ctx, rows); err != nil {
		return err
	}
	if err := w.writeRecords(ctx, rows); err != nil {
		return err
	}
	return w.writeMessages(ctx, rows)
}

func (w *writer) writeComponents(ctx context.Context, rows []*row) error {
	var drafts []component.Draft
	for _, r := range rows {
		if r.component != nil {
			drafts = append(drafts, *r.component)
		}
	}
	if len(drafts) == 0 {
		return nil
	}
	written, err := w.log.UpsertComponents(ctx, drafts)
	if err != nil {
		return err
	}
	if len(written) != len(drafts) {
		return fmt.Errorf("%d components came back of %d", len(written), len(drafts))
	}
	for i := range drafts {
		w.remember(nameOf(&drafts[i]), written[i].Hash)
	}
	w.summary.Components += len(drafts)
	return nil
}

func (w *writer) writeRecords(ctx context.Context, rows []*row) error {
	var drafts []knowledge.Draft
	var from []*row
	for _, r := range rows {
		if r.record != nil {
			drafts = append(drafts, *r.record)
			from = append(from, r)
		}
	}
	if len(drafts) == 0 {
		return nil
	}
	written, err := w.log.AddRecords(ctx, drafts)
	if err != nil {
		return err
	}
	if len(written) != len(drafts) {
		return fmt.Errorf("%d records came back of %d", len(written), len(drafts))
	}
	for i, r := range from {
		if r.hash != nil && written[i].Hash != *r.hash {
			return fault.Input("record.hash", "is not the hash of the record, which is %s", written[i].Hash)
		}
		w.label(r, target{kind: drafts[i].Kind, hash: written[i].Hash, line: r.line})
	}
	w.summary.Records += len(drafts)
	return nil
}

func (w *writer) label(r *row, to target) {
	if r.label != "" {
		w.labels[r.label] = to
	}
}

func (w *writer) remember(name componentName, hash chain.Hash) {
	if len(w.names) >= nameCacheSize {
		clear(w.names)
	}
	w.names[name] = hash
}
