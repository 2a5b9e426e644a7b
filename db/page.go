package db

import (
	"context"
	"slices"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// Page asks for at most Limit rows between two keys, neither included; Backward takes them from the end. A nil
// key does not bound. Rows always come in the list's own order.
type Page[K any] struct {
	After, Before *K
	Limit         int
	Backward      bool
}

// Item is a row with the key that a page can start from.
type Item[T, K any] struct {
	Value T
	Key   K
}

// Rows is a page as it was found. More says whether there is more in the direction that was asked for.
type Rows[T, K any] struct {
	Items []Item[T, K]
	More  bool
}

// more is how many rows a query asks for: one beyond the page tells whether there is more.
func (p Page[K]) more() int32 { return int32(p.Limit) + 1 }

// rowsOf makes a page of what a query with more() gave.
func rowsOf[S, T, K any](p Page[K], found []S, item func(S) Item[T, K]) Rows[T, K] {
	rows := Rows[T, K]{More: len(found) > p.Limit}
	for _, s := range found[:min(len(found), p.Limit)] {
		rows.Items = append(rows.Items, item(s))
	}
	if p.Backward {
		slices.Reverse(rows.Items)
	}
	return rows
}

// messagePage reads a page of messages, which ends before its limit if they have more than maxPageBytes.
func messagePage[K any](ctx context.Context, d *DB, p Page[K], key func(*chain.Message) K, read func(ctx context.Context) ([]dbgen.LogMessage, error)) (Rows[chain.Message, K], error) {
	page := &cut{left: maxPageBytes}
	found, err := read(context.WithValue(ctx, cutKey{}, page))
	rows := rowsOf(p, found, func(r dbgen.LogMessage) Item[chain.Message, K] {
		m := messageOf(r)
		return Item[chain.Message, K]{m, key(&m)}
	})
	rows.More = rows.More || page.done
	return noted(d, rows), mapError(err)
}

// scopeArgs gives a scope as the parameters that all queries over scopes have, as far as the viewer sees.
func (d *DB) scopeArgs(s selection.Scope) dbgen.CountMessagesInScopeParams {
	return dbgen.CountMessagesInScopeParams{
		Sessions: hashTexts(s.Sessions), Threads: hashTexts(s.Threads), Players: hashTexts(s.Players), Owners: hashTexts(s.Owners),
		Hashtags: hashTexts(s.Hashtags), Flags: hashTexts(s.Flags), Items: hashTexts(s.Items), Locations: hashTexts(s.Locations),
		EventTypes: words(s.EventTypes), Since: s.Since, Until: s.Until, Viewer: d.viewerText(),
	}
}

// narrowed gives a scope as far as a match leaves it, as the parameters that all lists over scopes have, as far as the
// viewer sees.
func (d *DB) narrowed(ctx context.Context, s selection.Scope, m selection.Match) (dbgen.CountMessagesInScopeParams, error) {
	a := d.scopeArgs(m.Within(s))
	a.Channels, a.Receivers, a.Leaders = m.Channels, hashTexts(m.Receivers), hashTexts(m.Leaders)
	if m.Importance != nil {
		a.Importance = make([]int16, len(m.Importance))
		for i, n := range m.Importance {
			a.Importance[i] = int16(n)
		}
	}
	if m.Text == nil {
		return a, nil
	}
	var sessions []chain.Hash
	if d.viewer != nil {
		var err error
		if sessions, err = d.read().OwnSessions(ctx, d.viewer.String()); err != nil {
			return a, mapError(err)
		}
	}
	var err error
	a.Held, err = d.holding(ctx, *m.Text, sessions)
	return a, err
}

// hashText gives a hash as text; nil stays nil.
func hashText(h *chain.Hash) *string {
	if h == nil {
		return nil
	}
	text := h.String()
	return &text
}

// hashTexts gives hashes as text; nil stays nil, which a query takes for no bound.
func hashTexts(hashes []chain.Hash) []string {
	if hashes == nil {
		return nil
	}
	out := make([]string, len(hashes))
	for i, h := range hashes {
		out[i] = h.String()
	}
	return out
}

func words[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
