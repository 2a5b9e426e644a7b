package db

import (
	"context"
	_ "embed"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

var (
	//go:embed search/drawn.sql
	drawnSQL string
	//go:embed search/terms.sql
	termsSQL string
)

// mostDrawn is how many passages a sample may have to be kept in memory; of long texts a source has many.
const mostDrawn = 1 << 16

// samples keeps the terms of what samples of the whole log were made of. They never change, and the same passages are in
// every sample until the log has doubled; reading them again costs as much as finding the candidates. Which of them are still
// there, an index tells within the state that is searched.
type samples struct {
	mu    sync.Mutex
	least int                  // draw that what is kept has at least
	terms map[source][][]int32 // of the source's passages, each ascending
}

func newSamples() *samples { return &samples{terms: map[source][][]int32{}} }

// take gives the terms of these sources, which are all that have this draw or more, as far as they are known, and those that are
// not. What is gone is forgotten, and so is what has less than the least draw that samples still have.
func (c *samples) take(sources []source, atLeast, least int) (known map[source][][]int32, unknown []source) {
	known = make(map[source][][]int32, len(sources))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.least = max(c.least, least)
	for _, s := range sources {
		if _, twice := known[s]; twice {
			continue
		}
		terms, ok := c.terms[s]
		if known[s] = terms; !ok {
			unknown = append(unknown, s)
		}
	}
	for s := range c.terms {
		zeros := draw(s.kind, s.id)
		if _, there := known[s]; zeros < c.least || zeros >= atLeast && !there {
			delete(c.terms, s)
		}
	}
	return known, unknown
}

func (c *samples) keep(sources []source, terms map[source][][]int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range sources {
		if draw(s.kind, s.id) >= c.least {
			c.terms[s] = terms[s]
		}
	}
}

// drawn is what a sample of the whole log is made of.
type drawn struct {
	sources  []source // once for each passage
	draw     int
	messages bool
	kinds    []string
	into     *sample // nil: there is none to be made
}

// queueWhole samples the whole log: by what is remembered, if it is searched as it is, and else, and where texts are so long
// that this would be much, in the database.
func (s *search) queueWhole(batch *pgx.Batch, whole *drawn, draw int, messages bool, kinds []string, into *sample) {
	if s.view == nil || s.viewer != nil || s.at != nil {
		s.queueSample(batch, s.inWhole(messages, kinds), draw, into)
		return
	}
	*whole = drawn{draw: draw, messages: messages, kinds: kinds, into: into}
	batch.Queue(drawnSQL, draw).Query(func(rows pgx.Rows) error {
		var kind chain.RefType
		var ids []int64
		_, err := pgx.ForEachRow(rows, []any{&kind, &ids}, func() error {
			for _, id := range ids {
				whole.sources = append(whole.sources, source{kind, id})
			}
			return nil
		})
		return err
	})
}

// inWhole gives the first arguments of the statements over all passages of messages, and of records of these kinds.
func (s *search) inWhole(messages bool, kinds []string) []any {
	at := s.result.at
	return append(make([]any, len(s.scope)), messages, false, kinds, at.position, s.unseen(), at.records, nil)
}

// sampleDrawn makes the sample of what was drawn: of what the state of the log holds.
func (s *search) sampleDrawn(ctx context.Context, whole drawn) error {
	if whole.into == nil {
		return nil
	}
	if len(whole.sources) > mostDrawn {
		batch := &pgx.Batch{}
		s.queueSample(batch, s.inWhole(whole.messages, whole.kinds), whole.draw, whole.into)
		return s.tx.SendBatch(ctx, batch).Close()
	}
	at, c := s.result.at, s.view.samples
	terms, unknown := c.take(whole.sources, whole.draw, drawFor(at.size+at.records, sampleOfAll))
	if err := s.readTerms(ctx, unknown, terms); err != nil {
		return err
	}
	c.keep(unknown, terms)
	unseen := map[int64]bool{}
	for _, id := range s.unseen() {
		unseen[id] = true
	}
	whole.into.scale = 1 << whole.draw
	query, groups := s.query.Terms(), map[string]int{}
	for of, passages := range terms {
		if of.kind == chain.RefContext && (!whole.messages || of.id > at.position || unseen[of.id]) ||
			of.kind != chain.RefContext && (!slices.Contains(whole.kinds, string(of.kind)) || of.id > at.records) {
			continue
		}
		whole.into.passages += len(passages)
		for _, held := range passages {
			whole.into.add(groups, common(query, held))
		}
	}
	return nil
}

// add counts a passage that holds these terms.
func (m *sample) add(groups map[string]int, terms []int32) {
	if len(terms) == 0 {
		return
	}
	key := make([]byte, 0, 64)
	for _, t := range terms {
		key = append(key, byte(t), byte(t>>8), byte(t>>16), byte(t>>24))
	}
	at, known := groups[string(key)]
	if !known {
		at = len(m.groups)
		groups[string(key)] = at
		m.groups = append(m.groups, sampleGroup{terms: terms})
	}
	m.groups[at].count++
}

// common gives what two ascending lists have in common; the second is the longer one.
func common(few, many []int32) (both []int32) {
	for _, term := range few {
		at, found := slices.BinarySearch(many, term)
		if many = many[at:]; found {
			both = append(both, term)
		}
	}
	return both
}

// readTerms adds the terms of sources.
func (s *search) readTerms(ctx context.Context, sources []source, to map[source][][]int32) error {
	if len(sources) == 0 {
		return nil
	}
	var messages, records []int64
	for _, of := range sources {
		messages, records = split(messages, records, of)
	}
	rows, err := s.tx.Query(ctx, termsSQL, list(messages), list(records))
	if err != nil {
		return err
	}
	var of source
	var terms []int32
	_, err = pgx.ForEachRow(rows, []any{&of.kind, &of.id, &terms}, func() error {
		to[of] = append(to[of], slices.Clone(terms))
		return nil
	})
	return err
}
