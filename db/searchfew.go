package db

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

// A scope that sessions or threads alone lead to is mostly one conversation. If its messages are few, they are read with
// their vectors by the statements that begin the search, and what the database would count and multiply is reckoned here,
// to the same digits: that saves a round trip and two statements, which take longer than the reckoning.
const (
	fewMessages = 500
	fewPassages = 2 * fewMessages
	fewAsked    = 8 * fewMessages // messages that are looked through for those which a viewer sees
)

var (
	//go:embed search/few.sql
	fewSQL string
	//go:embed search/fewseen.sql
	fewSeenSQL string
)

// passageRead is a passage of a message as the database holds it.
type passageRead struct {
	message int64
	terms   []int32
	values  []float32
}

// queueFew has the messages of a scope that sessions or threads alone lead to read with their vectors, or so many of them
// that they turn out not to be few. The plan is made once: planning for the values at hand takes longer than finding few.
func (s *search) queueFew(batch *pgx.Batch) bool {
	column, hashes, ok := s.request.Scope.ByKey()
	if !ok {
		return false
	}
	position := int64(math.MaxInt64)
	if s.at != nil {
		position = s.at.position
	}
	sql, args := fewSQL, []any{hashTexts(hashes), position, s.most.few + 1, fewPassages + 1}
	if s.viewer != nil {
		sql, args = fewSeenSQL, append(args, s.viewer.String(), fewAsked)
	}
	batch.Queue(fmt.Sprintf(sql, column), args...).Query(s.readFew)
	return true
}

func (s *search) readFew(rows pgx.Rows) error {
	read := 0
	for ; rows.Next(); read++ {
		var id int64
		var vector []byte
		if err := rows.Scan(&id, &vector); err != nil {
			return err
		}
		if id == 0 {
			s.more = true
			continue
		}
		s.ids = append(s.ids, id)
		if vector != nil {
			p, err := readPassage(id, vector)
			if err != nil {
				return err
			}
			s.passages = append(s.passages, p)
		}
	}
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)
	s.more = s.more || read > fewPassages || len(s.ids) > s.most.few
	return rows.Err()
}

// readPassage reads a sparsevec as sparsevec_send writes it: how many dimensions there are, how many are not zero and an
// unused number; then those dimensions, from 0, and their values.
func readPassage(message int64, b []byte) (passageRead, error) {
	const head, each = 12, 8
	if len(b) < head {
		return passageRead{}, fmt.Errorf("a sparsevec of %d bytes", len(b))
	}
	n := int(binary.BigEndian.Uint32(b[4:]))
	if len(b) != head+each*n {
		return passageRead{}, fmt.Errorf("a sparsevec of %d bytes with %d values", len(b), n)
	}
	p := passageRead{message: message, terms: make([]int32, n), values: make([]float32, n)}
	dims, values := b[head:head+each/2*n], b[head+each/2*n:]
	for i := range n {
		p.terms[i] = int32(binary.BigEndian.Uint32(dims[4*i:])) + 1
		p.values[i] = math.Float32frombits(binary.BigEndian.Uint32(values[4*i:]))
	}
	return p, nil
}

// findInFew is findInSmall where the passages are at hand.
func (s *search) findInFew(ctx context.Context) error {
	s.passages = slices.DeleteFunc(s.passages, func(p passageRead) bool {
		_, held := slices.BinarySearch(s.ids, p.message)
		return !held
	})
	var owning []chain.Hash
	batch := &pgx.Batch{}
	if len(s.ids) > 0 {
		batch.Queue(planOnce)
		s.planned = true
		if len(s.players) > 0 {
			batch.Queue(owningSQL, s.ids, s.playerHashes()).Query(collectInto(&owning))
		}
		s.queueAbout(batch, s.ids, nil)
		batch.Queue(planEach)
		s.planned = false
		if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
	}
	stats := newStats()
	stats.Passages = len(s.passages)
	asked := s.query.Terms()
	for _, p := range s.passages {
		for _, term := range asked {
			if _, holds := slices.BinarySearch(p.terms, term); holds {
				stats.Frequency[term]++
			}
		}
	}
	s.weigh(stats, owning)
	best := make(map[int64]float64, len(s.ids))
	for _, p := range s.passages {
		product := s.vector.Product(p.terms, p.values)
		if known, twice := best[p.message]; !twice || product > known {
			best[p.message] = product
		}
	}
	for id, product := range best {
		s.find(source{chain.RefContext, id}, product)
	}
	return nil
}

// termsRead gives the terms of a message whose passages were read, in ascending order.
func (s *search) termsRead(of source) (terms []int32, known bool) {
	if !s.few || of.kind != chain.RefContext {
		return nil, false
	}
	for _, p := range s.passages {
		if p.message == of.id {
			terms, known = append(terms, p.terms...), true
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms), known
}
