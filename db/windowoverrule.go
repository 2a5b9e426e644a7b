package db

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Overrule has an administrator overrule what came of an operation: what was rejected enters, what made way for what contradicts it,
// or wanted its slot, comes back beside that, to the window or the segment that it left; and the same pairs are not held to
// contradict each other in this window again. What comes back to a segment needs room in each window that sees it.
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
	if at.segment != "" {
		err = sharing(ctx, func() (kept bool, err error) {
			o, kept, err = d.overruleShared(ctx, &at, reason, by)
			return kept, err
		})
	} else {
		err = d.changing(ctx, at.Window, func(q *dbgen.Queries, l *loaded) (kept bool, err error) {
			o, kept, err = d.overrule(ctx, q, l, id, reason, by)
			return kept, err
		})
	}
	return o.WindowOperation, err
}

// overrule does so in a window.
func (d *DB) overrule(ctx context.Context, q *dbgen.Queries, l *loaded, id, reason string, by chain.Hash) (o operation, kept bool, err error) {
	of, enters, err := d.toOverrule(ctx, q, id)
	if err != nil {
		return o, false, err
	}
	o = d.begin(WindowOverrule, by)
	o.Overruled = &reason
	e, err := d.env(ctx, l)
	if err != nil {
		return o, false, err
	}
	e.Forced = true
	if enters {
		o.Draft, o.Type = of.Draft, &of.Draft.Type
		o.out, err = window.Write(ctx, e, l.Window, *of.Draft)
		o.Quality = &o.out.Quality
	} else {
		o.out, err = window.Restore(ctx, e, l.Window, of.Superseded)
	}
	if err != nil {
		return o, false, d.noteExceeded(ctx, l, &o, err)
	}
	err = d.inOrNot(ctx, func(q *dbgen.Queries) (bool, error) {
		if err := q.RefuseSources(ctx, added(o.out)); err != nil { // without any as well: nothing is erased until this ends
			return false, err
		}
		if kept, err = d.keep(ctx, q, l, &o); err != nil || !kept {
			return kept, err
		}
		l.next = nil
		return true, of.mark(ctx, q, o.ID, reason)
	})
	return o, kept, err
}

// overruleShared does so in a segment, and in the windows that see it.
func (d *DB) overruleShared(ctx context.Context, at *WindowOperation, reason string, by chain.Hash) (o operation, kept bool, err error) {
	q := d.queries()
	s, err := d.enterSegment(ctx, q, at.segment, at.Window)
	if err != nil || s == nil {
		return o, false, err
	}
	defer s.leave()
	of, enters, err := d.toOverrule(ctx, q, at.ID)
	if err != nil {
		return o, false, err
	}
	own := &s.all[s.at]
	o = d.begin(WindowOverrule, by)
	o.Overruled, o.segment = &reason, at.segment
	e, err := d.env(ctx, own)
	if err != nil {
		return o, false, err
	}
	e.Forced = true
	var shared window.Shared
	if enters {
		o.Draft, o.Type = of.Draft, &of.Draft.Type
		shared, err = window.Share(ctx, e, s.segment(), s.windows, s.at, *of.Draft)
		o.Quality = &shared.Quality
	} else {
		var segments, windows []window.Item
		for _, item := range of.Superseded {
			if slices.Contains(of.shared, item.ID) {
				segments = append(segments, item)
			} else {
				windows = append(windows, item)
			}
		}
		shared, err = window.RestoreShared(ctx, e, s.segment(), s.windows, s.at, segments, windows)
	}
	if err != nil {
		return o, false, d.noteExceeded(ctx, own, &o, err)
	}
	kept, err = d.keepShared(ctx, s, at.segment, &o, shared, func(q *dbgen.Queries, o *operation) error { return of.mark(ctx, q, o.ID, reason) })
	return o, kept, err
}

// toOverrule reads an operation in one's turn: what is erased from it after this changes the window, or is refused. It tells whether
// something enters that was rejected.
func (d *DB) toOverrule(ctx context.Context, q *dbgen.Queries, id string) (of WindowOperation, enters bool, err error) {
	if of, err = d.WindowOperation(ctx, id); err != nil {
		return of, false, err
	}
	if enters, err = of.overrulable(); err != nil {
		return of, false, err
	}
	back := of.Superseded
	if enters {
		back = []window.Item{{Source: of.Draft.Source}}
	}
	return of, enters, d.checkQuarantine(ctx, q, "operation", back...)
}

// overrulable tells whether there is something to overrule, and whether something is to enter that was rejected.
func (o *WindowOperation) overrulable() (enters bool, err error) {
	enters = o.Rejected != nil && o.Draft != nil && (o.Kind == WindowWrite || o.Kind == WindowShare && o.segment != "")
	if o.Rejected != nil && o.Draft == nil && o.Kind != WindowExceeded {
		return false, fault.Input("operation", "what was rejected is not kept any more: it was erased, or %d others were rejected since, or many long ones", MaxDrafts)
	}
	judged := slices.ContainsFunc(o.Judgements, func(j window.Judgement) bool { return j.Relation == window.Contradicts })
	if enters || judged || len(o.Superseded) > 0 {
		return enters, nil
	}
	if slices.ContainsFunc(o.Mitigations, func(m window.Mitigation) bool { return m.Action == window.ActionSuperseded }) {
		return false, fault.Input("operation", "what made way is not kept any more: it was erased, or much more has made way since")
	}
	return false, fault.Input("operation", "has nothing to overrule: nothing was rejected, nothing made way, and no judge found a contradiction")
}

// mark notes that an operation is overruled by another, and its pairs. CONFLICT if it was before.
func (o *WindowOperation) mark(ctx context.Context, q *dbgen.Queries, by, reason string) error {
	marked, err := q.MarkOverruled(ctx, reason, o.ID)
	if err == nil && len(marked) == 0 {
		err = fault.New(fault.Conflict, "somebody has overruled it")
	}
	if err == nil {
		_, err = q.MarkOverruled(ctx, reason, by)
	}
	if err != nil {
		return err
	}
	pairs, err := contradicting(marked[0])
	if err != nil {
		return err
	}
	return q.OverrulePairs(ctx, o.Window, pairs)
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
