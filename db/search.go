package db

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// How far a search goes.
const (
	// maxCandidates is how many messages and records go to the ranking by how well their own words match.
	maxCandidates = 2000
	// maxNearest is how many are candidates beside them, by how near their dense vectors are.
	maxNearest = 400
	// smallScope is how many messages, or records, a scope may hold to be searched as a whole. In a larger one, what is
	// common is told by a sample, and the candidates are found by the words that are not.
	smallScope = 10_000
	// endLimit is how long the end of a transaction that has only read may take.
	endLimit = 5 * time.Second
	// maxListed is how many a part of the log may hold for their ids to be listed, which costs a third of looking at them.
	// In a larger part, whether a message belongs to it is asked of each that has the words.
	maxListed = 1 << 17
)

// scopeLimits are smallScope, maxListed, fewMessages and leastListed, or less, for tests; zero means those.
type scopeLimits struct{ small, listed, few, least int }

// searchInput is what a search is asked.
type searchInput struct {
	request selection.Request
	policy  ranking.Policy
	viewer  *chain.Hash         // who asks, and finds only what they see; nil sees all
	at      *asOf               // the log as it stood; nil: as it is
	dense   *denseQuery         // the query's dense vector; nil: by words alone
	nearest []denseHit          // what was nearest to it when this was asked before; nil: to be found
	without sources             // candidates that had no dense vector then
	queries *embeddings.Queries // nil: none are remembered
	indexed bool                // what is committed has its search vectors, or is not to be waited for
	most    scopeLimits
	keep    []chain.Hash // given among the best even if they are beyond reach, as far as they are candidates
}

// searchResult is what a search found.
type searchResult struct {
	best    []selection.Candidate // as many as a selection accounts for, best first, and then what had to be kept
	at      asOf                  // the log that was searched
	sampled bool                  // the scope is large: what words are worth was told by samples
	nearest []denseHit            // what was nearest to the dense vector
	// unembedded are the candidates that have no dense vector, and awaits says whether any of them is still to get one.
	unembedded sources
	awaits     bool
	// unindexed is how many messages and records were there and had no search vectors yet, while very many have none:
	// they were not found, and will be when this is asked again.
	unindexed int64
	counted   selection.Searched
	cut       bool               // the query is long, and what is between its beginning and its end was not looked for
	ranks     map[chain.Hash]int // of what had to be kept, from 1
}

// search is one search on its way, within one snapshot of the database. Its statements go to the database together as
// far as none needs what another gives, and their number does not depend on the log.
type search struct {
	searchInput
	view   *DB // whose view it is; only read as whom it reads
	tx     reader
	begins bool // the transaction begins with the first statements
	result searchResult

	scope    []any // the first arguments of every statement over scopes
	narrowed bool  // whether it leaves out messages, or what others see does
	messages bool  // whether the scope holds any
	kinds    []string

	pending          bool        // something has no search vectors
	unsighted        bool        // what is remembered does not tell what the viewer sees
	unmoved          *sight      // what they see if the log is what it was when they looked last; nil: it is looked at
	written          int64       // messages that this server had written before the search
	unlisted         bool        // what is remembered does not tell what the scope holds
	whole            asOf        // position and absent messages of the whole log, whoever asks
	last             *chain.Hash // the message at that position
	unindexed        []int64     // messages that have no search vectors, if they are few
	backlog          runs        // the same, as they are filed
	unindexedRecords int64
	quarantined      []int64                  // messages that are not found, ascending
	ids, recordIDs   []int64                  // what the scope holds, if it is small or listed
	few              bool                     // what it holds was read with its vectors
	more             bool                     // it is not few
	many             bool                     // it holds more messages than are looked through
	beside           <-chan map[source]*about // gives once what is read of it meanwhile; nil: nothing is
	besides          int                      // how many messages were read so
	foreseen         *atomic.Bool             // that is over, and so is counting of their texts beside
	passages         []passageRead
	gathered         passageRead          // the terms and values of them all
	owners           map[int64]chain.Hash // of these messages
	hashes           map[int64]chain.Hash // of those that are not erased
	called           map[chain.Hash][]string
	large            bool // not looked at as a whole
	listed           bool // large, and its ids are known
	planned          bool // statements have plans for no values in particular: see planOnce

	query       embeddings.Query
	players     []player // whom the query may name
	preferences []string
	vector      embeddings.QueryVector

	found  map[source]*candidate
	told   map[source]*about // what is erased is not here
	byHash map[string]source
}

