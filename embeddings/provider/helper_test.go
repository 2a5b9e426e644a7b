package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

const dimensions = 16

// start gives a provider that asks a server of its own.
func start(t *testing.T, change ...func(*Config)) (*Provider, *providertest.Server) {
	t.Helper()
	server := providertest.New(t, dimensions)
	config := Config{URL: server.URL(), Model: providertest.Model, CacheTTL: time.Hour,
		QueryLimit: 10 * time.Second, RequestLimit: 10 * time.Second}
	for _, f := range change {
		f(&config)
	}
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p, server
}

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// eventually waits until it holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after %s: %s", patience, what)
		}
	}
}

// patient gives a context that ends when the test has waited long enough.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// stopped gives a provider a clock that only the test moves.
func stopped(p *Provider) *endpointtest.Clock {
	c := endpointtest.NewClock()
	p.now = c.Now
	return c
}

// unhurried lets a provider wait for nothing, and gives what it would have waited.
func unhurried(p *Provider) *[]time.Duration {
	var waits []time.Duration
	p.wait = func(_ <-chan struct{}, d time.Duration) { waits = append(waits, d) }
	return &waits
}

// numbered gives so many texts.
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("message number %d of the ferry", i)
	}
	return texts
}

// same says whether a vector is that of a text.
func same(vector []float32, server *providertest.Server, text string) bool {
	return slices.EqualFunc(vector, server.Vector(text), func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
}

// wantVectors fails unless every text but those at the given places has its vector.
func wantVectors(t *testing.T, vectors [][]float32, server *providertest.Server, texts []string, without ...int) {
	t.Helper()
	if len(vectors) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(vectors), len(texts))
	}
	for i, text := range texts {
		if slices.Contains(without, i) {
			if vectors[i] != nil {
				t.Errorf("text %d has a vector, want none", i)
			}
		} else if !same(vectors[i], server, text) {
			t.Errorf("vector %d is not that of %.40q: %v", i, text, vectors[i])
		}
	}
}

// wantKind fails unless an error is of a kind.
func wantKind(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Kind != kind {
		t.Fatalf("error = %v (%T), want %s", err, err, kind)
	}
	return failure
}

// indexes gives the places of texts that cannot be embedded.
func indexes(err error) []int {
	var all []int
	for _, one := range TextErrors(err) {
		all = append(all, one.Index)
	}
	return all
}
