package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/tzzr/context-manager/internal/servertest"
)

// Every string that an argument in graph/schema can hold is one that sqlmap is let loose on, by itself, in a request that is
// valid.
func TestEveryStringIsATarget(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t), "DEMO=1", "RATE_LIMIT=0")
	there := map[string]string{}
	for _, one := range stringArguments(t, p, p.URL, sample(t, p)) {
		if strings.Count(one.request, marker) != 1 || there[one.name] != "" {
			t.Errorf("%s stands there twice, or has not one marker:\n%s", one.name, one.request)
		}
		there[one.name] = one.request
	}
	written := writtenStrings(t)
	for _, name := range written {
		if there[name] == "" {
			t.Errorf("%s is no target", name)
			continue
		}
		if err := validRequest(schemaOf(), there[name]); err != nil {
			t.Errorf("%s: the request is not valid: %v", name, err)
		}
		delete(there, name)
	}
	if len(written) < 100 {
		t.Errorf("%d strings are written down, want 100 at least", len(written))
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		t.Errorf("%s is not in the schema", name)
	}
}

// validRequest says what a server would have against a request of a target before it answers any of it.
func validRequest(schema *ast.Schema, request string) error {
	var body struct {
		Query     string
		Variables map[string]any
	}
	_, text, _ := strings.Cut(request, "\r\n\r\n")
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return err
	}
	document, errs := gqlparser.LoadQueryWithRules(schema, body.Query, rules.NewDefaultRules())
	if errs != nil {
		return errs
	}
	_, err := validator.VariableValues(schema, document.Operations[0], body.Variables)
	return err
}

// writtenStrings reads the schema as it is written, and names every string of an argument as targets are named.
func writtenStrings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("graph/schema/*.graphqls")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema: %v", err)
	}
	fields, inputs := map[string]ast.FieldList{}, map[string]ast.FieldList{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		document, err := parser.ParseSchema(&ast.Source{Name: file, Input: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range append(document.Definitions, document.Extensions...) {
			switch d.Kind {
			case ast.Object:
				fields[d.Name] = append(fields[d.Name], d.Fields...)
			case ast.InputObject:
				inputs[d.Name] = append(inputs[d.Name], d.Fields...)
			}
		}
	}
	var names []string
	var within func(path string, of *ast.Type)
	within = func(path string, of *ast.Type) {
		switch name := of.Name(); {
		case inputs[name] != nil:
			for _, f := range inputs[name] {
				within(path+"."+f.Name, f.Type)
			}
		case slices.Contains([]string{"String", "ID", "Hash", "Time", "JSON"}, name):
			names = append(names, path)
		}
	}
	for object, list := range fields {
		for _, f := range list {
			for _, a := range f.Arguments {
				within(object+"."+f.Name+": "+a.Name, a.Type)
			}
		}
	}
	slices.Sort(names)
	return names
}
