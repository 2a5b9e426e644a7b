package graph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/graph"
)

// streams opens a subscription in both ways. What each gives comes as text: events as they are, and a WebSocket's
// frames as their type and payload. Both channels are closed at the end.
func (l *live) streams(query string) map[string]<-chan string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 20*time.Second)
	l.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "POST", l.url+"/graphql", strings.NewReader(`{"query":"`+query+`"}`))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + l.token}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = response.Body.Close() })
	events, frames := make(chan string, 100), make(chan string, 100)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- text
			}
		}
	}()
	conn := l.socket(ctx)
	l.subscribe(ctx, conn, "1", query)
	go func() {
		defer close(frames)
		for f := (frame{}); wsjson.Read(ctx, conn, &f) == nil && f.Type != "complete"; f = (frame{}) {
			frames <- f.Type + string(f.Payload)
			if f.Type == "error" {
				return
			}
		}
	}()
	return map[string]<-chan string{"events": events, "socket": frames}
}

// socket opens a WebSocket as the administrator.
func (l *live) socket(ctx context.Context) *websocket.Conn {
	l.t.Helper()
	conn, answer, err := l.dial(ctx, nil, `{"authorization":"Bearer `+l.token+`"}`)
	if err != nil || answer.Type != "connection_ack" {
		l.t.Fatalf("%v %v", answer, err)
	}
	return conn
}

func (l *live) subscribe(ctx context.Context, conn *websocket.Conn, id, query string) {
	l.t.Helper()
	payload, err := json.Marshal(map[string]string{"query": query})
	if err == nil {
		err = wsjson.Write(ctx, conn, frame{Type: "subscribe", ID: id, Payload: payload})
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// wantLast wants the last that comes to have all the parts.
func wantLast(t testing.TB, name string, from <-chan string, parts ...string) {
	t.Helper()
	last := ""
	for text := range from {
		last = text
	}
	for _, part := range parts {
		if !strings.Contains(last, part) {
			t.Errorf("%s: the last that came is %q, want it to have %q", name, last, part)
		}
	}
}

func TestStreamCutOffByTheStore(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	streams := l.streams(subscription)
	for _, stream := range streams {
		until(l, "news", stream)
	}
	l.store.Close()
	for name, stream := range streams {
		wantLast(t, name, stream, "UNAVAILABLE", "the server is stopping", `"messageAppended"`)
	}
}

// A stream of events has no other way to tell that the server stops; a WebSocket is closed with 1001.
func TestEventStreamCutOffByTheServer(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	events := l.streams(subscription)["events"]
	until(l, "news", events)
	l.stop()
	wantLast(t, "events", events, "UNAVAILABLE", "the stream was cut off")
}

func TestStreamOfAFailedCheck(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.append(message("s", "one"))
	conn, err := pgx.Connect(t.Context(), l.api.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE log.messages IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	streams := l.streams("subscription{verificationProgress{done}}")
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { // others may wait for the lock as well, and some are late
		for ctx.Err() == nil {
			if _, err := tx.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'log.messages'::REGCLASS`); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for name, stream := range streams {
		wantLast(t, name, stream, "UNAVAILABLE", `"verificationProgress"`)
	}
	cancel()
	group.Wait()
}

func TestStreamOfACheckEndsWell(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	for name, stream := range l.streams("subscription{verificationProgress{done}}") {
		wantLast(t, name, stream, `{"data":{"verificationProgress":{"done":true}}}`)
	}
}

// Beyond the limit an operation is refused, and the others go on. Each that ends makes room for one.
func TestSocketOperations(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn := l.socket(ctx)
	for i := range graph.MaxSocketOperations + 1 {
		l.subscribe(ctx, conn, fmt.Sprint(i), subscription)
	}
	var f frame
	if err := wsjson.Read(ctx, conn, &f); err != nil || f.Type != "error" || !strings.Contains(string(f.Payload), "RATE_LIMITED") || !strings.Contains(string(f.Payload), "32") {
		t.Fatalf("the first frame is %s %s %v, want an error RATE_LIMITED that names the limit", f.Type, f.Payload, err)
	}
	going := "0"
	if f.ID == going {
		going = "1"
	}
	if err := wsjson.Write(ctx, conn, frame{Type: "complete", ID: going}); err != nil {
		t.Fatal(err)
	}
	for f.Type = ""; f.Type != "complete"; { // it may not have been on yet, and say so
		if err := wsjson.Read(ctx, conn, &f); err != nil || f.ID != going {
			t.Fatalf("%+v %v, want %s complete", f, err, going)
		}
	}
	for i := range 3 { // what ends by itself makes room as well
		id := fmt.Sprint("again ", i)
		l.subscribe(ctx, conn, id, "{__typename}")
		for _, want := range []string{"next", "complete"} {
			if err := wsjson.Read(ctx, conn, &f); err != nil || f.Type != want || f.ID != id {
				t.Fatalf("%+v %s %v, want %s of %s", f, f.Payload, err, want, id)
			}
		}
	}
}
