package provider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

func TestRetryingUntilItWorks(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]providertest.Fault{
		"429": endpointtest.Status(http.StatusTooManyRequests, ""), "500": endpointtest.Status(http.StatusInternalServerError, ""),
		"503": endpointtest.Status(http.StatusServiceUnavailable, ""), "dies": endpointtest.Die(), "half a body": endpointtest.HalfBody(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := start(t)
			waits := unhurried(p)
			server.BreakNext(12, providertest.Only("number 4", f)) // of both batches
			texts := numbered(batchTexts + 10)
			texts[1] = ""
			vectors, err := p.EmbedRetrying(patient(t), texts)
			wantVectors(t, vectors, server, texts, 1)
			if _, failed := errors.AsType[*Error](err); failed || !slices.Equal(indexes(err), []int{1}) {
				t.Errorf("error = %v, want that of the blank text alone, once", err)
			}
			if len(*waits) != 12 || p.State().Failures != 12 {
				t.Errorf("waited %v, want 12 times", *waits)
			}
			for i, wait := range *waits {
				if low := min(endpoint.FirstWait<<min(i, 7), endpoint.MaxWait) / 2; wait < low {
					t.Errorf("wait %d = %v, want %v at least", i, wait, low)
				}
			}
		})
	}
}

func TestRetryingWaitsAsAsked(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	waits := unhurried(p)
	server.BreakNext(1, endpointtest.Status(http.StatusTooManyRequests, "17"))
	if _, err := p.EmbedRetrying(patient(t), []string{"ferry"}); err != nil {
		t.Fatal(err)
	}
	if len(*waits) != 1 || (*waits)[0] < 17*time.Second || (*waits)[0] > 20*time.Second {
		t.Errorf("waited %v, want 17 s and a little", *waits)
	}
}

// TestRetryingKeepsWhatItHas sees that nothing is embedded twice.
func TestRetryingKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	unhurried(p)
	texts := numbered(2 * batchTexts)
	var second atomic.Int32
	server.Break(providertest.When(func(sent []string) bool {
		if slices.Contains(sent, texts[batchTexts]) {
			second.Add(1)
		}
		return second.Load() > 0 && second.Load() < 4
	}, endpointtest.HalfBody()))
	vectors, err := p.EmbedRetrying(patient(t), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, vectors, server, texts)
	if first, last := server.Asked(texts[0]), server.Asked(texts[batchTexts]); first != 1 || last != 4 {
		t.Errorf("sent the first batch %d times and the second %d, want 1 and 4", first, last)
	}
}

// TestRetryingByParts lets the first batch come late, the second later, and texts of both be bad.
func TestRetryingByParts(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	waits := unhurried(p)
	texts := numbered(batchTexts + 10)
	texts[2], texts[batchTexts+1], texts[batchTexts+4] = "poison", "poison", ""
	refuse, asked := endpointtest.Status(http.StatusBadRequest, ""), atomic.Int32{}
	server.Break(func(x *endpointtest.Exchange) {
		if n := asked.Add(1); n <= 6 || slices.Contains(providertest.Texts(x), texts[batchTexts]) && server.Asked(texts[batchTexts]) <= 2 {
			endpointtest.Die()(x)
		}
		providertest.Only("poison", refuse)(x)
	})
	vectors, err := p.EmbedRetrying(patient(t), texts)
	wantVectors(t, vectors, server, texts, 2, batchTexts+1, batchTexts+4)
	if _, failed := errors.AsType[*Error](err); failed || !slices.Equal(indexes(err), []int{2, batchTexts + 1, batchTexts + 4}) {
		t.Errorf("error = %v of %v, want those that are bad, by index", err, indexes(err))
	}
	if len(*waits) != 8 || (*waits)[5] < endpoint.FirstWait<<5/2 || (*waits)[6] > endpoint.FirstWait {
		t.Errorf("waited %v, want longer and longer, and from the start again after the first batch", *waits)
	}
}

func TestRetryingEndsWhatDoesNotPass(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	waits := unhurried(p)
	server.BreakNext(1, endpointtest.Status(http.StatusUnauthorized, ""))
	_, err := p.EmbedRetrying(patient(t), []string{"", "ferry"})
	wantKind(t, err, Denied)
	if len(*waits) != 0 || len(server.Requests()) != 1 || !slices.Equal(indexes(err), []int{0}) {
		t.Errorf("waited %v, asked %d times, texts %v, want it ended at once", *waits, len(server.Requests()), indexes(err))
	}
}

func TestRetryingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(endpointtest.Status(http.StatusTooManyRequests, "300"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.EmbedRetrying(ctx, []string{"ferry"})
		done <- err
	}()
	eventually(t, "it was asked", func() bool { return p.State().Failures == 1 })
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want that of the context", err)
		}
	case <-time.After(patience):
		t.Fatal("still waiting after its context ended")
	}
}
