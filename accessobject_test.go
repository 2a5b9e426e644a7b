package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/tzzr/context-manager/internal/auth"
)

// objectCase says of the fields of an object who gets them: those who reach it, and what they need besides it, which is
// nothing ("follows") or a scope.
type objectCase struct {
	Document, Scope, Role string            // reaches the object with one scope, and asks for what stands in place of "…"
	Fields                map[string]string // by what they need
	Read                  string            // a document by which each caller asks; none: the same
	Over                  string            // "events" for a subscription
	Null                  string            // fields that may hold nothing there
	Want                  expectation
}

const (
	follows  = "follows"
	mark     = "…"
	invented = "invented" // as of what is not there
)

// Each field of each object says whether it follows its object or what it needs, and there is no other; and each object is
// asked for by everybody.
func TestMatrixHasEachFieldOfObjects(t *testing.T) {
	t.Parallel()
	m, schema := readMatrix(t), schemaOf()
	for name, object := range schema.Types {
		root := object == schema.Query || object == schema.Mutation || object == schema.Subscription
		if object.Kind != ast.Object || root || strings.HasPrefix(name, "__") {
			continue
		}
		listed := map[string]string{}
		for class, fields := range m.Objects[name].Fields {
			if _, ok := auth.ParseScope(class); !ok && class != follows {
				t.Errorf("%s: %q is neither a scope nor %q", name, class, follows)
			}
			for field := range strings.FieldsSeq(fields) {
				if listed[field] != "" || object.Fields.ForName(field) == nil {
					t.Errorf("%s.%s stands there twice, or is no field", name, field)
				}
				listed[field] = class
			}
		}
		for _, field := range object.Fields {
			if listed[field.Name] == "" && !strings.HasPrefix(field.Name, "__") {
				t.Errorf("%s.%s has no expectation in testdata/access/matrix.json", name, field.Name)
			}
		}
		for field := range strings.FieldsSeq(m.Objects[name].Null) {
			if d := object.Fields.ForName(field); d == nil || d.Type.NonNull {
				t.Errorf("%s.%s is never null, or is no field", name, field)
			}
		}
	}
	for name, o := range m.Objects {
		if schema.Types[name] == nil {
			t.Errorf("there is no object %s", name)
		}
		if _, ok := auth.ParseScope(o.Scope); !ok || strings.Count(o.Document, mark) != 1 || o.Read != "" && strings.Count(o.Read, mark) != 1 {
			t.Errorf("%s: %q is no scope, or no document leads to it", name, o.Scope)
		}
		m.of(t, objectName(name), o.Want)
	}
}

type objectName string

func (n objectName) String() string { return string(n) }

// Whoever reaches an object with one scope gets what follows it, and nothing that needs another scope; and every caller gets
// of it what the matrix says. Where the store alone has to see to that, each field is asked for by itself; elsewhere, where a
// table might lack a right or a policy, those with the same needs are asked for at once, which takes a fraction of the time.
func TestMatrixOfObjects(t *testing.T) {
	t.Parallel()
	for ground, open := range grounds {
		t.Run(ground, func(t *testing.T) {
			t.Parallel()
			m, schema := readMatrix(t), schemaOf()
			s := newObjectStage(t, open)
			for name, object := range m.Objects {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := s.with(t)
					by := s.whoReaches(object)
					want := m.of(t, objectName(name), object.Want)
					for class, fields := range object.Fields {
						all := asked{object, nil, schema}
						for field := range strings.FieldsSeq(fields) {
							all.fields = append(all.fields, schema.Types[name].Fields.ForName(field))
						}
						parts := []asked{all}
						if ground == "fenced false" {
							parts = all.alone()
						}
						for _, asked := range parts {
							s.askWithin(asked, class, by)
							for who, outcome := range want {
								s.askAs(asked, who, outcome)
							}
						}
					}
				})
			}
		})
	}
}

// whoReaches gives somebody with the one scope that leads to an object.
func (s *stage) whoReaches(object objectCase) caller {
	s.t.Helper()
	scope, ok := auth.ParseScope(object.Scope)
	if !ok {
		s.t.Fatalf("%q is no scope", object.Scope)
	}
	if object.Role == string(auth.Admin) {
		return caller{playerOf("admin"), s.token(auth.Admin, playerOf("admin"), scope)}
	}
	return caller{ben, s.token(auth.Agent, ben, scope)}
}

// asked are fields of an object, in one document.
type asked struct {
	objectCase
	fields []*ast.FieldDefinition
	schema *ast.Schema
}

func (a asked) String() string {
	names := make([]string, len(a.fields))
	for i, field := range a.fields {
		names[i] = field.Name
	}
	return strings.Join(names, " ")
}

// alone asks for each of the fields in a document of its own.
func (a asked) alone() (each []asked) {
	for i := range a.fields {
		each = append(each, asked{a.objectCase, a.fields[i : i+1], a.schema})
	}
	return each
}

// needed are the arguments of the fields that cannot do without.
var needed = map[string]string{
	"range": "(from: 0, count: 1)", "place": fmt.Sprintf("(message: %q)", sumOf("invented")), "placeAt": `(at: "2020-01-01T00:00:00Z")`,
}

