package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/internal/fault"
)

// FuzzGuard measures documents: that takes no more steps than the document has bytes, whatever it is, and nothing that
// passes takes longer later.
func FuzzGuard(f *testing.F) {
	for _, test := range hostile() {
		f.Add(test.query)
	}
	for n := range 30 {
		f.Add(doubled(n, "hash"))
	}
	f.Add(introspection())
	f.Add(`query a($x:[MessageInput!]={a:[1,"b",$c,{d:E}]}@d(a:1)){b:c(d:$x)@include(if:true){...on Message@skip(if:false){...f}}} fragment f on Message@a{hash}`)
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{}}).Schema()
	f.Fuzz(func(t *testing.T, query string) {
		doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, MaxTokens)
		if err != nil {
			return
		}
		m, refused := measureDocument(doc)
		if m != nil && m.steps > len(query) {
			t.Errorf("measuring %d bytes took %d steps", len(query), m.steps)
		}
		if refused != nil {
			return
		}
		for _, op := range doc.Operations {
			if spread(doc, op.SelectionSet, map[string]int{}) > MaxSelections {
				t.Error("what has passed spreads to more than the limit")
			}
		}
		valid, errs := gqlparser.LoadQueryWithRules(schema, query, rulesWithoutSuggestions())
		if errs != nil {
			return
		}
		for _, op := range valid.Operations {
			c := complexityCounter{fragments: map[string]int{}}
			if c.set(op.SelectionSet); c.steps > len(query) {
				t.Errorf("complexity of %d bytes took %d steps", len(query), c.steps)
			}
		}
	})
}

// spread counts selections with their fragments spread out, of a document that has passed.
func spread(doc *ast.QueryDocument, set ast.SelectionSet, known map[string]int) (n int) {
	for _, selection := range set {
		n++
		switch x := selection.(type) {
		case *ast.Field:
			n += spread(doc, x.SelectionSet, known)
		case *ast.InlineFragment:
			n += spread(doc, x.SelectionSet, known)
		case *ast.FragmentSpread:
			of, ok := known[x.Name]
			if !ok {
				of = spread(doc, doc.Fragments.ForName(x.Name).SelectionSet, known)
				known[x.Name] = of
			}
			n += of
		}
	}
	return n
}

// FuzzEnvelope takes bodies apart: in no more steps than they have bytes, and so that what is checked is what gqlgen
// decodes.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"query":"{__typename}"}`, `{"query":"{a}","variables":{"a":[1,-2.5e3,true,null,"\"\\\u0041"]},"operationName":null,"extensions":{}}`,
		` { "a" : [ { } , [ ] ] , "query" : "x" } `, `{"query":"a","query":"b"}`, `{"Query":"a"}`, `{"\u0071uery":"a"}`, `[{}]`, `{`, `{"query":`, `{"a":[}],"query":"a"}`,
		`{"query":"a","variables":null}`, `{"query":"a","variables":{"a":"\`, `{"a":1,}`, `{"a":1 "query":"a"}`, "{\"query\":\"\xff\"}", `{"queſry":1,"variableſ":{}}`, `{"query":"a"}{}`,
		`{"query":"\ud83d\ude00 \/\b\f\n\r\t\u00E9 \uFFFD","variables":{"":"ñandú y más de ocho letras","a":{"b":1,"b":[[],{}]}}}`,
		`{"query":"` + strings.Repeat("é水🧵", 20) + `"}`, `{"query":"` + strings.Repeat("é水🧵", 20) + "\xa9" + strings.Repeat("é水🧵", 20) + `"}`, `{"query":"` + strings.Repeat("é", 40) + "\xed\xa0\x80" + `"}`,
		`{"query":"\ud83d","variables":{}}`, `{"query":"\ud83d\u0041"}`, `{"query":"\x"}`, `{"query":"\u00g0"}`, "{\"query\":\"eight lett\x1fers\"}", "{\"query\":\"a\x00\"}",
		`{"query":"a","variables":{"a":[01]}}`, `{"query":"a","variables":{"a":[-,.5,1.,1e]}}`, `{"query":"a","variables":{"a":-0.10E+07}}`, `{"query":"a","variables":{"a":[nul]}}`, `{"query":"a","variables":{"a":{"b":1]}}`, `{"query":"a","variables":[]}`,
		`{"variables":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `},"query":"a"}`, `{"query":"a","variables":{"a":` + strings.Repeat("1", 3000) + `}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		s := scanner{text: sent, left: MaxValues, deepest: bodyNesting}
		if err := s.value(); s.steps > 2*len(sent)+2 {
			t.Errorf("a value of %d bytes took %d steps: %v", len(sent), s.steps, err)
		}
		parts, err := openEnvelope(sent, MaxValues)
		if err != nil {
			if !errors.Is(err, errCut) && fault.CodeOf(err) != fault.BadUserInput {
				t.Errorf("refused with %v, want BAD_USER_INPUT", err)
			}
			if errors.Is(err, errCut) && json.Valid(sent) {
				t.Errorf("%q is cut off, and is JSON", sent)
			}
			return
		}
		query, _, err := text("query", parts.query)
		if err != nil || query == "" {
			return
		}
		if _, _, err := text("operationName", parts.operationName); err != nil {
			return
		}
		body, err := parts.body(sent)
		params, notDecoded := decode(sent)
		if err != nil {
			if notDecoded == nil {
				t.Errorf("%q is decoded, and is %v", sent, err)
			}
			return
		}
		decodeAsGqlgen := func(body []byte) (p graphql.RawParams) {
			decoder := json.NewDecoder(bytes.NewReader(body))
			decoder.UseNumber()
			if err := decoder.Decode(&p); err != nil {
				t.Fatalf("%q has passed, and is not decoded: %v", sent, err)
			}
			return p
		}
		passed, direct := decodeAsGqlgen(body), decodeAsGqlgen(sent)
		if passed.Query != query || !reflect.DeepEqual(passed, direct) {
			t.Errorf("%q: %+v has passed, and gqlgen would decode %+v", sent, passed, direct)
		}
		switch {
		case notDecoded == nil && !reflect.DeepEqual(*params, direct):
			t.Errorf("%q is decoded as %+v, and gqlgen would as %+v", sent, *params, direct)
		case notDecoded != nil && utf8.Valid(sent) && !bytes.Contains(bytes.ToLower(sent), []byte(`\ud`)): // half a pair of surrogates
			t.Errorf("%q is not decoded: %v", sent, notDecoded)
		}
	})
}
