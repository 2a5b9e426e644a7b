package db

import (
	"context"
	_ "embed"
	"math/bits"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

// How much of a large scope is looked at.
const (
	sampleOfAll   = 4096     // passages of the whole log in a sample, at least, and less than twice as many
	sampleOfScope = 2 * 4096 // of the whole log, in a sample for a part of it that is not listed
	sampleOfCost  = 2048     // of the whole log, in a sample that only tells what looking for a word costs
	leastDraw     = 3        // samples have no more than one passage in 2^leastDraw: see lexical_drawn
	seenFew       = 16       // passages of a sample: of a word that fewer hold, all passages are counted
	maxCounted    = 32       // words that are counted
	maxAround     = 200      // messages whose neighbours are candidates, too
)

var (
	//go:embed search/sample.sql
	sampleSQL string
	//go:embed search/samplelisted.sql
	sampleListedSQL string
	//go:embed search/holding.sql
	holdingSQL string
	//go:embed search/matching.sql
	matchingSQL string
	//go:embed search/newest.sql
	newestSQL string
	//go:embed search/around.sql
	aroundSQL string
	//go:embed search/owninginscope.sql
	owningInScopeSQL string
)

// sample is what a part of the passages tells of all.
type sample struct {
	scale    int // how many passages each stands for
	passages int
	groups   []sampleGroup
}

// sampleGroup are the passages of a sample that hold these of the query's terms, ascending, and no others.
type sampleGroup struct {
	terms []int32
	count int
}

// findInLarge estimates from a sample how rare the query's terms are in the scope, counts those of which it has seen
// few, and takes as candidates what holds the words that tell most, with what stands around the best of them.
func (s *search) findInLarge(ctx context.Context) error {
	words, inScope, inAll, owning, err := s.look(ctx)
	if err != nil {
		return err
	}
	stats := newStats()
	stats.Passages = inScope.passages * inScope.scale
	if s.result.counted.Estimated {
		s.result.counted.InScope = int64(stats.Passages)
	}
	for _, g := range inScope.groups {
		for _, term := range g.terms {
			stats.Frequency[term] += g.count * inScope.scale
		}
	}
	rare := seldom(words)
	counted, err := s.count(ctx, rare)
	if err != nil {
		return err
	}
	for term, n := range counted {
		stats.Frequency[term] = max(stats.Frequency[term], n)
	}
	for _, w := range rare {
		w.inScope = 0
		for _, key := range w.keys {
			stats.Frequency[key] = counted[key]
			w.inScope += counted[key]
		}
	}
	stats.Passages = max(stats.Passages, 1)
	s.weigh(stats, owning)
	for _, w := range words {
		w.weight = s.weight(w.keys)
	}
	if err := s.match(ctx, newPlan(words, inScope, inAll)); err != nil {
		return err
	}
	return s.lookAround(ctx)
}

// look reads the samples: of the scope, and of all, which is the same one if the scope leaves nothing out.
func (s *search) look(ctx context.Context) (words []*planWord, inScope, inAll sample, owning []chain.Hash, err error) {
	at := s.result.at
	passages := at.size + at.records // most sources have one
	batch := &pgx.Batch{}
	var whole drawn // of which samples of the whole log are made
	if len(s.players) > 0 {
		batch.Queue(owningInScopeSQL, append(slices.Clone(s.scope), at.position, s.unseen(), s.playerHashes())...).Query(collectInto(&owning))
	}
	switch {
	case s.listed:
		s.queueListedSample(batch, &inScope)
	case s.narrowed:
		s.queueSample(batch, s.held(), drawFor(passages, sampleOfScope), &inScope)
	default:
		s.queueWhole(batch, &whole, drawFor(passages, sampleOfAll), s.messages, s.kinds, &inScope)
	}
	if s.narrowed && s.viewer == nil { // what others see must not tell which words are looked for
		s.queueWhole(batch, &whole, drawFor(passages, sampleOfCost), true, []string{"accountant", "secretary"}, &inAll)
	}
	if err = s.tx.SendBatch(ctx, batch).Close(); err != nil {
		return
	}
	if err = s.sampleDrawn(ctx, whole); err != nil {
		return
	}
	if inAll.scale == 0 {
		inAll = inScope
	}
	for _, keys := range s.query.Keys() {
		w := &planWord{keys: keys, seen: inAll.holding(keys)}
		w.inAll, w.inScope = w.seen*inAll.scale, inScope.holding(keys)*inScope.scale
		words = append(words, w)
	}
	return
}

// held gives the first arguments of the statements over the passages that the search may see.
func (s *search) held() []any {
	at := s.result.at
	var listed []int64
	if s.listed {
		listed = list(s.ids)
	}
	return append(slices.Clone(s.scope), s.messages, s.narrowed, s.kinds,
		at.position, s.unseen(), at.records, listed)
}

// drawFor gives the least draw of a sample that has so many of all passages, and less than twice as many.
func drawFor(passages int64, wanted int64) int {
	return max(leastDraw, bits.Len64(uint64(passages/wanted))-1)
}

func (s *search) queueSample(batch *pgx.Batch, held []any, draw int, into *sample) {
	into.scale = 1 << draw
	batch.Queue(sampleSQL, append(held, draw, list(s.query.Terms()))...).Query(into.read)
}

// queueListedSample samples the passages of what is listed.
func (s *search) queueListedSample(batch *pgx.Batch, into *sample) {
	least := max(0, bits.Len(uint((len(s.ids)+len(s.recordIDs))/sampleOfAll))-1)
	into.scale = 1 << least
	messages := slices.DeleteFunc(slices.Clone(s.ids), func(id int64) bool { return draw(chain.RefContext, id) < least })
	if s.viewer != nil { // an id tells how many others there are: the place among one's own does as well
		messages = messages[:0]
		for place, id := range s.ids {
			if draw(chain.RefContext, int64(place)) >= least {
				messages = append(messages, id)
			}
		}
	}
	records := slices.DeleteFunc(slices.Clone(s.recordIDs), func(id int64) bool { return draw(chain.RefSecretary, id) < least })
	batch.Queue(sampleListedSQL, list(s.query.Terms()), list(messages), list(records)).Query(into.read)
}

func (m *sample) read(rows pgx.Rows) error {
	for rows.Next() {
		var g sampleGroup
		if err := rows.Scan(&g.terms, &g.count); err != nil {
			return err
		}
		m.passages += g.count
		if len(g.terms) > 0 {
			m.groups = append(m.groups, g)
		}
	}
	return rows.Err()
}

// holding gives how many passages of the sample hold one of these terms.
func (m sample) holding(terms []int32) (n int) {
	for _, g := range m.groups {
		if g.holds(terms) {
			n += g.count
		}
	}
	return n
}

func (g sampleGroup) holds(terms []int32) bool {
	return slices.ContainsFunc(terms, func(term int32) bool {
		_, found := slices.BinarySearch(g.terms, term)
		return found
	})
}

// count counts the passages in scope that hold one of these words, by the query's terms.
func (s *search) count(ctx context.Context, rare []*planWord) (map[int32]int, error) {
	counted := map[int32]int{}
	if len(rare) == 0 {
		return counted, nil
	}
	batch := &pgx.Batch{}
	batch.Queue(holdingSQL, append(s.held(), anyOf(rare), list(s.query.Terms()))...).Query(func(rows pgx.Rows) error {
		return eachCount(rows, func(term int32, passages int) { counted[term] = passages })
	})
	return counted, s.tx.SendBatch(ctx, batch).Close()
}

// weight is that of a word in the query's vector.
func (s *search) weight(keys []int32) (weight float32) {
	for _, key := range keys {
		if i, found := slices.BinarySearch(s.vector.Terms, key); found {
			weight = max(weight, s.vector.Values[i])
		}
	}
	return weight
}

// match takes the candidates of a plan, the best of them.
func (s *search) match(ctx context.Context, p plan) error {
	batch := &pgx.Batch{}
	if p.expression != "" {
		batch.Queue(matchingSQL, append(s.held(), s.vector.String(), p.expression, maxCandidates)...).Query(s.eachMatch)
	}
	switch at := s.result.at; {
	case p.newest > 0 && s.listed:
		s.queueProducts(batch, newestOf(s.ids, p.newest), newestOf(s.recordIDs, p.newest), maxCandidates)
	case p.newest > 0:
		batch.Queue(newestSQL, append(slices.Clone(s.scope), s.messages, s.kinds, at.position, s.unseen(), at.records,
			s.vector.String(), p.newest, maxCandidates)...).Query(s.eachMatch)
	}
	if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	for _, c := range s.ordered()[min(maxCandidates, len(s.found)):] {
		delete(s.found, c.source)
	}
	return nil
}

// newestOf gives the greatest ids.
func newestOf(ids []int64, limit int) []int64 {
	sorted := slices.Sorted(slices.Values(ids))
	return sorted[max(0, len(sorted)-limit):]
}

// lookAround makes candidates of the messages around the best: they give part of their share to those, and may be meant.
func (s *search) lookAround(ctx context.Context) error {
	var best []int64
	for _, c := range s.ordered() {
		if c.kind == chain.RefContext && len(best) < maxAround {
			best = append(best, c.id)
		}
	}
	if len(best) == 0 {
		return nil
	}
	at, batch := s.result.at, &pgx.Batch{}
	batch.Queue(aroundSQL, append(slices.Clone(s.scope), at.position, s.unseen(), s.vector.String(), best,
		len(s.policy.Before), len(s.policy.After))...).Query(s.eachMatch)
	return s.tx.SendBatch(ctx, batch).Close()
}
