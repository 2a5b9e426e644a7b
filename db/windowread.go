package db

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Window gives a window with all that is in it; NOT_FOUND.
func (d *DB) Window(ctx context.Context, id string) (window.Window, error) {
	l, err := d.load(ctx, d.readByKey(), id)
	return l.Window, mapError(err)
}

// WindowKey is the place of a window in the list.
type WindowKey struct {
	At time.Time
	ID string
}

// WindowBrief is a window without what is in it.
type WindowBrief struct {
	window.Window
	Used int
}

// Windows gives a page of windows, the latest first.
func (d *DB) Windows(ctx context.Context, p Page[WindowKey]) (Rows[WindowBrief, WindowKey], error) {
	var at *time.Time
	var id *string
	if p.After != nil {
		at, id = &p.After.At, &p.After.ID
	}
	found, err := d.read().Windows(ctx, d.viewerText(), at, id, p.more())
	if err != nil {
		return Rows[WindowBrief, WindowKey]{}, mapError(err)
	}
	rows := rowsOf(p, found, func(r dbgen.MemoryWindow) Item[WindowBrief, WindowKey] {
		w, e := windowOf(r)
		err = errors.Join(err, e)
		return Item[WindowBrief, WindowKey]{WindowBrief{w, int(r.Used)}, WindowKey{r.CreatedAt, r.ID}}
	})
	return rows, mapError(err)
}

// CountWindows counts what Windows lists.
func (d *DB) CountWindows(ctx context.Context) (int64, error) {
	n, err := d.read().CountWindows(ctx, d.viewerText())
	return n, mapError(err)
}

// WindowsSharing gives, for each of some segments, the windows that see it, by name: those that the viewer sees.
func (d *DB) WindowsSharing(ctx context.Context, segments []string) (map[string][]WindowBrief, error) {
	found, err := d.read().WindowsSharing(ctx, segments, d.viewerText())
	if err != nil {
		return nil, mapError(err)
	}
	sharing := make(map[string][]WindowBrief, len(segments))
	for _, r := range found {
		w, err := windowOf(r.MemoryWindow)
		if err != nil {
			return nil, mapError(err)
		}
		sharing[r.SegmentID] = append(sharing[r.SegmentID], WindowBrief{w, int(r.MemoryWindow.Used)})
	}
	return sharing, nil
}

// Scratchpad gives a page of what a window has put aside, latest first. Whoever asks sees the window.
func (d *DB) Scratchpad(ctx context.Context, id string, p Page[string]) (Rows[ScratchpadEntry, string], error) {
	found, err := d.read().Scratchpad(ctx, id, p.After, p.more())
	rows := rowsOf(p, found, func(r dbgen.MemoryScratchpad) Item[ScratchpadEntry, string] {
		entry, e := entryOf(r)
		err = errors.Join(err, e)
		d.noteSources(entry.Source)
		return Item[ScratchpadEntry, string]{entry, entry.ID}
	})
	return rows, mapError(err)
}

// CountScratchpad counts what Scratchpad lists.
func (d *DB) CountScratchpad(ctx context.Context, id string) (int64, error) {
	n, err := d.read().CountScratchpad(ctx, id)
	return n, mapError(err)
}

// WindowOperations gives a page of what was done to a window, latest first. Whoever asks sees the window.
func (d *DB) WindowOperations(ctx context.Context, id string, p Page[string]) (Rows[WindowOperation, string], error) {
	found, err := d.read().WindowOperations(ctx, id, p.After, p.more())
	rows := rowsOf(p, found, func(r dbgen.MemoryWindowOperation) Item[WindowOperation, string] {
		o, e := operationOf(r)
		err = errors.Join(err, e)
		d.noteHashes(r.Sources)
		return Item[WindowOperation, string]{o, o.ID}
	})
	return rows, mapError(err)
}

// CountWindowOperations counts what WindowOperations lists.
func (d *DB) CountWindowOperations(ctx context.Context, id string) (int64, error) {
	n, err := d.read().CountWindowOperations(ctx, id)
	return n, mapError(err)
}

// WindowOperation gives an operation on a window; NOT_FOUND.
func (d *DB) WindowOperation(ctx context.Context, id string) (WindowOperation, error) {
	rows, err := d.queries().WindowOperation(ctx, id, d.viewerText())
	if err == nil && len(rows) == 0 {
		err = &fault.Error{Code: fault.NotFound, Field: "operation", Message: "there is no such operation"}
	}
	if err != nil {
		return WindowOperation{}, mapError(err)
	}
	d.noteHashes(rows[0].Sources)
	o, err := operationOf(rows[0])
	return o, mapError(err)
}

func operationOf(r dbgen.MemoryWindowOperation) (WindowOperation, error) {
	o := WindowOperation{
		ID: r.ID, Window: r.WindowID.String(), Kind: WindowOperationKind(r.Kind), At: r.At.UTC(), Before: int(r.TokensBefore), After: int(r.TokensAfter),
		Took: time.Duration(r.TookUs) * time.Microsecond, Type: (*window.ContentType)(r.Type), Query: r.Query, Rejected: r.Rejected, Entered: r.Entered, Gone: r.Gone,
		Overruled: r.Overruled,
	}
	if r.Selection.Valid {
		o.Selection = r.Selection.String()
	}
	by, err := optionalHash(r.ByPlayer)
	o.By = by
	var draft *draftRow
	var judgements []judgementRow
	var superseded []itemRow
	for _, part := range []struct {
		text chain.NullJSON
		into any
	}{
		{r.Draft, &draft}, {r.Quality, &o.Quality}, {r.Compression, &o.Compression}, {chain.NullJSON{JSON: &r.Mitigations}, &o.Mitigations},
		{chain.NullJSON{JSON: &r.Judgements}, &judgements}, {chain.NullJSON{JSON: &r.Superseded}, &superseded},
	} {
		if part.text.JSON != nil {
			err = errors.Join(err, json.Unmarshal([]byte(*part.text.JSON), part.into))
		}
	}
	if draft != nil {
		o.Draft, o.segment = draft.draft(), draft.Segment
	}
	for _, j := range judgements {
		o.Judgements = append(o.Judgements, j.judgement())
	}
	for _, s := range superseded {
		item, e := s.item()
		if o.Superseded, err = append(o.Superseded, item), errors.Join(err, e); s.Segment != "" {
			o.segment, o.shared = s.Segment, append(o.shared, item.ID)
		}
	}
	return o, err
}

// ContextMetrics are the figures of the specification, of operations since a moment.
type ContextMetrics = dbgen.ContextMetricsRow

// ContextMetrics says how windows do that whoever asks sees; nil is ever since.
func (d *DB) ContextMetrics(ctx context.Context, since *time.Time) (ContextMetrics, error) {
	m, err := d.queries().ContextMetrics(ctx, since, d.viewerText())
	return m, mapError(err)
}
