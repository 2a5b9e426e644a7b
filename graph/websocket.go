package graph

import (
	"context"
	"errors"
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

// closeGarbled is what it closes with after a message that is none of its own.
const closeGarbled = 4400

// subprotocol is the only one that is served.
const subprotocol = "graphql-transport-ws"

// webSocket is graphql-transport-ws. Browsers may open it from the server's own origin and from those configured.
func webSocket(cfg Config) transport.Websocket {
	return transport.Websocket{
		Implementation: sockets{websocket.AcceptOptions{OriginPatterns: hostsOf(cfg.Origins), Subprotocols: []string{subprotocol}}},
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
		PayloadReadLimit: new(int64(MaxBody)),
		PingPongInterval: pingInterval,
		// Where the connection itself has failed, nobody hears this. gqlgen would end without a word.
		ErrorFunc: func(ctx context.Context, err error) {
			if of, ok := errors.AsType[transport.WebsocketError](err); ok && of.IsReadError {
				ctx.Value(openedKey{}).(*opened).garbled()
			}
		},
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
