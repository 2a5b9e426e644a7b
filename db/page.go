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

// sized is a message with its bytes, and those of all messages up to it. All queries of messages within a number of bytes
// have it.
type sized dbgen.MessagesInScopeRow

func (r sized) message() dbgen.LogMessage {
	return dbgen.LogMessage{
		ID: r.ID, Hash: r.Hash, SessionHash: r.SessionHash, Sequence: r.Sequence, PrevHash: r.PrevHash, ThreadHash: r.ThreadHash,
		OwnerID: r.OwnerID, PlayersID: r.PlayersID, MasterPlayer: r.MasterPlayer, Role: r.Role, EventType: r.EventType,
		Importance: r.Importance, Channel: r.Channel, Source: r.Source, Content: r.Content, Attachments: r.Attachments,
		Ambient: r.Ambient, Salt: r.Salt, ContentDigest: r.ContentDigest, Hashtags: r.Hashtags, FlagID: r.FlagID,
		MasterItemID: r.MasterItemID, ItemID: r.ItemID, LocID: r.LocID, RefsDigest: r.RefsDigest, CreatedAt: r.CreatedAt,
		IDDigest: r.IDDigest,
	}
}

// sizedRow are the rows of those queries, which differ in nothing but their names.
type sizedRow interface {
	dbgen.MessagesInScopeRow | dbgen.SessionMessagesRow | dbgen.ThreadMessagesRow | dbgen.CitingMessagesRow
}

// messagePage reads a page of messages. It ends before its limit if the messages have more than maxPageBytes, or more than
// is left of the budget of the answer; it always has one, if there is one.
func messagePage[R sizedRow, K any](ctx context.Context, d *DB, p Page[K], key func(*chain.Message) K, read func(bytes int64) ([]R, error)) (Rows[chain.Message, K], error) {
	var rows Rows[chain.Message, K]
	bytes, settle, err := budgetFrom(ctx).take(maxPageBytes)
	if err != nil {
		return rows, err
	}
	found, err := read(bytes)
	var used int64
	for i, f := range found {
		r := sized(f)
		if i == p.Limit || i > 0 && r.Total > bytes {
			rows.More = true
			break
		}
		m := messageOf(r.message())
		rows.Items, used = append(rows.Items, Item[chain.Message, K]{m, key(&m)}), r.Total
	}
	settle(used)
	if p.Backward {
		slices.Reverse(rows.Items)
	}
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
