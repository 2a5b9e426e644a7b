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
	return document(t, query).Operations[0]
}

func document(t *testing.T, query string) *ast.QueryDocument {
	t.Helper()
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{}}).Schema()
	doc, err := gqlparser.LoadQueryWithRules(schema, query, rulesWithoutSuggestions())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Each root field by itself has its time, wherever it stands.
func TestLimitTime(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]map[string]bool{
		"{threads{totalCount}}":                  {"threads": true},
		"mutation{addRecords(records:[]){hash}}": {"addRecords": true},
		"{verifyLog{valid}}":                     {"verifyLog": false},
		"{threads{totalCount} verifyLog{valid}}": {"threads": true, "verifyLog": false},
		`{...f messages{totalCount}} fragment f on Query{a:verifyLog{valid} verifySession(hash:"a"){valid}}`: {"messages": true, "a": false, "verifySession": false},
	} {
		doc := document(t, query)
		op := doc.Operations[0]
		oc := &graphql.OperationContext{Doc: doc, Operation: op}
		oc.Stats.Validation.End = time.Now()
		for _, field := range graphql.CollectFields(oc, op.SelectionSet, []string{"Query"}) {
			ctx := graphql.WithOperationContext(t.Context(), oc)
			ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Object: field.Name, Field: field})
			limited, known := want[field.Alias]
			if !known {
				t.Fatalf("%s: a field %s", query, field.Alias)
			}
			var inner context.Context
			limitTime(ctx, func(ctx context.Context) graphql.Marshaler {
				inner = ctx
				return graphql.Null
			})
			deadline, has := inner.Deadline()
			if has != limited || has && time.Until(deadline) > operationLimit {
				t.Errorf("%s, %s: deadline %v %v, want one: %v", query, field.Alias, deadline, has, limited)
			}
			if limited != (inner.Err() != nil) {
				t.Errorf("%s, %s: afterwards the context's error = %v, want it ended: %v", query, field.Alias, inner.Err(), limited)
			}
		}
	}
}

// The names that isCheck and isHeavy go by belong to root fields alone, but for the models of the overview, which are counted
// as those of the root are.
func TestIsCheck(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{}}).Schema()
	found, heavy := 0, 0
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if !isHeavy(&ast.Field{Name: field.Name}) {
				continue
			}
			if heavy++; isCheck(&ast.Field{Name: field.Name}) {
				found++
			}
			counted := definition.Name == "Overview" && field.Name == "embeddingModels"
			if definition != schema.Query && definition != schema.Subscription && !counted {
				t.Errorf("%s.%s has a heavy field's name", definition.Name, field.Name)
			}
		}
	}
	if found != 3 || heavy != 9 {
		t.Errorf("the schema has %d checks, %d heavy fields; want 3 and 9", found, heavy)
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
		"checks":               {"{a:verifyLog{valid} ...f} fragment f on Query{b:verifyLog{valid}}", 2 * (40_001 + 1)},
		"a check's progress":   {"subscription{verificationProgress{done}}", 40_001 + 1},
		"a replay":             {`{replayContext(id:"a"){identical}}`, 40_001 + 1},
		"models":               {"{embeddingModels{name state}}", 40_001 + 5*2},
		"introspection":        {"{__schema{types{fields{name}}}}", 1 + 1 + 10*(1+10*1)},
	} {
		if got := complexity(operation(t, test.query), map[string]any{"n": int64(20)}); got != test.want {
			t.Errorf("%s: complexity = %d, want %d", name, got, test.want)
		}
	}
}
