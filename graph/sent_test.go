package graph

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Whoever wants to know is told of each event when the transport asks for the one after it.
func TestOnSent(t *testing.T) {
	t.Parallel()
	ctx := graphql.WithOperationContext(t.Context(), &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: ast.Subscription}})
	sent, given := 0, 0
	respond := endings{}.around(ctx, func(ctx context.Context) graphql.ResponseHandler {
		onSent(ctx, func() { sent++ })
		return func(context.Context) *graphql.Response {
			given++
			return &graphql.Response{}
		}
	})
	for n := range 3 {
		before := sent
		if respond(ctx); sent != before+1 || given != n+1 {
			t.Fatalf("told %d times when %d events were given", sent, given)
		}
	}
}
