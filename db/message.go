package db

import (
	"context"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// MessagesByHash gives those of the messages that there are, in no order.
func (d *DB) MessagesByHash(ctx context.Context, hashes []chain.Hash) ([]chain.Message, error) {
	rows, err := d.readByKey().MessagesByHash(ctx, hashTexts(hashes), d.viewerText())
	found := messagesOf(rows)
	d.note(found...)
	return found, mapError(err)
}

// MessagesByID gives, whoever asks, those of the messages that there are, in the order of their ids: as many of the first as have no
// more content than that together, in bytes, and at least one.
func (d *DB) MessagesByID(ctx context.Context, ids []int64, content int64) ([]chain.Message, error) {
	rows, err := d.queries().MessagesByID(ctx, ids, content)
	return messagesOf(rows), mapError(err)
}

func messagesOf(rows []dbgen.LogMessage) []chain.Message {
	out := make([]chain.Message, len(rows))
	for i, r := range rows {
		out[i] = messageOf(r)
	}
	return out
}

// Messages gives a page of the messages in a scope that match, by id: the order in which they were written.
func (d *DB) Messages(ctx context.Context, scope selection.Scope, match selection.Match, p Page[chain.Hash]) (Rows[chain.Message, chain.Hash], error) {
	if !scope.HasMessages() {
		return Rows[chain.Message, chain.Hash]{}, nil
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return Rows[chain.Message, chain.Hash]{}, err
	}
	return messagePage(ctx, d, p, byHash, func(ctx context.Context) ([]dbgen.LogMessage, error) {
		return d.read().MessagesInScope(ctx, dbgen.MessagesInScopeParams{
			Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners, Hashtags: a.Hashtags, Flags: a.Flags,
			Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until,
			Channels: a.Channels, Importance: a.Importance, Held: a.Held, Receivers: a.Receivers, Leaders: a.Leaders,
			Viewer: a.Viewer, After: hashText(p.After), Before: hashText(p.Before), Backward: p.Backward, RowCount: p.more(),
		})
	})
}

// CountMessages counts the messages in a scope that match.
func (d *DB) CountMessages(ctx context.Context, scope selection.Scope, match selection.Match) (int64, error) {
	if !scope.HasMessages() {
		return 0, nil
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return 0, err
	}
	n, err := d.read().CountMessagesInScope(ctx, a)
	return n, mapError(err)
}

func byHash(m *chain.Message) chain.Hash { return m.Hash }

// SessionMessages gives a page of a session's messages by sequence.
func (d *DB) SessionMessages(ctx context.Context, session chain.Hash, p Page[int64]) (Rows[chain.Message, int64], error) {
	bySequence := func(m *chain.Message) int64 { return m.Sequence }
	return messagePage(ctx, d, p, bySequence, func(ctx context.Context) ([]dbgen.LogMessage, error) {
		return d.read().SessionMessages(ctx, dbgen.SessionMessagesParams{
			SessionHash: session.String(), After: p.After, Before: p.Before, Backward: p.Backward, RowCount: p.more(),
			Viewer: d.viewerText(),
		})
	})
}

// ThreadMessages gives a page of a thread's messages by time.
func (d *DB) ThreadMessages(ctx context.Context, thread chain.Hash, p Page[chain.Hash]) (Rows[chain.Message, chain.Hash], error) {
	return messagePage(ctx, d, p, byHash, func(ctx context.Context) ([]dbgen.LogMessage, error) {
		return d.read().ThreadMessages(ctx, dbgen.ThreadMessagesParams{
			ThreadHash: thread.String(), After: hashText(p.After), Before: hashText(p.Before), Backward: p.Backward, RowCount: p.more(),
			Viewer: d.viewerText(),
		})
	})
}

// CitingMessages gives a page of the messages that were sent with a message or record, by id.
func (d *DB) CitingMessages(ctx context.Context, source chain.Hash, p Page[chain.Hash]) (Rows[chain.Message, chain.Hash], error) {
	return messagePage(ctx, d, p, byHash, func(ctx context.Context) ([]dbgen.LogMessage, error) {
		return d.readByKey().CitingMessages(ctx, source.String(), hashText(p.After), d.viewerText(), p.more())
	})
}

// CountCitingMessages counts them.
func (d *DB) CountCitingMessages(ctx context.Context, source chain.Hash) (int64, error) {
	n, err := d.readByKey().CountCitingMessages(ctx, source.String(), d.viewerText())
	return n, mapError(err)
}

// RefsOf gives the refs of each of the messages, by position. A message without any is left out.
func (d *DB) RefsOf(ctx context.Context, messages []chain.Hash) (map[chain.Hash][]chain.Ref, error) {
	return refsOf(ctx, d.readByKey(), messages, d.viewerText())
}

func refsOf(ctx context.Context, q *dbgen.Queries, messages []chain.Hash, viewer *string) (map[chain.Hash][]chain.Ref, error) {
	rows, err := q.RefsOfMessages(ctx, hashTexts(messages), viewer)
	out := make(map[chain.Hash][]chain.Ref, len(messages))
	for _, r := range rows {
		out[r.MessageHash] = append(out[r.MessageHash], chain.Ref{Type: r.RefType, Hash: r.RefHash})
	}
	return out, mapError(err)
}

// LogPosition gives the highest id of a message, and how many messages there are.
func (d *DB) LogPosition(ctx context.Context) (position, size int64, err error) {
	p, err := d.queries().LogPosition(ctx)
	return p.Position, p.Size, mapError(err)
}
