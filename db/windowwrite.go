package db

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// WindowWritten is what came of a write.
type WindowWritten struct {
	window.Outcome
	Operation WindowOperation
	Window    window.Window // as it is now
}

// checkSource gives a draft its source.
func (d *DB) checkSource(ctx context.Context, q *dbgen.Queries, draft *window.Draft, source *chain.Hash) error {
	if source == nil {
		return nil
	}
	rows, err := q.SourceKind(ctx, source.String(), d.viewerText())
	switch {
	case err != nil:
		return mapError(err)
	case len(rows) == 0:
		return &fault.Error{Code: fault.NotFound, Field: "input.source", Message: "there is no such message or record"}
	case rows[0].Erased:
		return fault.Input("input.source", "was erased")
	case rows[0].Quarantined:
		return fault.Input("input.source", "is in quarantine")
	}
	draft.Source = &window.Source{Hash: *source, Type: rows[0].Kind}
	return nil
}

// WriteContext writes into a window what is good enough for it; what is not is on record, and the outcome says why. By is who
// writes.
//
// Faults: BAD_USER_INPUT names the field; NOT_FOUND; CONTEXT_WINDOW_EXCEEDED if it does not fit, whatever is compressed.
func (d *DB) WriteContext(ctx context.Context, id string, draft window.Draft, source *chain.Hash, by chain.Hash) (WindowWritten, error) {
	if err := draft.Validate("input", d.moment()); err != nil {
		return WindowWritten{}, err
	}
	draft.ObservedAt = draft.ObservedAt.UTC().Truncate(time.Microsecond)
	var written WindowWritten
	err := d.changingFrom(ctx, id, true, func(q *dbgen.Queries, l *loaded) (kept bool, err error) {
		if err := d.checkSource(ctx, q, &draft, source); err != nil {
			return false, err
		}
		o := d.begin(WindowWrite, by)
		o.Draft, o.Type = &draft, &draft.Type
		if err := l.Refuse(draft.Content); err != nil {
			return false, d.noteExceeded(ctx, l, &o, err)
		}
		e, err := d.env(ctx, l, draft.Content)
		if err != nil {
			return false, err
		}
		if o.out, err = window.Write(ctx, e, l.Window, draft); err != nil {
			return false, d.noteExceeded(ctx, l, &o, err)
		}
		o.Quality = &o.out.Quality
		err = d.withSources(ctx, q, o.quoted(o.out), func(q *dbgen.Queries) error {
			kept, err = d.keep(ctx, q, l, &o)
			return err
		})
		if kept {
			written = WindowWritten{Outcome: o.out, Operation: o.WindowOperation, Window: l.next.Window}
		}
		return kept, err
	})
	return written, err
}

// inOrNot runs f in a transaction that commits if it has done something.
func (d *DB) inOrNot(ctx context.Context, f func(q *dbgen.Queries) (bool, error)) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		_, err := f(dbgen.New(tx)) // what has not happened has changed nothing
		return err
	})
}

// changed gives a window as a change leaves it.
func changed(w window.Window, c window.Change) window.Window {
	gone := make(map[string]bool, len(c.Gone)+len(c.Kept))
	for _, id := range append(idsOf(c.Gone), idsOf(c.Kept)...) {
		gone[id] = true
	}
	items := make([]window.Item, 0, len(w.Items)+len(c.Added))
	for i := range w.Items {
		if len(gone) == 0 || !gone[w.Items[i].ID] {
			items = append(items, w.Items[i])
		}
	}
	w.Items = append(items, c.Added...)
	byPlace := func(a, b window.Item) int { return cmp.Compare(a.Place, b.Place) }
	if !slices.IsSortedFunc(w.Items, byPlace) { // what is written last mostly stands last
		slices.SortStableFunc(w.Items, byPlace)
	}
	w.Segments = slices.Clone(w.Segments) // callers put in what they have changed; the state that is remembered stays
	w.Version++
	return w
}

