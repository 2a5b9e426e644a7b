package graph

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/tzzr/context-manager/internal/limit"
	"github.com/tzzr/context-manager/internal/overload"
)

// padded is a message that asks for something, with so many bytes of which nothing is made.
func padded(id, query string, size int) frame {
	payload, _ := json.Marshal(map[string]any{"query": query, "extensions": map[string]string{"pad": strings.Repeat("x", size)}})
	return frame{"subscribe", id, payload}
}

// waitForRoom waits until something of a room is taken, or nothing.
func waitForRoom(t *testing.T, what string, room *overload.Room, taken bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		free := room.Take("", mostBody)
		if free {
			room.Give("", mostBody)
		}
		if free != taken {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: room is taken: %t, want the opposite", what, !free)
		}
	}
}

// Before a WebSocket has said who it is, its messages are short.
func TestHelloIsShort(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	for name, test := range map[string]struct {
		inRequest string
		size      int
		want      websocket.StatusCode // -1: it is let in
	}{
		"short":                         {"", maxHello - 1000, -1},
		"long":                          {"", maxHello, websocket.StatusMessageTooBig},
		"long, with a token before":     {"agent", maxHello, websocket.StatusMessageTooBig},
		"as long as other messages are": {"", MaxBody - 1000, websocket.StatusMessageTooBig},
	} {
		header := http.Header{}
		if test.inRequest != "" {
			header.Set("Authorization", "Bearer "+test.inRequest)
		}
		conn, _, err := websocket.Dial(t.Context(), l.url, &websocket.DialOptions{Subprotocols: []string{subprotocol}, HTTPHeader: header})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.CloseNow() }()
		hello := json.RawMessage(`{"authorization":"Bearer agent","pad":"` + strings.Repeat("x", test.size) + `"}`)
		if err = wsjson.Write(t.Context(), conn, frame{"connection_init", "", hello}); err == nil {
			err = wsjson.Read(t.Context(), conn, &frame{})
		}
		if code := websocket.CloseStatus(err); code != test.want || code == -1 && err != nil {
			t.Errorf("%s: %v, want %d", name, err, test.want)
		}
		if test.want != -1 {
			continue
		}
		if err := wsjson.Write(t.Context(), conn, padded("1", "{__typename}", MaxBody-1000)); err != nil {
			t.Fatal(err)
		}
		var got frame
		conn.SetReadLimit(-1)
		if err := wsjson.Read(t.Context(), conn, &got); err != nil || !strings.Contains(string(got.Payload), `"Query"`) {
			t.Errorf("%s, and then a long message: %s %v, want its answer", name, got.Payload, err)
		}
	}
}

// A message that is none of the protocol's ends the WebSocket, and its client hears why.
func TestGarbledMessages(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	for _, text := range []string{"", "{", "x", "[]", `{"type":1}`, `{"type":"start"}`, `{"type":"next"}`, `{"type":"subscribe","id":"1","payload":}`} {
		conn, _, err := l.open("", "agent")
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, _, err = conn.Read(t.Context())
		if end, ok := errors.AsType[websocket.CloseError](err); !ok || end.Code != closeGarbled || end.Reason != "the message is none of graphql-transport-ws" {
			t.Errorf("%q: %v, want it closed with %d", text, err, closeGarbled)
		}
	}
}

// What comes in of a message takes room, beyond a little, until it is answered or the socket ends.
func TestMessagesTakeRoom(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	conn, _, err := l.open("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	begin := func(conn *websocket.Conn) (end func()) {
		text, _ := json.Marshal(padded("1", "{__typename}", 4*smallBody))
		w, err := conn.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		half := len(text) / 2
		if _, err := w.Write(text[:half]); err != nil {
			t.Fatal(err)
		}
		return func() {
			if _, err := w.Write(text[half:]); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitForRoom(t, "before", l.bodies, false)
	end := begin(conn)
	waitForRoom(t, "half a message", l.bodies, true)
	end()
	var got frame
	if err := wsjson.Read(t.Context(), conn, &got); err != nil || !strings.Contains(string(got.Payload), `"Query"`) {
		t.Errorf("the answer is %s %v", got.Payload, err)
	}
	waitForRoom(t, "an answer", l.bodies, false)
	for name, text := range map[string]string{
		"no JSON":           strings.Repeat("x", 4*smallBody),
		"too many values":   `{"a":[1` + strings.Repeat(",1", 60_000) + `]}`,
		"an unknown type":   `{"type":"` + strings.Repeat("x", 4*smallBody) + `"}`,
		"an unknown field":  jsonOf(t, padded("1", "{nothing}", 4*smallBody)),
		"too long":          strings.Repeat(" ", 2*MaxBody),
		"a ping, as a pong": `{"type":"ping","payload":{"a":"` + strings.Repeat("x", 4*smallBody) + `"}}`,
	} {
		conn, _, err := l.open("", "agent")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Write(t.Context(), websocket.MessageText, []byte(text)) // it may be closed meanwhile
		conn.SetReadLimit(-1)
		if _, _, err := conn.Read(t.Context()); err == nil {
			_ = conn.CloseNow()
		}
		waitForRoom(t, name, l.bodies, false)
	}
	begin(conn)
	waitForRoom(t, "half a message", l.bodies, true)
	_ = conn.CloseNow()
	waitForRoom(t, "a socket that has ended", l.bodies, false)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Who has taken their share gets no more of it, and is told to come again. What is small comes in nevertheless.
func TestMessagesWithoutRoom(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	if !l.bodies.Take(string(l.agent.Player[:]), mostBody/4*3) {
		t.Fatal("there is no room")
	}
	ask := func(token string, size int) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		conn, _, err := l.open("", token)
		if err != nil {
			t.Fatal(err)
		}
		if err := wsjson.Write(ctx, conn, padded("1", "{__typename}", size)); err != nil {
			return "", err
		}
		var got frame
		err = wsjson.Read(ctx, conn, &got)
		return string(got.Payload), err
	}
	for _, token := range []string{"agent", "second"} {
		if _, err := ask(token, 4*smallBody); websocket.CloseStatus(err) != websocket.StatusTryAgainLater || !strings.Contains(err.Error(), "try again") {
			t.Errorf("with the token %s: %v, want it closed with %d", token, err, websocket.StatusTryAgainLater)
		}
		if got, err := ask(token, smallBody/2); err != nil || !strings.Contains(got, `"Query"`) {
			t.Errorf("a small one with the token %s: %s %v, want an answer", token, got, err)
		}
	}
	if got, err := ask("other", 4*smallBody); err != nil || !strings.Contains(got, `"Query"`) {
		t.Errorf("another player: %s %v, want an answer", got, err)
	}
}
