package graph

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/overload"
)

// Admission says how many operations may be at work at once, those that read and those that write apart: neither kind
// keeps the other out. Checks of chains and subscriptions take long, have limits of their own, and do not count. Nil
// gates let everything in.
type Admission struct {
	Reads, Writes *overload.Gate
}

// gate gives the gate that an operation has to pass, nil if none.
func (a Admission) gate(op *ast.OperationDefinition) *overload.Gate {
	switch {
	case op.Operation == ast.Mutation:
		return a.Writes
	case op.Operation == ast.Subscription, slices.ContainsFunc(op.SelectionSet, isCheckSelection):
		return nil
	}
	return a.Reads
}

func isCheckSelection(selection ast.Selection) bool {
	field, ok := selection.(*ast.Field)
	return ok && isCheck(field)
}

// enter finds a place for the operation of an HTTP request, which keeps it until it leaves.
func (a Admission) enter(ctx context.Context, x *exchange, op *ast.OperationDefinition) *gqlerror.Error {
	leave, err := a.gate(op).Enter(ctx)
	if err != nil {
		x.full = err
		return refuse(ctx, http.StatusServiceUnavailable, fault.CodeOf(err), "%s", err)
	}
	x.leave = leave
	return nil
}

// writeFull answers who found no place, with as little work as can be.
func writeFull(w http.ResponseWriter, r *http.Request, err error) {
	httpd.Quiet(r.Context())
	w.Header().Set("Retry-After", overload.RetryAfter)
	body := fullBody
	if !errors.Is(err, overload.ErrFull) {
		body = errorBody(err)
	}
	writeErrorBody(w, r, http.StatusServiceUnavailable, fault.CodeOf(err), body)
}

var fullBody = errorBody(overload.ErrFull)

// around finds places for operations on WebSockets. It is a gqlgen OperationMiddleware.
func (a Admission) around(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx).Operation
	if exchangeFrom(ctx) != nil || op.Operation == ast.Subscription {
		return next(ctx)
	}
	leave, err := a.gate(op).Enter(ctx)
	if err != nil {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{refuse(ctx, 0, fault.CodeOf(err), "%s", err)}})
	}
	stop := context.AfterFunc(ctx, leave) // if nobody asks for the answer
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		defer leave()
		defer stop()
		return respond(ctx)
	}
}
