package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/fault"
)

// ending is why a subscription's channel was closed, set before by the one who closes it; and who is told of each event that
// was sent.
type ending struct {
	err  error
	sent func()
}

type endingKey struct{}

// endStream says why the stream of a subscription ends before its time. Its channel must be closed afterwards. ctx is
// the resolver's.
func endStream(ctx context.Context, err error) {
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		e.err = gqlerror.WrapPath(graphql.GetPath(ctx), err)
	}
}

// onSent lets a function be called whenever an event of the subscription has been sent. ctx is the resolver's.
func onSent(ctx context.Context, sent func()) {
	if e, ok := ctx.Value(endingKey{}).(*ending); ok {
		e.sent = sent
	}
}

// endings tells clients of subscriptions that were cut off, so that they cannot take it for the end: on a WebSocket
// by the protocol's error, on a stream of events by a last event that has errors.
type endings struct {
	present graphql.ErrorPresenterFunc
}

// around is a gqlgen OperationMiddleware.
func (e endings) around(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	end, told := &ending{sent: func() {}}, false
	respond := next(context.WithValue(ctx, endingKey{}, end))
	return func(ctx context.Context) *graphql.Response {
		end.sent() // what came before, since the transport asks for more
		response := respond(ctx)
		if response != nil || told {
			return response
		}
		told = true
		return e.last(ctx, end)
	}
}

// last gives the last event of a stream, nil if there is none.
func (e endings) last(ctx context.Context, end *ending) *graphql.Response {
	var shown *gqlerror.Error
	onSocket := exchangeFrom(ctx) == nil
	switch {
	case tokenEnded(ctx) != nil:
		shown = e.present(ctx, tokenEnded(ctx))
	case ctx.Err() != nil && onSocket: // the client ended it, or the socket was closed and says why
		return nil
	case ctx.Err() != nil: // nobody reads it if the client went away; otherwise the server stops
		shown = withCode(&gqlerror.Error{}, fault.Unavailable, "the stream was cut off; subscribe again")
	case end.err == nil:
		return nil
	default:
		shown = e.present(ctx, end.err)
	}
	if onSocket {
		transport.AddSubscriptionError(ctx, shown)
		return nil
	}
	return &graphql.Response{Errors: gqlerror.List{shown}}
}
