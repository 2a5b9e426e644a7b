package provider

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

func TestEmbedEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(providertest.When(func(texts []string) bool { return len(texts) < batchTexts }, endpointtest.Hang()))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	texts := numbered(batchTexts + 1)
	var vectors [][]float32
	var err error
	go func() {
		defer close(done)
		vectors, err = p.Embed(ctx, texts)
	}()
	eventually(t, "it was asked", func() bool { return len(server.Requests()) == 2 })
	cancel()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("still asking after its context ended")
	}
	if _, failed := errors.AsType[*Error](err); failed || !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	wantVectors(t, vectors, server, texts, batchTexts)
	if state := p.State(); state.Failures != 0 || state.LastError != "" {
		t.Errorf("State = %+v, want no failure of the provider", state)
	}
	if _, err := p.Embed(ctx, texts); !errors.Is(err, context.Canceled) || len(server.Requests()) != 2 {
		t.Errorf("error = %v, want nothing asked", err)
	}
}

// TestSlowProvider hangs on large batches: they get smaller until it keeps up, and grow again.
func TestSlowProvider(t *testing.T) {
	t.Parallel()
	p, server := start(t, func(c *Config) { c.RequestLimit = 300 * time.Millisecond })
	unhurried(p)
	server.Break(providertest.When(func(texts []string) bool { return len(texts) > 9 }, endpointtest.Hang()))
	texts := numbered(batchTexts)
	_, err := p.Embed(t.Context(), texts)
	if failure := wantKind(t, err, TimedOut); !failure.Temporary() || !strings.Contains(err.Error(), "300ms") {
		t.Errorf("error = %v", err)
	}
	vectors, err := p.EmbedRetrying(patient(t), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, vectors, server, texts)
	server.Mend()
	p.config.RequestLimit = RequestLimit
	for range batchTexts {
		if _, err := p.Embed(t.Context(), []string{"ferry"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.batch(); got != batchTexts {
		t.Errorf("batches of %d after the provider recovered, want %d", got, batchTexts)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for address, says := range map[string]string{
		gone.URL: "refused", "https" + strings.TrimPrefix(plain.URL, "http"): "not https", secure.URL: "certificate",
	} {
		p, err := New(Config{URL: address, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Embed(t.Context(), []string{"ferry"})
		if failure := wantKind(t, err, Unreachable); !failure.Temporary() || !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want %q", err, says)
		}
	}
}

// TestRedirect sees that neither texts nor the key go to another server.
func TestRedirect(t *testing.T) {
	t.Parallel()
	other := providertest.New(t, dimensions)
	redirecting := httptest.NewServer(http.RedirectHandler(other.URL()+"/embeddings", http.StatusTemporaryRedirect))
	defer redirecting.Close()
	p, err := New(Config{URL: redirecting.URL, Model: providertest.Model, Key: "key-1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Embed(t.Context(), []string{"ferry"})
	wantKind(t, err, NotFound)
	if n := len(other.Requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}
