package graph

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/limit"
)

// known is a verifier of tokens by name.
type known map[string]auth.Caller

func (k known) Told(string) (auth.Caller, bool, error) { return auth.Caller{}, false, nil }

func (k known) Verify(_ context.Context, token string) (auth.Caller, error) {
	caller, ok := k[token]
	if !ok {
		return auth.Caller{}, fault.New(fault.Unauthenticated, "unknown token")
	}
	return caller, nil
}

// limited is the API without a store, behind the gate and limits, on a listener.
type limited struct {
	front
	t     *testing.T
	url   string
	agent auth.Caller
}

func newLimited(t *testing.T, cfg limit.Config) *limited {
	t.Helper()
	caller := auth.Caller{Player: chain.Sum([]byte("agent")), Role: auth.Agent, Scopes: auth.AllScopes, TokenID: "1"}
	limits := limit.New(cfg)
	second, other, admin := caller, caller, auth.Administrator()
	second.TokenID = "2"
	other.TokenID, other.Player = "3", chain.Sum([]byte("other"))
	admin.Player = caller.Player
	tokens := limits.Verifier(known{"agent": caller, "second": second, "other": other, "admin": admin})
	handler, ok := newQuiet(tokens, limits).(front)
	if !ok {
		t.Fatal("the handler is another")
	}
	gate := auth.NewGate(tokens, auth.NewSessions())
	server := httptest.NewServer(limits.Note(gate.Identify(handler)))
	t.Cleanup(server.Close)
	return &limited{front: handler, t: t, url: server.URL, agent: caller}
}

// fill takes all that a key may have.
func fill(t *testing.T, c *limit.Counts, key string, most int) {
	t.Helper()
	for range most {
		if _, ok := c.Enter(key, 0, 0); !ok {
			t.Fatal("it is full already")
		}
	}
}

type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// open opens a WebSocket with a token in its request, or none, and one in its first message, or none. Where it is not
// even opened, it gives the status.
func (l *limited) open(inRequest, inMessage string) (*websocket.Conn, int, error) {
	l.t.Helper()
	header := http.Header{}
	if inRequest != "" {
		header.Set("Authorization", "Bearer "+inRequest)
	}
	conn, response, err := websocket.Dial(l.t.Context(), l.url, &websocket.DialOptions{Subprotocols: []string{subprotocol}, HTTPHeader: header})
	if err != nil {
		if response == nil {
			l.t.Fatal(err)
		}
		return nil, response.StatusCode, nil
	}
	l.t.Cleanup(func() { _ = conn.CloseNow() })
	hello := frame{Type: "connection_init"}
	if inMessage != "" {
		hello.Payload = json.RawMessage(`{"authorization":"Bearer ` + inMessage + `"}`)
	}
	if err := wsjson.Write(l.t.Context(), conn, hello); err != nil {
		return conn, 0, err
	}
	return conn, 0, wsjson.Read(l.t.Context(), conn, &frame{})
}

func (l *limited) ask(conn *websocket.Conn, id, query string) (frame, error) {
	l.t.Helper()
	payload, _ := json.Marshal(map[string]string{"query": query})
	if err := wsjson.Write(l.t.Context(), conn, frame{"subscribe", id, payload}); err != nil {
		return frame{}, err
	}
	var got, end frame
	err := wsjson.Read(l.t.Context(), conn, &got)
	if err == nil && (got.Type == "next" || strings.Contains(string(got.Payload), "requests a second")) {
		err = wsjson.Read(l.t.Context(), conn, &end)
	}
	return got, err
}

// All tokens of a player count as one, and administrators as nobody.
func TestSocketsOfAPlayer(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	for range 2 {
		if _, status, err := l.open("", "admin"); status != 0 || err != nil {
			t.Errorf("an administrator's: %d %v, want it let in", status, err)
		}
	}
	fill(t, &l.streams.playerSockets, string(l.agent.Player[:]), MaxPlayerSockets-1)
	if _, status, err := l.open("", "agent"); status != 0 || err != nil {
		t.Errorf("the last that the player may have: %d %v, want it let in", status, err)
	}
	for _, token := range []string{"agent", "second"} {
		if _, status, err := l.open("", token); status != 0 || websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
			t.Errorf("one too many, with the token %s: %d %v, want it closed with %d", token, status, err, websocket.StatusTryAgainLater)
		}
	}
	for _, token := range []string{"other", "admin"} {
		if _, status, err := l.open("", token); status != 0 || err != nil {
			t.Errorf("with the token %s: %d %v, want it let in", token, status, err)
		}
	}
}

func TestSocketsOfAnAddress(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	fill(t, &l.streams.pending, "127.0.0.1", MaxPendingSockets)
	if _, status, _ := l.open("", "agent"); status != http.StatusTooManyRequests {
		t.Errorf("one too many that has not said who it is: %d, want 429", status)
	}
	if _, status, err := l.open("agent", ""); status != 0 || err != nil {
		t.Errorf("one that has: %d %v, want it let in", status, err)
	}
}

func TestSocketsInAll(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	fill(t, &l.streams.sockets, "", MaxSockets)
	if _, status, _ := l.open("admin", ""); status != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d, want 503", status)
	}
}

