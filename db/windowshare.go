package db

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// CreateSegment makes a segment that windows share. They are all of one agent's, unless whoever makes it sees all.
//
// Faults: BAD_USER_INPUT names the field; NOT_FOUND for a window.
func (d *DB) CreateSegment(ctx context.Context, name string, windows []string) (window.Segment, error) {
	if err := checkName("name", name); err != nil {
		return window.Segment{}, err
	}
	slices.Sort(windows)
	windows = slices.Compact(windows)
	if len(windows) == 0 || len(windows) > window.MaxShared {
		return window.Segment{}, fault.Input("windows", "has %d entries; 1 to %d are allowed", len(windows), window.MaxShared)
	}
	made := window.Segment{Name: name, WindowCount: len(windows)}
	err := d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		found, err := q.LockWindows(ctx, windows, d.viewerText())
		if err != nil {
			return err
		}
		if len(found) < len(windows) {
			return errNoWindow("windows")
		}
		for _, w := range found {
			if w.Encoding != found[0].Encoding {
				return fault.Input("windows", "count tokens in %s and in %s: what they share would count differently", found[0].Encoding, w.Encoding)
			}
			if w.Segments >= window.MaxShared {
				return fault.Input("windows", "holds one that shares %d segments, which is the most", window.MaxShared)
			}
		}
		if made.ID, err = q.NewSegment(ctx, name, int32(len(windows)), d.moment()); err != nil {
			return err
		}
		return q.AddSegmentWindows(ctx, made.ID, windows)
	})
	return made, err
}

// WriteToSegment writes to what windows share, through one of them, as WriteContext does.
func (d *DB) WriteToSegment(ctx context.Context, segment, through string, draft window.Draft, source *chain.Hash, by chain.Hash) (WindowWritten, error) {
	if err := draft.Validate("input", d.moment()); err != nil {
		return WindowWritten{}, err
	}
	draft.ObservedAt = draft.ObservedAt.UTC().Truncate(time.Microsecond)
	for try := 1; ; try++ {
		written, kept, err := d.shareOnce(ctx, segment, through, draft, source, by)
		switch {
		case (quarantinedMeanwhile(err) || erasedMeanwhile(err) || deadlock(err) || err == nil && !kept) && try < windowTries:
			wait(ctx, time.Duration(try)*time.Millisecond)
		case err == nil && !kept:
			return WindowWritten{}, fault.New(fault.Unavailable, "too many write to these windows at once; nothing was done, try again")
		default:
			return written, mapError(err)
		}
	}
}

func (d *DB) shareOnce(ctx context.Context, segment, through string, draft window.Draft, source *chain.Hash, by chain.Hash) (w WindowWritten, kept bool, err error) {
	q := d.queries()
	ids, err := q.SegmentWindows(ctx, segment, through, d.viewerText())
	if err != nil {
		return w, false, err
	}
	at := slices.Index(ids, through)
	if at < 0 {
		return w, false, &fault.Error{Code: fault.NotFound, Field: "segment", Message: "there is no such segment of this window"}
	}
	if err := d.checkSource(ctx, q, &draft, source); err != nil {
		return w, false, err
	}
	for _, id := range ids { // in their order, as everybody who wants several
		leave, err := d.windows.enter(ctx, id)
		if err != nil {
			return w, false, err
		}
		defer leave()
	}
	o := d.begin(WindowShare, by)
	o.Draft, o.Type = &draft, &draft.Type
	all := make([]loaded, len(ids))
	windows := make([]window.Window, len(ids))
	everybodys := &DB{shared: d.shared} // who shares a window with others changes theirs
	for i, id := range ids {
		if all[i], err = everybodys.load(ctx, q, id); err != nil {
			if fault.CodeOf(err) == fault.NotFound {
				return w, false, nil // it has gone meanwhile: look again
			}
			return w, false, err
		}
		windows[i] = all[i].Window
	}
	if err := d.noteWindow(ctx, q, &all[at].Window); err != nil { // the only one that the result shows
		return w, false, err
	}
	own := slices.IndexFunc(windows[at].Segments, func(s window.Segment) bool { return s.ID == segment })
	if own < 0 {
		return w, false, nil // it has gone meanwhile: look again
	}
	e, err := d.env(ctx, &all[at], draft.Content)
	if err != nil {
		return w, false, err
	}
	shared, err := window.Share(ctx, e, windows[at].Segments[own], windows, at, draft)
	if err != nil {
		return w, false, d.noteExceeded(ctx, &all[at], &o, err)
	}
	o.Quality = &shared.Quality
	err = d.keepShared(ctx, all, segment, at, &o, shared, &kept)
	w = WindowWritten{Outcome: shared.Outcome, Operation: o.WindowOperation, Window: changed(windows[at], shared.Windows[at].Change)}
	if own := &w.Window.Segments[own]; shared.Rejected == "" {
		gone := idsOf(shared.Gone)
		own.Items = append(slices.DeleteFunc(slices.Clone(own.Items), func(item window.Item) bool { return slices.Contains(gone, item.ID) }), *shared.Item)
	}
	return w, kept, err
}

