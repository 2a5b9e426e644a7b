package graph

import (
	"context"
	"errors"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// Watcher gives streams a context that ends when the token of their caller may no longer be used; auth.Tokens does.
type Watcher interface {
	Watch(ctx context.Context) (context.Context, auth.Watch, error)
}

// watching ends subscriptions with UNAUTHENTICATED when their token ends, and lets no operation begin on a WebSocket
// whose token has ended.
type watching struct {
	watcher Watcher // nil: nobody watches
	present graphql.ErrorPresenterFunc
}

// around is a gqlgen OperationMiddleware. It must be within that of endings, which tells the client.
func (w watching) around(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	onSocket := exchangeFrom(ctx) == nil
	if w.watcher == nil || !onSocket && graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	watched, watch, err := w.watcher.Watch(ctx)
	if err != nil {
		shown := w.present(ctx, err)
		if !onSocket {
			return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{shown}})
		}
		transport.AddSubscriptionError(ctx, shown)
		return func(context.Context) *graphql.Response { return nil }
	}
	context.AfterFunc(ctx, watch.Stop) // not before: an end that the stream itself brings about is no cancellation
	respond := next(watched)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		if response != nil && watch.Check(ctx) != nil {
			return nil
		}
		return response
	}
}

// tokenEnded gives why the token of a stream ended, nil if it did not.
func tokenEnded(ctx context.Context) error {
	if f, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
		return f
	}
	return nil
}

// closeDelay is how long a WebSocket stays whose token has ended, for its subscriptions to say so.
const closeDelay = time.Second

// watchSocket gives the context of a WebSocket, which ends with its caller's token.
func watchSocket(ctx context.Context, watcher Watcher) (context.Context, error) {
	if watcher == nil {
		return ctx, nil
	}
	watched, watch, err := watcher.Watch(ctx)
	if err != nil {
		return closing(ctx, err), err
	}
	context.AfterFunc(ctx, watch.Stop)
	socket, _ := ctx.Value(openedKey{}).(*opened)
	ctx, end := context.WithCancel(ctx)
	context.AfterFunc(watched, func() {
		if tokenEnded(watched) == nil || socket == nil {
			end()
			return
		}
		socket.nobody.Store(true)
		time.AfterFunc(closeDelay, end)
	})
	return ctx, nil
}
