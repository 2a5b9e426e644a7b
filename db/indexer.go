package db

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
)

// How search vectors follow the log.
const (
	indexBatch = 1000                  // messages, or records, of one transaction
	indexPause = 50 * time.Millisecond // between batches that are not full: more comes together; without appends, a lull
	indexEager = 10 * time.Second      // after a search: then vectors follow at once
	indexPoll  = 2 * time.Second       // for what other servers and other programs write
	indexRetry = 5 * time.Second       // after the database failed
	maxBehind  = 20 * indexBatch       // messages without vectors, of this server's, at which appending waits
)

// indexer gives search vectors to what was appended, in the background: appending need not wait for them, and many
// together cost less. A search takes in what is left before it ranks (see indexPending), so nothing depends on it but
// how long that takes; and so that it never takes long, appending waits for the indexer when that is far behind.
type indexer struct {
	db     *DB
	wake   chan struct{} // holds one
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu       sync.Mutex
	behind   int64         // messages that this server wrote since the indexer last found nothing more
	caught   chan struct{} // closed, and made anew, whenever behind shrinks
	appended time.Time     // last
	searched time.Time     // last
}

func startIndexer(d *DB) *indexer {
	ctx, cancel := context.WithCancel(context.Background())
	x := &indexer{db: d, wake: make(chan struct{}, 1), cancel: cancel, caught: make(chan struct{})}
	x.wait.Go(func() { x.run(ctx) })
	return x
}

func (x *indexer) stop() {
	x.cancel()
	x.wait.Wait()
}

// wrote tells of messages that were committed.
func (x *indexer) wrote(messages int) {
	x.mu.Lock()
	x.behind += int64(messages)
	x.appended = time.Now()
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// search tells that somebody searches.
func (x *indexer) search() {
	x.mu.Lock()
	x.searched = time.Now()
	x.mu.Unlock()
}

// yield waits for a lull: as long as nobody searches and not much is behind, appending goes first.
func (x *indexer) yield(ctx context.Context) {
	for ctx.Err() == nil {
		x.mu.Lock()
		now := time.Now()
		due := x.behind >= maxBehind/2 || now.Sub(x.searched) < indexEager || now.Sub(x.appended) > indexPause
		x.mu.Unlock()
		if due {
			return
		}
		wait(ctx, indexPause)
	}
}

// room waits until the indexer is not far behind, or ctx ends.
func (x *indexer) room(ctx context.Context) {
	for {
		x.mu.Lock()
		behind, caught := x.behind, x.caught
		x.mu.Unlock()
		if behind < maxBehind {
			return
		}
		select {
		case <-caught:
		case <-ctx.Done():
			return
		}
	}
}

// caughtUp takes off what was indexed; all of it says that nothing is left.
func (x *indexer) caughtUp(indexed int64, all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.behind = max(0, x.behind-indexed); all {
		x.behind = 0
	}
	close(x.caught)
	x.caught = make(chan struct{})
}

func (x *indexer) run(ctx context.Context) {
	timer := time.NewTimer(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.wake:
		case <-timer.C:
		}
		pause := indexPoll
		for ctx.Err() == nil {
			x.yield(ctx)
			indexed, err := x.db.indexMessages(ctx, true)
			if err != nil {
				if ctx.Err() == nil {
					x.db.log.WarnContext(ctx, "search vectors wait", "cause", err)
				}
				x.caughtUp(0, true) // appending does not wait for what fails
				pause = indexRetry
				break
			}
			x.caughtUp(int64(indexed), indexed == 0)
			if indexed == 0 {
				break
			}
			if indexed < indexBatch {
				wait(ctx, indexPause)
			}
		}
		timer.Reset(pause)
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// indexPending gives search vectors to all that is committed and has none, so that the search that follows finds it.
func (d *DB) indexPending(ctx context.Context) error {
	d.index.search()
	for {
		waiting, err := d.queries().HasPending(ctx)
		if err != nil {
			return mapError(err)
		}
		if !waiting.Messages && !waiting.Records {
			return nil
		}
		if waiting.Messages {
			if _, err := d.indexMessages(ctx, false); err != nil {
				return err
			}
		}
		if waiting.Records {
			if err := d.indexRecords(ctx); err != nil {
				return err
			}
		}
	}
}

// indexMessages takes runs of messages that have no vectors, at most indexBatch of them, and gives them some. What
// another transaction has taken it leaves alone with skip, or else waits for.
func (d *DB) indexMessages(ctx context.Context, skip bool) (indexed int, err error) {
	err = d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockIndexing(ctx); err != nil {
			return err
		}
		ids, err := takeBacklog(ctx, q, skip)
		if err != nil || len(ids) == 0 {
			return err
		}
		indexed = len(ids)
		texts, err := q.TextsOfMessages(ctx, ids)
		if err != nil {
			return err
		}
		var rows lexicalRows
		for _, m := range texts {
			rows.add(chain.RefContext, m.ID, &m.SessionHash, m.Sequence, m.Content)
		}
		return rows.write(ctx, tx)
	})
	return indexed, err
}

// takeBacklog takes runs of ids out of the backlog, and puts back what is too much for one batch.
func takeBacklog(ctx context.Context, q *dbgen.Queries, skip bool) ([]int64, error) {
	take := q.TakeBacklog
	if skip {
		take = q.TakeFreeBacklog
	}
	runs, err := take(ctx, indexBatch)
	if err != nil {
		return nil, err
	}
	var ids, firsts, lasts []int64
	for _, run := range runs {
		id := run.FirstID
		for ; id <= run.LastID && len(ids) < indexBatch; id++ {
			ids = append(ids, id)
		}
		if id <= run.LastID {
			firsts, lasts = append(firsts, id), append(lasts, run.LastID)
		}
	}
	if len(firsts) == 0 {
		return ids, nil
	}
	return ids, q.ReturnBacklog(ctx, firsts, lasts)
}

// indexRecords does for records what indexMessages does for messages.
func (d *DB) indexRecords(ctx context.Context) error {
	return d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		hashes, err := q.TakePending(ctx, indexBatch)
		if err != nil || len(hashes) == 0 {
			return err
		}
		names := make([]string, len(hashes))
		for i, h := range hashes {
			names[i] = h.String()
		}
		records, err := q.RecordsByHash(ctx, names)
		if err != nil {
			return err
		}
		var rows lexicalRows
		for _, r := range recordsOf(records) {
			rows.add(r.Kind, r.ID, nil, 0, r.SearchText())
		}
		return rows.write(ctx, tx)
	})
}
