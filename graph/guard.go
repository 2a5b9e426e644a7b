package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of a request's document and variables. What is spread by fragments counts wherever it is spread.
const (
	MaxTokens     = 15_000 // of the document
	MaxDepth      = 15     // levels of fields; the introspection query of graphql-js has as many
	MaxSelections = 500    // fields, fragment spreads and inline fragments
	MaxRootFields = 50     // of an operation
	MaxAliases    = 100    //
	MaxDirectives = 50     //
	MaxFragments  = 50     // that the document defines
	MaxOperations = 20     // that the document defines
	MaxVariables  = 100    // that an operation defines
	MaxArguments  = 500    //
	MaxRepeats    = 100    // fields of the same response name in a selection set, beyond the first
	MaxNesting    = 100    // levels of lists and objects in a value
	MaxComplexity = 200_000
)

// What the cache of parsed and validated documents may hold, so that hostile documents cannot fill the memory.
const (
	cachedDocuments    = 256
	cachedDocumentSize = 8 << 10 // bytes; larger documents are parsed each time
)

// guard refuses documents that would cost too much before anything looks at them that takes more than linear time:
// the standard's validation takes quadratic time over repeated fields, and exponential time over nested fragments.
// Complexity, which needs the schema's types, is counted after validation.
type guard struct {
	cache *documentCache
}

// ExtensionName names it to gqlgen.
func (guard) ExtensionName() string { return "Guard" }

// Validate has nothing to check.
func (guard) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters checks what was sent, before validation.
func (g guard) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	if err := checkNesting("variables", params.Variables, 0); err != nil {
		return err
	}
	doc, cached := g.cache.Get(ctx, params.Query)
	if !cached {
		var err error
		if doc, err = parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, MaxTokens); err != nil {
			return parseError(err)
		}
	}
	found, err := measureDocument(doc)
	if err != nil {
		return err
	}
	if found.introspects {
		if caller, err := auth.From(ctx); err != nil || !caller.IsAdmin() {
			return refuse(ctx, http.StatusForbidden, fault.Forbidden, "introspection is for administrators")
		}
	}
	op := doc.Operations.ForName(params.OperationName)
	if op == nil {
		return nil // validation says so
	}
	return exchangeFrom(ctx).check(op)
}

// MutateOperationContext checks what was validated, and lets administrators introspect.
func (g guard) MutateOperationContext(ctx context.Context, op *graphql.OperationContext) *gqlerror.Error {
	caller, err := auth.From(ctx)
	op.DisableIntrospection = err != nil || !caller.IsAdmin()
	if n := complexity(op.Operation, op.Variables); n > MaxComplexity {
		return limitError("the operation's complexity is %d; at most %d is allowed: ask for shorter pages or fewer levels", n, MaxComplexity)
	}
	return nil
}

// parseError gives what the parser found; its own words never repeat more than a token.
func parseError(err error) *gqlerror.Error {
	found, ok := err.(*gqlerror.Error)
	if !ok {
		found = gqlerror.Wrap(err)
	}
	errcode.Set(found, errcode.ParseFailed)
	return found
}

// limitError is a BAD_USER_INPUT as gqlgen knows them: its transports give it the status of a document that is not
// valid.
func limitError(format string, args ...any) *gqlerror.Error {
	err := gqlerror.Errorf(format, args...)
	errcode.Set(err, errcode.ValidationFailed)
	return err
}

// checkNesting refuses values whose lists and objects nest too deep.
func checkNesting(name string, v any, depth int) *gqlerror.Error {
	if depth > MaxNesting {
		return limitError("%s: more than %d levels of lists and objects; at most as many are allowed", name, MaxNesting)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if err := checkNesting(name, x, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, x := range v {
			if err := checkNesting(name, x, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// documentCache keeps documents that passed validation, by their text. Safe for concurrent use.
type documentCache struct {
	lru *lru.LRU[*ast.QueryDocument]
}

func newDocumentCache() *documentCache {
	return &documentCache{lru: lru.New[*ast.QueryDocument](cachedDocuments)}
}

// Get gives the document of a text.
func (c *documentCache) Get(ctx context.Context, text string) (*ast.QueryDocument, bool) {
	if len(text) > cachedDocumentSize {
		return nil, false
	}
	return c.lru.Get(ctx, text)
}

// Add keeps a document, unless its text is large.
func (c *documentCache) Add(ctx context.Context, text string, doc *ast.QueryDocument) {
	if len(text) <= cachedDocumentSize {
		c.lru.Add(ctx, text, doc)
	}
}
