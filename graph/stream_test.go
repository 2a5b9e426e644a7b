package graph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
)

// live is the API on a listener, behind the gate, whose streams end with stop.
type live struct {
	*api
	url   string
	token string
	front http.Handler // behind the gate
	stop  context.CancelFunc
}

func newLive(t testing.TB, origins ...string) *live {
	t.Helper()
	l := &live{api: newAPI(t), token: auth.NewAdminToken()}
	log, tokens := slog.New(slog.DiscardHandler), auth.NewAdminVerifier(l.token)
	gate := auth.NewGate(tokens, auth.NewSessions())
	mux := http.NewServeMux()
	l.front = graph.NewHandler(&graph.Resolver{Store: l.store, Log: log}, graph.Config{Log: log, Tokens: tokens, Origins: origins})
	mux.Handle("/graphql", gate.Identify(l.front))
	mux.Handle("/session", gate.Sessions())
	server := httptest.NewUnstartedServer(mux)
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(l.stop)
	l.url = server.URL
	return l
}

// until appends until something comes out of the channel: when a subscription is on cannot be seen from outside.
func until[T any](l *live, content string, events <-chan T) T {
	l.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		l.append(message("s", content))
		select {
		case event := <-events:
			return event
		case <-limit:
			l.t.Fatal("no event in 20 s")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (l *live) cookie() string {
	l.t.Helper()
	r, err := http.Post(l.url+"/session", "application/json", strings.NewReader(`{"token":"`+l.token+`"}`))
	if err != nil || len(r.Cookies()) != 1 {
		l.t.Fatalf("POST /session: %v", err)
	}
	defer r.Body.Close()
	return r.Cookies()[0].Name + "=" + r.Cookies()[0].Value
}

const subscription = `subscription{messageAppended{content}}`

func TestEventStream(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	for _, method := range []string{"POST", "GET"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, l.url+"/graphql", strings.NewReader(`{"query":"`+subscription+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if method == "GET" {
			r.Body, r.ContentLength, r.URL.RawQuery = nil, 0, "query="+subscription
		}
		r.Header.Set("Authorization", "Bearer "+l.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if got := response.Header.Get("Content-Type"); response.StatusCode != 200 || got != "text/event-stream" {
			t.Fatalf("%s: %d %s, want 200 text/event-stream", method, response.StatusCode, got)
		}
		events := make(chan string)
		go func() {
			defer close(events)
			for lines := bufio.NewScanner(response.Body); lines.Scan(); {
				if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					select {
					case events <- text:
					case <-ctx.Done():
						return
					}
				}
			}
		}()
		if got, want := until(l, "one", events), `{"data":{"messageAppended":{"content":"one"}}}`; got != want {
			t.Errorf("%s: event = %s, want %s", method, got, want)
		}
		cancel()
	}
}

func TestEventStreamOfAQuery(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{__typename}"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	if got := w.Body.String(); !strings.Contains(got, `data: {"data":{"__typename":"Query"}}`) || !strings.Contains(got, "event: complete") {
		t.Errorf("the stream = %q, want the answer and its end", got)
	}
}

// frame is a message of graphql-transport-ws.
type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// dial opens a WebSocket and says hello. The answer is the server's first frame, or why there is none.
func (l *live) dial(ctx context.Context, header http.Header, hello string) (*websocket.Conn, frame, error) {
	l.t.Helper()
	conn, response, err := websocket.Dial(ctx, l.url+"/graphql", &websocket.DialOptions{
		Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header,
	})
	if err != nil {
		if response == nil {
			l.t.Fatal(err)
		}
		return nil, frame{Type: response.Status}, err
	}
	l.t.Cleanup(func() { _ = conn.CloseNow() })
	first := frame{Type: "connection_init"}
	if hello != "" {
		first.Payload = json.RawMessage(hello)
	}
	if err := wsjson.Write(ctx, conn, first); err != nil {
		l.t.Fatal(err)
	}
	var answer frame
	err = wsjson.Read(ctx, conn, &answer)
	return conn, answer, err
}

func TestWebSocketCallers(t *testing.T) {
	t.Parallel()
	l := newLive(t, "https://app.example.org")
	cookie := l.cookie()
	for name, test := range map[string]struct {
		header http.Header
		hello  string
		close  websocket.StatusCode // 0: it is let in; -1: it is not even opened
	}{
		"a token":                    {nil, `{"authorization":"Bearer ` + l.token + `"}`, 0},
		"a token, upper case":        {nil, `{"Authorization":"Bearer ` + l.token + `"}`, 0},
		"a token in the request":     {http.Header{"Authorization": {"Bearer " + l.token}}, "", 0},
		"a cookie":                   {http.Header{"Cookie": {cookie}, "Origin": {l.url}}, "", 0},
		"nobody":                     {nil, "", 4401},
		"another token":              {nil, `{"authorization":"Bearer ` + auth.NewAdminToken() + `"}`, 4401},
		"another token and a cookie": {http.Header{"Cookie": {cookie}}, `{"authorization":"Bearer x"}`, 4401},
		"no cookie of ours":          {http.Header{"Cookie": {"cm_session=x"}}, "", 4401},
		"from another page":          {http.Header{"Origin": {"https://evil.example"}}, `{"authorization":"Bearer ` + l.token + `"}`, -1},
		"from a page allowed":        {http.Header{"Origin": {"https://app.example.org"}}, `{"authorization":"Bearer ` + l.token + `"}`, 0},
		"its cookie does not count":  {http.Header{"Origin": {"https://app.example.org"}, "Cookie": {cookie}}, "", 4401},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		conn, answer, err := l.dial(ctx, test.header, test.hello)
		switch {
		case test.close == -1:
			if conn != nil {
				t.Errorf("%s: it is opened, want it refused", name)
			}
		case test.close == 0:
			if err != nil || answer.Type != "connection_ack" {
				t.Errorf("%s: %v %v, want connection_ack", name, answer.Type, err)
			}
		case websocket.CloseStatus(err) != test.close:
			t.Errorf("%s: %v %v, want it closed with %d", name, answer.Type, err, test.close)
		}
	}
}

func TestWebSocket(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, _, err := l.dial(ctx, nil, `{"authorization":"Bearer `+l.token+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	exchange := func(id, query, wantType, want string) {
		t.Helper()
		payload, _ := json.Marshal(map[string]string{"query": query})
		if query != "" {
			if err := wsjson.Write(ctx, conn, frame{Type: "subscribe", ID: id, Payload: payload}); err != nil {
				t.Fatal(err)
			}
		}
		var got frame
		if err := wsjson.Read(ctx, conn, &got); err != nil || got.ID != id || got.Type != wantType || !strings.Contains(string(got.Payload), want) {
			t.Fatalf("%s: %+v %s %v, want %s %q", query, got.Type, got.Payload, err, wantType, want)
		}
	}
	exchange("1", "{__typename}", "next", `"Query"`)
	exchange("1", "", "complete", "")
	exchange("2", "{nothing}", "error", `"BAD_USER_INPUT"`)
	exchange("2", "", "complete", "")
	exchange("3", "{"+strings.Repeat("a ", 7000)+"}", "error", "7000 fields and fragments; at most 500")
	exchange("3", "", "complete", "")
	payload, _ := json.Marshal(map[string]string{"query": subscription})
	if err := wsjson.Write(ctx, conn, frame{Type: "subscribe", ID: "4", Payload: payload}); err != nil {
		t.Fatal(err)
	}
	events := make(chan frame)
	ended := make(chan error, 1)
	go func() {
		for {
			var f frame
			if err := wsjson.Read(ctx, conn, &f); err != nil {
				ended <- err
				return
			}
			select {
			case events <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	if f := until(l, "news", events); f.Type != "next" || !strings.Contains(string(f.Payload), `"news"`) {
		t.Fatalf("the subscription gives %s %s, want the message", f.Type, f.Payload)
	}

	l.stop()
	for {
		select {
		case <-events: // what was on its way
		case err := <-ended:
			if websocket.CloseStatus(err) != websocket.StatusGoingAway {
				t.Errorf("a server that stops closes with %v, want %d", err, websocket.StatusGoingAway)
			}
			return
		}
	}
}

// What an operation was asked for with takes room until it ends, however many messages come after it. Subscriptions last
// long, and may not be large.
func TestOperationsTakeRoom(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, _, err := l.dial(ctx, nil, `{"authorization":"Bearer `+l.token+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	room := graph.Bodies(l.front)
	free := func(least int64) bool {
		ok := room.Take("", least)
		if ok {
			room.Give("", least)
		}
		return ok
	}
	const size, taken, others = 200 << 10, 256 << 10, 4 // room doubles as it grows
	ask := func(id, query string, size int) {
		t.Helper()
		payload, _ := json.Marshal(map[string]any{"query": query, "extensions": map[string]string{"pad": strings.Repeat("x", size)}})
		if err := wsjson.Write(ctx, conn, frame{Type: "subscribe", ID: id, Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (f frame) {
		t.Helper()
		if err := wsjson.Read(ctx, conn, &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	ask("large", subscription, size)
	if f := read(); f.Type != "error" || !strings.Contains(string(f.Payload), "65536 bytes") {
		t.Errorf("a large subscription: %s %s, want an error that names the limit", f.Type, f.Payload)
	}
	read()

	lock, err := pgx.Connect(ctx, l.api.url)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close(context.WithoutCancel(ctx))
	if _, err := lock.Exec(ctx, "BEGIN; LOCK TABLE log.messages IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	for i := range others {
		ask(fmt.Sprint(i), "{messages{totalCount}}", size)
	}
	ask("small", "{__typename}", 0)
	for f := read(); f.ID != "small" || f.Type != "complete"; f = read() { // then they have all been read
	}
	if free(graph.MostBody - others*taken + 1) {
		t.Errorf("%d operations of %d bytes take less room", others, size)
	}
	if _, err := lock.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for completed := 0; completed < others; {
		if f := read(); f.Type == "complete" {
			completed++
		}
	}
	for !free(graph.MostBody) {
		if ctx.Err() != nil {
			t.Fatal("what has ended takes room")
		}
	}
}

// A client that lists both for everything gets JSON for what is no subscription.
func TestAcceptsBoth(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for query, want := range map[string]string{
		"{ __typename }": "application/graphql-response+json",
		"subscription { verificationProgress { done } }": "text/event-stream",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(`{"query": "`+query+`"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/graphql-response+json, application/json, text/event-stream, multipart/mixed")
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d %s, want %s", query, w.Code, got, want)
		}
	}
}