// source is a message (kind RefContext) or a record.
type source struct {
	kind chain.RefType
	id   int64
}

// player is one whom a query may name.
type player struct {
	hash chain.Hash
	name string
}

// candidate is a source that may be among the best.
type candidate struct {
	source
	product float64 // of its best passage and the query
	cosine  *float64
}

// reader is a connection, or a transaction on one, that a search reads by.
type reader interface {
	dbgen.DBTX
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// errUnindexed says that something that is committed has no search vectors yet.
var errUnindexed = errors.New("not all that is committed has search vectors")

// search ranks what the log and the records hold for a request. What has no search vectors gets them before, as far as
// indexPending goes; what is left without is not found.
func (d *DB) search(ctx context.Context, in searchInput) (searchResult, error) {
	d.index.search()
	result, err := d.searchOnce(ctx, in)
	if !errors.Is(err, errUnindexed) {
		return result, mapError(err)
	}
	if err := d.indexPending(ctx); err != nil {
		return searchResult{}, err
	}
	in.indexed = true
	result, err = d.searchOnce(ctx, in)
	return result, mapError(err)
}

// searchOnce searches within one state of the database. Somebody waits, so the transaction begins with the first
// statements, and ends beside what the caller goes on with.
func (d *DB) searchOnce(ctx context.Context, in searchInput) (searchResult, error) {
	conn, err := d.reads.Acquire(ctx)
	if err != nil {
		return searchResult{}, err
	}
	defer func() { go endReading(conn) }()
	in.queries = d.questions
	s := newSearch(in)
	s.tx, s.begins, s.view = conn, true, d
	err = s.run(ctx)
	return s.result, err
}

// endReading gives a connection back; if its transaction cannot be ended, the pool closes it.
func endReading(conn *pgxpool.Conn) {
	l := lease{conn}
	defer l.release()
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	_, _ = conn.Exec(ctx, "rollback") // it has written nothing
}

// usual is how many candidates there is room for at first.
const usual = 64

func newSearch(in searchInput) *search {
	s := &search{
		searchInput: in,
		found:       make(map[source]*candidate, usual), told: make(map[source]*about, usual), byHash: make(map[string]source, usual),
	}
	if s.most == (scopeLimits{}) {
		s.most = scopeLimits{small: smallScope, listed: maxListed, few: fewMessages, least: leastListed}
	}
	scope := in.request.Scope
	var joined *int64
	if in.at != nil {
		joined = &in.at.position
	}
	s.scope = scopeList(scope, in.viewer, joined)
	s.narrowed = scope.NarrowsMessages() || in.viewer != nil
	s.messages, s.kinds = scope.HasMessages(), words(scope.RecordKinds())
	return s
}

// mostLookedUp is how many messages have their sessions looked up one by one.
const mostLookedUp = 1000

// scopeList gives a scope as the first arguments of the statements of a search.
func scopeList(scope selection.Scope, viewer *chain.Hash, joined *int64) []any {
	return []any{
		hashTexts(scope.Sessions), hashTexts(scope.Threads), hashTexts(scope.Players), hashTexts(scope.Owners), hashTexts(scope.Hashtags),
		hashTexts(scope.Flags), hashTexts(scope.Items), hashTexts(scope.Locations), words(scope.EventTypes), scope.Since, scope.Until,
		hashText(viewer), joined,
	}
}

// asViewer has what f queues about so many messages done as the viewer, behind row-level security where there is any: f puts
// before its statements what it is given. Whatever tells texts is; the lists of ids before are not, since operators of vectors
// and words are of no use there. A plan for any messages looks up each one's session, which is best for a few.
func (s *search) asViewer(batch *pgx.Batch, messages int, f func(as string)) (fenced bool) {
	if s.view == nil || s.view.viewer == nil || !s.view.fenced {
		f("")
		return false
	}
	become := becomeSQL
	if messages <= mostLookedUp {
		become = becomePlannedSQL
	}
	batch.Queue(become, s.view.viewer.String())
	f(asPlayer)
	if s.planned {
		batch.Queue(resumePlannedSQL)
	} else {
		batch.Queue(resumeSQL)
	}
	return true
}

// snapshot runs f in a transaction that sees one state of the database and changes nothing.
func (d *DB) snapshot(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, d.reads, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

func (s *search) run(ctx context.Context) error {
	if err := s.findByWords(ctx); err != nil {
		return err
	}
	if err := s.findNearest(ctx); err != nil {
		return denseFailed(ctx, err)
	}
	candidates, err := s.describe(ctx)
	if err != nil {
		return err
	}
	if err := s.findUnembedded(ctx); err != nil {
		return denseFailed(ctx, err)
	}
	excepted := s.excepted(candidates)
	s.result.counted.Candidates = int64(len(candidates) - excepted)
	s.result.counted.InScope -= int64(excepted)
	scored := ranking.Rank(candidates, ranking.Request{Query: embeddings.QueryText(s.request.Query), Preferences: s.preferences, At: s.request.At}, s.policy)
	reach := min(len(scored), s.request.Limit+selection.Reach+excepted)
	best := slices.Clone(scored[:reach])
	keep := make(map[string]chain.Hash, len(s.keep))
	for _, h := range s.keep {
		keep[h.String()] = h
	}
	s.result.ranks = make(map[chain.Hash]int, len(keep))
	for i, c := range scored {
		h, wanted := keep[c.Hash]
		if !wanted {
			continue
		}
		s.result.ranks[h] = i + 1
		if i >= reach {
			best = append(best, c)
		}
	}
	return s.read(ctx, best)
}

// findByWords finds the candidates by their words.
func (s *search) findByWords(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.result.sampled = s.large; s.large {
		return s.findInLarge(ctx)
	}
	if s.few {
		s.findInFew()
		return nil
	}
	return s.findInSmall(ctx)
}

// weigh gives the query its vector, by what is known of the passages that are searched.
func (s *search) weigh(stats embeddings.Stats, owning []chain.Hash) {
	for _, p := range s.players {
		if slices.Contains(owning, p.hash) {
			stats.Names = append(stats.Names, p.name)
		}
	}
	s.vector = s.query.Weigh(stats)
}

// find adds a candidate, or gives it its product.
func (s *search) find(of source, product float64) {
	if s.isQuarantined(of) {
		return
	}
	if c := s.found[of]; c != nil {
		c.product = product
		return
	}
	s.found[of] = &candidate{source: of, product: product}
}

// split puts a source's id with those of its kind.
func split(messages, records []int64, of source) (m, r []int64) {
	if of.kind == chain.RefContext {
		return append(messages, of.id), records
	}
	return messages, append(records, of.id)
}

//go:embed search/products.sql
var productsSQL string

// queueProducts has the products of messages and records found out, those of the best.
func (s *search) queueProducts(batch *pgx.Batch, messages, records []int64, limit int) {
	batch.Queue(productsSQL, s.vector.String(), list(messages), list(records), limit).Query(s.eachMatch)
}

// eachMatch reads kinds, ids and products.
func (s *search) eachMatch(rows pgx.Rows) error {
	var of source
	var product float64
	_, err := pgx.ForEachRow(rows, []any{&of.kind, &of.id, &product}, func() error {
		s.find(of, product)
		return nil
	})
	return err
}

// list gives an empty list for none: to Postgres, nil is NULL.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
