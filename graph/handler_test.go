package graph

import (
	"context"
	"encoding/json"
	"strings"
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

func TestCountRoots(t *testing.T) {
	t.Parallel()
	variables := map[string]any{
		"a": strings.Repeat("x", 10_000), "list": []any{strings.Repeat("x", 6_000), map[string]any{"content": strings.Repeat("x", 4_000)}}, "n": json.Number("12"),
	}
	for name, test := range map[string]struct {
		query        string
		roots, bytes int // thousands
	}{
		"one field":                {"query($a:ID!){node(id:$a){id}}", 1, 10},
		"two":                      {"query($a:ID!){a:node(id:$a){id} b:node(id:$a){id}}", 2, 20},
		"two, of which one has it": {`query($a:ID!){a:node(id:$a){id} b:node(id:"b"){id}}`, 2, 10},
		"two, by fragments":        {"query($a:ID!){...f ...on Query{b:node(id:$a){id}}} fragment f on Query{a:node(id:$a){id}}", 2, 20},
		"a fragment twice":         {"query($a:ID!){...f ...f b:node(id:$a){id}} fragment f on Query{a:node(id:$a){id}}", 2, 20},
		"lists":                    {"mutation($list:[String!]!,$a:ID!){a:offload(window:$a,contents:$list){id} b:offload(window:$a,contents:$list){id}}", 2, 40},
		"within an input":          {`mutation($a:String!){a:writeContext(input:{window:"w",type:GOAL,content:$a}){rejected}}`, 1, 10},
		"literals":                 {`mutation{a:writeContext(input:{window:"w",type:GOAL,content:"` + strings.Repeat("x", 7000) + `"}){rejected} b:writeContext(input:{window:"w",type:GOAL,content:"""` + strings.Repeat("x", 7000) + `"""}){rejected}}`, 2, 14},
		"very many":                {"query($a:ID!){" + strings.Repeat("a:node(id:$a){id} ", 50) + "}", 50, 2 * MaxRootsBytes / 1000},
		"nothing":                  {"{a:verifyLog{valid} b:verifyLog{valid}}", 2, 0},
	} {
		if roots, bytes := countRoots(operation(t, test.query), variables); roots != test.roots || bytes/1000 != test.bytes {
			t.Errorf("%s: countRoots = %d, %d, want %d, some %d thousand", name, roots, bytes, test.roots, test.bytes)
		}
	}
}
