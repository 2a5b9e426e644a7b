package db

import (
	"context"
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

var (
	//go:embed search/seen.sql
	seenSQL string
	//go:embed search/seensince.sql
	seenSinceSQL string
)

const (
	maxSights     = 10_000 // viewers whose last look at the log is remembered
	maxAddedSince = 4096   // messages that are gone through to tell what is new
)

// sight is what a viewer saw of a state of the log. A player may be a member of many sessions, and what they see is counted
// session by session; so the next search counts only what came since.
type sight struct {
	position int64       // of the whole log
	absent   []int64     // of the whole log, up to position
	last     *chain.Hash // of the whole log, the message at position
	written  int64       // messages that this server had written before
	newestID int64       // the rest is of what they saw: 0 and nil if that was nothing
	newest   *chain.Hash
	size     int64
}

// queueSeen has read what the viewer sees of the log, behind its state. If this server has written nothing since they looked last,
// the log is expected to be as it was, which its state tells.
func (s *search) queueSeen(batch *pgx.Batch) {
	s.written = s.view.writer.written.Load()
	last, known := s.view.sights.Get(*s.viewer)
	switch {
	case !known:
		batch.Queue(seenSQL, s.viewer.String()).QueryRow(s.readSeen)
	case last.written == s.written:
		s.unmoved = &last
	default:
		batch.Queue(seenSinceSQL, s.seenSince(last)...).QueryRow(func(row pgx.Row) error { return s.readSeenSince(row, last) })
	}
}

func (s *search) seenSince(last sight) []any {
	return []any{s.viewer.String(), last.position, list(last.absent), last.newestID, maxAddedSince + 1}
}

func (s *search) readSeenSince(row pgx.Row, last sight) error {
	var looked, more, id int64
	var newest, still *chain.Hash
	if err := row.Scan(&looked, &more, &id, &newest, &still); err != nil {
		return err
	}
	at := &s.result.at
	// The log may be another one, or have lost its end with the server that had it.
	same := at.position >= last.position && equalHashes(still, last.newest)
	if s.unsighted = !same || looked > maxAddedSince; s.unsighted {
		return nil
	}
	next := sight{newestID: last.newestID, newest: last.newest, size: last.size + more}
	if id > last.newestID {
		next.newestID, next.newest = id, newest
	}
	s.see(next)
	return nil
}

func equalHashes(a, b *chain.Hash) bool { return a == b || a != nil && b != nil && *a == *b }

// seeAnew counts what the viewer sees, if what is remembered does not tell.
func (s *search) seeAnew(ctx context.Context) error {
	if last := s.unmoved; last != nil {
		if equalHashes(s.last, last.last) && slices.Equal(s.result.at.absent, last.absent) {
			s.see(*last)
			return nil
		}
		batch := &pgx.Batch{}
		batch.Queue(planOnce)
		batch.Queue(seenSinceSQL, s.seenSince(*last)...).QueryRow(func(row pgx.Row) error { return s.readSeenSince(row, *last) })
		batch.Queue(planEach)
		if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
	}
	if !s.unsighted {
		return nil
	}
	return s.readSeen(s.tx.QueryRow(ctx, seenSQL, s.viewer.String()))
}

func (s *search) readSeen(row pgx.Row) error {
	var saw sight
	if err := row.Scan(&saw.newestID, &saw.size, &saw.newest); err != nil {
		return err
	}
	s.see(saw)
	return nil
}

// see takes what the viewer sees for the state of the log that is searched, and remembers it.
func (s *search) see(saw sight) {
	at := &s.result.at
	saw.position, saw.absent, saw.last, saw.written = at.position, slices.Clone(at.absent), s.last, s.written
	s.view.sights.Add(*s.viewer, saw)
	at.position, at.size, at.newest = saw.newestID, saw.size, saw.newest
}
