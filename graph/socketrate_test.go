package graph

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/tzzr/context-manager/internal/limit"
)

// Whoever sends more messages than a client has any use for is told so, and closed: pings as well, which cost the server an
// answer each and are no operations.
func TestMessagesHaveARate(t *testing.T) {
	t.Parallel()
	l := newLimited(t, limit.Config{})
	for name, send := range map[string]func(ctx context.Context, conn *websocket.Conn) error{
		"pings": func(ctx context.Context, conn *websocket.Conn) error {
			return wsjson.Write(ctx, conn, frame{Type: "ping"})
		},
		"pongs": func(ctx context.Context, conn *websocket.Conn) error {
			return wsjson.Write(ctx, conn, frame{Type: "pong"})
		},
		"ends of what never was": func(ctx context.Context, conn *websocket.Conn) error {
			return wsjson.Write(ctx, conn, frame{"complete", "1", nil})
		},
		"pings of the protocol": func(ctx context.Context, conn *websocket.Conn) error { return conn.Ping(ctx) },
	} {
		conn, _, err := l.open("", "admin") // who has no other limit
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		closed := make(chan error, 1)
		go func() {
			for {
				if _, _, err := conn.Read(ctx); err != nil {
					closed <- err
					return
				}
			}
		}()
		for range messagesAtOnce - 10 {
			if err := send(ctx, conn); err != nil {
				t.Fatalf("%s, as many as may be: %v", name, err)
			}
		}
		for range 100 * messagesAtOnce { // some more each second, while they are sent
			if send(ctx, conn) != nil {
				break
			}
		}
		if err := <-closed; websocket.CloseStatus(err) != websocket.StatusPolicyViolation || !strings.Contains(err.Error(), "messages a second") {
			t.Errorf("%s without end: %v, want it closed with %d and the reason", name, err, websocket.StatusPolicyViolation)
		}
	}
}
