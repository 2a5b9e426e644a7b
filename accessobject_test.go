package main

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/config"
)

// objectCase says of the fields of an object what they need besides the object: nothing ("follows"), or a scope. Its
// document reaches the object with one scope; it asks for what stands in place of "…".
type objectCase struct {
	Document, Scope, Role string
	Fields                map[string]string
}

const follows = "follows"

// Each field of each object says whether it follows its object or what it needs, and there is no other.
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
	}
	for name := range m.Objects {
		if schema.Types[name] == nil {
			t.Errorf("there is no object %s", name)
		}
	}
}

// Whoever reaches an object with one scope gets what follows it, and nothing that needs another scope.
func TestMatrixOfObjects(t *testing.T) {
	t.Parallel()
	m, schema := readMatrix(t), schemaOf()
	s := newStage(t, newSite(t, true, config.Server{}))
	for name, object := range m.Objects {
		if object.Document == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.with(t)
			scope, ok := auth.ParseScope(object.Scope)
			if !ok {
				t.Fatalf("%q is no scope", object.Scope)
			}
			by := caller{ben, s.token(auth.Agent, ben, scope)}
			if object.Role == string(auth.Admin) {
				by = caller{playerOf("admin"), s.token(auth.Admin, playerOf("admin"), scope)}
			}
			for class, fields := range object.Fields {
				for field := range strings.FieldsSeq(fields) {
					s.askWithin(object, schema.Types[name].Fields.ForName(field), class, by, schema)
				}
			}
		})
	}
}

func (s *stage) askWithin(o objectCase, field *ast.FieldDefinition, class string, by caller, schema *ast.Schema) {
	s.t.Helper()
	asked := field.Name
	if kind := schema.Types[field.Type.Name()].Kind; kind != ast.Scalar && kind != ast.Enum {
		asked += " { __typename }"
	}
	c := fieldCase{Field: field.Name, Document: strings.Replace(o.Document, "…", asked, 1)}
	r := s.reply(c, by)
	if class == follows || class == o.Scope {
		if r.code() != "" {
			s.t.Errorf("%s: %+v, want it", asked, r.Errors)
		}
		return
	}
	if want := "your token lacks the scope " + class; r.code() != "FORBIDDEN" || r.Errors[0].Message != want {
		s.t.Errorf("%s: %+v, want FORBIDDEN %q", asked, r, want)
	}
}
