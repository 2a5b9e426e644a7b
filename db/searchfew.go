package db

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

// A scope that sessions or threads alone lead to is mostly one conversation. If its messages are few, they are read with
// their vectors and all that ranking has to know of them by the statements that begin the search, and what the database would
// count and multiply is reckoned here, to the same digits: that saves two round trips and several statements, which take longer
// than the reckoning.
const (
	fewMessages = 500
	fewPassages = 2 * fewMessages
	fewAsked    = 8 * fewMessages // messages that are looked through for those which a viewer sees
	maxCrowded  = 4096
)

var (
	//go:embed search/few.sql
	fewSQL string
	//go:embed search/fewseen.sql
	fewSeenSQL string
)

// passageRead is a passage of a message as the database holds it, but for what the query does not ask for.
type passageRead struct {
	message int64
	terms   []int32 // of the query's, ascending
	values  []float32
}

// queueFew has the messages of a scope that sessions or threads alone lead to read with their vectors, or so many of them
// that they turn out not to be few, and by the same keys, behind the fence, what ranking has to know of them: where that can be, over
// another connection. The plans are made once: planning for the values at hand takes longer than finding few.
func (s *search) queueFew(ctx context.Context, batch *pgx.Batch) bool {
	column, hashes, ok := s.request.Scope.ByKey()
	if !ok || s.crowded() {
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
	keys := hashTexts(hashes)
	slices.Sort(keys)
	about, of := fmt.Sprintf(aboutKeysSQL, column), []any{s.request.Player != nil, slices.Compact(keys), position, hashText(s.viewer), max(0, s.most.few), fewAsked}
	if s.viewer != nil && s.view != nil && s.view.fenced && s.view.players != nil {
		s.readBeside(ctx, about, of...)
		return true
	}
	s.planned = true
	s.asViewer(batch, 0, func(as string) { batch.Queue(as+about, of...).Query(s.readMessages) })
	s.planned = false
	return true
}

// besideLimit is how long reading beside may take, which takes a millisecond or two. Tests have more time.
var besideLimit = 100 * time.Millisecond

// readBeside reads messages over a connection that is the players' already, while another begins the search. It may see another
// state of the log, and read nothing at all: see takeBeside.
func (s *search) readBeside(ctx context.Context, sql string, args ...any) {
	read := make(chan map[source]*about, 1)
	s.beside, s.foreseen = read, &atomic.Bool{}
	enough, most := s.foreseen, s.request.Limit+selection.Reach
	one := &patience{} // which is not the operation's: what waits in vain here does not have to be had
	one.over.Store(true)
	go func() {
		within, cancel := context.WithTimeout(context.WithValue(ctx, patienceKey{}, one), besideLimit)
		defer cancel()
		told := map[source]*about{}
		rows, err := named{s.view.players, *s.viewer}.Query(within, sql, args...)
		if err == nil {
			err = readMessages(rows, told)
			rows.Close()
		}
		if err != nil {
			clear(told)
			if ctx.Err() == nil {
				s.view.besideFailed.Do(func() { s.view.log.WarnContext(ctx, "messages are not read beside a search, but behind", "cause", err) })
			}
		}
		var texts []string
		for _, a := range told {
			if a.whole {
				texts = append(texts, a.text)
			}
		}
		read <- told
		if len(told) <= most { // all lines will be counted
			foresee(texts, enough)
		}
	}()
}

// foresee counts texts for those who pack, until they do.
func foresee(texts []string, enough *atomic.Bool) {
	count, err := token.Default()
	for i := 0; err == nil && i < len(texts) && !enough.Load(); i++ {
		selection.Foresee(texts[i], count)
	}
}

// takeBeside takes of what was read beside what this state of the log has, too; what is missing is read later, by the search itself.
func (s *search) takeBeside() {
	if s.beside == nil {
		return
	}
	s.foreseen.Store(true)
	if s.more {
		return
	}
	for of, a := range <-s.beside {
		if hash, there := s.hashes[of.id]; there && hash == a.hash { // else it was erased, or it is the message of another log
			s.told[of] = a
			s.besides++
		}
	}
}

// nameOwners gives what was read by keys the names of the owners, which were read with the vectors. However the scope is searched
// then: what has no name there has none.
func (s *search) nameOwners() {
	for _, a := range s.told {
		a.names = s.called[a.owner]
	}
}

// notFew remembers that the scope does not hold few messages, which it never will again: messages never leave a scope.
func (s *search) notFew() {
	if key, told := s.listingKey(); told && s.view != nil && (len(s.ids) > 0 || s.many) {
		s.view.crowded.Add(chain.Sum([]byte(key)), struct{}{})
	}
}

// crowded tells whether the scope was not of few messages before.
func (s *search) crowded() bool {
	if s.view == nil || s.at != nil {
		return false
	}
	key, told := s.listingKey()
	return told && s.view.crowded.Contains(chain.Sum([]byte(key)))
}

// readFew takes the values as they come, in binary: scanning them took half of the reading.
func (s *search) readFew(rows pgx.Rows) error {
	read, wanted := 0, s.query.Terms()
	s.owners, s.hashes, s.called = make(map[int64]chain.Hash, usual), make(map[int64]chain.Hash, usual), map[chain.Hash][]string{}
	for rows.Next() {
		row := rows.RawValues()
		of, vector, owner, key, name := row[0], row[1], chain.Hash{}, row[4], row[5]
		if row[2] != nil {
			if err := owner.ScanBytes(row[2]); err != nil {
				return err
			}
		}
		if of == nil {
			if row[2] == nil {
				s.many = true
			} else {
				s.called[owner] = called(textOf(name), textOf(key))
			}
			continue
		}
		if len(of) != 8 {
			return fmt.Errorf("an id of %d bytes", len(of))
		}
		read++
		id := int64(binary.BigEndian.Uint64(of))
		s.ids = append(s.ids, id)
		s.owners[id] = owner
		if row[3] != nil {
			var hash chain.Hash
			if err := hash.ScanBytes(row[3]); err != nil {
				return err
			}
			s.hashes[id] = hash
		}
		if vector != nil {
			if err := s.readPassage(id, vector, wanted); err != nil {
				return err
			}
		}
	}
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)
	none := read == 0 && s.viewer != nil // of those that were looked through, of which there may be more
	s.more = s.many || none || read > fewPassages || len(s.ids) > s.most.few
	return rows.Err()
}

