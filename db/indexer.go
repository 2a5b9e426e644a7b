package db

import (
	"cmp"
	"context"
	"math"
	"slices"
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
	indexAlone = time.Second           // without anybody else who appends: then they need not wait for a lull
	indexRetry = 5 * time.Second       // after the database failed
	maxBehind  = 50 * indexBatch       // messages without vectors, of this server's, at which appending waits
	maxAwaited = 4 * indexBatch        // messages without vectors that a search takes in before it ranks
)

// indexer gives search vectors to what was appended, in the background: appending need not wait for them, and many
// together cost less. A search takes in what is left before it ranks (see indexPending), so nothing depends on it but
// how long that takes; and so that it never takes long, appending waits for the indexer when that is far behind. When
// the whole log is indexed anew, the newest messages come first, and searches do not wait for the others.
type indexer struct {
	db     *DB
	wake   chan struct{} // holds one
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu       sync.Mutex
	writing  int           // groups that are being written
	behind   int64         // messages that this server wrote since the indexer last found nothing more
	caught   chan struct{} // closed, and made anew, whenever behind shrinks
	appended time.Time     // last
	together time.Time     // last that somebody appended while others did
	searched time.Time     // last
	held     bool          // nothing is indexed but by searches

	batch portion // of one transaction in the background; owned by the goroutine that runs
}

func startIndexer(d *DB) *indexer {
	ctx, cancel := context.WithCancel(context.Background())
	x := &indexer{db: d, wake: make(chan struct{}, 1), cancel: cancel, caught: make(chan struct{}), batch: newPortion(indexBatch)}
	x.wait.Go(func() { x.run(ctx) })
	return x
}

func (x *indexer) stop() {
	x.cancel()
	x.wait.Wait()
}

// writes tells that a group is about to be written, and gives what tells that it was, or was not.
func (x *indexer) writes() (done func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writing++
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.writing--
	}
}

// wrote tells of messages that were committed, and whether they were of one call, and no other waits.
func (x *indexer) wrote(messages int, alone bool) {
	x.mu.Lock()
	x.behind += int64(messages)
	x.appended = time.Now()
	if !alone {
		x.together = x.appended
	}
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

// HoldIndexing stops the making of search vectors in the background, or lets it go on: for measurements.
func (d *DB) HoldIndexing(hold bool) {
	d.index.mu.Lock()
	d.index.held = hold
	d.index.mu.Unlock()
	d.index.wrote(0, false)
}

// yield waits until vectors are due.
func (x *indexer) yield(ctx context.Context) {
	for ctx.Err() == nil {
		x.mu.Lock()
		due := x.due(time.Now()) && !x.held
		x.mu.Unlock()
		if due {
			return
		}
		wait(ctx, indexPause)
	}
}

// due tells whether vectors are to be made now, and not in a lull: as long as nobody searches and not much is behind, appending goes
// first. One who appends by one call after the other leaves a processor free, since either the database works or they do: then whole
// batches need not wait.
func (x *indexer) due(now time.Time) bool {
	return x.behind >= maxBehind/2 || x.behind >= indexBatch && now.Sub(x.together) > indexAlone ||
		now.Sub(x.searched) < indexEager || x.idle(now)
}

// idle tells whether nobody appends, nor did a moment ago.
func (x *indexer) idle(now time.Time) bool { return x.writing == 0 && now.Sub(x.appended) > indexPause }

// room waits until the indexer is not far behind, or ctx ends.
func (x *indexer) room(ctx context.Context) {
	for {
		x.mu.Lock()
		behind, caught, held := x.behind, x.caught, x.held
		x.mu.Unlock()
		if behind < maxBehind || held {
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
		x.askClock(ctx)
		for ctx.Err() == nil {
			x.yield(ctx)
			batch := x.batch.now
			indexed, records, err := x.index(ctx)
			if err != nil {
				if ctx.Err() == nil {
					x.db.log.WarnContext(ctx, "search vectors wait", "cause", err)
				}
				x.caughtUp(0, true) // appending does not wait for what fails
				pause = indexRetry
				break
			}
			x.caughtUp(int64(indexed), indexed == 0)
			if indexed == 0 && records == 0 {
				break
			}
			if int64(indexed) < batch && records == 0 {
				wait(ctx, indexPause)
			}
		}
		timer.Reset(pause)
	}
}

func (x *indexer) askClock(ctx context.Context) {
	ctx, end := x.db.pool.bounded(ctx)
	defer end()
	_ = x.db.clock.ask(ctx, x.db.pool) // else it goes on as it was
}

// index gives vectors to a batch of messages, or if there are none to one of records. In a lull it makes two batches at a time if
// there are as many messages: one mostly waits for the database while the other takes words apart.
func (x *indexer) index(ctx context.Context) (messages, records int, err error) {
	ctx, end := x.db.pool.bounded(ctx)
	defer end()
	batch := int32(x.batch.now)
	var beside sync.WaitGroup
	var more int
	var failed error
	if x.lull() && x.left() >= 2*int64(batch) {
		beside.Go(func() { more, failed = x.db.indexMessages(ctx, nil, batch) })
	}
	messages, err = x.db.indexMessages(ctx, nil, batch)
	beside.Wait()
	messages, err = messages+more, cmp.Or(err, failed)
	if err == nil && messages == 0 {
		records, err = x.db.indexRecords(ctx, false, batch)
	}
	x.batch.learn(ctx, err)
	return messages, records, err
}

// lull says whether nobody has appended for a moment, nor searched for a while.
func (x *indexer) lull() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.idle(time.Now()) && time.Since(x.searched) > indexEager
}

// left is how many messages of this server have no search vectors.
func (x *indexer) left() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.behind
}

