package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

func TestQueryIsCached(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	now := stopped(p)
	for round := range 3 {
		for _, text := range []string{"when does the ferry leave", "  when does the ferry leave\n"} {
			vector, err := p.Query(t.Context(), text)
			if err != nil || !same(vector, server, text) {
				t.Fatalf("round %d: Query = %v, %v", round, vector, err)
			}
			vector[0] = 9 // a caller's own
		}
	}
	if state := p.State(); len(server.Requests()) != 1 || state.CacheHits != 5 || state.Misses != 1 || state.Requests != 1 {
		t.Errorf("%d requests, %+v, want 1 and five hits", len(server.Requests()), state)
	}
	now.Move(time.Hour - 1)
	if _, err := p.Query(t.Context(), "when does the ferry leave"); err != nil || len(server.Requests()) != 1 {
		t.Errorf("asked again before the time, %v", err)
	}
	now.Move(1)
	if _, err := p.Query(t.Context(), "when does the ferry leave"); err != nil || len(server.Requests()) != 2 {
		t.Errorf("not asked again after the time, %v", err)
	}
}

func TestQueryCacheIsBounded(t *testing.T) {
	t.Parallel()
	p, server := start(t, func(c *Config) { c.CacheSize = 2 })
	for _, text := range []string{"ferry", "quay", "ferry", "mooring", "ferry", "quay"} {
		if _, err := p.Query(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if got := [3]int{server.Asked("ferry"), server.Asked("quay"), server.Asked("mooring")}; got != [3]int{1, 2, 1} {
		t.Errorf("asked %v times, want the one that was used least recently to be forgotten", got)
	}
}

func TestQueryWithoutCache(t *testing.T) {
	t.Parallel()
	p, server := start(t, func(c *Config) { c.CacheTTL = 0 })
	for range 2 {
		if _, err := p.Query(t.Context(), "ferry"); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Asked("ferry"); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}

func TestFailuresAreNotCached(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]providertest.Fault{
		"500": endpointtest.Status(http.StatusInternalServerError, ""), "NaN": providertest.Element("NaN"), "zeros": providertest.Zeros(),
		"400": endpointtest.Status(http.StatusBadRequest, ""), "dies": endpointtest.Die(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := start(t)
			now := stopped(p)
			server.BreakNext(1, f)
			if vector, err := p.Query(t.Context(), "ferry"); err == nil || vector != nil {
				t.Errorf("Query = %v, %v, want an error", vector, err)
			}
			now.Move(QueryPause)
			if vector, err := p.Query(t.Context(), "ferry"); err != nil || !same(vector, server, "ferry") {
				t.Errorf("Query = %v, %v, want the vector", vector, err)
			}
		})
	}
}

func TestProbeOfAnotherDimensionEmptiesTheCache(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	if _, err := p.Query(t.Context(), "ferry"); err != nil {
		t.Fatal(err)
	}
	server.Break(providertest.Dimensions(7))
	if _, err := p.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if vector, err := p.Query(t.Context(), "ferry"); len(vector) != 7 || err != nil {
		t.Errorf("Query = %v, %v, want 7 dimensions", vector, err)
	}
}

func TestQueryThatIsBlankOrRefused(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(providertest.Only("poison", endpointtest.Status(http.StatusBadRequest, "")))
	for text, requests := range map[string]int{" \n": 0, "poison": 1} {
		_, err := p.Query(t.Context(), text)
		one, ok := errors.AsType[*TextError](err)
		if !ok || one.Index != -1 || !strings.HasPrefix(err.Error(), "the query") || server.Asked(text) != requests {
			t.Errorf("Query(%q) = %v, asked %d times, want a *TextError", text, err, server.Asked(text))
		}
	}
	if _, err := p.Query(t.Context(), "ferry"); err != nil {
		t.Errorf("one refused text keeps others back: %v", err)
	}
}

func TestQueryLimit(t *testing.T) {
	t.Parallel()
	p, server := start(t, func(c *Config) { c.QueryLimit = 50 * time.Millisecond })
	server.Break(endpointtest.Hang())
	_, err := p.Query(t.Context(), "ferry")
	if failure := wantKind(t, err, TimedOut); !failure.Temporary() || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("error = %v", err)
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	now := stopped(p)
	server.Break(endpointtest.Status(http.StatusInternalServerError, ""))
	_, err := p.Query(t.Context(), "first")
	wantKind(t, err, Failing)
	for i := range 50 {
		_, err := p.Query(t.Context(), fmt.Sprint("query ", i))
		if failure := wantKind(t, err, Paused); !failure.Temporary() || failure.RetryAfter != QueryPause || !strings.Contains(err.Error(), "answered 500") {
			t.Fatalf("error = %v, want the cause", err)
		}
	}
	if state := p.State(); len(server.Requests()) != 1 || !state.PausedUntil.Equal(now.Now().Add(QueryPause)) || state.Failures != 1 {
		t.Errorf("%d requests, %+v, want 1 and a pause", len(server.Requests()), state)
	}

	// After the pause one query tries, and the others do not wait for it.
	now.Move(QueryPause)
	server.Break(endpointtest.Hang())
	trial := make(chan error, 1)
	go func() {
		_, err := p.Query(t.Context(), "trial")
		trial <- err
	}()
	eventually(t, "one tries", func() bool { return server.Asked("trial") == 1 })
	_, err = p.Query(t.Context(), "another")
	wantKind(t, err, Paused)
	server.Mend()
	if err := <-trial; err != nil {
		t.Fatal(err)
	}
	if vector, err := p.Query(t.Context(), "another"); err != nil || !same(vector, server, "another") || !p.State().PausedUntil.IsZero() {
		t.Errorf("Query = %v, %v, want it asked again", vector, err)
	}
}

func TestBreakerWaitsAsAsked(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	now := stopped(p)
	server.BreakNext(1, endpointtest.Status(http.StatusTooManyRequests, "30"))
	_, err := p.Query(t.Context(), "ferry")
	wantKind(t, err, RateLimited)
	now.Move(30*time.Second - 1)
	_, err = p.Query(t.Context(), "ferry")
	wantKind(t, err, Paused)
	now.Move(1)
	if _, err := p.Query(t.Context(), "ferry"); err != nil {
		t.Error(err)
	}
}

func TestBreakerLeavesEmbedAlone(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.BreakNext(1, endpointtest.Die())
	_, err := p.Query(t.Context(), "ferry")
	wantKind(t, err, Unreachable)
	if _, err := p.Embed(t.Context(), []string{"ferry"}); err != nil {
		t.Error(err)
	}
}

// TestEqualQueriesShareARequest holds the first until all have come.
func TestEqualQueriesShareARequest(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(endpointtest.Hang())
	const callers = 100
	var all sync.WaitGroup
	vectors, errs := make([][]float32, callers), make([]error, callers)
	for i := range callers {
		all.Go(func() { vectors[i], errs[i] = p.Query(t.Context(), "when does the ferry leave") })
	}
	eventually(t, "all have come", func() bool { return p.State().Misses == callers && len(server.Requests()) == 1 })
	server.Mend()
	all.Wait()
	for i := range callers {
		if errs[i] != nil || !same(vectors[i], server, "when does the ferry leave") {
			t.Fatalf("Query %d = %v, %v", i, vectors[i], errs[i])
		}
		vectors[i][0] = 9 // its own
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestCallersLeave lets the first of two callers leave while their request is on its way.
func TestCallersLeave(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(endpointtest.Hang())
	ctx, leave := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := p.Query(ctx, "ferry")
		first <- err
	}()
	eventually(t, "the first has asked", func() bool { return len(server.Requests()) == 1 })
	go func() {
		_, err := p.Query(t.Context(), "ferry")
		second <- err
	}()
	eventually(t, "the second has come", func() bool { return p.State().Misses == 2 })
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	server.Mend()
	if err := <-second; err != nil {
		t.Errorf("the second gets %v, want the vector", err)
	}
	if state := p.State(); len(server.Requests()) != 1 || state.Failures != 0 {
		t.Errorf("%d requests, %+v, want 1 and no failure", len(server.Requests()), state)
	}
	if _, err := p.Query(ctx, "ferry"); err != nil {
		t.Errorf("error = %v, want what the cache has whatever the context", err)
	}
	if _, err := p.Query(ctx, "quay"); !errors.Is(err, context.Canceled) || server.Asked("quay") != 0 {
		t.Errorf("error = %v, want nothing asked", err)
	}
}