// in gives a document that asks for the fields, and the names on the way to the object.
func (a asked) in(t testing.TB, document string) (c fieldCase, way []string) {
	t.Helper()
	text := ""
	for _, field := range a.fields {
		text += " " + field.Name + needed[field.Name]
		if kind := a.schema.Types[field.Type.Name()].Kind; kind != ast.Scalar && kind != ast.Enum {
			text += " { __typename }"
		}
	}
	c = fieldCase{Field: a.String(), Over: a.Over, Document: strings.Replace(document, mark, text, 1)}
	doc, err := parser.ParseQuery(&ast.Source{Input: strings.Replace(document, mark, "here: __typename", 1)})
	if err != nil {
		t.Fatal(err)
	}
	way, ok := wayTo("here", doc.Operations[0].SelectionSet)
	if !ok {
		t.Fatalf("%s leads nowhere", document)
	}
	return c, way
}

// wayTo gives the names of the fields around one.
func wayTo(alias string, set ast.SelectionSet) (way []string, ok bool) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			if x.Alias == alias {
				return nil, true
			}
			if way, ok := wayTo(alias, x.SelectionSet); ok {
				return append([]string{x.Alias}, way...), true
			}
		case *ast.InlineFragment:
			if way, ok := wayTo(alias, x.SelectionSet); ok {
				return way, true
			}
		}
	}
	return nil, false
}

// reached gives the objects at the end of a way, of lists those of every element; or, if there are none, what is there
// instead: "null" or "empty".
func reached(value any, way []string) (found []map[string]any, instead string) {
	switch v := value.(type) {
	case []any:
		instead = "empty"
		for _, one := range v {
			var more []map[string]any
			if more, instead = reached(one, way); len(more) > 0 {
				found = append(found, more...)
			}
		}
		return found, instead
	case map[string]any:
		if edges, ok := v["edges"].([]any); ok && len(edges) == 0 {
			return nil, "empty"
		}
		if len(way) == 0 {
			return []map[string]any{v}, ""
		}
		return reached(v[way[0]], way[1:])
	}
	return nil, "null"
}

// askWithin asks with one scope.
func (s *stage) askWithin(a asked, class string, by caller) {
	s.t.Helper()
	c, way := a.in(s.t, a.Document)
	_, variables := s.filled(c, by)
	r, _ := s.replyTo(c, variables, by)
	if class == follows || class == a.Scope {
		if found, instead := reached(r.Data, way); r.code() != "" || len(found) == 0 {
			s.t.Errorf("%s: %+v, %s, want it", a, r.Errors, instead)
		}
		return
	}
	if want := "your token lacks the scope " + class; r.code() != "FORBIDDEN" || r.Errors[0].Message != want {
		s.t.Errorf("%s: %+v, want FORBIDDEN %q", a, r, want)
	}
}

// askAs asks as one of the matrix's callers.
func (s *stage) askAs(a asked, who, want string) {
	s.t.Helper()
	document, by := a.Read, s.callers[who]
	if document == "" {
		document = a.Document
	}
	c, way := a.in(s.t, document)
	_, variables := s.filled(c, by)
	r, got := s.replyTo(c, variables, by)
	if want == invented {
		s.sameAsInvented(a, who, c, variables, r)
		return
	}
	found, instead := reached(r.Data, way)
	switch {
	case got != "":
	case r.code() != "":
		got = r.code()
	case len(found) == 0:
		got = instead
	default:
		got = "ok" + a.missing(found)
	}
	if got == want {
		return
	}
	s.t.Errorf("%s for %s: %s %+v, want %s", a, who, got, r.Errors, want)
	if len(a.fields) > 1 {
		for _, one := range a.alone() { // to know which
			s.askAs(one, who, want)
		}
	}
}

// missing names the fields that hold nothing in any of the objects and may not.
func (a asked) missing(found []map[string]any) (names string) {
	for _, field := range a.fields {
		there := slices.ContainsFunc(found, func(o map[string]any) bool { return o[field.Name] != nil })
		if !there && !slices.Contains(strings.Fields(a.Null), field.Name) {
			names += ", but null: " + field.Name
		}
	}
	return names
}

// sameAsInvented compares a reply with that to the same document about what is not there.
func (s *stage) sameAsInvented(a asked, who string, c fieldCase, variables object, got reply) {
	s.t.Helper()
	others := object{}
	pairs := []string{}
	for name, value := range variables {
		others[name] = sumOf("invented %s", name).String()
		pairs = append(pairs, fmt.Sprint(value), fmt.Sprint(others[name]))
	}
	want, end := s.replyTo(c, others, s.callers[who])
	if end != "" || want.code() != "" || got.code() != "" {
		s.t.Errorf("%s for %s: %+v and %+v %s, want data", a, who, got, want, end)
		return
	}
	text, err := json.Marshal(got.Data)
	if err != nil {
		s.t.Fatal(err)
	}
	other, err := json.Marshal(want.Data)
	if err != nil {
		s.t.Fatal(err)
	}
	if told := strings.NewReplacer(pairs...).Replace(string(text)); told != string(other) {
		s.t.Errorf("%s for %s: %s, and of what is not there %s", a, who, told, other)
	}
}

// replyTo is what comes first, or why nothing does.
func (s *stage) replyTo(c fieldCase, variables object, by caller) (r reply, end string) {
	s.t.Helper()
	if c.Over != "events" {
		a := s.ask(by.token, c.Document, variables)
		if a.status == http.StatusUnauthorized {
			return r, "401"
		}
		return a.reply(s.t), ""
	}
	e := <-s.events(by.token, object{"query": c.Document, "variables": variables})
	return e.reply, e.end
}
