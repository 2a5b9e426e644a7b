package provider

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/endpoint"
)

// cacheKey is the SHA-256 of a text: queries are kept neither longer nor clearer than needed.
type cacheKey [sha256.Size]byte

type cached struct {
	vector []float32
	until  time.Time
}

// Query gives the vector of a query, of length 1, from the cache or in one try that QueryLimit bounds. Equal queries at
// the same time share one request; a caller whose ctx ends leaves it to the others.
//
// The error is an *Error, a *TextError if this text cannot be embedded, or wraps that of ctx. After a failure of the
// provider, queries get an *Error of kind Paused at once for some seconds, so that they do not all wait for it; then one
// of them tries.
func (p *Provider) Query(ctx context.Context, text string) ([]float32, error) {
	text = cut(text, MaxText)
	if text == "" {
		return nil, &TextError{Index: -1, Message: "holds nothing but white space", Empty: true}
	}
	key := cacheKey(sha256.Sum256([]byte(text)))
	if vector, ok := p.recall(key); ok {
		p.count(&p.state.CacheHits)
		return vector, nil
	}
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	p.count(&p.state.Misses)
	shared := p.flights.DoChan(string(key[:]), func() (any, error) { return p.query(key, text) })
	select {
	case <-ctx.Done():
		return nil, ended(ctx)
	case got := <-shared:
		if got.Err != nil {
			return nil, got.Err
		}
		return slices.Clone(got.Val.([]float32)), nil // each caller has its own
	}
}

// query asks for the vector of a query, for all who wait for it.
func (p *Provider) query(key cacheKey, text string) ([]float32, error) {
	if vector, ok := p.recall(key); ok {
		return vector, nil // another request brought it since the caller looked
	}
	if paused := p.breaker.Enter(p.now()); paused != nil {
		return nil, (*Error)(paused)
	}
	vectors, err := p.ask(context.Background(), []string{text}, p.config.QueryLimit)
	failure, _ := errors.AsType[*Error](err)
	p.breaker.Leave(p.now(), (*endpoint.Failure)(failure))
	if failure != nil && failure.Kind.OfTexts() {
		return nil, &TextError{Index: -1, Message: "cannot be embedded: " + failure.Error()}
	}
	if err != nil {
		return nil, err
	}
	p.keep(key, vectors[0])
	return vectors[0], nil
}

// recall gives a copy of what the cache has of a query.
func (p *Provider) recall(key cacheKey) ([]float32, bool) {
	if p.cache == nil {
		return nil, false
	}
	found, ok := p.cache.Get(key)
	if !ok || !p.now().Before(found.until) {
		return nil, false
	}
	return slices.Clone(found.vector), true
}

// keep puts a vector into the cache, unless Probe has learned meanwhile that the model has another dimension.
func (p *Provider) keep(key cacheKey, vector []float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cache != nil && len(vector) == p.state.Dimensions {
		p.cache.Add(key, cached{vector: vector, until: p.now().Add(p.config.CacheTTL)})
	}
}

// count adds one to a counter of the state.
func (p *Provider) count(counter *int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*counter++
}