// unshare notes in the other windows of segments what has left these through one of them.
func (d *DB) unshare(ctx context.Context, q *dbgen.Queries, l *loaded, o *operation) error {
	type row struct {
		ID      string `json:"id"`
		Segment string `json:"segment"`
		Tokens  int    `json:"tokens"`
	}
	rows, segments := []row{}, []string{}
	for _, s := range l.Segments {
		for _, item := range s.Items {
			if slices.Contains(o.Gone, item.ID) {
				rows, segments = append(rows, row{item.ID, s.ID, item.Tokens}), append(segments, s.ID)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	gone, err := encoded(rows)
	if err != nil {
		return err
	}
	// In two statements, so that the second one sees what those did whom the first one waited for.
	others, err := q.TouchSharers(ctx, l.ID, segments)
	if err != nil || len(others) == 0 {
		return err
	}
	return q.NoteUnshared(ctx, o.At, o.By.String(), gone[0], others)
}

// keepShared does all that a write to a segment does, or nothing.
func (d *DB) keepShared(ctx context.Context, all []loaded, segment string, at int, o *operation, shared window.Shared, kept *bool) error {
	errChanged := fault.New(fault.Conflict, "changed meanwhile")
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := dbgen.New(tx)
		sources := o.quoted(shared.Outcome)
		for _, each := range shared.Windows {
			sources = append(sources, added(each)...)
		}
		if len(sources) > 0 {
			if err := q.RefuseSources(ctx, sources); err != nil {
				return err
			}
		}
		for i := range all {
			each := *o
			each.out = shared.Windows[i]
			each.out.Quality = shared.Quality
			if i == at {
				each.out.Mitigations, each.out.Judgements, each.out.Rejected = shared.Mitigations, shared.Judgements, shared.Rejected
			} else if shared.Rejected != "" {
				continue // the others have nothing to do with it
			}
			each.entered, each.left = idsOf(shared.Added), shared.Gone
			ok, err := d.keep(ctx, q, &all[i], &each)
			if err != nil {
				return err
			}
			if !ok {
				return errChanged
			}
			if i == at {
				*o = each
			}
		}
		if len(shared.Gone) > 0 {
			if err := q.DropSegmentItems(ctx, segment, idsOf(shared.Gone)); err != nil {
				return err
			}
		}
		for _, item := range shared.Added {
			text, err := json.Marshal(rowOfItem(item))
			if err != nil {
				return err
			}
			if err := q.AddSegmentItem(ctx, segment, chain.JSON(text)); err != nil {
				return err
			}
		}
		return nil
	})
	*kept = err == nil
	if err == error(errChanged) {
		return nil
	}
	return err
}
