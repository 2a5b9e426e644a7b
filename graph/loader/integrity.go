package loader

import (
	"context"
	"sync"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
)

// Integrity gathers how far messages can be proved. What it loads goes by the hash of the message, which is told of
// before.
type Integrity struct {
	Sealed   *Batch[db.Sealed]      // without its proof: in the tree under another hash is not in it
	Proofs   *Batch[db.Sealed]      // with its proof
	Erasures *Batch[*chain.Message] // nil if it was not erased, on the record

	mu     sync.Mutex
	places map[chain.Hash]db.Place
}

func newIntegrity(store *db.DB) *Integrity {
	i := &Integrity{places: map[chain.Hash]db.Place{}}
	i.Sealed = newBatch(i.at(store.Sealed))
	i.Proofs = newBatch(i.at(store.Proofs))
	i.Erasures = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]*chain.Message, error) {
		found, err := store.ErasuresOf(ctx, hashes)
		out := make(map[chain.Hash]*chain.Message, len(found))
		for h, m := range found {
			out[h] = &m
		}
		return fill(hashes, out), err
	})
	return i
}

// at makes a load by place one by hash.
func (i *Integrity) at(load func(context.Context, []db.Place) ([]db.Sealed, error)) func(context.Context, []chain.Hash) (map[chain.Hash]db.Sealed, error) {
	return func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]db.Sealed, error) {
		places := make([]db.Place, len(hashes))
		i.mu.Lock()
		for n, h := range hashes {
			places[n] = i.places[h]
		}
		i.mu.Unlock()
		found, err := load(ctx, places)
		if err != nil {
			return nil, err
		}
		out := make(map[chain.Hash]db.Sealed, len(hashes))
		for n, h := range hashes {
			out[h] = db.Sealed{}
			if found[n].Message == h {
				out[h] = found[n]
			}
		}
		return out, nil
	}
}

// Expect tells of messages whose integrity may be asked for.
func (i *Integrity) Expect(messages ...chain.Message) {
	var all, erased []chain.Hash
	i.mu.Lock()
	for n := range messages {
		m := &messages[n]
		all, i.places[m.Hash] = append(all, m.Hash), db.Place{Session: m.SessionHash, Sequence: m.Sequence}
		if m.Content == nil {
			erased = append(erased, m.Hash)
		}
	}
	i.mu.Unlock()
	i.Sealed.Expect(all)
	i.Proofs.Expect(all)
	i.Erasures.Expect(erased)
}
