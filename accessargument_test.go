package main

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// argument is a place where a document names something by a hash, an id, a cursor or a name: a field, and the path to it in the
// field's arguments, such as messages.refs.hash.
type argument struct {
	root  string                 // Query, Mutation or Subscription
	via   []*ast.FieldDefinition // fields on the way from the root, the one with the argument at the end
	path  []string
	scalr string // Hash, ID or String
}

// isCursor tells whether it is where a list goes on.
func (a argument) isCursor() bool {
	return slices.Contains([]string{"after", "before"}, a.path[len(a.path)-1])
}

// namingStrings are the strings by which things are named: where a list goes on, an append's key, a conversation, and those that
// events tell of.
var namingStrings = []string{"after", "before", "idempotencyKey", "conversation", "id", "userId", "agent", "threadId"}

func (a argument) String() string {
	names := make([]string, len(a.via))
	for i, s := range a.via {
		names[i] = s.Name
	}
	return a.root + "." + strings.Join(names, ".") + "(" + strings.Join(a.path, ".") + ")"
}

// arguments gives every place of the schema where something is named: of root fields, and of fields of objects that
// take cursors.
func arguments(schema *ast.Schema) []argument {
	var out []argument
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			out = append(out, namedBy(schema, root.Name, []*ast.FieldDefinition{field})...)
			object := schema.Types[field.Type.Name()]
			if root != schema.Query || object.Kind != ast.Object {
				continue
			}
			for _, inner := range object.Fields {
				out = append(out, namedBy(schema, root.Name, []*ast.FieldDefinition{field, inner})...)
			}
		}
	}
	return out
}

func namedBy(schema *ast.Schema, root string, via []*ast.FieldDefinition) (out []argument) {
	for _, a := range via[len(via)-1].Arguments {
		for _, found := range namesIn(schema, a.Name, a.Type, nil) {
			found.root, found.via = root, via
			out = append(out, found)
		}
	}
	return out
}

// namesIn gives the places in a value; on the way are the input objects around it, of which none repeats.
func namesIn(schema *ast.Schema, name string, typ *ast.Type, around []string) (out []argument) {
	switch t := schema.Types[typ.Name()]; {
	case t.Name == "Hash" || t.Name == "ID" || t.Name == "String" && slices.Contains(namingStrings, name):
		return []argument{{path: []string{name}, scalr: t.Name}}
	case t.Kind == ast.InputObject && !slices.Contains(around, t.Name):
		for _, f := range t.Fields {
			for _, found := range namesIn(schema, f.Name, f.Type, append(slices.Clone(around), t.Name)) {
				found.path = append([]string{name}, found.path...)
				out = append(out, found)
			}
		}
	}
	return out
}
