package db

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

// Who asks in a large scope mostly asks in it again, and to list it took a quarter of a request. What it held is remembered, then,
// and only what came since is looked at: messages never leave a scope, and who is in a session stays in it.
const (
	maxListings = 32
	leastListed = 1000    // ids, for which remembering is worth while
	mostListed  = 1 << 17 // at a byte or two each
)

var (
	//go:embed search/messageidssince.sql
	messageIDsSinceSQL string
	//go:embed search/newesthash.sql
	newestHashSQL string
)

// listing is what a scope held of the messages of a state of the log. Its lists are never changed.
type listing struct {
	position int64       // of the log
	last     *chain.Hash // the message there; nil: none
	absent   []int64     // up to position
	ids      packedIDs
	count    int // of ids
}

// packedIDs are ids in ascending order, each as what it is more than the one before.
type packedIDs []byte

func packIDs(ids []int64) packedIDs {
	out, last := make([]byte, 0, len(ids)), int64(0)
	for _, id := range ids {
		out, last = binary.AppendUvarint(out, uint64(id-last)), id
	}
	return slices.Clip(out)
}

// appendTo adds the ids to a list.
func (p packedIDs) appendTo(ids []int64) []int64 {
	last := int64(0)
	for i := 0; i < len(p); {
		more, n := uint64(p[i]), 1
		if more >= 0x80 { // seldom
			more, n = binary.Uvarint(p[i:])
		}
		i, last = i+n, last+int64(more)
		ids = append(ids, last)
	}
	return ids
}

// listingKey tells scopes of viewers apart; false: this one cannot be told from others, and is not remembered.
func (s *search) listingKey() (key string, told bool) {
	scope, err := json.Marshal(s.request.Scope)
	if err != nil {
		return "", false
	}
	key = string(scope)
	if s.viewer != nil {
		key += s.viewer.String()
	}
	return key, true
}

// queueListing has the ids that the scope holds read, those that came since it was listed last if it was. The state of the log has to
// be read before, in the same transaction.
func (s *search) queueListing(batch *pgx.Batch) {
	key, told := s.listingKey()
	if s.at != nil || s.view == nil || !told {
		s.queueMessageIDs(batch)
		return
	}
	last, known := s.view.listings.Get(key)
	if !known {
		s.queueMessageIDs(batch)
		batch.Queue(newestHashSQL).Query(func(rows pgx.Rows) error {
			var newest []chain.Hash
			err := collectInto(&newest)(rows)
			if err == nil && len(newest) > 0 {
				s.remember(key, &newest[0])
			}
			return err
		})
		return
	}
	batch.Queue(messageIDsSinceSQL, append(slices.Clone(s.scope), last.position, list(last.absent), maxAddedSince+1)...).QueryRow(func(row pgx.Row) error {
		var looked int64
		var still, newest *chain.Hash
		var more []int64
		if err := row.Scan(&looked, &still, &newest, &more); err != nil {
			return err
		}
		// The log may be another one, or have lost its end with the server that had it.
		same := s.whole.position >= last.position && still != nil && *still == *last.last
		if s.unlisted = !same || looked > maxAddedSince; s.unlisted {
			s.view.listings.Remove(key)
			return nil
		}
		s.ids = last.ids.appendTo(make([]int64, 0, last.count+len(more)))
		if len(more) > 0 {
			s.ids = append(s.ids, more...)
			slices.Sort(s.ids)
			s.ids = slices.Compact(s.ids)
		}
		if looked > 0 {
			s.remember(key, newest)
		}
		return nil
	})
}

// remember keeps what the scope holds, of the whole log as it is.
func (s *search) remember(key string, newest *chain.Hash) {
	if newest == nil || len(s.ids) < s.most.least || len(s.ids) > mostListed || len(s.ids) >= s.mostIDs() {
		return
	}
	s.view.listings.Add(key, listing{position: s.whole.position, last: newest, absent: slices.Clone(s.whole.absent), ids: packIDs(s.ids), count: len(s.ids)})
}

// listAnew lists what the scope holds if what is remembered does not tell.
func (s *search) listAnew(ctx context.Context) error {
	if !s.unlisted {
		return nil
	}
	s.unlisted = false
	batch := &pgx.Batch{}
	s.queueListing(batch)
	return s.tx.SendBatch(ctx, batch).Close()
}
