package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// ScratchpadEntry is something that was put aside.
type ScratchpadEntry struct {
	ID        string
	Window    string
	Type      window.ContentType
	Content   string
	Tokens    int
	CreatedAt time.Time
	Source    *window.Source
}

// Offload puts contents on a window's scratchpad, all or none, and gives their entries in order.
//
// Faults: BAD_USER_INPUT names the field; NOT_FOUND; CONFLICT if the scratchpad would hold more than MaxAside, or MaxAsideBytes.
func (d *DB) Offload(ctx context.Context, id string, contents []string, by chain.Hash) ([]ScratchpadEntry, error) {
	if len(contents) == 0 || len(contents) > MaxScratchpad {
		return nil, fault.Input("contents", "has %d entries; 1 to %d are allowed", len(contents), MaxScratchpad)
	}
	known, ok := d.windows.seen(id)
	if !ok || d.viewer != nil && *d.viewer != known.Agent { // whose it is, the statement below asks again
		var err error
		if known, err = d.load(ctx, d.queries(), id); err != nil {
			return nil, mapError(err)
		}
	}
	count, err := token.Named(known.Encoding)
	if err != nil {
		return nil, err
	}
	o := d.begin(WindowOffload, by)
	put, ids, tokens := make([]ScratchpadEntry, len(contents)), make([]string, len(contents)), make([]int32, len(contents))
	bytes := 0
	for i, content := range contents {
		field := fmt.Sprintf("contents[%d]", i)
		if strings.TrimSpace(content) == "" {
			return nil, fault.Input(field, "is empty")
		}
		if err := chain.CheckText(field, &content, MaxAsideContent); err != nil {
			return nil, err
		}
		bytes += len(content)
		put[i] = ScratchpadEntry{ID: newItemID(), Window: id, Type: window.Knowledge, Content: content, CreatedAt: o.At}
	}
	q := d.queries()
	giveBack, err := d.windows.takeRoom(ctx, q, id, len(contents), bytes)
	if fault.CodeOf(err) == fault.Conflict {
		if _, hidden := d.load(ctx, q, id); hidden != nil {
			return nil, mapError(hidden)
		}
		err = &fault.Error{Code: fault.Conflict, Field: "contents", Message: err.Error()}
	}
	if err != nil {
		return nil, mapError(err)
	}
	for i := range put { // only once nothing else may refuse it, since this takes the longest
		e := &put[i]
		if e.Tokens, err = count.Within(ctx)(e.Content); err != nil {
			giveBack()
			return nil, err
		}
		ids[i], tokens[i] = e.ID, int32(e.Tokens)
	}
	found, err := q.Offload(ctx, dbgen.OffloadParams{
		Operation: uuid.NewString(), At: o.At, ByPlayer: by.String(), TookUs: int32(time.Since(o.began).Microseconds()), WindowID: id, Viewer: d.viewerText(), Ids: ids, Contents: contents, Tokens: tokens,
	})
	if err == nil && !found {
		err = errNoWindow("window")
	}
	if err != nil {
		giveBack()
	}
	return put, mapError(err)
}

// ReadScratchpad gives an entry, which goes on record; NOT_FOUND.
func (d *DB) ReadScratchpad(ctx context.Context, id string, by chain.Hash) (ScratchpadEntry, error) {
	rows, err := d.queries().ReadScratchpad(ctx, dbgen.ReadScratchpadParams{
		ID: id, Viewer: d.viewerText(), ByPlayer: by.String(), Operation: uuid.NewString(), At: d.moment(),
	})
	if err == nil && len(rows) == 0 {
		err = &fault.Error{Code: fault.NotFound, Field: "id", Message: "there is no such entry"}
	}
	if err != nil {
		return ScratchpadEntry{}, mapError(err)
	}
	entry, err := entryOf(rows[0])
	if err == nil && entry.Source != nil {
		d.noteSources(entry.Source)
	}
	return entry, mapError(err)
}

func entryOf(r dbgen.MemoryScratchpad) (ScratchpadEntry, error) {
	source, err := sourceOfItem(r.Source, r.SourceType)
	return ScratchpadEntry{
		ID: r.ID, Window: r.WindowID, Type: window.ContentType(r.Type), Content: r.Content, Tokens: int(r.Tokens), CreatedAt: r.CreatedAt.UTC(), Source: source,
	}, err
}