// textOf gives a text as it comes; nil is NULL.
func textOf(b []byte) *string {
	if b == nil {
		return nil
	}
	text := string(b)
	return &text
}

// readPassage reads a sparsevec as sparsevec_send writes it: how many dimensions there are, how many are not zero and an
// unused number; then those dimensions, from 0 and ascending, and their values. Of the terms, which count from 1, it keeps the wanted,
// which are ascending, too.
func (s *search) readPassage(message int64, b []byte, wanted []int32) error {
	const head, each = 12, 8
	if len(b) < head {
		return fmt.Errorf("a sparsevec of %d bytes", len(b))
	}
	n := int(binary.BigEndian.Uint32(b[4:]))
	if len(b) != head+each*n {
		return fmt.Errorf("a sparsevec of %d bytes with %d values", len(b), n)
	}
	from := len(s.gathered.terms)
	dims, values := b[head:head+each/2*n], b[head+each/2*n:]
	for i := 0; i < n && len(wanted) > 0; {
		switch term := int32(binary.BigEndian.Uint32(dims[4*i:])) + 1; {
		case term > wanted[0]:
			wanted = wanted[1:]
		case term == wanted[0]:
			s.gathered.terms = append(s.gathered.terms, term)
			s.gathered.values = append(s.gathered.values, math.Float32frombits(binary.BigEndian.Uint32(values[4*i:])))
			i++
		default:
			i++
		}
	}
	s.passages = append(s.passages, passageRead{message, s.gathered.terms[from:], s.gathered.values[from:]})
	return nil
}

// findInFew is findInSmall where all is at hand.
func (s *search) findInFew() {
	s.passages = slices.DeleteFunc(s.passages, func(p passageRead) bool {
		_, held := slices.BinarySearch(s.ids, p.message)
		return !held
	})
	owning := make([]chain.Hash, 0, len(s.ids))
	for _, id := range s.ids {
		owning = append(owning, s.owners[id])
	}
	stats := newStats()
	stats.Passages = len(s.passages)
	asked := s.query.Terms()
	for _, p := range s.passages {
		stats.Count(asked, p.terms)
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
}

// termsRead gives those terms of the query's that a message has whose passages were read, in ascending order.
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
