package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// mix is what others do during a soak, besides the crew: they listen by events and by WebSocket, ask for context, and go
// away in the midst of requests, each with the administrator's token or one of several agents'.
type mix struct {
	*scene
	every    time.Duration // between requests of one kind
	asked    answers
	aborted  atomic.Int64
	listened atomic.Int64 // WebSockets that were told something
}

// Of each kind, how many listen at a time.
const (
	soakEvents  = 20
	soakSockets = 8
)

// turn lets them come, stay for a while and go. When it returns, all are gone.
func (m *mix) turn(ctx context.Context, span time.Duration) error {
	crowd, err := m.server.subscribe(ctx, soakEvents, 1, m.server.apart)
	defer crowd.close()
	if err != nil {
		return err
	}
	ends := time.Now().Add(span)
	failures := make([]error, soakSockets)
	var wait sync.WaitGroup
	for i := range soakSockets {
		wait.Go(func() { failures[i] = m.socket(ctx, i, ends) })
	}
	wait.Go(func() { m.ask(ctx, ends) })
	wait.Go(func() { m.abort(ctx, ends) })
	wait.Wait()
	return errors.Join(failures...)
}

// agent is the n-th of the agents, in turn, with their session.
func (m *mix) agent(n int) (by *client, player, session string) {
	n %= len(m.crew.agents)
	writer := admins(m.crew.load.writers) + n
	return m.crew.agents[n], ownerOf(writer), m.crew.load.session(writer)
}

// frame is one of graphql-transport-ws.
type frame struct {
	ID      string         `json:"id,omitempty"`
	Type    string         `json:"type"`
	Payload map[string]any `json:"payload,omitempty"`
}

// socket listens to an agent's session by WebSocket until a time, and until something was told. Then every other one
// closes in order, and the others just go.
func (m *mix) socket(ctx context.Context, n int, ends time.Time) error {
	by, _, session := m.agent(n)
	ctx, cancel := context.WithTimeout(ctx, time.Until(ends)+startLimit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://"+by.addr+"/graphql", &websocket.DialOptions{
		Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + by.token}},
	})
	if err != nil {
		return fmt.Errorf("WebSocket: %w", err)
	}
	defer func() { _ = conn.CloseNow() }()
	for _, out := range []frame{{Type: "connection_init"}, {ID: "1", Type: "subscribe", Payload: map[string]any{
		"query": subscription, "variables": map[string]any{"s": []string{session}},
	}}} {
		if err := wsjson.Write(ctx, conn, out); err != nil {
			return fmt.Errorf("WebSocket: %w", err)
		}
	}
	for told := false; !told || time.Now().Before(ends); {
		var in frame
		if err := wsjson.Read(ctx, conn, &in); err != nil {
			return fmt.Errorf("WebSocket: %w", err)
		}
		switch in.Type {
		case "next":
			told = true
		case "error", "complete":
			return fmt.Errorf("WebSocket: %s: %v", in.Type, in.Payload)
		}
	}
	m.listened.Add(1)
	if n%2 == 0 {
		return conn.Close(websocket.StatusNormalClosure, "")
	}
	return nil
}

const contextQuery = `mutation($i: ContextRequestInput!) { requestContext(input: $i) { receipt items { hash score } } }`

func contextInput(player string, n int) map[string]any {
	return map[string]any{"i": map[string]any{"query": fmt.Sprintf("message %d", n%50), "player": player, "threshold": 0.2}}
}

// ask asks for context until a time.
func (m *mix) ask(ctx context.Context, ends time.Time) {
	for n := 0; time.Now().Before(ends); n++ {
		by, player, _ := m.agent(n)
		began := time.Now()
		asking, cancel := context.WithTimeout(ctx, patience)
		err := by.ask(asking, contextQuery, contextInput(player, n), nil)
		cancel()
		if ctx.Err() != nil {
			return
		}
		code, text := outcome(err)
		m.asked.add(0, began, code, text)
		if pause(ctx, m.every) != nil {
			return
		}
	}
}

// abort begins requests until a time, and goes away in the midst of them.
func (m *mix) abort(ctx context.Context, ends time.Time) {
	for n := 0; time.Now().Before(ends); n++ {
		by, player, session := m.agent(n)
		asking, cancel := context.WithTimeout(ctx, rand.N(20*time.Millisecond))
		var err error
		switch n % 3 {
		case 0:
			err = by.ask(asking, readQuery, map[string]any{"s": session}, nil)
		case 1:
			err = by.ask(asking, contextQuery, contextInput(player, n), nil)
		default:
			err = halfBody(asking, by)
		}
		cancel()
		if err != nil {
			m.aborted.Add(1)
		}
		if pause(ctx, m.every) != nil {
			return
		}
	}
}

// halfBody sends a part of a request, and goes.
func halfBody(ctx context.Context, by *client) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", by.addr)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(conn, requestHead+`{"query": "{`, by.addr, by.token, 1000)
	return errors.Join(err, conn.Close(), errors.New("half of a body"))
}