// noteExceeded notes what did not fit, and gives the fault; any other fault it gives as it is. None is given if the window has
// changed since it was read: then it may fit.
func (d *DB) noteExceeded(ctx context.Context, l *loaded, o *operation, exceeded error) error {
	if fault.CodeOf(exceeded) != fault.ContextWindowExceeded {
		return exceeded
	}
	text := exceeded.Error()
	mitigations := []window.Mitigation{} // nothing has left
	for _, m := range o.out.Mitigations {
		if m.Action == window.ActionRejected {
			mitigations = append(mitigations, m)
		}
	}
	o.Took = time.Since(o.began)
	if o.out.Quality != (window.Quality{}) {
		o.Quality = &o.out.Quality
	}
	parts, err := encoded(rowOfDraft(o.Draft, o.At), o.Quality, mitigations, rowsOfJudgements(o.out.Judgements))
	if err != nil {
		return err
	}
	sources, err := o.sources(ctx, d.queries(), l)
	if err != nil {
		return err
	}
	var noted []string
	err = d.withSources(ctx, d.queries(), sources, func(q *dbgen.Queries) (err error) {
		noted, err = q.NoteOperation(ctx, dbgen.NoteOperationParams{
			Kind: string(WindowExceeded), At: o.At, ByPlayer: o.By.String(), Tokens: int32(l.Used()), TookUs: int32(o.Took.Microseconds()), Type: (*string)(o.Type),
			Draft: nullable(parts[0]), Rejected: &text, Quality: nullable(parts[1]), Mitigations: parts[2], Judgements: parts[3], Sources: sources, WindowID: l.ID,
			Version: l.Version,
		})
		return err
	})
	if err != nil || len(noted) == 0 {
		return err
	}
	l.noted = true
	return exceeded
}

// CompressWindow brings a window down to a share of its capacity.
func (d *DB) CompressWindow(ctx context.Context, id string, target float64, by chain.Hash) (window.Compression, error) {
	if math.IsNaN(target) || target < 0 || target > 1 {
		return window.Compression{}, fault.Input("target", "%g is outside of 0 to 1", target)
	}
	var done window.Compression
	err := d.changing(ctx, id, func(q *dbgen.Queries, l *loaded) (kept bool, err error) {
		o := d.begin(WindowCompress, by)
		e, err := d.env(ctx, l)
		if err != nil {
			return false, err
		}
		if o.out, err = window.Compress(ctx, e, l.Window, target); err != nil {
			return false, err
		}
		done = *o.out.Compression
		err = d.withSources(ctx, q, o.quoted(o.out), func(q *dbgen.Queries) error {
			kept, err = d.keep(ctx, q, l, &o)
			return err
		})
		return kept, err
	})
	return done, err
}

// RemoveFromWindow takes items out of a window, or of what it shares.
func (d *DB) RemoveFromWindow(ctx context.Context, id string, items []string, by chain.Hash) (window.Window, error) {
	if len(items) == 0 || len(items) > MaxRemoved {
		return window.Window{}, fault.Input("items", "has %d entries; 1 to %d are allowed", len(items), MaxRemoved)
	}
	var left window.Window
	err := d.changing(ctx, id, func(_ *dbgen.Queries, l *loaded) (kept bool, err error) {
		o := d.begin(WindowRemove, by)
		if o.out, err = window.Remove(l.Window, items); err != nil {
			return false, err
		}
		if len(l.Segments) == 0 {
			kept, err = d.keep(ctx, d.queries(), l, &o)
		} else {
			err = d.inOrNot(ctx, func(q *dbgen.Queries) (bool, error) {
				if err := q.LockSharers(ctx, l.ID); err != nil {
					return false, err
				}
				if kept, err = d.keep(ctx, q, l, &o); err != nil || !kept {
					return kept, err
				}
				l.next = nil
				return true, d.unshare(ctx, q, l, &o)
			})
		}
		left = changed(l.Window, o.out.Change)
		for i := range left.Segments {
			left.Segments[i].Items = slices.DeleteFunc(slices.Clone(left.Segments[i].Items), func(item window.Item) bool { return slices.Contains(items, item.ID) })
		}
		return kept, err
	})
	return left, err
}

