// Package loader gathers what the fields of one answer need, so that the number of SQL statements does not grow
// with its length. Loaders live as long as one response: each event of a subscription gets fresh ones.
package loader

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vikstrous/dataloadgen"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// gatherTime is how long a load that nobody announced waits for others.
const gatherTime = time.Millisecond

// Loaders are those of one response.
type Loaders struct {
	Components    *Batch[component.Component] // always something: a hash that no row describes is a bare component
	Messages      *Batch[*chain.Message]      // nil if there is none
	Records       *Batch[*knowledge.Record]   // nil if there is none
	Refs          *Batch[[]chain.Ref]         // of a message
	Sessions      *Batch[*chain.Session]      // nil if it has no message
	Threads       *Batch[*chain.Thread]       // nil if it has no message
	ThreadPlayers *Batch[[]chain.Hash]        // of a thread
	Quarantined   *Batch[bool]                // of a message
	Integrity     *Integrity
}

type contextKey struct{}

// Attach puts fresh loaders into a response's context. They are made, of the caller's view of the store, when the first
// is asked for.
func Attach(ctx context.Context, view func(context.Context) *db.DB) context.Context {
	return context.WithValue(ctx, contextKey{}, sync.OnceValue(func() *Loaders { return newLoaders(view(ctx)) }))
}

// From gives the loaders of a response. Without Attach before, there are none, and it panics.
func From(ctx context.Context) *Loaders { return ctx.Value(contextKey{}).(func() *Loaders)() }

func newLoaders(store *db.DB) *Loaders {
	l := &Loaders{Integrity: newIntegrity(store)}
	l.Components = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]component.Component, error) {
		found, err := store.ComponentsByHash(ctx, hashes)
		for _, h := range hashes {
			if _, there := found[h]; !there && err == nil {
				found[h] = component.Component{Hash: h, Data: "{}", Preferences: []string{}}
			}
		}
		return found, err
	})
	l.Messages = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]*chain.Message, error) {
		found, err := store.MessagesByHash(ctx, hashes)
		l.ExpectAround(found)
		return byHash(hashes, found, func(m chain.Message) chain.Hash { return m.Hash }), err
	})
	l.Records = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]*knowledge.Record, error) {
		found, err := store.RecordsByHash(ctx, hashes)
		return byHash(hashes, found, func(r knowledge.Record) chain.Hash { return r.Hash }), err
	})
	l.Refs = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash][]chain.Ref, error) {
		refs, err := store.RefsOf(ctx, hashes)
		l.expectTargets(refs)
		return fill(hashes, refs), err
	})
	l.Sessions = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]*chain.Session, error) {
		found, err := store.SessionsByHash(ctx, hashes)
		return byHash(hashes, found, func(s chain.Session) chain.Hash { return s.Hash }), err
	})
	l.Threads = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]*chain.Thread, error) {
		found, err := store.ThreadsByHash(ctx, hashes)
		return byHash(hashes, found, func(t chain.Thread) chain.Hash { return t.Hash }), err
	})
	l.ThreadPlayers = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash][]chain.Hash, error) {
		players, err := store.PlayersOf(ctx, hashes)
		l.Components.Expect(slices.Concat(slices.Collect(maps.Values(players))...))
		return fill(hashes, players), err
	})
	l.Quarantined = newBatch(func(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]bool, error) {
		found, err := store.InQuarantine(ctx, hashes)
		out := make(map[chain.Hash]bool, len(hashes))
		for _, h := range found {
			out[h] = true
		}
		return fill(hashes, out), err
	})
	return l
}

// byHash gives each hash its object, or nil.
func byHash[T any](hashes []chain.Hash, found []T, hash func(T) chain.Hash) map[chain.Hash]*T {
	out := make(map[chain.Hash]*T, len(hashes))
	for i := range found {
		out[hash(found[i])] = &found[i]
	}
	return fill(hashes, out)
}

