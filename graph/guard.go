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
	"github.com/tzzr/context-manager/internal/limit"
)

// Limits of a request's document and variables. What is spread by fragments counts wherever it is spread.
const (
	MaxDocument   = 256 << 10 // bytes
	MaxTokens     = 15_000    // of the document
	MaxDepth      = 15        // levels of fields; the introspection query of graphql-js has as many
	MaxSelections = 500       // fields, fragment spreads and inline fragments
	MaxRootFields = 50        // of an operation
	MaxMutations  = 20        // of a mutation: each is worked out by itself, also if the one before was refused
	MaxAliases    = 100       //
	MaxDirectives = 50        //
	MaxFragments  = 50        // that the document defines
	MaxOperations = 20        // that the document defines
	MaxVariables  = 100       // that an operation defines
	MaxArguments  = 500       //
	MaxRepeats    = 100       // fields of the same response name in a selection set, beyond the first; of the document, too
	MaxSpread     = 2000      // fields, fragment spreads and inline fragments of all operations and fragments of the document
	MaxLiterals   = 15_000    // values of arguments of all of them
	MaxNesting    = 100       // levels of lists and objects in a value
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
	cache  *documentCache
	limits *limit.Limiter
	places Admission
}

// ExtensionName names it to gqlgen.
func (guard) ExtensionName() string { return "Guard" }

// Validate has nothing to check.
func (guard) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters checks what was sent, before validation. A request that came by HTTP was checked by the
// front, before its variables were decoded.
func (g guard) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	x := exchangeFrom(ctx)
	switch {
	case x == nil:
	case x.refused != nil:
		return x.refused
	case x.query != params.Query:
		return limitError("query: is not the one that was checked")
	default:
		return nil
	}
	if err := g.limits.Take(ctx); err != nil {
		return refuse(ctx, http.StatusTooManyRequests, fault.RateLimited, "%s", err)
	}
	return g.admit(ctx, params.Query, params.OperationName)
}

// admit checks a document, and the operation of it that is asked for.
func (g guard) admit(ctx context.Context, query, operationName string) *gqlerror.Error {
	of, err := g.examine(ctx, query)
	if err != nil {
		return err
	}
	if of.introspects {
		if !mayIntrospect(ctx) {
			return refuse(ctx, http.StatusForbidden, fault.Forbidden, "introspection is for administrators")
		}
	}
	op := of.doc.Operations.ForName(operationName)
	if op == nil {
		return nil // validation says so
	}
	x := exchangeFrom(ctx)
	if err := x.check(op); err != nil {
		return err
	}
	if err := permit(ctx, x, op, of.doc.Fragments); err != nil || x == nil {
		return err
	}
	return g.places.enter(ctx, x, op, of.doc.Fragments)
}

// mayIntrospect is true for administrators who may read.
func mayIntrospect(ctx context.Context) bool {
	caller, err := auth.From(ctx)
	return err == nil && caller.IsAdmin() && caller.Scopes.Has(auth.LogRead)
}

// checked is a document that is within the limits.
type checked struct {
	doc         *ast.QueryDocument
	introspects bool
}

// examine parses a document, and measures it. One that is in the cache was measured before.
func (g guard) examine(ctx context.Context, query string) (checked, *gqlerror.Error) {
	if len(query) > MaxDocument {
		return checked{}, limitError("the document has %d bytes; at most %d are allowed: put what is long into variables", len(query), MaxDocument)
	}
	if cached, ok := g.cache.known(ctx, query); ok {
		return cached, nil
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, MaxTokens)
	if err != nil {
		return checked{}, parseError(err)
	}
	found, refused := measureDocument(doc)
	if refused != nil {
		return checked{}, refused
	}
	return checked{doc, found.introspects}, nil
}

// MutateOperationContext checks what was validated, and lets administrators introspect.
func (g guard) MutateOperationContext(ctx context.Context, op *graphql.OperationContext) *gqlerror.Error {
	op.DisableIntrospection = !mayIntrospect(ctx)
	if n := complexity(op.Operation, op.Variables); n > MaxComplexity {
		return limitError("the operation's complexity is %d; at most %d is allowed: ask for shorter pages or fewer levels", n, MaxComplexity)
	}
	return checkRoots(op.Operation, op.Variables)
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

// documentCache keeps documents that passed measurement and validation, by their text. Safe for concurrent use.
type documentCache struct {
	lru *lru.LRU[checked]
}

func newDocumentCache() *documentCache {
	return &documentCache{lru: lru.New[checked](cachedDocuments)}
}

func (c *documentCache) known(ctx context.Context, text string) (checked, bool) {
	if len(text) > cachedDocumentSize {
		return checked{}, false
	}
	return c.lru.Get(ctx, text)
}

// Get gives the document of a text.
func (c *documentCache) Get(ctx context.Context, text string) (*ast.QueryDocument, bool) {
	of, ok := c.known(ctx, text)
	return of.doc, ok
}

// Add keeps a document, unless its text is large, or it is beyond the limits.
func (c *documentCache) Add(ctx context.Context, text string, doc *ast.QueryDocument) {
	if len(text) > cachedDocumentSize {
		return
	}
	if found, err := measureDocument(doc); err == nil {
		c.lru.Add(ctx, text, checked{doc, found.introspects})
	}
}
