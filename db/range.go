package db

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// MaxMarks is how many marks of a line are given.
const MaxMarks = 500

// outlinePart is how many messages an outline takes in by one statement.
const outlinePart = 200_000

// MarkKind says why a message is marked.
type MarkKind string

// The kinds of marks, the worst first.
const (
	MarkError     MarkKind = "error"
	MarkImportant MarkKind = "important"
	MarkSession   MarkKind = "session"
)

// Mark is a message to find by its position.
type Mark struct {
	Position  int
	Kind      MarkKind
	Hash      chain.Hash
	CreatedAt time.Time
}

// excerpt is what a viewer sees of a line, of what matches.
type excerpt struct {
	sketch
	whole      bool // nothing is left out
	seen       []bool
	channels   []bool // nil: any
	match      selection.Match
	importance [selection.MaxImportance + 1]bool
	held       map[int64]bool // nil: any
}

func (x *excerpt) has(e entry) bool {
	return x.whole || x.seen[e.session] && (x.match.Importance == nil || e.importance() <= selection.MaxImportance && x.importance[e.importance()]) &&
		(x.channels == nil || e.channel() > 0 && x.channels[e.channel()-1]) &&
		(x.match.Since == nil || e.at >= x.match.Since.UnixMicro()) && (x.match.Until == nil || e.at < x.match.Until.UnixMicro()) &&
		(x.held == nil || x.held[e.id])
}

// count counts those of the first so many messages of the line.
func (x *excerpt) count(upto int) int {
	if x.whole {
		return upto
	}
	n := 0
	for _, e := range x.entries[:upto] {
		if x.has(e) {
			n++
		}
	}
	return n
}

// hold leaves out all but these messages.
func (x *excerpt) hold(ids []int64) {
	held := make(map[int64]bool, len(ids))
	for _, id := range ids {
		if x.held == nil || x.held[id] {
			held[id] = true
		}
	}
	x.held = held
}

// excerpt reads what is new in a line, and gives what the viewer sees of it.
func (d *DB) excerpt(ctx context.Context, line Line, match selection.Match) (*excerpt, error) {
	of, err := d.sketch(ctx, line)
	if err != nil {
		return nil, err
	}
	x := &excerpt{sketch: of, match: match, seen: make([]bool, len(of.sessions))}
	visible := of.sessions
	if d.viewer != nil {
		if visible, err = d.read().SessionsSeen(ctx, d.viewer.String(), hashTexts(of.sessions)); err != nil {
			return nil, mapError(err)
		}
	}
	at := make(map[chain.Hash]bool, len(visible))
	for _, session := range visible {
		at[session] = true
	}
	for i, session := range of.sessions {
		x.seen[i] = at[session]
	}
	if match.Channels != nil {
		x.channels = make([]bool, len(of.channels))
		for i, c := range of.channels {
			x.channels[i] = slices.Contains(match.Channels, c)
		}
	}
	for _, n := range match.Importance {
		x.importance[n] = true
	}
	if match.Text != nil {
		ids, err := d.holding(ctx, *match.Text, visible)
		if err != nil {
			return nil, err
		}
		x.hold(ids)
	}
	if match.HasParts() {
		ids, err := dbgen.New(d.reads).MessagesOfParts(ctx, line.Thread, line.Hash.String(), hashTexts(match.Receivers), hashTexts(match.Leaders))
		if err != nil {
			return nil, mapError(err)
		}
		x.hold(ids)
	}
	x.whole = d.viewer == nil && !match.Narrows()
	return x, nil
}

// holding gives the ids of the messages that hold all words of a text, of these sessions or, with nil, of all.
func (d *DB) holding(ctx context.Context, text string, sessions []chain.Hash) ([]int64, error) {
	if err := d.indexPending(ctx); err != nil {
		return nil, err
	}
	query := embeddings.Lexical{}.Parse(text)
	keys, idle := allOf(query.Keys()), allOf(query.Idle())
	var ids []int64
	var err error
	if sessions == nil {
		ids, err = d.queries().MessagesHolding(ctx, keys, idle)
	} else {
		ids, err = d.queries().MessagesOfSessionsHolding(ctx, hashTexts(sessions), keys, idle)
	}
	return ids, mapError(err)
}

