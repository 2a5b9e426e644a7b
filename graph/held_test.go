package graph

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/overload"
)

// A large event is counted until the next one, the end of the stream, or that of whoever reads it; one that there is no room
// for ends the stream.
func TestLargeEventsWait(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	large := &graphql.Response{Data: json.RawMessage(strings.Repeat(" ", size))}
	small := &graphql.Response{Data: json.RawMessage("{}")}
	room := overload.NewRoom(2 * size)
	left := func(want int64) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; {
			if room.Take("", want) {
				room.Give("", want)
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("there is no room for %d bytes", want)
			}
		}
		if room.Take("", want+1) {
			t.Errorf("there is room for more than %d bytes", want)
			room.Give("", want+1)
		}
	}
	ctx, cancel := context.WithCancel(withExchange(t.Context(), &exchange{}))
	defer cancel()
	events := []*graphql.Response{large, small, large, large, nil, large}
	h := &held{room: room}
	respond := h.events(func(context.Context) *graphql.Response {
		next := events[0]
		events = events[1:]
		return next
	})
	for i, want := range []int64{size, 2 * size, size, size, 2 * size, size} {
		respond(ctx)
		if left(want); t.Failed() {
			t.Fatalf("after event %d", i+1)
		}
	}
	cancel() // nobody reads on
	left(2 * size)
	events = []*graphql.Response{large}
	respond(ctx) // the last that was under way
	left(2 * size)

	if !room.Take("", 2*size) {
		t.Fatal("something is held")
	}
	events = []*graphql.Response{large, small}
	if got := respond(withExchange(t.Context(), &exchange{})); got == nil || len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != "UNAVAILABLE" || got.Data != nil {
		t.Errorf("an event without room: %+v, want UNAVAILABLE", got)
	}
	if got := respond(t.Context()); got != nil {
		t.Errorf("behind it: %+v, want the end", got)
	}
}

// What opens a stream is kept as long as it lasts, and may not be large.
func TestLargeBodiesOpenNoStreams(t *testing.T) {
	t.Parallel()
	h := NewHandler(&Resolver{}, Config{})
	for _, test := range []struct{ length, status int }{{1000, http.StatusOK}, {smallBody + 1, http.StatusRequestEntityTooLarge}} {
		r := httptest.NewRequestWithContext(auth.WithCaller(t.Context(), auth.Administrator()), http.MethodPost, "/graphql",
			strings.NewReader(`{"query":"{__typename}"`+strings.Repeat(" ", test.length)+"}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%d bytes: %d %s, want %d", test.length, w.Code, w.Body, test.status)
		}
	}
}
