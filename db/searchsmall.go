package db

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
)

var (
	//go:embed search/counts.sql
	countsSQL string
	//go:embed search/owning.sql
	owningSQL string
)

// findInSmall weighs the query's terms by how rare they are in the scope, and takes the candidates with the greatest
// inner product: an exact look at all that the scope holds.
func (s *search) findInSmall(ctx context.Context) error {
	stats, owning := newStats(), []chain.Hash(nil)
	batch := &pgx.Batch{}
	s.planned = len(s.ids)+len(s.recordIDs) <= fewMessages
	if s.planned {
		batch.Queue(planOnce)
	}
	batch.Queue(countsSQL, list(s.query.Terms()), list(s.ids), list(s.recordIDs)).Query(func(rows pgx.Rows) error {
		return eachCount(rows, func(term int32, passages int) {
			if term == 0 {
				stats.Passages = passages
				return
			}
			stats.Frequency[term] = passages
		})
	})
	if len(s.players) > 0 {
		batch.Queue(owningSQL, list(s.ids), s.playerHashes()).Query(collectInto(&owning))
	}
	read := len(s.ids)+len(s.recordIDs) <= maxCandidates // all will be candidates: what ranking has to know comes along
	if read {
		s.queueAbout(batch, s.ids, s.recordIDs)
	}
	if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	s.weigh(stats, owning)
	batch = &pgx.Batch{}
	s.queueProducts(batch, s.ids, s.recordIDs, maxCandidates)
	if s.planned {
		batch.Queue(planEach)
		s.planned = false
	}
	return s.tx.SendBatch(ctx, batch).Close()
}

func newStats() embeddings.Stats { return embeddings.Stats{Frequency: map[int32]int{}} }

func (s *search) playerHashes() []string {
	hashes := make([]chain.Hash, len(s.players))
	for i, p := range s.players {
		hashes[i] = p.hash
	}
	return hashTexts(hashes)
}

// eachCount reads terms and numbers of passages.
func eachCount(rows pgx.Rows, take func(term int32, passages int)) error {
	var term int32
	var passages int
	_, err := pgx.ForEachRow(rows, []any{&term, &passages}, func() error {
		take(term, passages)
		return nil
	})
	return err
}

// collectInto reads a single column.
func collectInto[T any](list *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*list, err = pgx.CollectRows(rows, pgx.RowTo[T])
		return err
	}
}
