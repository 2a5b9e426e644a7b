package db

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// WindowOperationKind says what was done to a window.
type WindowOperationKind string

// The kinds.
const (
	WindowWrite         WindowOperationKind = "write"
	WindowShare         WindowOperationKind = "share"
	WindowSelect        WindowOperationKind = "select"
	WindowCompress      WindowOperationKind = "compress"
	WindowExceeded      WindowOperationKind = "exceeded"
	WindowRemove        WindowOperationKind = "remove"
	WindowOffload       WindowOperationKind = "offload"
	WindowInject        WindowOperationKind = "inject"
	WindowRead          WindowOperationKind = "read"
	WindowRegisterTools WindowOperationKind = "register_tools"
	WindowSearchTools   WindowOperationKind = "search_tools"
	WindowOverrule      WindowOperationKind = "overrule"
	WindowForget        WindowOperationKind = "forget" // by the database: see migrations/00021_windows.sql
)

// WindowOperation is something that was done to a window.
type WindowOperation struct {
	ID            string
	Window        string
	Kind          WindowOperationKind
	At            time.Time
	By            *chain.Hash // nil: nobody, it followed from an erasure or a quarantine
	Before, After int         // tokens used
	Took          time.Duration
	Draft         *window.Draft // what was to enter and did not
	Type          *window.ContentType
	Query         *string
	Rejected      *string
	Quality       *window.Quality
	Mitigations   []window.Mitigation
	Compression   *window.Compression
	Judgements    []window.Judgement
	Entered, Gone []string
	Superseded    []window.Item
	Selection     string // empty: none
	Overruled     *string
	segment       string   // that it was written to, if something of it left or the draft did not enter; else empty
	shared        []string // those of Superseded that left the segment
}

// operation is one on its way.
type operation struct {
	WindowOperation
	began   time.Time
	out     window.Outcome
	entered []string      // besides what the outcome adds: of a segment
	left    []window.Item // the same of what left
}

// begin notes when an operation begins, and by whom.
func (d *DB) begin(kind WindowOperationKind, by chain.Hash) operation {
	return operation{WindowOperation: WindowOperation{Kind: kind, At: d.moment(), By: &by}, began: time.Now()}
}

// itemRow is an item as statements take it.
type itemRow struct {
	ID         string         `json:"id"`
	Place      int64          `json:"place"`
	Type       string         `json:"type"`
	Key        string         `json:"key"`
	Content    string         `json:"content"`
	Tokens     int            `json:"tokens"`
	Quality    window.Quality `json:"quality"`
	VerifiedBy *string        `json:"verified_by"`
	Source     *string        `json:"source"`
	SourceType *string        `json:"source_type"`
	ObservedAt time.Time      `json:"observed_at"`
	AddedAt    time.Time      `json:"added_at"`
	SummaryOf  []string       `json:"summary_of"`
	Injected   bool           `json:"injected"`
	Segment    string         `json:"segment,omitempty"` // of what was superseded: where it was, if not in the window itself
}

func rowOfItem(item window.Item) itemRow {
	r := itemRow{
		ID: item.ID, Place: item.Place, Type: string(item.Type), Key: item.Key, Content: item.Content, Tokens: item.Tokens, Quality: item.Quality,
		VerifiedBy: hashText(item.VerifiedBy), ObservedAt: item.ObservedAt, AddedAt: item.AddedAt, SummaryOf: append([]string{}, item.SummaryOf...), Injected: item.Injected,
	}
	if item.Source != nil {
		hash, kind := item.Source.Hash.String(), string(item.Source.Type)
		r.Source, r.SourceType = &hash, &kind
	}
	return r
}

func (r itemRow) item() (window.Item, error) {
	item := window.Item{
		ID: r.ID, Place: r.Place, Type: window.ContentType(r.Type), Key: r.Key, Content: r.Content, Tokens: r.Tokens, Quality: r.Quality,
		ObservedAt: r.ObservedAt.UTC(), AddedAt: r.AddedAt.UTC(), SummaryOf: r.SummaryOf, Injected: r.Injected,
	}
	var err error
	if item.VerifiedBy, err = optionalHash(r.VerifiedBy); err == nil {
		item.Source, err = sourceOfItem(r.Source, (*chain.RefType)(r.SourceType))
	}
	return item, err
}

func rowsOfItems(items []window.Item) []itemRow {
	rows := make([]itemRow, len(items))
	for i := range items {
		rows[i] = rowOfItem(items[i])
	}
	return rows
}

// draftRow is a draft as it is kept.
type draftRow struct {
	Type       string        `json:"type"`
	Content    string        `json:"content"`
	Key        string        `json:"key,omitempty"`
	Source     *chain.Hash   `json:"source,omitempty"`
	SourceType chain.RefType `json:"sourceType,omitempty"`
	ObservedAt time.Time     `json:"observedAt"`
	Segment    string        `json:"segment,omitempty"` // that it was to enter, if not the window itself
}