// allOf writes, as intarray's query_int, that one of each group is there; nil for no groups.
func allOf(groups [][]int32) *string {
	if len(groups) == 0 {
		return nil
	}
	each := make([]string, len(groups))
	for i, g := range groups {
		each[i] = "(" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(g)), "|"), "[]") + ")"
	}
	all := strings.Join(each, "&")
	return &all
}

// sketch brings the outline of a line up to date.
func (d *DB) sketch(ctx context.Context, line Line) (sketch, error) {
	o := d.outlines.of(line)
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return sketch{}, ctx.Err()
	}
	defer func() { <-o.turn }()
	if err := d.readOutline(ctx, o); err != nil {
		o.clear()
		return sketch{}, mapError(err)
	}
	d.outlines.charge(o, o.bytes())
	return o.sketch, nil
}

func (d *DB) readOutline(ctx context.Context, o *outline) error {
	q := dbgen.New(d.reads)
	var last entry
	var session chain.Hash
	if n := len(o.entries); n > 0 {
		last = o.entries[n-1]
		session = o.sessions[last.session]
	}
	state, err := q.OutlineState(ctx, session.String(), time.UnixMicro(last.at).UTC(), last.id)
	if err != nil {
		return err
	}
	if !state.Kept { // the log may be another one, or have lost its end with the server that had it
		o.clear()
	}
	sorted := len(o.entries)
	if o.line.Thread {
		err = outlineThread(ctx, q, o)
		o.settle(state.Position, state.Oldest, state.Next)
	} else {
		err = outlineSession(ctx, q, o)
	}
	o.sort(sorted)
	return err
}