// InjectFromScratchpad puts an entry into its window, where it counts until it is removed.
//
// Faults: NOT_FOUND; CONTENT_REJECTED if it contradicts a verified record, or what does not give way to it; CONTEXT_WINDOW_EXCEEDED.
func (d *DB) InjectFromScratchpad(ctx context.Context, id, entry string, by chain.Hash) (window.Item, error) {
	var item window.Item
	var rejected string
	err := d.changing(ctx, id, func(q *dbgen.Queries, l *loaded) (kept bool, err error) {
		rows, err := q.ScratchpadEntry(ctx, entry, id)
		if err == nil && len(rows) == 0 {
			err = &fault.Error{Code: fault.NotFound, Field: "entry", Message: "there is no such entry on the window's scratchpad"}
		}
		if err != nil {
			return false, err
		}
		r := rows[0]
		aside := window.Item{ID: r.ID, Type: window.ContentType(r.Type), Content: r.Content, Tokens: int(r.Tokens), ObservedAt: r.ObservedAt.UTC()}
		if aside.Source, err = sourceOfItem(r.Source, r.SourceType); err != nil {
			return false, err
		}
		if err := d.checkQuarantine(ctx, q, "entry", aside); err != nil {
			return false, err
		}
		o := d.begin(WindowInject, by)
		o.Draft, o.Type = &window.Draft{Type: aside.Type, Content: aside.Content, Source: aside.Source, ObservedAt: aside.ObservedAt}, &aside.Type
		e, err := d.env(ctx, l, aside.Content)
		if err != nil {
			return false, err
		}
		if o.out, err = window.Inject(ctx, e, l.Window, aside); err != nil {
			return false, d.noteExceeded(ctx, l, &o, err)
		}
		o.Quality, rejected = &o.out.Quality, o.out.Rejected
		if o.out.Item != nil {
			item = *o.out.Item
		}
		if len(o.out.Added) == 0 && rejected == "" { // it was there: nobody wants it twice
			return true, nil
		}
		err = d.withSources(ctx, q, o.quoted(o.out), func(q *dbgen.Queries) error {
			kept, err = d.keep(ctx, q, l, &o)
			return err
		})
		return kept, err
	})
	if err == nil && rejected != "" {
		err = &fault.Error{Code: fault.ContentRejected, Field: "entry", Message: rejected}
	}
	return item, err
}

// checkQuarantine is CONTENT_REJECTED if something came from a message that is in quarantine.
func (d *DB) checkQuarantine(ctx context.Context, q *dbgen.Queries, field string, items ...window.Item) error {
	var messages []chain.Hash
	var behind []string // what summaries stand for
	for i := range items {
		behind = append(behind, items[i].SummaryOf...)
		if s := items[i].Source; s != nil && s.Type == chain.RefContext {
			messages = append(messages, s.Hash)
		}
	}
	if len(behind) > 0 {
		more, err := q.SourcesBehind(ctx, behind)
		if err != nil {
			return err
		}
		for _, text := range more {
			if h, err := chain.ParseHash(text); err == nil {
				messages = append(messages, h)
			}
		}
	}
	if len(messages) == 0 {
		return nil
	}
	found, err := (&DB{shared: d.shared}).InQuarantine(ctx, messages)
	if err == nil && len(found) > 0 {
		err = &fault.Error{Code: fault.ContentRejected, Field: field, Message: "came from a message that is in quarantine"}
	}
	return err
}

// noteWindow notes the messages that an administrator reads of with a window.
func (d *DB) noteWindow(ctx context.Context, q *dbgen.Queries, w *window.Window) error {
	if d.office == nil || d.office.reading == nil {
		return nil
	}
	var behind []string // what summaries stand for
	for i := range w.Items {
		d.noteSources(w.Items[i].Source)
		behind = append(behind, w.Items[i].SummaryOf...)
	}
	for _, s := range w.Segments {
		for i := range s.Items {
			d.noteSources(s.Items[i].Source)
		}
	}
	if len(behind) == 0 {
		return nil
	}
	hashes, err := q.SourcesBehind(ctx, behind)
	d.noteHashes(hashes)
	return err
}

// noteHashes notes the same of messages by their hashes.
func (d *DB) noteHashes(hashes []string) {
	for _, text := range hashes {
		if h, err := chain.ParseHash(text); err == nil {
			d.noteSources(&window.Source{Hash: h, Type: chain.RefContext})
		}
	}
}

// noteSources notes what an administrator reads of messages.
func (d *DB) noteSources(sources ...*window.Source) {
	if d.office == nil || d.office.reading == nil {
		return
	}
	r := d.office.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range sources {
		if s != nil && s.Type == chain.RefContext {
			r.messages[s.Hash] = true
		}
	}
}