// wait waits for so long, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// indexPending gives search vectors to all that is committed and has none, so that the search that follows finds it, and
// not to what comes meanwhile. Of more than maxAwaited messages the newest that nobody has taken get theirs: nobody waits
// until a whole log is indexed anew, nor for others who do that.
func (d *DB) indexPending(ctx context.Context) error {
	d.index.search()
	for upto := int64(math.MaxInt64); ; {
		waiting, err := d.queries().Unindexed(ctx, upto)
		if err != nil {
			return mapError(err)
		}
		if waiting.Messages == 0 && waiting.Records == 0 {
			return nil
		}
		upto = min(upto, waiting.Newest)
		awaited := &upto
		if waiting.Messages > maxAwaited {
			awaited = nil
		}
		if waiting.Messages > 0 {
			if _, err := d.indexMessages(ctx, awaited, indexBatch); err != nil {
				return err
			}
		}
		if waiting.Records > 0 {
			if _, err := d.indexRecords(ctx, waiting.Records <= maxAwaited, indexBatch); err != nil {
				return err
			}
		}
		if waiting.Messages > maxAwaited || waiting.Records > maxAwaited {
			return nil
		}
	}
}

// indexMessages takes runs of messages that have no vectors, at most so many of them, and gives them some: runs that
// begin up to an id, waiting for what another transaction has taken of those; or, with nil, any that nobody has taken.
func (d *DB) indexMessages(ctx context.Context, upto *int64, most int32) (indexed int, err error) {
	err = d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockIndexing(ctx); err != nil {
			return err
		}
		ids, err := takeBacklog(ctx, q, upto, most)
		if err != nil || len(ids) == 0 {
			return err
		}
		indexed = len(ids)
		texts, err := q.TextsOfMessages(ctx, ids)
		if err != nil {
			return err
		}
		rows := d.newLexicalRows()
		for _, m := range texts {
			rows.add(chain.RefContext, m.ID, m.Content)
		}
		return rows.write(ctx, tx)
	})
	return indexed, err
}

// takeBacklog takes runs of ids out of the backlog, the newest, and puts back what is too much for one batch.
func takeBacklog(ctx context.Context, q *dbgen.Queries, upto *int64, most int32) (ids []int64, err error) {
	var runs []dbgen.EmbeddingBacklog
	if upto == nil {
		runs, err = takeFree(ctx, q, most)
	} else {
		runs, err = q.TakeBacklog(ctx, *upto, most)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b dbgen.EmbeddingBacklog) int { return cmp.Compare(b.LastID, a.LastID) })
	var firsts, lasts []int64
	for _, run := range runs {
		id := run.LastID
		for ; id >= run.FirstID && len(ids) < int(most); id-- {
			ids = append(ids, id)
		}
		if id >= run.FirstID {
			firsts, lasts = append(firsts, run.FirstID), append(lasts, id)
		}
	}
	if len(firsts) == 0 {
		return ids, nil
	}
	return ids, q.ReturnBacklog(ctx, firsts, lasts)
}

// takeFree takes short runs, and if those are not enough, a long one.
func takeFree(ctx context.Context, q *dbgen.Queries, most int32) ([]dbgen.EmbeddingBacklog, error) {
	runs, err := q.TakeFreeBacklog(ctx, most)
	ids := int64(0)
	for _, run := range runs {
		ids += run.LastID - run.FirstID + 1
	}
	if err != nil || ids >= int64(most) {
		return runs, err
	}
	long, err := q.TakeFreeRun(ctx, most)
	return append(runs, long...), err
}

// indexRecords does for records what indexMessages does for messages: waiting for what others have taken, or not.
func (d *DB) indexRecords(ctx context.Context, waits bool, most int32) (indexed int, err error) {
	err = d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		take := q.TakeFreePending
		if waits {
			take = q.TakePending
		}
		hashes, err := take(ctx, most)
		if err != nil || len(hashes) == 0 {
			return err
		}
		indexed = len(hashes)
		names := make([]string, len(hashes))
		for i, h := range hashes {
			names[i] = h.String()
		}
		records, err := q.RecordsByHash(ctx, names)
		if err != nil {
			return err
		}
		rows := d.newLexicalRows()
		for _, r := range recordsOf(records) {
			rows.add(r.Kind, r.ID, r.SearchText())
		}
		return rows.write(ctx, tx)
	})
	return indexed, err
}
