package graph

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
)

// initLimit is how long a WebSocket may take to say who it is.
const initLimit = 5 * time.Second

// closeUnauthorized is what graphql-transport-ws closes with if the caller is nobody it knows.
const closeUnauthorized = 4401

// webSocket is graphql-transport-ws. Browsers may open it from the server's own origin and from those configured.
func webSocket(cfg Config) transport.Websocket {
	var hosts []string
	for _, origin := range cfg.Origins {
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			hosts = append(hosts, u.Host)
		}
	}
	return transport.Websocket{
		Implementation: sockets{transport.CoderWebsocketImplementation{
			AcceptOptions: websocket.AcceptOptions{OriginPatterns: hosts},
		}},
		InitFunc: func(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			ctx, answer, err := identify(ctx, payload, cfg.Tokens)
			return context.WithValue(ctx, operationsKey{}, new(atomic.Int64)), answer, err
		},
		InitTimeout:      initLimit,
		PingPongInterval: pingInterval,
	}
}

// MaxSocketOperations is how many operations a WebSocket may have under way.
const MaxSocketOperations = 32

// operationsKey leads to how many there are, an *atomic.Int64.
type operationsKey struct{}

// limitSocket refuses operations on a WebSocket that has enough of them. It is a gqlgen OperationMiddleware.
func limitSocket(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	underWay, ok := ctx.Value(operationsKey{}).(*atomic.Int64)
	if !ok {
		return next(ctx)
	}
	end := sync.OnceFunc(func() { underWay.Add(-1) })
	if underWay.Add(1) > MaxSocketOperations {
		end()
		httpd.CountError(ctx, string(fault.RateLimited))
		transport.AddSubscriptionError(ctx, withCode(&gqlerror.Error{}, fault.RateLimited, fmt.Sprintf(
			"the WebSocket has %d operations under way; at most as many are allowed", MaxSocketOperations)))
		return func(context.Context) *graphql.Response { return nil }
	}
	context.AfterFunc(ctx, end) // the transport ends it in any case
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		if response == nil {
			end()
		}
		return response
	}
}

// identify finds the caller of a WebSocket: in its first message or, if that names none, in the request that opened
// it.
func identify(ctx context.Context, payload transport.InitPayload, tokens auth.Verifier) (context.Context, *transport.InitPayload, error) {
	header := payload.Authorization()
	if header == "" {
		_, err := auth.From(ctx)
		return closing(ctx, err), nil, err
	}
	token, err := auth.Bearer(header)
	if err != nil {
		return closing(ctx, err), nil, err
	}
	caller, err := tokens.Verify(ctx, token)
	if err != nil {
		return closing(ctx, err), nil, err
	}
	return auth.WithCaller(ctx, caller), nil, nil
}

func closing(ctx context.Context, err error) context.Context {
	if err == nil {
		return ctx
	}
	return transport.AppendCloseReason(transport.WithWebsocketCloseCode(ctx, closeUnauthorized), "Unauthorized")
}

// sockets opens WebSockets that say that the server goes away when it does: clients come back after that, and not
// after the normal end that gqlgen gives.
type sockets struct {
	transport.CoderWebsocketImplementation
}

// Accept opens one.
func (s sockets) Accept(w http.ResponseWriter, r *http.Request, o transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	conn, err := s.CoderWebsocketImplementation.Accept(w, r, o)
	if err != nil {
		return nil, err
	}
	return &socket{WebsocketConn: conn, ended: r.Context().Done()}, nil
}

type socket struct {
	transport.WebsocketConn
	ended <-chan struct{}
}

// WriteClose says goodbye.
func (s *socket) WriteClose(code int, reason string) error {
	select {
	case <-s.ended:
		code, reason = int(websocket.StatusGoingAway), "the server is stopping"
	default:
	}
	return s.WebsocketConn.WriteClose(code, reason)
}

// SetReadLimit bounds a message's size, in bytes.
func (s *socket) SetReadLimit(limit int64) {
	s.WebsocketConn.(transport.WebsocketReadLimiter).SetReadLimit(limit)
}

// SetReadDeadline ends the socket unless something comes in before.
func (s *socket) SetReadDeadline(t time.Time) error {
	return s.WebsocketConn.(transport.WebsocketReadDeadliner).SetReadDeadline(t)
}