// SelectIntoWindow selects ranked context within what a window has left, and puts it into the window.
//
// Faults: those of RequestContext and WriteContext.
func (d *DB) SelectIntoWindow(ctx context.Context, id string, request selection.Request, by chain.Hash) (selection.Selection, error) {
	var chosen selection.Selection
	var texts []window.Chosen
	room := 0 // for which it was chosen
	err := d.changing(ctx, id, func(q *dbgen.Queries, l *loaded) (kept bool, err error) {
		o := d.begin(WindowSelect, by)
		o.Query = &request.Query
		e, err := d.env(ctx, l)
		if err != nil {
			return false, err
		}
		left, err := window.Left(ctx, e, l.Window)
		if err == nil && left < 1 {
			err = fault.New(fault.ContextWindowExceeded, "the window is full, and nothing that may leave is in it; remove items, or put content on the scratchpad")
		}
		if err != nil {
			return false, d.noteExceeded(ctx, l, &o, err)
		}
		within := request
		if within.TokenBudget == nil || *within.TokenBudget > left {
			budget := min(left, selection.MaxTokenBudget)
			within.TokenBudget = &budget
		}
		view := d
		if d.viewer == nil && l.Agent != by { // an administrator puts nothing into a window that its agent could not select
			view = &DB{shared: d.shared, viewer: &l.Agent, office: d.office}
		}
		if chosen.ID == "" || *within.TokenBudget < room { // else what was chosen before others wrote still fits
			if chosen, err = view.RequestContext(ctx, within); err == nil {
				texts, err = d.chosenTexts(ctx, chosen)
			}
			if err != nil {
				return false, err
			}
			room = *within.TokenBudget
		}
		o.Selection = chosen.ID
		contents := make([]string, len(texts))
		for i := range texts {
			contents[i] = texts[i].Said
		}
		if err := d.speaking(ctx, l, e, contents...); err != nil {
			return false, err
		}
		if o.out, _, err = window.Select(ctx, e, l.Window, texts); err != nil {
			return false, err
		}
		err = d.withSources(ctx, q, o.quoted(o.out), func(q *dbgen.Queries) error {
			kept, err = d.keep(ctx, q, l, &o)
			return err
		})
		if quarantinedMeanwhile(err) || erasedMeanwhile(err) {
			chosen = selection.Selection{}
		}
		return kept, err
	})
	return chosen, err
}

// chosenTexts gives what was selected, as it stands in the block that was rendered.
func (d *DB) chosenTexts(ctx context.Context, s selection.Selection) ([]window.Chosen, error) {
	lines := s.Lines()
	var messages []chain.Hash
	for _, item := range s.Items {
		if item.Type == chain.RefContext {
			messages = append(messages, item.Hash)
		}
	}
	when := map[chain.Hash]time.Time{}
	found, err := d.MessagesByHash(ctx, messages)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		when[m.Hash] = m.CreatedAt
	}
	out := make([]window.Chosen, 0, len(s.Items))
	for _, item := range s.Items {
		observed, ok := when[item.Hash]
		if !ok {
			observed = s.CreatedAt
		}
		content := strings.TrimPrefix(lines[item.Hash], "- ")
		_, said, labelled := strings.Cut(content, ": ") // the date of a message, or the title of a record
		if !labelled {
			said = content
		}
		out = append(out, window.Chosen{
			Draft: window.Draft{Type: window.Knowledge, Content: content, Source: &window.Source{Hash: item.Hash, Type: item.Type}, ObservedAt: observed},
			Said:  said, Relevance: item.Score,
		})
	}
	return out, nil
}

// withSources runs f, with the locks that keep messages from being erased or quarantined until what they say is in a window.
func (d *DB) withSources(ctx context.Context, q *dbgen.Queries, sources []string, f func(q *dbgen.Queries) error) error {
	if len(sources) == 0 {
		return f(q)
	}
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := dbgen.New(tx)
		if err := q.RefuseSources(ctx, sources); err != nil {
			return err
		}
		return f(q)
	})
}
