package db

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/tzzr/context-manager/embeddings"
)

// Limits of looking words up.
const (
	mostHits      = 500_000   // places of words that make candidates, those of the rarest first
	mostRead      = 2_000_000 // places of the others, which tell of candidates what else they share
	recordsAtOnce = 200
)

// recordWords leads from words to the verified records that have them. Each server keeps its own, of some five bytes for a word
// of a record: records are never changed, and come in the order of their ids, so that it only ever has to read on.
type recordWords struct {
	turn chan struct{} // held by whoever reads on

	mu     sync.RWMutex
	seen   int64              // the id up to which records are in here; those that are not verified are left out
	of     []int64            // by passage: the record's id
	having map[int32][]uint32 // by word, a key of embeddings.Passage: the passages that have it, ascending
	rooms  sync.Pool          // *room
}

// room is what finding needs, kept for the next who does.
type room struct {
	scores  []float32 // by passage, all 0
	touched []uint32  // those of which it is not
}

func newRecordWords() *recordWords {
	return &recordWords{turn: make(chan struct{}, 1), having: map[int32][]uint32{}}
}

// ReadRecords reads the words of all verified records, some 30,000 a second. Without, the first write to a window does it.
func (d *DB) ReadRecords(ctx context.Context) error {
	return mapError(d.windows.records.readOn(ctx, d))
}

// readOn takes in the records that have come since.
func (r *recordWords) readOn(ctx context.Context, d *DB) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	documents := embeddings.NewDocuments()
	for {
		rows, err := d.queries().RecordsSince(ctx, r.upTo(), recordsAtOnce)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := ctx.Err(); err != nil {
				return err // the next one goes on from here
			}
			var passages [][]int32
			if row.Verified {
				for _, p := range documents.Document(row.Text) {
					passages = append(passages, p.Keys)
				}
			}
			r.add(row.ID, passages)
		}
		if len(rows) < recordsAtOnce {
			return nil
		}
	}
}

func (r *recordWords) add(id int64, passages [][]int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, keys := range passages {
		for _, key := range keys {
			r.having[key] = append(r.having[key], uint32(len(r.of)))
		}
		r.of = append(r.of, id)
	}
	r.seen = id
}

// upTo gives the id up to which records are in here.
func (r *recordWords) upTo() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.seen
}

// find gives the ids of the records that share the rarest of some words, best first: a passage counts for as much as what it
// shares is rare, by the sum of ln(1 + passages / passages that have the word); of equal ones the newest is first.
func (r *recordWords) find(words []int32, most int) []int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	lists := make([][]uint32, 0, len(words))
	for _, w := range words {
		if having := r.having[w]; len(having) > 0 {
			lists = append(lists, having)
		}
	}
	slices.SortStableFunc(lists, func(a, b []uint32) int { return cmp.Compare(len(a), len(b)) })
	at := r.room()
	scores := at.scores
	hits, read := mostHits, mostRead
	for _, list := range lists {
		weight := float32(math.Log1p(float64(len(r.of)) / float64(len(list))))
		rest, newest := list[:max(0, len(list)-hits)], list[max(0, len(list)-hits):]
		for _, p := range newest {
			if scores[p] == 0 {
				at.touched = append(at.touched, p)
			}
			scores[p] += weight
		}
		rest = rest[max(0, len(rest)-read):]
		for _, p := range rest {
			if scores[p] != 0 {
				scores[p] += weight
			}
		}
		hits, read = hits-len(newest), read-len(rest)
	}
	var ids []int64
	for _, p := range bestOf(at.touched, scores, 4*most) { // a record may have several passages
		if id := r.of[p]; len(ids) < most && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, p := range at.touched {
		scores[p] = 0
	}
	at.touched = at.touched[:0]
	r.rooms.Put(at)
	return ids
}

func (r *recordWords) room() *room {
	if kept, ok := r.rooms.Get().(*room); ok && len(kept.scores) >= len(r.of) {
		return kept
	}
	return &room{scores: make([]float32, len(r.of)+len(r.of)/8)}
}

// bestOf gives those of some passages that score best, the best first. It is most of what finding takes.
func bestOf(passages []uint32, scores []float32, most int) []uint32 {
	best := make([]uint32, 0, most)
	for _, p := range slices.Backward(passages) { // the newest first: of equals, they stay
		before := func(q uint32) bool { return scores[p] > scores[q] || scores[p] == scores[q] && p > q }
		if len(best) == most {
			if !before(best[most-1]) {
				continue
			}
			best = best[:most-1]
		}
		from, to := 0, len(best)
		for from < to {
			if middle := (from + to) / 2; before(best[middle]) {
				to = middle
			} else {
				from = middle + 1
			}
		}
		best = append(best, 0)
		copy(best[from+1:], best[from:])
		best[from] = p
	}
	return best
}