// fill gives every hash an entry.
func fill[T any](hashes []chain.Hash, found map[chain.Hash]T) map[chain.Hash]T {
	for _, h := range hashes {
		if _, there := found[h]; !there {
			var none T
			found[h] = none
		}
	}
	return found
}

// ExpectAround announces what the fields of a page of messages may ask for: whichever is asked for first brings in
// that of all of them.
func (l *Loaders) ExpectAround(messages []chain.Message) {
	var own, components, sessions, threads []chain.Hash
	for i := range messages {
		m := &messages[i]
		own, sessions = append(own, m.Hash), append(sessions, m.SessionHash)
		components = append(append(append(append(components, m.OwnerID), m.PlayerIDs...), m.Hashtags...), m.ItemIDs...)
		for _, optional := range []*chain.Hash{m.MasterPlayer, m.FlagID, m.MasterItemID, m.LocationID} {
			if optional != nil {
				components = append(components, *optional)
			}
		}
		if m.ThreadHash != nil {
			threads = append(threads, *m.ThreadHash)
		}
	}
	l.Integrity.Expect(messages...)
	l.Refs.Expect(own)
	l.Quarantined.Expect(own)
	l.Components.Expect(components)
	l.Sessions.Expect(sessions)
	l.Threads.Expect(threads)
	l.ThreadPlayers.Expect(threads)
}

func (l *Loaders) expectTargets(refs map[chain.Hash][]chain.Ref) {
	var messages, records []chain.Hash
	for _, list := range refs {
		for _, r := range list {
			if r.Type == chain.RefContext {
				messages = append(messages, r.Hash)
			} else {
				records = append(records, r.Hash)
			}
		}
	}
	l.Messages.Expect(messages)
	l.Records.Expect(records)
}

// Batch loads one kind of thing by hash.
type Batch[T any] struct {
	fetch  func(context.Context, []chain.Hash) (map[chain.Hash]T, error)
	loader *dataloadgen.Loader[chain.Hash, T]

	mu     sync.Mutex
	groups map[chain.Hash]*group
}

// group is what was announced together. The first that is asked for fetches all.
type group struct {
	once   sync.Once
	hashes []chain.Hash
}

func newBatch[T any](fetch func(context.Context, []chain.Hash) (map[chain.Hash]T, error)) *Batch[T] {
	return &Batch[T]{
		fetch: fetch, groups: map[chain.Hash]*group{},
		loader: dataloadgen.NewMappedLoader(fetch, dataloadgen.WithWait(gatherTime)),
	}
}

// Expect announces hashes that will be asked for together. What is known or announced already is left out.
func (b *Batch[T]) Expect(hashes []chain.Hash) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := &group{}
	for _, h := range hashes {
		if b.groups[h] == nil {
			b.groups[h] = g
			g.hashes = append(g.hashes, h)
		}
	}
}

// Load gives one thing.
func (b *Batch[T]) Load(ctx context.Context, hash chain.Hash) (T, error) {
	b.mu.Lock()
	g := b.groups[hash]
	b.mu.Unlock()
	if g != nil {
		g.once.Do(func() { b.load(ctx, g.hashes) })
	}
	return b.loader.Load(ctx, hash)
}

// load fetches a group. If it fails nothing is kept, and who asks gets the error by a load of its own.
func (b *Batch[T]) load(ctx context.Context, hashes []chain.Hash) {
	found, err := b.fetch(ctx, hashes)
	if err != nil {
		return
	}
	for h, v := range found {
		b.loader.Prime(h, v)
	}
}

// Each gives several things, in order.
func (b *Batch[T]) Each(ctx context.Context, hashes []chain.Hash) ([]T, error) {
	out := make([]T, len(hashes))
	for i, h := range hashes {
		var err error
		if out[i], err = b.Load(ctx, h); err != nil {
			return nil, err
		}
	}
	return out, nil
}
