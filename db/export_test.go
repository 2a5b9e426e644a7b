package db

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// SealLock is the key of the lock of the sequencer.
const SealLock = sealLock

// AsOf is a state of the log, for tests.
type AsOf = asOf

// Log gives the position, size and absent ids, and the last record.
func (a asOf) Log() (position, size int64, absent []int64, records int64) {
	return a.position, a.size, a.absent, a.records
}

// NearestHits are what was nearest by meaning.
type NearestHits = []denseHit

// Searching is a search without what is packed of it, with scopes taken for large that are not.
type Searching struct {
	Request       selection.Request
	At            *AsOf
	Keep          []chain.Hash
	Dense         bool // by meaning, too
	Nearest       NearestHits
	Viewer        *chain.Hash
	Small, Listed int    // 0: as ever
	Few           int    // messages that are few; 0: as ever
	Before        func() // called when what waits is indexed, and the log that is searched does not stand yet
	Meanwhile     func() // called when it does
}

// Found is what it gives.
type Found struct {
	Best      []selection.Candidate
	Nearest   NearestHits
	At        AsOf
	Unindexed int64
	Way       string  // how the scope was searched
	Vector    string  // the query's
	Keys      []int32 // words by which passages are found in a large scope
	Products  []Match // of the candidates by their words, the best first
	Besides   int     // how many messages were read beside
	Beside    bool    // whether any were asked for
}

// Search searches.
func (d *DB) Search(ctx context.Context, in Searching) (f Found, err error) {
	if err := d.indexPending(ctx); err != nil {
		return f, err
	}
	if in.Before != nil {
		in.Before()
	}
	s := newSearch(searchInput{request: in.Request, policy: ranking.Default(), at: in.At, keep: in.Keep, viewer: in.Viewer, indexed: true})
	if in.Dense {
		s.dense, _ = d.denseQuery(ctx, in.Request.Query)
		s.policy.Unrelated = s.dense.unrelated
		s.nearest = in.Nearest
	}
	if in.Viewer != nil {
		s.view = d.As(*in.Viewer)
	}
	if in.Small > 0 {
		s.most.small, s.most.listed = in.Small, in.Listed
	}
	if in.Few != 0 {
		s.most.few = in.Few
	}
	err = d.snapshot(ctx, func(tx pgx.Tx) error {
		s.tx = tx
		if in.Meanwhile != nil {
			if _, err := tx.Exec(ctx, "SELECT 1 FROM log.messages LIMIT 1"); err != nil { // from now on it sees this state
				return err
			}
			in.Meanwhile()
		}
		return s.run(ctx)
	})
	f = Found{Best: s.result.best, Nearest: s.result.nearest, At: s.result.at, Unindexed: s.result.unindexed, Vector: s.vector.String(), Way: "small", Besides: s.besides, Beside: s.beside != nil}
	f.Keys = slices.Concat(s.query.Keys()...)
	switch {
	case s.listed:
		f.Way = "listed"
	case s.large:
		f.Way = "large"
	case s.few:
		f.Way = "few"
	}
	for _, c := range s.ordered() {
		f.Products = append(f.Products, Match{c.id, c.product})
	}
	return f, err
}

// WhyNotAll is WhyNot of many.
func (d *DB) WhyNotAll(ctx context.Context, id string, hashes []chain.Hash) ([]selection.Verdict, error) {
	return d.whyNot(ctx, id, func() ([]chain.Hash, error) { return hashes, nil })
}

// LimitScopes has scopes taken for large that are not.
func (d *DB) LimitScopes(small, listed int) { d.most = scopeLimits{small, listed, fewMessages, 1} }

// InScope gives the ids of the messages that a scope holds, as a search finds them that remembers every listing.
func (d *DB) InScope(ctx context.Context, scope selection.Scope) (ids []int64, err error) {
	if err := d.indexPending(ctx); err != nil {
		return nil, err
	}
	s := newSearch(searchInput{
		request: selection.Request{Query: "x", Scope: scope}, viewer: d.viewer, indexed: true,
		most: scopeLimits{small: smallScope, listed: maxListed, few: fewMessages, least: 1},
	})
	err = d.snapshot(ctx, func(tx pgx.Tx) error {
		s.tx, s.view = tx, d
		return s.begin(ctx)
	})
	return s.ids, err
}

// Listings tells how many listings are remembered.
func (d *DB) Listings() int { return d.listings.Len() }

