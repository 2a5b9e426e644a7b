package auth

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/tzzr/context-manager/internal/fault"
)

// How long what the database said of a token is believed, and of how many. Revocation takes effect within 5 seconds
// everywhere, of which the first is a share. Tokens that nobody has are kept apart, so that guesses push nothing out.
const (
	believed        = 2 * time.Second
	refusalBelieved = 500 * time.Millisecond
	cachedTokens    = 8192
	cachedRefusals  = 4096
	askLimit        = 2 * time.Second // for the database to answer
)

// cache keeps answers for a moment, and lets one question at a time go to the database for a token. Safe for concurrent
// use.
type cache struct {
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	valid   *lru.Cache[string, answer]
	refused *lru.Cache[string, answer]
}

type answer struct {
	caller Caller
	err    error // UNAUTHENTICATED, or nil
	until  time.Time
}

func newCache(now func() time.Time) *cache {
	valid, _ := lru.New[string, answer](cachedTokens) // fails for no size only
	refused, _ := lru.New[string, answer](cachedRefusals)
	return &cache{now: now, valid: valid, refused: refused}
}

// question asks the database whose a token is, and for how long it is at least.
type question func(ctx context.Context) (Caller, time.Duration, error)

// get gives the caller of a key, from what is kept or by asking. When ctx ends first, the question goes on for those who
// wait for the same answer.
func (c *cache) get(ctx context.Context, key string, ask question) (Caller, error) {
	if kept, ok := c.find(key); ok {
		return kept.caller, kept.err
	}
	asked := c.flight.DoChan(key, func() (any, error) {
		if kept, ok := c.find(key); ok { // another flight landed since
			return kept.caller, kept.err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
		defer cancel()
		return c.ask(ctx, key, ask)
	})
	select {
	case result := <-asked:
		caller, _ := result.Val.(Caller)
		return caller, result.Err
	case <-ctx.Done():
		return Caller{}, fault.Wrap(ctx.Err(), fault.Unavailable, "the request was ended before its token was checked")
	}
}

func (c *cache) find(key string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kept := range []*lru.Cache[string, answer]{c.valid, c.refused} {
		if found, ok := kept.Get(key); ok && c.now().Before(found.until) {
			return found, true
		}
	}
	return answer{}, false
}

// ask asks, and keeps an answer that says something about the token. It counts from before the question.
func (c *cache) ask(ctx context.Context, key string, ask question) (Caller, error) {
	began := c.now()
	caller, left, err := ask(ctx)
	if err == nil {
		c.keep(c.valid, key, answer{caller: caller, until: began.Add(min(believed, left))})
		return caller, nil
	}
	if fault.CodeOf(err) == fault.Unauthenticated {
		c.keep(c.refused, key, answer{err: err, until: began.Add(refusalBelieved)})
	}
	return Caller{}, err
}

func (c *cache) keep(in *lru.Cache[string, answer], key string, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.valid.Remove(key)
	c.refused.Remove(key)
	in.Add(key, a)
}
