package db

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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
		o.Draft = draft.draft()
	}
	for _, j := range judgements {
		o.Judgements = append(o.Judgements, j.judgement())
	}
	for _, s := range superseded {
		item, e := s.item()
		o.Superseded, err = append(o.Superseded, item), errors.Join(err, e)
	}
	return o, err
}

// Overrule has an administrator overrule what judges said in an operation: what was rejected enters, what was superseded comes
// back, and the same pairs are not held to contradict each other in this window again. What was said of a segment is only not
// said again.
//
// Faults: BAD_USER_INPUT for the reason, and if there is nothing to overrule; NOT_FOUND; CONFLICT if somebody has; those of
// WriteContext.
func (d *DB) Overrule(ctx context.Context, id, reason string, by chain.Hash) (WindowOperation, error) {
	if reason == "" {
		return WindowOperation{}, fault.Input("reason", "is empty")
	}
	if err := chain.CheckText("reason", &reason, MaxReasonBytes); err != nil {
		return WindowOperation{}, err
	}
	at, err := d.WindowOperation(ctx, id)
	if err != nil {
		return at, err
	}
	var o operation
	err = d.changing(ctx, at.Window, func(q *dbgen.Queries, l *loaded) (kept bool, err error) {
		of, err := d.WindowOperation(ctx, id) // only now: what is erased from it after this changes the window, or is refused
		if err != nil {
			return false, err
		}
		again, err := of.overrulable()
		if err != nil {
			return false, err
		}
		o = d.begin(WindowOverrule, by)
		o.Overruled = &reason
		e, err := d.env(ctx, l)
		if err != nil {
			return false, err
		}
		e.Forced = true
		back := of.Superseded
		if again {
			back = []window.Item{{Source: of.Draft.Source}}
		}
		if err := d.checkQuarantine(ctx, q, "operation", back...); err != nil {
			return false, err
		}
		switch {
		case again:
			o.Draft, o.Type = of.Draft, &of.Draft.Type
			o.out, err = window.Write(ctx, e, l.Window, *of.Draft)
			o.Quality = &o.out.Quality
		case of.Kind == WindowShare:
			o.out, err = window.Restore(ctx, e, l.Window, nil)
		default:
			o.out, err = window.Restore(ctx, e, l.Window, of.Superseded)
		}
		if err != nil {
			return false, d.noteExceeded(ctx, l, &o, err)
		}
		err = d.inOrNot(ctx, func(q *dbgen.Queries) (bool, error) {
			if err := q.RefuseSources(ctx, added(o.out)); err != nil { // without any as well: nothing is erased until this ends
				return false, err
			}
			if kept, err = d.keep(ctx, q, l, &o); err != nil || !kept {
				return kept, err
			}
			l.next = nil
			marked, err := q.MarkOverruled(ctx, reason, id)
			if err == nil && len(marked) == 0 {
				err = fault.New(fault.Conflict, "somebody has overruled it")
			}
			if err == nil {
				_, err = q.MarkOverruled(ctx, reason, o.ID)
			}
			if err != nil {
				return true, err
			}
			pairs, err := contradicting(marked[0])
			if err == nil {
				err = q.OverrulePairs(ctx, of.Window, pairs)
			}
			return true, err
		})
		return kept, err
	})
	return o.WindowOperation, err
}

// overrulable tells whether there is something to overrule, and whether it is to enter that was rejected.
func (o *WindowOperation) overrulable() (enters bool, err error) {
	enters = o.Rejected != nil && o.Draft != nil && o.Kind == WindowWrite
	if o.Rejected != nil && o.Draft == nil && o.Kind != WindowExceeded {
		return false, fault.Input("operation", "what was rejected is not kept any more: it was erased, or %d others were rejected since, or many long ones", MaxDrafts)
	}
	if !enters && !slices.ContainsFunc(o.Judgements, func(j window.Judgement) bool { return j.Relation == window.Contradicts }) {
		return false, fault.Input("operation", "has nothing that a judge said, or that was rejected")
	}
	return enters, nil
}

// contradicting gives the pairs that judges held to contradict each other.
func contradicting(judgements chain.JSON) ([]string, error) {
	var rows []judgementRow
	err := json.Unmarshal([]byte(judgements), &rows)
	pairs := []string{}
	for _, j := range rows {
		if j.Relation == window.Contradicts {
			pairs = append(pairs, window.PairKey(window.Pair{Known: j.Known, New: j.New}))
		}
	}
	return pairs, err
}

// ContextMetrics are the figures of the specification, of operations since a moment.
type ContextMetrics = dbgen.ContextMetricsRow

// ContextMetrics says how windows do that whoever asks sees; nil is ever since.
func (d *DB) ContextMetrics(ctx context.Context, since *time.Time) (ContextMetrics, error) {
	m, err := d.queries().ContextMetrics(ctx, since, d.viewerText())
	return m, mapError(err)
}