// State gives the state of the log, and the messages that one count of them all sees in the same snapshot.
func (d *DB) State(ctx context.Context) (at AsOf, counted int64, ids []int64, err error) {
	s := newSearch(searchInput{request: selection.Request{Query: "x"}})
	err = d.snapshot(ctx, func(tx pgx.Tx) error {
		s.tx = tx
		batch := &pgx.Batch{}
		batch.Queue(stateSQL).QueryRow(s.readState)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, "SELECT id FROM log.messages")
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	slices.Sort(ids)
	return s.result.at, int64(len(ids)), ids, err
}

func init() { besideLimit = time.Minute } // which a busy machine needs

// LosePlayers closes the connections that are the players' for good.
func (d *DB) LosePlayers() { d.players.Close() }

// Impatient says whether what waited in the context for a connection has waited in vain.
func (d *DB) Impatient(ctx context.Context) error {
	if of, _ := ctx.Value(patienceKey{}).(*patience); of == nil || of.over.Load() {
		return errNoConnection
	}
	return nil
}

// HoldPlayers takes all of them, until they are let go.
func (d *DB) HoldPlayers(ctx context.Context) (letGo func(), err error) {
	var held []*pgxpool.Conn
	letGo = func() {
		for _, conn := range held {
			conn.Release()
		}
	}
	for range d.players.current.Load().Config().MaxConns {
		conn, err := d.players.Acquire(ctx)
		if err != nil {
			letGo()
			return nil, err
		}
		held = append(held, conn)
	}
	return letGo, nil
}

// Unfence has the store do without row-level security, as where the login may not make roles.
func (d *DB) Unfence() { d.fenced = false }

// IndexAll waits until everything can be found.
func (d *DB) IndexAll(ctx context.Context) error { return d.indexPending(ctx) }

// TakenBeside tells whether a message that was read beside is taken where the log has a hash under its id, or nothing.
func TakenBeside(read chain.Hash, has *chain.Hash) bool {
	beside := make(chan map[source]*about, 1)
	beside <- map[source]*about{{chain.RefContext, 1}: {hash: read}}
	s := &search{beside: beside, hashes: map[int64]chain.Hash{}, told: map[source]*about{}, foreseen: &atomic.Bool{}}
	if has != nil {
		s.hashes[1] = *has
	}
	s.takeBeside()
	return len(s.told) == 1 && s.besides == 1
}

// FewAsked is how many messages are looked through for those that a viewer sees.
const FewAsked = fewAsked

// MaxAddedSince is how many messages are gone through to tell what a viewer sees beyond what they saw.
const MaxAddedSince = maxAddedSince

// Reading takes connections for callers' reads until it is released, or ctx ends.
func (d *DB) Reading(ctx context.Context) (release func(), err error) {
	conn, err := d.reads.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Release, nil
}

// ByKey reads as readByKey does.
func (d *DB) ByKey(ctx context.Context, sql string, args ...any) pgx.Row {
	return d.keyReader().QueryRow(ctx, sql, args...)
}

// Players is the pool of what players read by keys.
func (d *DB) Players() interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
} {
	return d.players
}

// PlayersInUse is how many connections are in use for what players read by keys.
func (d *DB) PlayersInUse() int { return int(d.players.current.Load().Stat().AcquiredConns()) }

// HoldConnection takes a connection of the server's own pool until it is given back.
func (d *DB) HoldConnection(ctx context.Context) (release func(), err error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Release, nil
}

// Reads is the pool for callers' reads.
func (d *DB) Reads() interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
	Begin(ctx context.Context) (pgx.Tx, error)
} {
	return d.reads
}

// ReadProcesses gives the processes behind the connections of a pool that has so many, and whether one was lost ever.
func (d *DB) ReadProcesses(ctx context.Context, n int) (pids []uint32, lost bool, err error) {
	for range n {
		conn, err := d.reads.Acquire(ctx)
		if err != nil {
			return nil, false, err
		}
		defer conn.Release()
		pids = append(pids, conn.Conn().PgConn().PID())
	}
	slices.Sort(pids)
	return pids, d.reads.lost.Load() != 0, nil
}

// StoppedStream reads messages for somebody who takes no more of them.
func StoppedStream(ctx context.Context, tx pgx.Tx, scan bool) error {
	s := newStream(tx, nil)
	s.scan = scan
	s.batch = <-s.empty // rows that were read last
	for range batches {
		s.full <- new(batch) // which nobody takes any more
	}
	close(s.stop)
	s.run(ctx)
	return s.err
}

// FindRecords finds records by words among some that have one passage each, given by its words; a record's id is its place, from 1.
func FindRecords(passages [][]int32, words []int32, most int) []int64 {
	r := newRecordWords()
	for i, keys := range passages {
		r.add(int64(i+1), [][]int32{keys})
	}
	return r.find(words, most)
}

// SampledBy is what a search takes for the sample of a scope, and for that of the whole log: how often passages were seen
// that hold certain terms.
type SampledBy struct {
	Scale, Passages, AllScale, AllPassages int
	Groups, AllGroups                      map[string]int
}

// Sampled gives what a search samples, as the server has it, and as the database alone has it in the same state.
func (d *DB) Sampled(ctx context.Context, request selection.Request) (server, database SampledBy, err error) {
	err = d.snapshot(ctx, func(tx pgx.Tx) error {
		for view, to := range map[*DB]*SampledBy{d: &server, nil: &database} {
			s := newSearch(searchInput{request: request, policy: ranking.Default(), indexed: true, most: scopeLimits{small: 1, listed: 1}})
			s.tx, s.view = tx, view
			if err := s.begin(ctx); err != nil {
				return err
			}
			_, inScope, inAll, _, err := s.look(ctx)
			if err != nil {
				return err
			}
			groups := func(m sample) map[string]int {
				all := map[string]int{}
				for _, g := range m.groups {
					all[fmt.Sprint(g.terms)] += g.count
				}
				return all
			}
			*to = SampledBy{inScope.scale, inScope.passages, inAll.scale, inAll.passages, groups(inScope), groups(inAll)}
		}
		return nil
	})
	return server, database, err
}

// Remembered are the messages whose terms the server remembers for samples.
func (d *DB) Remembered() (ids []int64) {
	d.samples.mu.Lock()
	defer d.samples.mu.Unlock()
	for of := range d.samples.terms {
		if of.kind == chain.RefContext {
			ids = append(ids, of.id)
		}
	}
	return ids
}

// Turns reads a history as Postgres writes it.
func Turns(history string) ([]memory.Turn, error) { return turnsOf(history) }

// VectorsDue tells whether a server makes vectors now that writes so many groups, is so many messages behind, and where somebody has appended while others
// did, has appended, and has searched so long ago.
func VectorsDue(writing int, behind int64, together, appended, searched time.Duration) bool {
	now := time.Now()
	x := indexer{writing: writing, behind: behind, together: now.Add(-together), appended: now.Add(-appended), searched: now.Add(-searched)}
	return x.due(now)
}

// Forget does with a connection what is done when it is given back.
func Forget(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "", forgetting...)
	return err
}
