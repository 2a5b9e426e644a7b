package graph

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// objectOf gives the object that an operation's root fields are of.
var objectOf = map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}

// permit refuses, before anything of the variables is decoded, what would be refused whatever they are: a mutation if the
// caller may not ask for one of its fields, and a large query or subscription if they may ask for none. Others are refused
// field by field. It is asked before validation; what is not of the schema is left to that.
func permit(ctx context.Context, x *exchange, op *ast.OperationDefinition, fragments ast.FragmentDefinitionList) *gqlerror.Error {
	caller, err := auth.From(ctx)
	if err != nil || op.Operation != ast.Mutation && !isLarge(ctx, x) {
		return nil
	}
	roots := rootsOf{fragments: fragments, seen: map[string]bool{}}
	roots.add(op.SelectionSet)
	var first error
	for _, field := range roots.fields {
		found, known := access[objectOf[op.Operation]][field.Name]
		err := found.early(caller)
		switch {
		case !known, err == nil && op.Operation != ast.Mutation:
			return nil
		case first == nil:
			first = err
		}
	}
	if first == nil {
		return nil
	}
	if x != nil {
		x.began = true // the answer is as if it had been executed
	}
	return refuse(ctx, 0, fault.CodeOf(first), "%s", first)
}

// early refuses callers whatever they send.
func (r rule) early(c auth.Caller) error {
	if err := needScopes(c, r.scopes); err != nil {
		return err
	}
	if role, ok := r.condition.(ofRoles); ok {
		return role(c)
	}
	return nil
}

// isLarge tells whether what an operation came with takes room.
func isLarge(ctx context.Context, x *exchange) bool {
	if x != nil {
		return x.size > smallBody
	}
	socket, ok := ctx.Value(openedKey{}).(*opened)
	return ok && socket.message != nil
}

// rootsOf are an operation's root fields, but for those that directives might leave out.
type rootsOf struct {
	fragments ast.FragmentDefinitionList
	seen      map[string]bool
	fields    []*ast.Field
}

func (r *rootsOf) add(set ast.SelectionSet) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			if len(x.Directives) == 0 {
				r.fields = append(r.fields, x)
			}
		case *ast.InlineFragment:
			if len(x.Directives) == 0 {
				r.add(x.SelectionSet)
			}
		case *ast.FragmentSpread:
			f := r.fragments.ForName(x.Name)
			if f != nil && len(x.Directives) == 0 && !r.seen[x.Name] {
				r.seen[x.Name] = true
				r.add(f.SelectionSet)
			}
		}
	}
}
