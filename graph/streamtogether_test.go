package graph_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

// stalled is a response whose reader takes what is flushed when asked to.
type stalled struct {
	*httptest.ResponseRecorder
	flushed chan string
	goOn    chan struct{}
}

// Flush waits until somebody has taken what was written, and lets it go on.
func (s *stalled) Flush() {
	s.flushed <- s.Body.String()
	s.Body.Reset()
	<-s.goOn
}

// Events that wait while one is sent go out together.
func TestEventsGoOutTogether(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	other, err := l.store.Subscribe(ctx, func(*chain.Message) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "/graphql", strings.NewReader(`{"query":"`+subscription+`"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	w := &stalled{ResponseRecorder: httptest.NewRecorder(), flushed: make(chan string), goOn: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() { defer close(done); l.handler.ServeHTTP(w, r) }()
	if begin := <-w.flushed; begin != ":\n\n" {
		t.Fatalf("the stream begins with %q", begin)
	}
	w.goOn <- struct{}{}
	until(l, "first", w.flushed)
	const more = 20
	for i := range more {
		l.append(message("s", fmt.Sprintf("more %d", i)))
	}
	for last := fmt.Sprintf("more %d", more-1); ; {
		m, err := other.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if *m.Content == last {
			break // and whoever else listens has it waiting
		}
	}
	w.goOn <- struct{}{}
	text := <-w.flushed
	for i := range more {
		if n := strings.Count(text, fmt.Sprintf(`"more %d"`, i)); n != 1 {
			t.Errorf("message %d is there %d times in what is sent together: %q", i, n, text)
		}
	}
	cancel()
	close(w.goOn)
	go func() {
		for range w.flushed {
		}
	}()
	<-done
	close(w.flushed)
}
