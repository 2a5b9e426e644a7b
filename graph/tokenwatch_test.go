package graph_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// eventsOf opens a stream of events, as whoever the header says. The channel is closed at its end.
func (g *guarded) eventsOf(query string, header ...string) <-chan string {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 30*time.Second)
	g.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "POST", g.live.url+"/graphql", strings.NewReader(`{"query":"`+query+`"}`))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != 200 {
		g.t.Fatalf("%v %v", response, err)
	}
	g.t.Cleanup(func() { _ = response.Body.Close() })
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- text
			}
		}
	}()
	return events
}

// framesOf opens a subscription on a WebSocket. The last that comes is how the socket was closed.
func (g *guarded) framesOf(ctx context.Context, conn *websocket.Conn, query string) <-chan string {
	g.t.Helper()
	g.subscribe(ctx, conn, "1", query)
	frames := make(chan string, 1000)
	go func() {
		defer close(frames)
		for {
			var f frame
			if err := wsjson.Read(ctx, conn, &f); err != nil {
				frames <- websocket.CloseStatus(err).String()
				return
			}
			frames <- f.Type + string(f.Payload)
		}
	}()
	return frames
}

// Streams end when their token is revoked, and say why; so does the whole WebSocket.
func TestStreamsEndWithARevocation(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner")})
	g.wantEnd(made.Secret, func() time.Time { g.revoke(made.Token.ID); return time.Now() })
}

func TestStreamsEndWithTheToken(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	expires := time.Now().Add(5 * time.Second)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner"), "expiresAt": expires.Format(time.RFC3339Nano)})
	g.wantEnd(made.Secret, func() time.Time { return expires })
}

// endsWithin is how long after a token's end nothing more is done with it.
const endsWithin = 5 * time.Second

// wantEnd opens streams, and wants them to end soon after the token has, the time of which end gives.
func (g *guarded) wantEnd(token string, end func() time.Time) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 30*time.Second)
	defer cancel()
	hello := `{"authorization":"Bearer ` + token + `"}`
	conn, answer, err := g.dial(ctx, nil, hello)
	if err != nil || answer.Type != "connection_ack" {
		g.t.Fatalf("%v %v", answer, err)
	}
	idle, _, err := g.dial(ctx, nil, hello)
	if err != nil {
		g.t.Fatal(err)
	}
	events, frames := g.eventsOf(subscription, "Authorization", "Bearer "+token), g.framesOf(ctx, conn, subscription)
	at := end()
	inTime := func(what string) {
		g.t.Helper()
		if took := time.Since(at); took > endsWithin {
			g.t.Errorf("%s %v after the token has, want %v at most", what, took, endsWithin)
		}
	}
	wantLast(g.t, "events", events, `"UNAUTHENTICATED"`, "unknown token")
	inTime("events end")
	var seen []string
	for f := range frames {
		seen = append(seen, f)
	}
	if n := len(seen); n < 2 || !contains(seen[n-2], "error") || !contains(seen[n-2], `"UNAUTHENTICATED"`) || !contains(seen[n-1], "4401") {
		g.t.Errorf("the WebSocket ends with %q, want an error UNAUTHENTICATED and 4401", seen)
	}
	if _, _, err := idle.Read(ctx); websocket.CloseStatus(err) != 4401 {
		g.t.Errorf("an idle WebSocket is closed with %v, want 4401", err)
	}
	inTime("WebSockets end")
	g.soon("a request is refused", func() bool {
		status, got := g.as(token, "{ __typename }", nil)
		return status == 401 && code(got) == "UNAUTHENTICATED"
	})
	inTime("requests are refused")
	if _, _, err := g.dial(ctx, nil, hello); websocket.CloseStatus(err) != 4401 {
		g.t.Errorf("another WebSocket: %v, want it closed with 4401", err)
	}
}

// A stream of the administrator's file goes on while others end.
func TestStreamOfTheFileGoesOn(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner")})
	own := g.eventsOf(`subscription{messageAppended(sessions:[\"`+hashOf("s")+`\"]){content}}`, "Authorization", "Bearer "+g.token)
	others := g.eventsOf(subscription, "Authorization", "Bearer "+made.Secret)
	g.revoke(made.Token.ID)
	wantLast(t, "the revoked one", others, `"UNAUTHENTICATED"`)
	if got := until(g.live, "news", own); !contains(got, "news") {
		t.Errorf("the administrator's stream gives %s, want the message", got)
	}
}

// A session of the console lasts no longer than the token it was opened with, and its streams no longer than it.
func TestSessionEndsWithTheToken(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	signIn := func(token string) string {
		t.Helper()
		r, err := http.Post(g.live.url+"/session", "application/json", strings.NewReader(`{"token":"`+token+`"}`))
		if err != nil || len(r.Cookies()) != 1 {
			t.Fatalf("POST /session: %v %v", r, err)
		}
		defer r.Body.Close()
		return r.Cookies()[0].Name + "=" + r.Cookies()[0].Value
	}
	made := g.create(g.token, object{"kind": "CLIENT", "player": hashOf("lena")})
	cookie := signIn(made.Secret)
	if status, got := g.as("", "{ __typename }", nil, "Cookie", cookie); status != 200 {
		t.Fatalf("with the session: %d %+v", status, got)
	}
	events := g.eventsOf(subscription, "Cookie", cookie)
	g.revoke(made.Token.ID)
	wantLast(t, "the session's stream", events, `"UNAUTHENTICATED"`)
	g.soon("the session ends", func() bool {
		status, got := g.as("", "{ __typename }", nil, "Cookie", cookie)
		return status == 401 && code(got) == "UNAUTHENTICATED"
	})

	cookie = signIn(g.token)
	events = g.eventsOf(subscription, "Cookie", cookie)
	r, err := http.NewRequestWithContext(t.Context(), "DELETE", g.live.url+"/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", cookie)
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != 204 {
		t.Fatalf("DELETE /session: %v %v", response, err)
	}
	_ = response.Body.Close()
	wantLast(t, "the stream of who signed out", events, `"UNAUTHENTICATED"`, "the session has ended")
}
