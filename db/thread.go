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

// fewPlaces is how many threads, or sessions, a log may have for a list to look up each, and not go through the latest
// messages until it has come by enough.
const fewPlaces = 500

// few gives what find finds, if that is few; else nil.
func few(ctx context.Context, find func(context.Context, int32) ([]chain.Hash, error)) ([]string, error) {
	found, err := find(ctx, fewPlaces+1)
	if err != nil || len(found) > fewPlaces {
		return nil, err
	}
	return hashTexts(found), nil
}

// Sessions gives a page of the sessions that hold a message of the scope that matches, latest message first.
func (d *DB) Sessions(ctx context.Context, scope selection.Scope, match selection.Match, p Page[chain.Hash]) (Rows[chain.Session, chain.Hash], error) {
	found, err := d.sessions(ctx, scope, match, p)
	return rowsOf(p, found, func(r dbgen.SessionsInScopeRow) Item[chain.Session, chain.Hash] {
		s := chain.Session{Hash: r.SessionHash, Length: r.Sequence, Head: r.Hash, StartedAt: r.StartedAt, LastMessageAt: r.CreatedAt}
		return Item[chain.Session, chain.Hash]{s, r.Hash}
	}), mapError(err)
}

func (d *DB) sessions(ctx context.Context, scope selection.Scope, match selection.Match, p Page[chain.Hash]) ([]dbgen.SessionsInScopeRow, error) {
	if !scope.HasMessages() {
		return nil, nil
	}
	params := dbgen.SessionsInScopeParams{After: hashText(p.After), Viewer: d.viewerText(), RowCount: p.more()}
	if !scope.NarrowsMessages() && !match.Narrows() {
		listed, err := few(ctx, dbgen.New(d.reads).SomeSessions)
		if err != nil {
			return nil, err
		}
		if params.Listed = listed; listed == nil {
			rows, err := d.read().LatestSessions(ctx, params.After, params.Viewer, params.RowCount)
			out := make([]dbgen.SessionsInScopeRow, len(rows))
			for i, r := range rows {
				out[i] = dbgen.SessionsInScopeRow(r)
			}
			return out, err
		}
		return d.read().SessionsInScope(ctx, params)
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return nil, err
	}
	params.Sessions, params.Threads, params.Players, params.Owners = a.Sessions, a.Threads, a.Players, a.Owners
	params.Hashtags, params.Flags, params.Items, params.Locations = a.Hashtags, a.Flags, a.Items, a.Locations
	params.EventTypes, params.Since, params.Until = a.EventTypes, a.Since, a.Until
	params.Channels, params.Importance, params.Held = a.Channels, a.Importance, a.Held
	params.Receivers, params.Leaders = a.Receivers, a.Leaders
	return d.read().SessionsInScope(ctx, params)
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
	found, err := d.threads(ctx, scope, match, p)
	return rowsOf(p, found, func(r dbgen.ThreadsInScopeRow) Item[chain.Thread, chain.Hash] {
		t := chain.Thread{Hash: r.Hash, MessageCount: r.Messages, StartedAt: r.StartedAt, LastMessageAt: r.LastAt, Last: r.Last}
		return Item[chain.Thread, chain.Hash]{t, r.Last}
	}), mapError(err)
}

func (d *DB) threads(ctx context.Context, scope selection.Scope, match selection.Match, p Page[chain.Hash]) ([]dbgen.ThreadsInScopeRow, error) {
	if !scope.HasMessages() {
		return nil, nil
	}
	params := dbgen.ThreadsInScopeParams{After: hashText(p.After), Viewer: d.viewerText(), RowCount: p.more()}
	if !scope.NarrowsMessages() && !match.Narrows() {
		listed, err := few(ctx, dbgen.New(d.reads).SomeThreads)
		if err != nil {
			return nil, err
		}
		if params.Listed = listed; listed == nil {
			rows, err := d.read().LatestThreads(ctx, params.Viewer, params.After, params.RowCount)
			out := make([]dbgen.ThreadsInScopeRow, len(rows))
			for i, r := range rows {
				out[i] = dbgen.ThreadsInScopeRow(r)
			}
			return out, err
		}
		return d.read().ThreadsInScope(ctx, params)
	}
	a, err := d.narrowed(ctx, scope, match)
	if err != nil {
		return nil, err
	}
	params.Sessions, params.Threads, params.Players, params.Owners = a.Sessions, a.Threads, a.Players, a.Owners
	params.Hashtags, params.Flags, params.Items, params.Locations = a.Hashtags, a.Flags, a.Items, a.Locations
	params.EventTypes, params.Since, params.Until = a.EventTypes, a.Since, a.Until
	params.Channels, params.Importance, params.Held = a.Channels, a.Importance, a.Held
	params.Receivers, params.Leaders = a.Receivers, a.Leaders
	return d.read().ThreadsInScope(ctx, params)
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
