package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"golang.org/x/time/rate"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/overload"
)

// maxHello is how many bytes a WebSocket's messages may have before it has said who it is.
const maxHello = 16 << 10

// How often a WebSocket's client may send anything: operations that begin and end, pings and pongs, of the protocol itself and
// of graphql-transport-ws. Operations count for their token besides.
const (
	messagesPerSecond = 100
	messagesAtOnce    = 500
)

var errTooOften = fault.New(fault.RateLimited, "more than %d messages a second came on the WebSocket", messagesPerSecond)

// sockets opens WebSockets. gqlgen's own would receive messages without counting their bytes, and end them normally when
// the server goes away, after which clients would not come back.
type sockets struct{ options websocket.AcceptOptions }

// Accept opens one that came through front.
func (s sockets) Accept(w http.ResponseWriter, r *http.Request, _ transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	c := &socket{ended: r.Context().Done(), opened: r.Context().Value(openedKey{}).(*opened), heard: rate.NewLimiter(messagesPerSecond, messagesAtOnce)}
	options := s.options
	options.OnPingReceived = func(context.Context, []byte) bool { return c.mayCome() }
	options.OnPongReceived = func(context.Context, []byte) { c.mayCome() }
	conn, err := websocket.Accept(w, r, &options)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	c.opened.garbled = func() { _ = c.WriteClose(closeGarbled, "the message is none of "+subprotocol) }
	return c, nil
}

type socket struct {
	conn   *websocket.Conn
	ended  <-chan struct{}
	opened *opened
	heard  *rate.Limiter // messages of the client

	mu       sync.Mutex
	deadline *time.Timer
	closing  bool
}

// Subprotocol is the one that was agreed on.
func (s *socket) Subprotocol() string { return s.conn.Subprotocol() }

// NextReader gives the next message, once the one before is decoded. One that there is no room for, or whose JSON is more
// than a request may hold, ends the socket before it is decoded.
func (s *socket) NextReader() (int, io.Reader, error) {
	s.opened.decoded()
	kind, from, err := s.conn.Reader(context.Background())
	if err != nil {
		return int(kind), nil, readEnd(err)
	}
	if !s.mayCome() {
		return 0, nil, transport.ErrWebsocketClosed
	}
	in := &intake{from: from, all: s.opened.bodies, who: s.opened.who}
	if err := in.read(MaxBody + 2); err != nil { // what is longer is an error of from
		in.release()
		if errors.Is(err, overload.ErrFull) {
			return s.refuse(websocket.StatusTryAgainLater, err)
		}
		return int(kind), nil, readEnd(err)
	}
	outline := scanner{text: in.body, left: MaxValues, deepest: bodyNesting + 2}
	if err := outline.value(); errors.As(err, new(*fault.Error)) && err != errNoJSON {
		in.release()
		return s.refuse(websocket.StatusPolicyViolation, err)
	}
	s.opened.received(in)
	return int(kind), bytes.NewReader(in.body), nil
}

// mayCome counts a message, and closes the socket if that is one too many. Pings and pongs are counted while others are read.
func (s *socket) mayCome() bool {
	if s.heard.Allow() {
		return true
	}
	_ = s.WriteClose(int(websocket.StatusPolicyViolation), reason(errTooOften))
	return false
}

// refuse closes the socket instead of giving a message.
func (s *socket) refuse(code websocket.StatusCode, err error) (int, io.Reader, error) {
	_ = s.WriteClose(int(code), reason(err))
	return 0, nil, transport.ErrWebsocketClosed
}

// readEnd gives why nothing can be read any more, as gqlgen wants it.
func readEnd(err error) error {
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusNoStatusRcvd:
		return transport.ErrWebsocketClosed
	}
	return err
}

// WriteJSON sends a message.
func (s *socket) WriteJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.conn.Write(context.Background(), websocket.MessageText, text)
}

// WriteClose says goodbye. The client may take its time to answer, for which nobody waits.
func (s *socket) WriteClose(code int, reason string) error {
	select {
	case <-s.ended:
		code, reason = int(websocket.StatusGoingAway), "the server is stopping"
	default:
		if s.opened.nobody.Load() {
			code, reason = closeUnauthorized, "Unauthorized"
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopDeadline()
	if !s.closing {
		s.closing = true
		go func() { _ = s.conn.Close(websocket.StatusCode(code), reason) }()
	}
	return nil
}

// Close ends the socket, unless it is being closed.
func (s *socket) Close() error {
	s.mu.Lock()
	closing := s.closing
	s.stopDeadline()
	s.mu.Unlock()
	if closing {
		return nil
	}
	return s.conn.CloseNow()
}

// SetReadLimit bounds a message's size, in bytes, once the socket has said who it is.
func (s *socket) SetReadLimit(limit int64) {
	s.conn.SetReadLimit(min(limit, maxHello))
	s.opened.lift = func() { s.conn.SetReadLimit(limit) }
}

// SetReadDeadline ends the socket unless another deadline, or none, is set before.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopDeadline()
	if !t.IsZero() {
		s.deadline = time.AfterFunc(time.Until(t), func() { _ = s.conn.CloseNow() })
	}
	return nil
}

func (s *socket) stopDeadline() {
	if s.deadline != nil {
		s.deadline.Stop()
		s.deadline = nil
	}
}

// message is a message that takes room: until it is decoded, and as long as an operation goes on that it asked for.
type message struct {
	in   *intake
	uses atomic.Int32
}

func (m *message) release() {
	if m.uses.Add(-1) == 0 {
		m.in.release()
	}
}

// received notes what is to be decoded. Like decoded, it is for the goroutine that reads.
func (o *opened) received(in *intake) {
	if in.taken > 0 {
		o.message = &message{in: in}
		o.message.uses.Store(1)
	}
}

func (o *opened) decoded() {
	if o.message != nil {
		o.message.release()
		o.message = nil
	}
}

// holding keeps the room of messages on WebSockets for the operations that they asked for. It is an extension of gqlgen,
// whose MutateOperationContext must be the last: then the operation begins, and its context ends.
type holding struct{}

// ExtensionName names it to gqlgen, and the message among what gqlgen keeps of an operation.
func (holding) ExtensionName() string { return "Holding" }

// Validate has nothing to check.
func (holding) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext is called by the goroutine that reads.
func (h holding) MutateOperationContext(ctx context.Context, op *graphql.OperationContext) *gqlerror.Error {
	socket, ok := ctx.Value(openedKey{}).(*opened)
	if !ok || socket.message == nil {
		return nil
	}
	if op.Operation.Operation == ast.Subscription && len(socket.message.in.body) > smallBody {
		return errLargeStream()
	}
	socket.message.uses.Add(1)
	op.Stats.SetExtension(h.ExtensionName(), socket.message)
	return nil
}

// InterceptOperation gives the room back when the operation has ended.
func (h holding) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if m, ok := graphql.GetOperationContext(ctx).Stats.GetExtension(h.ExtensionName()).(*message); ok {
		context.AfterFunc(ctx, m.release)
	}
	return next(ctx)
}