func outlineThread(ctx context.Context, q *dbgen.Queries, o *outline) error {
	at, after := time.Time{}, int64(0)
	for {
		rows, err := q.OutlineOfThread(ctx, dbgen.OutlineOfThreadParams{
			ThreadHash: o.line.Hash.String(), Settled: o.settled, At: at, After: after, RowCount: outlinePart,
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			o.add(r.ID, r.CreatedAt, r.SessionHash, r.EventType, r.Importance, r.Channel)
			at, after = r.CreatedAt, r.ID
		}
		if len(rows) < outlinePart {
			return nil
		}
	}
}

func outlineSession(ctx context.Context, q *dbgen.Queries, o *outline) error {
	for {
		rows, err := q.OutlineOfSession(ctx, o.line.Hash.String(), int64(len(o.entries)), outlinePart)
		if err != nil {
			return err
		}
		for _, r := range rows {
			o.add(r.ID, r.CreatedAt, r.SessionHash, r.EventType, r.Importance, r.Channel)
		}
		if len(rows) < outlinePart {
			return nil
		}
	}
}

// Range gives the messages of a line at positions from, from + 1, …, at most count, of those that match, and how many of
// those there are. It gives fewer once they have more than maxPageBytes.
func (d *DB) Range(ctx context.Context, line Line, match selection.Match, from, count int) ([]chain.Message, int, error) {
	x, err := d.excerpt(ctx, line, match)
	if err != nil {
		return nil, 0, err
	}
	total := x.count(len(x.entries))
	ids := x.at(from, count)
	if len(ids) == 0 {
		return nil, total, nil
	}
	page := &cut{left: maxPageBytes}
	rows, err := d.readByKey().MessagesAt(context.WithValue(ctx, cutKey{}, page), ids, d.viewerText())
	if err == nil && len(rows) < len(ids) && !page.done { // somebody changed the database: the next one may ask again
		d.outlines.forget(line)
	}
	messages := messagesOf(rows)
	d.note(messages...)
	return messages, total, mapError(err)
}

// at gives the ids of the messages at positions.
func (x *excerpt) at(from, count int) []int64 {
	var ids []int64
	if x.whole {
		for _, e := range x.entries[min(from, len(x.entries)):min(from+count, len(x.entries))] {
			ids = append(ids, e.id)
		}
		return ids
	}
	position := 0
	for _, e := range x.entries {
		if !x.has(e) {
			continue
		}
		if position >= from {
			ids = append(ids, e.id)
		}
		if position++; position == from+count {
			break
		}
	}
	return ids
}

// Place gives the position of a message in a line, of those that match, and whether it has one.
func (d *DB) Place(ctx context.Context, line Line, match selection.Match, message chain.Hash) (int, bool, error) {
	found, err := d.readByKey().PlaceOfMessage(ctx, message.String(), d.viewerText())
	if err != nil || len(found) == 0 {
		return 0, false, mapError(err)
	}
	x, err := d.excerpt(ctx, line, match)
	if err != nil {
		return 0, false, err
	}
	at, ok := slices.BinarySearchFunc(x.entries, entry{id: found[0].ID, at: found[0].CreatedAt.UnixMicro()}, compareEntries)
	if !ok || !x.has(x.entries[at]) {
		return 0, false, nil
	}
	return x.count(at), true, nil
}

// PlaceAt gives the position of the first message of a line, of those that match, that was sent at a moment or later: how
// many there are, if there is none.
func (d *DB) PlaceAt(ctx context.Context, line Line, match selection.Match, moment time.Time) (int, error) {
	x, err := d.excerpt(ctx, line, match)
	if err != nil {
		return 0, err
	}
	micros := moment.UnixMicro()
	if moment.Nanosecond()%1000 != 0 { // messages have no parts of a microsecond
		micros++
	}
	return x.count(sort.Search(len(x.entries), func(i int) bool { return x.entries[i].at >= micros })), nil
}

// Marks gives the marks of a line, of the messages that match, in order. Of more than MaxMarks it
// gives of each of as many equal runs the first of the worst kind.
func (d *DB) Marks(ctx context.Context, line Line, match selection.Match) ([]Mark, error) {
	x, err := d.excerpt(ctx, line, match)
	if err != nil {
		return nil, err
	}
	chosen := thin(x.marks(line.Thread), MaxMarks)
	ids := make([]int64, len(chosen))
	for i, m := range chosen {
		ids[i] = m.id
	}
	rows, err := d.readByKey().HashesAt(ctx, ids, d.viewerText())
	if err != nil {
		return nil, mapError(err)
	}
	hashes := make(map[int64]chain.Hash, len(rows))
	for _, r := range rows {
		hashes[r.ID] = r.Hash
	}
	marks := make([]Mark, 0, len(chosen))
	for _, m := range chosen {
		if hash, ok := hashes[m.id]; ok {
			marks = append(marks, Mark{m.position, m.kind, hash, time.UnixMicro(m.at).UTC()})
		}
	}
	return marks, nil
}

// CountMarks counts the marks of a line, of the messages that match.
func (d *DB) CountMarks(ctx context.Context, line Line, match selection.Match) (int, error) {
	x, err := d.excerpt(ctx, line, match)
	if err != nil {
		return 0, err
	}
	return len(x.marks(line.Thread)), nil
}

// marked is an entry with a mark.
type marked struct {
	entry
	position int
	kind     MarkKind
}

func (x *excerpt) marks(sessions bool) []marked {
	var found []marked
	begun := make([]bool, len(x.sessions))
	position := 0
	for _, e := range x.entries {
		if !x.has(e) {
			continue
		}
		first := sessions && !begun[e.session]
		begun[e.session] = true
		switch {
		case e.isError():
			found = append(found, marked{e, position, MarkError})
		case e.importance() == selection.MaxImportance:
			found = append(found, marked{e, position, MarkImportant})
		case first:
			found = append(found, marked{e, position, MarkSession})
		}
		position++
	}
	return found
}

// thin leaves so many marks.
func thin(marks []marked, most int) []marked {
	if len(marks) <= most {
		return marks
	}
	kinds := []MarkKind{MarkError, MarkImportant, MarkSession}
	kept := make([]marked, most)
	for i := range kept {
		run := marks[i*len(marks)/most : (i+1)*len(marks)/most]
		kept[i] = slices.MinFunc(run, func(a, b marked) int { return slices.Index(kinds, a.kind) - slices.Index(kinds, b.kind) })
	}
	return kept
}