func rowOfDraft(d *window.Draft, at time.Time) *draftRow {
	if d == nil {
		return nil
	}
	r := &draftRow{Type: string(d.Type), Content: d.Content, Key: d.Key, ObservedAt: d.ObservedAt}
	if r.ObservedAt.IsZero() {
		r.ObservedAt = at
	}
	if d.Source != nil {
		r.Source, r.SourceType = &d.Source.Hash, d.Source.Type
	}
	return r
}

func (r *draftRow) draft() *window.Draft {
	d := &window.Draft{Type: window.ContentType(r.Type), Content: r.Content, Key: r.Key, ObservedAt: r.ObservedAt.UTC()}
	if r.Source != nil {
		d.Source = &window.Source{Hash: *r.Source, Type: r.SourceType}
	}
	return d
}

// judgementRow is a judgement as it is kept.
type judgementRow struct {
	Relation window.Relation `json:"relation"`
	Reason   string          `json:"reason"`
	By       string          `json:"by"`
	Fallback string          `json:"fallback,omitempty"`
	Known    string          `json:"known"`
	New      string          `json:"new"`
	Item     string          `json:"item,omitempty"`
	Record   *chain.Hash     `json:"record,omitempty"`
}

func rowsOfJudgements(js []window.Judgement) []judgementRow {
	rows := make([]judgementRow, len(js))
	for i, j := range js {
		rows[i] = judgementRow{j.Relation, j.Reason, j.By, j.Fallback, j.Known, j.New, j.Item, j.Record}
	}
	return rows
}

func (r judgementRow) judgement() window.Judgement {
	return window.Judgement{
		Verdict: window.Verdict{Relation: r.Relation, Reason: r.Reason, By: r.By, Fallback: r.Fallback}, Pair: window.Pair{Known: r.Known, New: r.New}, Item: r.Item, Record: r.Record,
	}
}

// encoded gives values as JSON; nil pointers are NULL.
func encoded(values ...any) ([]chain.JSON, error) {
	out := make([]chain.JSON, len(values))
	var err error
	for i, v := range values {
		text, e := json.Marshal(v)
		out[i], err = chain.JSON(text), errors.Join(err, e)
	}
	return out, err
}

func nullable(text chain.JSON) *string {
	if text == "null" {
		return nil
	}
	return (*string)(&text)
}

// sources gives the messages that any text of an operation may come from, those that summaries stand for among them.
func (o *operation) sources(ctx context.Context, q *dbgen.Queries, l *loaded) ([]string, error) {
	found, behind := []string{}, []string{}
	seen := map[string]bool{}
	once := func(hash string) {
		if !seen[hash] {
			seen[hash], found = true, append(found, hash)
		}
	}
	add := func(s *window.Source) {
		if s != nil && s.Type == chain.RefContext {
			once(s.Hash.String())
		}
	}
	if o.Draft != nil {
		add(o.Draft.Source)
	}
	for _, list := range [][]window.Item{o.out.Added, o.out.Gone, o.left} {
		for i := range list {
			add(list[i].Source)
		}
	}
	for i := range o.out.Gone {
		behind = append(behind, o.out.Gone[i].SummaryOf...)
	}
	for _, j := range o.out.Judgements {
		for _, item := range l.Items {
			if item.ID == j.Item {
				add(item.Source)
				behind = append(behind, item.SummaryOf...)
			}
		}
		for _, s := range l.Segments {
			for _, item := range s.Items {
				if item.ID == j.Item {
					add(item.Source)
				}
			}
		}
	}
	if len(behind) == 0 {
		return found, nil
	}
	more, err := q.SourcesBehind(ctx, behind)
	for _, hash := range more {
		once(hash)
	}
	return found, err
}

