package graph

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/limit"
	"github.com/tzzr/context-manager/internal/overload"
)

// Limits of streams, in one server. Those of a player, all of whose tokens are one, are not for administrators.
const (
	MaxSockets          = 20_000 // WebSockets
	MaxPlayerSockets    = 1000   // of a player
	MaxPendingSockets   = 500    // of an address, that have not said who they are
	MaxSocketOperations = 32     // under way on a WebSocket
	MaxStreams          = 50_000 // subscriptions, on WebSockets or as events
	MaxPlayerStreams    = 2000   // of a player
)

// streams are what is open.
type streams struct {
	sockets, playerSockets, pending, subscriptions limit.Counts
}

// opened is what is known of a WebSocket.
type opened struct {
	streams  *streams
	underWay atomic.Int64 // operations
	known    atomic.Bool  // it has said who it is
	nobody   atomic.Bool  // its token has ended since
	settle   func()       // it is not pending any more
	leave    func()       // it does not count for its player any more, nil before it does

	bodies  *overload.Room
	who     string   // shares them
	message *message // that is being decoded, nil if it takes no room
	lift    func()   // lets longer messages in
	garbled func()   // ends it, since a message is none of the protocol's
}

type openedKey struct{}

// socket serves a WebSocket for as long as it lives. It says who it is in its first message, unless its request did.
func (f front) socket(w http.ResponseWriter, r *http.Request) {
	if status, err := f.checkUpgrade(r); err != nil {
		writeError(w, r, status, err)
		return
	}
	ctx := r.Context()
	_, nobody := auth.From(ctx)
	err := f.limits.Look(ctx)
	if nobody == nil {
		err = f.limits.Take(ctx)
	}
	if err != nil {
		writeError(w, r, statusOf(w, err), err)
		return
	}
	leave, ok := f.streams.sockets.Enter("", 0, MaxSockets)
	if !ok {
		writeError(w, r, http.StatusServiceUnavailable, fault.New(fault.RateLimited, "%d WebSockets are open; at most as many are allowed", MaxSockets))
		return
	}
	defer leave()
	s := &opened{streams: f.streams, settle: func() {}, bodies: f.bodies}
	if nobody != nil {
		if s.settle, ok = f.streams.pending.Enter(limit.Address(ctx), MaxPendingSockets, 0); !ok {
			writeError(w, r, http.StatusTooManyRequests, fault.New(fault.RateLimited,
				"%d WebSockets of the address have not said who they are; at most as many are allowed", MaxPendingSockets))
			return
		}
	}
	defer func() {
		s.decoded()
		s.settle()
		if s.leave != nil {
			s.leave()
		}
		if !s.known.Load() {
			_ = f.limits.Take(ctx) // what did not say who it is counts against the address
		}
	}()
	f.transports.ServeHTTP(w, r.WithContext(context.WithValue(ctx, openedKey{}, s)))
}

// checkUpgrade refuses what is no WebSocket of GraphQL, or comes from a page that may not open one, before the transport
// does so in its own words.
func (f front) checkUpgrade(r *http.Request) (int, error) {
	key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key"))
	switch {
	case r.Method != http.MethodGet || !has(r.Header, "Upgrade", "websocket") || !has(r.Header, "Connection", "upgrade"),
		r.Header.Get("Sec-WebSocket-Version") != "13", err != nil, len(key) != 16, len(r.Header.Values("Sec-WebSocket-Key")) != 1:
		return http.StatusBadRequest, fault.New(fault.BadUserInput, "the request opens no WebSocket of version 13")
	case !has(r.Header, "Sec-WebSocket-Protocol", subprotocol):
		return http.StatusBadRequest, fault.New(fault.BadUserInput, "the WebSocket's subprotocol is not %s", subprotocol)
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err == nil && (r.Header.Get("Origin") == "" || strings.EqualFold(origin.Host, r.Host)) ||
		err == nil && slices.ContainsFunc(f.hosts, func(host string) bool {
			match, err := path.Match(strings.ToLower(host), strings.ToLower(origin.Host))
			return err == nil && match
		}) {
		return 0, nil
	}
	return http.StatusForbidden, fault.New(fault.Forbidden, "the request comes from another origin")
}

// has tells whether a header lists a word.
func has(header http.Header, name, word string) bool {
	for _, value := range header.Values(name) {
		for _, one := range strings.Split(value, ",") {
			if strings.EqualFold(strings.TrimSpace(one), word) {
				return true
			}
		}
	}
	return false
}

// introduce counts a WebSocket for its caller, who stands in the context.
func introduce(ctx context.Context) (context.Context, error) {
	s, ok := ctx.Value(openedKey{}).(*opened)
	if !ok {
		return ctx, nil
	}
	caller, err := auth.From(ctx)
	if err != nil {
		return closing(ctx, err), err
	}
	who, most := ofPlayer(caller, MaxPlayerSockets)
	leave, ok := s.streams.playerSockets.Enter(who, most, 0)
	if !ok {
		err := fault.New(fault.RateLimited, "the player has %d WebSockets; at most as many are allowed", MaxPlayerSockets)
		s.known.Store(true)
		return closing(ctx, err), err
	}
	s.leave, s.who = leave, whoAsks(ctx)
	s.known.Store(true)
	s.lift()
	httpd.Known(ctx)
	s.settle()
	return ctx, nil
}

// ofPlayer names whose limit it is, and gives the limit: none for administrators, who are nobody in particular.
func ofPlayer(c auth.Caller, most int) (who string, limit int) {
	if c.IsAdmin() {
		return "", 0
	}
	return string(c.Player[:]), most
}

// limit refuses operations on a WebSocket that has enough of them, and subscriptions of a player who has. It is a gqlgen
// OperationMiddleware.
func (s *streams) limit(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	var leave []func()
	if socket, ok := ctx.Value(openedKey{}).(*opened); ok {
		end := sync.OnceFunc(func() { socket.underWay.Add(-1) })
		if leave = append(leave, end); socket.underWay.Add(1) > MaxSocketOperations {
			end()
			return tooMany(ctx, "the WebSocket has %d operations under way; at most as many are allowed", MaxSocketOperations)
		}
	}
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription {
		caller, _ := auth.From(ctx)
		who, most := ofPlayer(caller, MaxPlayerStreams)
		end, ok := s.subscriptions.Enter(who, most, MaxStreams)
		if !ok {
			for _, end := range leave {
				end()
			}
			return tooMany(ctx, "the player has %d subscriptions, or the server %d; at most as many are allowed", MaxPlayerStreams, MaxStreams)
		}
		leave = append(leave, end)
	}
	if leave == nil {
		return next(ctx)
	}
	for _, end := range leave {
		context.AfterFunc(ctx, end) // the transport ends it in any case
	}
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		if response == nil {
			for _, end := range leave {
				end()
			}
		}
		return response
	}
}

// tooMany answers an operation that is one too many.
func tooMany(ctx context.Context, format string, args ...any) graphql.ResponseHandler {
	httpd.CountError(ctx, string(fault.RateLimited))
	err := withCode(&gqlerror.Error{}, fault.RateLimited, fmt.Sprintf(format, args...))
	if exchangeFrom(ctx) != nil {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{err}})
	}
	transport.AddSubscriptionError(ctx, err)
	return func(context.Context) *graphql.Response { return nil }
}
