package db

import (
	"context"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// MaxThreadPlayers is how many players of a thread are named.
const MaxThreadPlayers = 100

// SessionsByHash gives those of the sessions that have messages, in no order.
func (d *DB) SessionsByHash(ctx context.Context, hashes []chain.Hash) ([]chain.Session, error) {
	rows, err := d.readByKey().SessionsByHash(ctx, hashTexts(hashes), d.viewerText())
	out := make([]chain.Session, len(rows))
	for i, r := range rows {
		out[i] = chain.Session{Hash: r.SessionHash, Length: r.Sequence, Head: r.Hash, StartedAt: r.StartedAt, LastMessageAt: r.CreatedAt}
	}
	return out, mapError(err)
}

// Sessions gives a page of the sessions that hold a message of the scope that matches, latest message first.
func (d *DB) Sessions(ctx context.Context, scope selection.Scope, match selection.Match, p Page[chain.Hash]) (Rows[chain.Session, chain.Hash], error) {
	if !scope.HasMessages() {
		return Rows[chain.Session, chain.Hash]{}, nil
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return Rows[chain.Session, chain.Hash]{}, err
	}
	found, err := d.read().SessionsInScope(ctx, dbgen.SessionsInScopeParams{
		Narrowed: scope.NarrowsMessages() || match.Narrows(), Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners,
		Hashtags: a.Hashtags, Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes,
		Since: a.Since, Until: a.Until, Channels: a.Channels, Importance: a.Importance, Held: a.Held,
		After: hashText(p.After), Viewer: a.Viewer, RowCount: p.more(),
	})
	return rowsOf(p, found, func(r dbgen.SessionsInScopeRow) Item[chain.Session, chain.Hash] {
		s := chain.Session{Hash: r.SessionHash, Length: r.Sequence, Head: r.Hash, StartedAt: r.StartedAt, LastMessageAt: r.CreatedAt}
		return Item[chain.Session, chain.Hash]{s, r.Hash}
	}), mapError(err)
}

// CountSessions counts the sessions that hold a message of the scope that matches.
func (d *DB) CountSessions(ctx context.Context, scope selection.Scope, match selection.Match) (int64, error) {
	if !scope.HasMessages() {
		return 0, nil
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return 0, err
	}
	n, err := d.read().CountSessionsInScope(ctx, dbgen.CountSessionsInScopeParams(a))
	return n, mapError(err)
}

// ThreadsByHash gives those of the threads that have messages, in no order.
func (d *DB) ThreadsByHash(ctx context.Context, hashes []chain.Hash) ([]chain.Thread, error) {
	rows, err := d.readByKey().ThreadsByHash(ctx, d.viewerText(), hashTexts(hashes))
	out := make([]chain.Thread, len(rows))
	for i, r := range rows {
		out[i] = chain.Thread{Hash: r.Hash, MessageCount: r.Messages, StartedAt: r.StartedAt, LastMessageAt: r.LastAt, Last: r.Last}
	}
	return out, mapError(err)
}

// Threads gives a page of the threads that hold a message of the scope that matches, latest message first.
func (d *DB) Threads(ctx context.Context, scope selection.Scope, match selection.Match, p Page[chain.Hash]) (Rows[chain.Thread, chain.Hash], error) {
	if !scope.HasMessages() {
		return Rows[chain.Thread, chain.Hash]{}, nil
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return Rows[chain.Thread, chain.Hash]{}, err
	}
	found, err := d.read().ThreadsInScope(ctx, dbgen.ThreadsInScopeParams{
		Narrowed: scope.NarrowsMessages() || match.Narrows(), Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners,
		Hashtags: a.Hashtags, Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes,
		Since: a.Since, Until: a.Until, Channels: a.Channels, Importance: a.Importance, Held: a.Held,
		After: hashText(p.After), Viewer: a.Viewer, RowCount: p.more(),
	})
	return rowsOf(p, found, func(r dbgen.ThreadsInScopeRow) Item[chain.Thread, chain.Hash] {
		t := chain.Thread{Hash: r.Hash, MessageCount: r.Messages, StartedAt: r.StartedAt, LastMessageAt: r.LastAt, Last: r.Last}
		return Item[chain.Thread, chain.Hash]{t, r.Last}
	}), mapError(err)
}

// CountThreads counts the threads that hold a message of the scope that matches.
func (d *DB) CountThreads(ctx context.Context, scope selection.Scope, match selection.Match) (int64, error) {
	if !scope.HasMessages() {
		return 0, nil
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return 0, err
	}
	n, err := d.read().CountThreadsInScope(ctx, dbgen.CountThreadsInScopeParams(a))
	return n, mapError(err)
}

// PlayersOf gives, for each of the threads, who sent, received or coordinated a message in it, in the order of
// their hashes, at most MaxThreadPlayers.
func (d *DB) PlayersOf(ctx context.Context, threads []chain.Hash) (map[chain.Hash][]chain.Hash, error) {
	rows, err := d.readByKey().PlayersOfThreads(ctx, hashTexts(threads), d.viewerText(), MaxThreadPlayers)
	out := make(map[chain.Hash][]chain.Hash, len(threads))
	for _, r := range rows {
		out[r.ThreadHash] = append(out[r.ThreadHash], r.Player)
	}
	return out, mapError(err)
}