// keep does to a window what was decided, with the operation, and tells whether it did: not if somebody has changed the window
// since it was read. Whoever calls it has the room given back that it took (undone), and notes what it found no room for (full), once the
// transaction has ended.
func (d *DB) keep(ctx context.Context, q *dbgen.Queries, l *loaded, o *operation) (bool, error) {
	var superseded []window.Item
	rows := []itemRow{}
	for i, item := range slices.Concat(o.out.Gone, o.left) {
		if !slices.ContainsFunc(o.out.Mitigations, func(m window.Mitigation) bool {
			return m.Action == window.ActionSuperseded && slices.Contains(m.Items, item.ID)
		}) {
			continue
		}
		row := rowOfItem(item)
		if i >= len(o.out.Gone) {
			row.Segment = o.segment
		}
		superseded, rows = append(superseded, item), append(rows, row)
	}
	o.Superseded, o.Mitigations, o.Compression, o.Judgements = superseded, o.out.Mitigations, o.out.Compression, o.out.Judgements
	o.Before, o.After = o.out.Before, o.out.After
	o.Took = time.Since(o.began)
	o.Entered, o.Gone = append(idsOf(o.out.Added), o.entered...), append(idsOf(o.out.Gone), idsOf(o.left)...)
	if o.out.Rejected != "" {
		o.Rejected = &o.out.Rejected
	}
	sources, err := o.sources(ctx, q, l)
	if err != nil {
		return false, err
	}
	row := operationRow{
		ID: uuid.NewString(), Kind: o.Kind, By: o.By.String(), Before: o.Before, After: o.After, Took: o.Took.Microseconds(), Type: o.Type, Query: o.Query, Rejected: o.Rejected,
		Quality: o.Quality, Mitigations: append([]window.Mitigation{}, o.Mitigations...), Compression: o.Compression, Judgements: rowsOfJudgements(o.Judgements),
		Entered: append([]string{}, o.Entered...), Gone: append([]string{}, o.Gone...), Superseded: rows, Sources: sources,
	}
	if o.Rejected != nil {
		if row.Draft = rowOfDraft(o.Draft, o.At); row.Draft != nil {
			row.Draft.Segment = o.segment
		}
	}
	if o.Selection != "" {
		row.Selection = &o.Selection
	}
	parts, err := encoded(row, rowsOfItems(o.out.Kept), rowsOfItems(o.out.Added))
	if err != nil {
		return false, err
	}
	entries, bytes := 0, 0
	for i := range o.out.Kept {
		if !o.out.Kept[i].Injected { // else it is there
			entries, bytes = entries+1, bytes+len(o.out.Kept[i].Content)
		}
	}
	if l.giveBack, err = d.windows.takeRoom(ctx, q, l.ID, entries, bytes); fault.CodeOf(err) == fault.Conflict {
		l.full = o
		err = fault.New(fault.ContextWindowExceeded, "the window is too full, and what would leave it has no room on its scratchpad: %s. Or remove items that are no longer needed (removeFromWindow)", err)
	}
	if err != nil {
		return false, err
	}
	kept, err := q.ChangeWindow(ctx, dbgen.ChangeWindowParams{
		WindowID: l.ID, Version: l.Version, Records: l.records, Operation: parts[0], Gone: append(idsOf(o.out.Gone), idsOf(o.out.Kept)...), Kept: parts[1], Added: parts[2], At: o.At,
	})
	o.Window = l.ID
	if kept {
		o.ID = row.ID
		l.next = &loaded{Window: changed(l.Window, o.out.Change)}
	}
	return kept, err
}

// operationRow is an operation as memory.change_window takes it.
type operationRow struct {
	ID          string              `json:"id"`
	Kind        WindowOperationKind `json:"kind"`
	By          string              `json:"by_player"`
	Before      int                 `json:"tokens_before"`
	After       int                 `json:"tokens_after"`
	Took        int64               `json:"took_us"`
	Type        *window.ContentType `json:"type"`
	Draft       *draftRow           `json:"draft"`
	Query       *string             `json:"query"`
	Rejected    *string             `json:"rejected"`
	Quality     *window.Quality     `json:"quality"`
	Mitigations []window.Mitigation `json:"mitigations"`
	Compression *window.Compression `json:"compression"`
	Judgements  []judgementRow      `json:"judgements"`
	Entered     []string            `json:"entered"`
	Gone        []string            `json:"gone"`
	Superseded  []itemRow           `json:"superseded"`
	Selection   *string             `json:"selection"`
	Sources     []string            `json:"sources"`
}

// added gives the messages whose texts enter a window.
func added(out window.Outcome) []string {
	var hashes []string
	seen := map[chain.Hash]bool{}
	for _, items := range [][]window.Item{out.Added, out.Kept} {
		for _, item := range items {
			if item.Source != nil && item.Source.Type == chain.RefContext && !seen[item.Source.Hash] {
				seen[item.Source.Hash] = true
				hashes = append(hashes, item.Source.Hash.String())
			}
		}
	}
	return hashes
}

// quoted gives the messages that are quoted by what an operation keeps: by what enters, and by what does not, which is kept as well.
func (o *operation) quoted(out window.Outcome) []string {
	hashes := added(out)
	if o.Draft != nil && o.Draft.Source != nil && o.Draft.Source.Type == chain.RefContext && !slices.Contains(hashes, o.Draft.Source.Hash.String()) {
		hashes = append(hashes, o.Draft.Source.Hash.String())
	}
	return hashes
}

func idsOf(items []window.Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}
