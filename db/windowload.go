package db

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// loaded is a window with what was said of it.
type loaded struct {
	window.Window
	records  *int64     // the id of the last record that was asked, if it is still to be found out whether that is all; nil: it is
	noted    bool       // what did not fit is on record, with this state
	giveBack func()     // the scratchpad's room that keeping took, for when nothing comes of it; nil: none
	full     *operation // that the scratchpad had no room for
	next     *loaded    // as it is once what was decided is kept; nil: not known
}

// remember keeps a state for the next who asks.
func (w *windows) remember(l loaded) {
	bytes := bytesOf(l.Items)
	for _, s := range l.Segments {
		bytes += bytesOf(s.Items)
	}
	for _, t := range l.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	l.next = nil
	keep, drop := w.states, w.wide
	if bytes > rememberedBytes {
		keep, drop = drop, keep
	}
	drop.Remove(l.ID)
	if bytes <= rememberedMost {
		keep.Add(l.ID, l)
	} else {
		keep.Remove(l.ID)
	}
}

// seen gives a window as it was when it was seen last, if that is remembered.
func (w *windows) seen(id string) (loaded, bool) {
	if l, ok := w.states.Get(id); ok {
		return l, true
	}
	return w.wide.Get(id)
}

func bytesOf(items []window.Item) (n int) {
	for i := range items {
		n += len(items[i].Content) + len(items[i].Key)
		for _, id := range items[i].SummaryOf {
			n += len(id) + 16 // a string's header
		}
	}
	return n
}

// load reads a window with all that is in it. Its version is read first, so that a change since then is noticed by whoever
// changes it.
func (d *DB) load(ctx context.Context, q *dbgen.Queries, id string) (loaded, error) {
	rows, err := q.WindowByID(ctx, id, d.viewerText())
	if err == nil && len(rows) == 0 {
		err = errNoWindow("window")
	}
	if err != nil {
		return loaded{}, err
	}
	if known, ok := d.windows.seen(id); ok && known.Version == rows[0].MemoryWindow.Version {
		return known, d.noteWindow(ctx, q, &known.Window)
	}
	l := loaded{}
	if l.Window, err = windowOf(rows[0].MemoryWindow); err != nil {
		return l, err
	}
	items, err := q.WindowItems(ctx, id)
	if err == nil {
		l.Items, err = itemsOf(items)
	}
	if err == nil && rows[0].Shares {
		l.Segments, err = segmentsOf(ctx, q, id)
	}
	if err == nil && rows[0].Tools {
		l.Tools, err = toolsOf(ctx, q, id)
	}
	if err == nil && rows[0].Overruled {
		var pairs []string
		pairs, err = q.WindowOverruled(ctx, id)
		l.Overruled = make(map[string]bool, len(pairs))
		for _, p := range pairs {
			l.Overruled[p] = true
		}
	}
	if err == nil {
		d.windows.remember(l)
		err = d.noteWindow(ctx, q, &l.Window)
	}
	return l, err
}

// env gives what deciding about a window needs, for content in it that may contradict records.
func (d *DB) env(ctx context.Context, l *loaded, contents ...string) (*window.Env, error) {
	count, err := token.Named(l.Encoding)
	if err != nil {
		return nil, err
	}
	e := &window.Env{
		Judge: d.windows.judge, Summariser: d.windows.summariser, Count: count.Within(ctx), CountUpTo: func(text string, most int) (int, error) { return count.UpTo(ctx, text, most) }, Words: d.windows.wordsOf, NewID: newItemID, Now: d.moment(),
	}
	return e, d.speaking(ctx, l, e, contents...)
}

// guess gives a window as it was when it was seen last, if it is known and the viewer may see it.
func (d *DB) guess(ctx context.Context, q *dbgen.Queries, id string) (loaded, bool) {
	known, ok := d.windows.seen(id)
	if !ok || d.windows.slow || d.viewer != nil && *d.viewer != known.Agent || d.noteWindow(ctx, q, &known.Window) != nil {
		return loaded{}, false
	}
	upTo := d.windows.records.upTo()
	known.records = &upTo
	return known, true
}

// changing runs f on a window as it is, until nobody has changed it meanwhile, one caller after the other. What f gives is kept
// by itself.
func (d *DB) changing(ctx context.Context, id string, f func(q *dbgen.Queries, l *loaded) (kept bool, err error)) error {
	return d.changingFrom(ctx, id, false, f)
}

// changingFrom is changing that may begin with a guess of how the window is, which saves a statement where it is right: keeping
// what was decided finds that out. What a wrong guess led to, f's error too, says nothing.
func (d *DB) changingFrom(ctx context.Context, id string, guess bool, f func(q *dbgen.Queries, l *loaded) (kept bool, err error)) error {
	leave, err := d.windows.enter(ctx, id)
	if err != nil {
		return mapError(err)
	}
	defer leave()
	q := d.queries()
	once := func(l *loaded) (bool, error) {
		kept, err := f(q, l)
		if err != nil || !kept {
			l.undone()
		}
		if err != nil && l.full != nil { // once its transaction, which may hold the window, has ended
			err = d.noteExceeded(ctx, l, l.full, err)
		}
		return kept, err
	}
	if guess {
		if l, ok := d.guess(ctx, q, id); ok {
			if kept, err := once(&l); kept || l.noted {
				return d.changed(&l, err)
			}
		}
	}
	for try := 1; ; try++ {
		l, err := d.load(ctx, q, id)
		if err != nil {
			return mapError(err)
		}
		kept, err := once(&l)
		switch {
		case (quarantinedMeanwhile(err) || erasedMeanwhile(err) || deadlock(err) || err == nil && !kept) && try < windowTries:
			wait(ctx, time.Duration(try)*time.Millisecond)
		case err == nil && !kept:
			return fault.New(fault.Unavailable, "too many write to this window at once; nothing was done, try again")
		default:
			return d.changed(&l, err)
		}
	}
}

// undone is for a change whose transaction has ended without a commit.
func (l *loaded) undone() {
	if l.giveBack != nil {
		l.giveBack()
		l.giveBack = nil
	}
}

// changed ends a change: without an error, what the window is like now is remembered.
func (d *DB) changed(l *loaded, err error) error {
	if err == nil && l.next != nil {
		d.windows.remember(*l.next)
	}
	return mapError(err)
}
