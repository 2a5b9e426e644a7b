package graph

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// MaxRootsBytes is how much several root fields of one operation are given together, variables and literals, each as often as it is
// given: twenty that are given the same text cost twenty times as much.
const MaxRootsBytes = 96 << 10

// checkRoots refuses several root fields that would cost as much as many requests. The operation must be valid.
func checkRoots(op *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	roots, bytes := countRoots(op, variables)
	if roots > 1 && bytes > MaxRootsBytes {
		return limitError("the operation gives its %d root fields more than %d bytes together, which is allowed for one field only: send them one after the other", roots, MaxRootsBytes)
	}
	return nil
}

// countRoots counts the root fields of an operation, and what they are given, up to a little more than MaxRootsBytes.
func countRoots(op *ast.OperationDefinition, variables map[string]any) (roots, bytes int) {
	c := rootsCounter{variables: variables, sizes: map[string]int{}, spread: map[string]bool{}}
	c.set(op.SelectionSet)
	return c.roots, c.bytes
}

type rootsCounter struct {
	variables    map[string]any
	sizes        map[string]int  // of variables
	spread       map[string]bool // fragments: one that is spread twice gives its fields once
	roots, bytes int
}

func (c *rootsCounter) set(set ast.SelectionSet) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			c.roots++
			for _, a := range x.Arguments {
				c.value(a.Value)
			}
		case *ast.InlineFragment:
			c.set(x.SelectionSet)
		case *ast.FragmentSpread:
			if !c.spread[x.Name] {
				c.spread[x.Name] = true
				c.set(x.Definition.SelectionSet)
			}
		}
	}
}

func (c *rootsCounter) value(v *ast.Value) {
	if v.Kind != ast.Variable {
		c.bytes = min(c.bytes+len(v.Raw), 2*MaxRootsBytes)
		for _, child := range v.Children {
			c.value(child.Value)
		}
		return
	}
	size, known := c.sizes[v.Raw]
	if !known {
		size = bytesOf(c.variables[v.Raw], MaxRootsBytes+1)
		c.sizes[v.Raw] = size
	}
	c.bytes = min(c.bytes+size, 2*MaxRootsBytes)
}

// bytesOf is about what a value takes as JSON, and no more than a little more than most.
func bytesOf(v any, most int) (n int) {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case json.Number:
		return len(v)
	case []any:
		for _, each := range v {
			if n += 1 + bytesOf(each, most-n); n > most {
				break
			}
		}
	case map[string]any:
		for name, each := range v {
			if n += len(name) + 3 + bytesOf(each, most-n); n > most {
				break
			}
		}
	}
	return n + 4
}
