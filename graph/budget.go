package graph

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// MaxAnswerValues is how many values one answer, or one event of a subscription, may hold. Complexity is a guess before
// anything is read, which takes lists of unknown length for short; this is counted, before a list is gone through.
const MaxAnswerValues = 200_000

// errValues says so.
var errValues = fault.New(fault.BadUserInput, "the answer would hold more than %d values: ask for shorter pages, fewer fields or fewer levels", MaxAnswerValues)

// budget is what one answer may cost. Once it is used up, whatever is under way for the answer ends.
type budget struct {
	left atomic.Int64                // values
	text *db.Budget                  // of the answer as it is sent; what is read for it has another
	over atomic.Pointer[fault.Error] // what it was exceeded by
	end  context.CancelFunc
}

type budgetKey struct{}

// budgetFrom gives the budget of an answer, nil if it has none.
func budgetFrom(ctx context.Context) *budget {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	return b
}

// exceed ends the answer.
func (b *budget) exceed(err *fault.Error) *fault.Error {
	b.over.CompareAndSwap(nil, err)
	b.end()
	return b.over.Load()
}

// take takes a number of values out of the budget.
func (b *budget) take(values int) error {
	if b.left.Add(-int64(values)) < 0 {
		return b.exceed(errValues)
	}
	return nil
}

// budgets gives each answer its budget, and those that exceed it a single error.
type budgets struct {
	present graphql.ErrorPresenterFunc
}

// response is a gqlgen ResponseMiddleware, and belongs within all that has to be done whatever the answer is.
func (b budgets) response(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	own := &budget{}
	own.left.Store(MaxAnswerValues)
	within, end := context.WithCancel(context.WithValue(ctx, budgetKey{}, own))
	defer end()
	own.end = end
	exceeded := func() { own.exceed(db.ErrBudget) }
	own.text = db.NewBudget(exceeded)
	within = db.WithBudget(within, db.NewBudget(exceeded))
	response := next(within)
	over := own.over.Load()
	if response == nil || over == nil {
		return response
	}
	if op := graphql.GetOperationContext(ctx).Operation; op.Operation == ast.Mutation {
		over = fault.New(over.Code, "%s; what it wrote before is written", over.Message)
	}
	return &graphql.Response{Errors: gqlerror.List{b.present(ctx, over)}}
}

// spend counts the values of what a field gives, of each object or element as many as are asked for of it, and the bytes of
// its name and text. It is a gqlgen FieldMiddleware.
func spend(ctx context.Context, next graphql.Resolver) (any, error) {
	b := budgetFrom(ctx)
	if b == nil {
		return next(ctx)
	}
	if over := b.over.Load(); over != nil {
		return nil, over
	}
	found, err := next(ctx)
	field := graphql.GetFieldContext(ctx).Field
	if err != nil || found == nil || field.Definition == nil {
		return found, err
	}
	if err := b.text.Take(nameSize(field.Alias) + textSize(found)); err != nil {
		return nil, err
	}
	length := 1
	if field.Definition.Type.Elem != nil {
		if list := reflect.ValueOf(found); list.Kind() == reflect.Slice {
			length = list.Len()
		}
	} else if len(field.SelectionSet) == 0 {
		return found, nil // counted by what it is a value of
	}
	if length > 0 {
		err = b.take(length * max(1, width(field.SelectionSet)))
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// nameSize is how many bytes the name of a field takes, and what stands around it.
func nameSize(alias string) int64 { return int64(len(alias) + len(`"":,`)) }

const hashSize = 2*int64(len(chain.Hash{})) + int64(len(`""`))

// textSize is how many bytes the text takes that a field gives, as JSON. What is not text takes little.
func textSize(found any) (n int64) {
	switch x := found.(type) {
	case *string:
		if x != nil {
			n = quotedSize(*x)
		}
	case string:
		n = quotedSize(x)
	case []string:
		for _, s := range x {
			n += quotedSize(s)
		}
	case chain.JSON:
		n = int64(len(x))
	case *chain.JSON:
		if x != nil {
			n = int64(len(*x))
		}
	case chain.Hash, *chain.Hash:
		n = hashSize
	case []chain.Hash:
		n = int64(len(x)) * hashSize
	}
	return n
}

// quotedSize is how many bytes a string takes in JSON.
func quotedSize(s string) int64 {
	n := len(s) + len(`""`)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			n++
		case c < 0x20:
			n += len(`\u0000`) - 1
		}
	}
	return int64(n)
}

// width is how many fields are asked for of an object, those of fragments included.
func width(set ast.SelectionSet) int {
	n := 0
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			n++
		case *ast.InlineFragment:
			n += width(x.SelectionSet)
		case *ast.FragmentSpread:
			n += width(x.Definition.SelectionSet)
		}
	}
	return n
}

// overError stands for all the errors of an answer whose budget is used up, until its one error takes their place.
var overError = gqlerror.Errorf("the answer is over its budget")

// isOver tells whether an error only says that the budget of its answer is used up, which its one error will.
func isOver(ctx context.Context, err error) bool {
	b := budgetFrom(ctx)
	if b == nil {
		return false
	}
	over := b.over.Load()
	return over != nil && (errors.Is(err, over) || errors.Is(err, context.Canceled))
}
