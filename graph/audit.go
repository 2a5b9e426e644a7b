package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
)

type readingKey struct{}

// readingFrom gives what gathers the sessions that an administrator reads in, nil if nothing has to.
func readingFrom(ctx context.Context) *db.Reading {
	reading, _ := ctx.Value(readingKey{}).(*db.Reading)
	return reading
}

// auditing puts on record in whose sessions administrators have read, before they get to see it.
type auditing struct {
	store   *db.DB
	present graphql.ErrorPresenterFunc
}

// operation lets what an administrator reads be gathered, if the operation shows anything of messages. It is a gqlgen
// OperationMiddleware.
func (a auditing) operation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	caller, err := auth.From(ctx)
	if err != nil || !caller.IsAdmin() || !readsContent(graphql.GetOperationContext(ctx).Operation) {
		return next(ctx)
	}
	return next(context.WithValue(ctx, readingKey{}, db.NewReading()))
}

// response gives a response once what is read in it is on record, or else the error instead. It is a gqlgen
// ResponseMiddleware, and belongs around the loaders.
func (a auditing) response(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	caller, err := auth.From(ctx)
	if err != nil || readingFrom(ctx) == nil {
		return next(ctx)
	}
	reading := db.NewReading()
	response := next(context.WithValue(ctx, readingKey{}, reading))
	if response == nil || reading.Empty() {
		return response
	}
	if err := a.store.AsAdministrator(caller, reading).RecordReading(ctx); err != nil {
		return &graphql.Response{Errors: gqlerror.List{a.present(ctx, err)}}
	}
	return response
}
