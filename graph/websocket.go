package graph

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// initLimit is how long a WebSocket may take to say who it is.
const initLimit = 5 * time.Second

// closeUnauthorized is what graphql-transport-ws closes with if the caller is nobody it knows.
const closeUnauthorized = 4401

// subprotocol is the only one that is served.
const subprotocol = "graphql-transport-ws"

// webSocket is graphql-transport-ws. Browsers may open it from the server's own origin and from those configured.
func webSocket(cfg Config) transport.Websocket {
	return transport.Websocket{
		Implementation: sockets{transport.CoderWebsocketImplementation{AcceptOptions: websocket.AcceptOptions{
			OriginPatterns: hostsOf(cfg.Origins), Subprotocols: []string{subprotocol},
		}}},
		InitFunc: func(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			ctx, answer, err := identify(ctx, payload, cfg.Tokens)
			if err == nil {
				ctx, err = introduce(ctx)
			}
			if err == nil {
				ctx, err = watchSocket(ctx, cfg.Watcher)
			}
			return ctx, answer, err
		},
		InitTimeout:      initLimit,
		PingPongInterval: pingInterval,
	}
}

// hostsOf gives the hosts of origins.
func hostsOf(origins []string) []string {
	var hosts []string
	for _, origin := range origins {
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			hosts = append(hosts, u.Host)
		}
	}
	return hosts
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
	switch {
	case err == nil:
		return ctx
	case fault.CodeOf(err) != fault.Unauthenticated:
		return transport.AppendCloseReason(transport.WithWebsocketCloseCode(ctx, int(websocket.StatusTryAgainLater)), reason(err))
	}
	return transport.AppendCloseReason(transport.WithWebsocketCloseCode(ctx, closeUnauthorized), "Unauthorized")
}

// reason gives what fits into a WebSocket's last frame.
func reason(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), 120)], "")
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
	known, _ := r.Context().Value(openedKey{}).(*opened)
	return &socket{WebsocketConn: conn, ended: r.Context().Done(), opened: known}, nil
}

type socket struct {
	transport.WebsocketConn
	ended  <-chan struct{}
	opened *opened // nil if it did not come through front
}

// NextReader gives the next message. One whose JSON is more than a request may hold ends the socket before it is
// decoded.
func (s *socket) NextReader() (int, io.Reader, error) {
	kind, from, err := s.WebsocketConn.NextReader()
	if err != nil {
		return kind, nil, err
	}
	message, err := io.ReadAll(from)
	if err != nil {
		return kind, nil, err
	}
	outline := scanner{text: message, left: MaxValues, deepest: bodyNesting + 2}
	if err := outline.value(); errors.As(err, new(*fault.Error)) && err != errNoJSON {
		_ = s.WriteClose(int(websocket.StatusPolicyViolation), reason(err))
		return kind, nil, transport.ErrWebsocketClosed
	}
	return kind, bytes.NewReader(message), nil
}

// WriteClose says goodbye.
func (s *socket) WriteClose(code int, reason string) error {
	select {
	case <-s.ended:
		code, reason = int(websocket.StatusGoingAway), "the server is stopping"
	default:
		if s.opened != nil && s.opened.nobody.Load() {
			code, reason = closeUnauthorized, "Unauthorized"
		}
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
