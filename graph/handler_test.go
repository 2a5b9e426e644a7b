package graph

import (
	"context"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/graph/generated"
)

// operation gives the operation of a valid document.
func operation(t *testing.T, query string) *ast.OperationDefinition {
	t.Helper()
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{}}).Schema()
	doc, err := gqlparser.LoadQueryWithRules(schema, query, rulesWithoutSuggestions())
	if err != nil {
		t.Fatal(err)
	}
	return doc.Operations[0]
}

func TestLimitTime(t *testing.T) {
	t.Parallel()
	for query, limited := range map[string]bool{
		"{threads{totalCount}}":                        true,
		"mutation{addRecords(records:[]){hash}}":       true,
		"{verifyLog{valid}}":                           false,
		"{threads{totalCount} verifyLog{valid}}":       false,
		"{...f} fragment f on Query{verifyLog{valid}}": false,
		"subscription{messageAppended{hash}}":          false,
	} {
		ctx := graphql.WithOperationContext(t.Context(), &graphql.OperationContext{Operation: operation(t, query)})
		var inner context.Context
		respond := limitTime(ctx, func(ctx context.Context) graphql.ResponseHandler {
			inner = ctx
			return func(context.Context) *graphql.Response { return &graphql.Response{} }
		})
		deadline, has := inner.Deadline()
		if has != limited || has && time.Until(deadline) > operationLimit {
			t.Errorf("%s: deadline %v %v, want one: %v", query, deadline, has, limited)
		}
		if respond(inner) == nil || limited != (inner.Err() != nil) {
			t.Errorf("%s: after the answer the context's error = %v, want it ended: %v", query, inner.Err(), limited)
		}
	}
}

func TestComplexity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		want  int
	}{
		"a scalar":             {"{__typename}", 1},
		"an object":            {`{message(hash:"a"){hash content}}`, 3},
		"a page untold":        {"{threads{edges{node{hash}}}}", 1 + 50*(1+1+1)},
		"a page":               {"{threads(first:10){edges{node{hash}}}}", 1 + 10*3},
		"a page from the end":  {"{messages(last:7){edges{node{hash}}}}", 1 + 50*3}, // first is 50 by default
		"a page too large":     {"{threads(first:1000000){edges{node{hash}}}}", 1 + 200*3},
		"a page of a variable": {"query($n:Int){threads(first:$n){edges{node{hash}}}}", 1 + 20*3},
		"a list":               {`{message(hash:"a"){players{hash}}}`, 1 + 1 + 5*1},
		"a list of scalars":    {`{message(hash:"a"){owner{preferences}}}`, 3},
		"a longer list":        {`{thread(hash:"a"){players{hash}}}`, 1 + 1 + 100*1},
		"fragments":            {`{a:message(hash:"a"){...f} b:message(hash:"a"){...f ...on Message{role}}} fragment f on Message{hash content}`, 3 + 4},
		"pages in pages":       {"{threads(first:10){edges{node{messages(first:20){edges{node{hash}}}}}}}", 1 + 10*(1+1+1+20*3)},
		"introspection":        {"{__schema{types{fields{name}}}}", 1 + 1 + 10*(1+10*1)},
	} {
		if got := complexity(operation(t, test.query), map[string]any{"n": int64(20)}); got != test.want {
			t.Errorf("%s: complexity = %d, want %d", name, got, test.want)
		}
	}
}