// What was open counts no more once it has ended.
func TestSocketsLeave(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{Address: 1})
	fill(t, &l.streams.playerSockets, string(l.agent.Player[:]), MaxPlayerSockets-1)
	fill(t, &l.streams.pending, "127.0.0.1", MaxPendingSockets-1)
	for i := range 10 { // more than the address may have without a token
		var conn *websocket.Conn
		for deadline := time.Now().Add(20 * time.Second); ; {
			var status int
			var err error
			if conn, status, err = l.open("", "agent"); status == 0 && err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("socket %d: %d %v, want it let in once the one before has ended", i, status, err)
			}
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}
}

// Sockets that never say who they are count against their address.
func TestSocketsOfNobody(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{Address: 1})
	for deadline := time.Now().Add(20 * time.Second); ; {
		_, status, err := l.open("", "wrong")
		if status == http.StatusTooManyRequests {
			return
		}
		if code := websocket.CloseStatus(err); code != closeUnauthorized && code != websocket.StatusTryAgainLater {
			t.Fatalf("%d %v, want it closed with %d", status, err, closeUnauthorized)
		}
		if time.Now().After(deadline) {
			t.Fatal("guessing goes on and on")
		}
	}
}

func TestInitTimeout(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	conn, _, err := websocket.Dial(t.Context(), l.url, &websocket.DialOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // 5 s are allowed
	defer cancel()
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusProtocolError {
		t.Errorf("a socket that says nothing: %v, want it closed", err)
	}
}

func TestSubscriptionsOfAPlayer(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	fill(t, &l.streams.subscriptions, string(l.agent.Player[:]), MaxPlayerStreams)
	const query = "subscription{messageAppended{hash}}"
	for _, token := range []string{"agent", "second"} {
		conn, _, err := l.open(token, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.ask(conn, "1", query); err != nil || got.Type != "error" || !strings.Contains(string(got.Payload), `"RATE_LIMITED"`) {
			t.Errorf("on a WebSocket, with the token %s: %s %s %v, want RATE_LIMITED", token, got.Type, got.Payload, err)
		}
	}
	r := post(l.front, l.agent, requestBody(t, query, nil), "Accept", eventStream)
	var text strings.Builder
	if _, err := io.Copy(&text, r.Body); err != nil || !strings.Contains(text.String(), `"RATE_LIMITED"`) {
		t.Errorf("as events: %s %v, want RATE_LIMITED", text.String(), err)
	}
}

// Each operation on a WebSocket counts as a request.
func TestRateOnASocket(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newLimited(t, limit.Config{Token: 1, Now: func() time.Time { return now }})
	conn, _, err := l.open("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"Query"`, `"Query"`, `"RATE_LIMITED"`} {
		if got, err := l.ask(conn, "1", "{__typename}"); err != nil || !strings.Contains(string(got.Payload), want) {
			t.Errorf("operation %d: %s %s %v, want %s", i, got.Type, got.Payload, err, want)
		}
	}
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url+"?query={__typename}", nil)
	request.Header.Set("Authorization", "Bearer agent")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if a := read(t, response); response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") != "1" || a.code() != fault.RateLimited {
		t.Errorf("by GET: %d %s, Retry-After %q, want 429 RATE_LIMITED", response.StatusCode, a.code(), response.Header.Get("Retry-After"))
	}
}

func TestHostileMessages(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	for name, test := range map[string]struct {
		text string
		want websocket.StatusCode
	}{
		"deep":        {`{"type":"subscribe","id":"1","payload":{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}}`, websocket.StatusPolicyViolation},
		"many values": {`{"type":"subscribe","id":"1","payload":{"query":"{__typename}","variables":{"a":[1` + strings.Repeat(",1", 60_000) + `]}}}`, websocket.StatusPolicyViolation},
		"long":        {`{"type":"ping","payload":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, websocket.StatusMessageTooBig},
	} {
		conn, _, err := l.open("agent", "")
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Write(t.Context(), websocket.MessageText, []byte(test.text))
		if err == nil {
			_, _, err = conn.Read(t.Context())
		}
		if websocket.CloseStatus(err) != test.want {
			t.Errorf("%s: %v, want it closed with %d", name, err, test.want)
		}
	}
}

func TestUpgrades(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	for name, test := range map[string]struct {
		name, value string
		want        int
	}{
		"well":              {"", "", http.StatusSwitchingProtocols},
		"another protocol":  {"Sec-WebSocket-Protocol", "graphql-ws", http.StatusBadRequest},
		"another version":   {"Sec-WebSocket-Version", "8", http.StatusBadRequest},
		"no key":            {"Sec-WebSocket-Key", "", http.StatusBadRequest},
		"to something else": {"Upgrade", "h2c", http.StatusBadRequest},
		"another origin":    {"Origin", "https://evil.example", http.StatusForbidden},
		"no origin":         {"Origin", "%", http.StatusForbidden},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url, nil)
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
			"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": subprotocol,
		} {
			r.Header.Set(name, value)
		}
		if test.name != "" {
			r.Header.Set(test.name, test.value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != test.want {
			t.Errorf("%s: %d, want %d", name, response.StatusCode, test.want)
		}
	}
}
