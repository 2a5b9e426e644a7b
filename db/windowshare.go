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
	var written WindowWritten
	err := sharing(ctx, func() (kept bool, err error) {
		written, kept, err = d.shareOnce(ctx, segment, through, draft, source, by)
		return kept, err
	})
	return written, err
}

// sharing runs f on a segment until nobody has changed what f read of it meanwhile.
func sharing(ctx context.Context, f func() (kept bool, err error)) error {
	for try := 1; ; try++ {
		kept, err := f()
		switch {
		case (quarantinedMeanwhile(err) || erasedMeanwhile(err) || deadlock(err) || err == nil && !kept) && try < windowTries:
			wait(ctx, time.Duration(try)*time.Millisecond)
		case err == nil && !kept:
			return fault.New(fault.Unavailable, "too many write to these windows at once; nothing was done, try again")
		default:
			return mapError(err)
		}
	}
}

// sharers are the windows that see a segment, to none of which anybody else writes on this server until leave is called.
type sharers struct {
	all     []loaded
	windows []window.Window
	at      int // the one that is written through
	own     int // the segment, of that window's
	leave   func()
}

func (s *sharers) segment() window.Segment { return s.windows[s.at].Segments[s.own] }

// enterSegment waits for one's turn to write to a segment through a window; nil if something of it has gone meanwhile: look again.
func (d *DB) enterSegment(ctx context.Context, q *dbgen.Queries, segment, through string) (*sharers, error) {
	ids, err := q.SegmentWindows(ctx, segment, through, d.viewerText())
	if err != nil {
		return nil, err
	}
	s := &sharers{all: make([]loaded, len(ids)), windows: make([]window.Window, len(ids)), at: slices.Index(ids, through)}
	if s.at < 0 {
		return nil, &fault.Error{Code: fault.NotFound, Field: "segment", Message: "there is no such segment of this window"}
	}
	var leave []func()
	s.leave = func() {
		for _, one := range leave {
			one()
		}
	}
	entered := false
	defer func() {
		if !entered {
			s.leave()
		}
	}()
	for _, id := range ids { // in their order, as everybody who wants several
		one, err := d.windows.enter(ctx, id)
		if err != nil {
			return nil, err
		}
		leave = append(leave, one)
	}
	everybodys := &DB{shared: d.shared} // who shares a window with others changes theirs
	for i, id := range ids {
		if s.all[i], err = everybodys.load(ctx, q, id); err != nil {
			if fault.CodeOf(err) == fault.NotFound {
				return nil, nil
			}
			return nil, err
		}
		s.windows[i] = s.all[i].Window
	}
	if s.own = slices.IndexFunc(s.windows[s.at].Segments, func(one window.Segment) bool { return one.ID == segment }); s.own < 0 {
		return nil, nil
	}
	if err := d.noteWindow(ctx, q, &s.windows[s.at]); err != nil { // the only one that the result shows
		return nil, err
	}
	entered = true
	return s, nil
}

func (d *DB) shareOnce(ctx context.Context, segment, through string, draft window.Draft, source *chain.Hash, by chain.Hash) (w WindowWritten, kept bool, err error) {
	q := d.queries()
	s, err := d.enterSegment(ctx, q, segment, through)
	if err != nil || s == nil {
		return w, false, err
	}
	defer s.leave()
	if err := d.checkSource(ctx, q, &draft, source); err != nil {
		return w, false, err
	}
	own := &s.all[s.at]
	o := d.begin(WindowShare, by)
	o.Draft, o.Type, o.segment = &draft, &draft.Type, segment
	e, err := d.env(ctx, own, draft.Content)
	if err != nil {
		return w, false, err
	}
	shared, err := window.Share(ctx, e, s.segment(), s.windows, s.at, draft)
	if err != nil {
		return w, false, d.noteExceeded(ctx, own, &o, err)
	}
	o.Quality = &shared.Quality
	kept, err = d.keepShared(ctx, s, segment, &o, shared, nil)
	w = WindowWritten{Outcome: shared.Outcome, Operation: o.WindowOperation, Window: changed(own.Window, shared.Windows[s.at].Change)}
	if now := &w.Window.Segments[s.own]; shared.Rejected == "" {
		gone := idsOf(shared.Gone)
		now.Items = append(slices.DeleteFunc(slices.Clone(now.Items), func(item window.Item) bool { return slices.Contains(gone, item.ID) }), *shared.Item)
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

// keepShared does all that a write to a segment does, and also, if that is not nil, what is done in the same transaction with the
// operation of the window that it is written through; or nothing.
func (d *DB) keepShared(ctx context.Context, s *sharers, segment string, o *operation, shared window.Shared, also func(q *dbgen.Queries, o *operation) error) (kept bool, err error) {
	errChanged := fault.New(fault.Conflict, "changed meanwhile")
	full := false // a scratchpad is
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := dbgen.New(tx)
		sources := append([]string{}, o.quoted(shared.Outcome)...)
		for _, each := range shared.Windows {
			sources = append(sources, added(each)...)
		}
		if len(sources) > 0 || also != nil { // without any as well: nothing is erased until what was read is done with
			if err := q.RefuseSources(ctx, sources); err != nil {
				return err
			}
		}
		for i := range s.all {
			each := *o
			each.out = shared.Windows[i]
			each.out.Quality = shared.Quality
			if i == s.at {
				each.out.Mitigations, each.out.Judgements, each.out.Rejected = shared.Mitigations, shared.Judgements, shared.Rejected
			} else if shared.Rejected != "" {
				continue // the others have nothing to do with it
			}
			each.entered, each.left = idsOf(shared.Added), shared.Gone
			ok, err := d.keep(ctx, q, &s.all[i], &each)
			if full = s.all[i].full != nil; full && i != s.at { // how full is not for whoever writes
				err = fault.New(fault.ContextWindowExceeded, "another window that sees the segment has no room on its scratchpad for what would leave it; nothing was changed")
			}
			if err != nil {
				return err
			}
			if !ok {
				return errChanged
			}
			if i == s.at {
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
		if also == nil {
			return nil
		}
		return also(q, o)
	})
	if err != nil {
		for i := range s.all {
			s.all[i].undone()
		}
	}
	switch {
	case err == error(errChanged):
		return false, nil
	case full:
		return false, d.noteExceeded(ctx, &s.all[s.at], o, err)
	}
	return err == nil, err
}
