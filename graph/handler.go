package graph

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/limit"
	"github.com/tzzr/context-manager/internal/overload"
)

// Times of operations and streams.
const (
	operationLimit = 30 * time.Second // queries and mutations; not checks of chains and subscriptions
	pingInterval   = 20 * time.Second // on WebSockets and event streams; a WebSocket that misses two is closed
)

// Config is what the API needs besides its resolvers.
type Config struct {
	Log     *slog.Logger
	Tokens  auth.Verifier  // for tokens that come in a WebSocket's first message
	Watcher Watcher        // of tokens that streams were opened with; nil: they outlive their token
	Origins []string       // browsers' origins, besides the server's own, that may open WebSockets
	Limits  *limit.Limiter // how often callers may call; nil: as often as they like
	Places  Admission      // how many operations may be at work
}

// NewHandler serves the API: queries and mutations by POST, queries by GET, subscriptions as events or on a WebSocket
// of graphql-transport-ws. The caller stands in the request's context: see auth.Gate.
func NewHandler(resolver *Resolver, cfg Config) http.Handler {
	executable := generated.NewExecutableSchema(generated.Config{Resolvers: resolver})
	server := handler.New(executable)
	server.AddTransport(webSocket(cfg))
	server.AddTransport(sentEvents{})
	server.AddTransport(transport.GET{})
	server.AddTransport(jsonPost{})

	cfg.Places.unread = overload.NewRoom(mostUnread)
	cache := newDocumentCache()
	server.SetQueryCache(cache)
	server.SetParserTokenLimit(MaxTokens)
	server.SetDisableSuggestion(true)
	server.SetValidationRulesFn(rulesWithoutSuggestions)
	server.SetErrorPresenter(presenter{log: cfg.Log}.present)
	server.SetRecoverFunc(recovered)
	open := &streams{}
	g := guard{cache: cache, limits: cfg.Limits, places: cfg.Places}
	server.Use(g)
	server.Use(holding{})
	server.AroundOperations(cfg.Places.around)
	audit := auditing{store: resolver.Store, present: presenter{log: cfg.Log}.present}
	server.AroundOperations(begin)
	server.AroundOperations(permitting{schema: executable.Schema(), present: presenter{log: cfg.Log}.present}.around)
	server.AroundOperations(audit.operation)
	server.AroundOperations(open.limit)
	server.AroundOperations(endings{present: presenter{log: cfg.Log}.present}.around)
	server.AroundOperations(watching{watcher: cfg.Watcher, present: presenter{log: cfg.Log}.present}.around)
	server.AroundOperations((&sharing{alike: map[[sha256.Size]byte]*alike{}}).around)
	server.AroundResponses(firstErrors)
	server.AroundResponses(audit.response)
	server.AroundResponses(budgets{present: presenter{log: cfg.Log}.present}.response)
	server.AroundResponses(withLoaders(resolver))
	server.AroundFields(allow)
	server.AroundFields(plainLists)
	server.AroundFields(spend)
	server.AroundRootFields(limitTime)
	server.AroundRootFields(withLoadersOfItsOwn(resolver))
	return front{transports: server, guard: g, limits: cfg.Limits, streams: open, bodies: overload.NewRoom(mostBody), hosts: hostsOf(cfg.Origins)}
}

// withLoaders gives each response, and so each event of a subscription, loaders of its own.
func withLoaders(r *Resolver) graphql.ResponseMiddleware {
	return func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(loader.Attach(ctx, r.view))
	}
}

// withLoadersOfItsOwn gives each field of a mutation fresh loaders, since the one before it may have changed what
// was loaded.
func withLoadersOfItsOwn(r *Resolver) graphql.RootFieldMiddleware {
	return func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		if op := graphql.GetOperationContext(ctx).Operation; op != nil && op.Operation == ast.Mutation {
			ctx = loader.Attach(ctx, r.view)
		}
		return next(ctx)
	}
}

// rulesWithoutSuggestions are the standard's rules, but for those that would tell names of the schema to whoever
// guesses nearly right.
func rulesWithoutSuggestions() *rules.Rules {
	set := rules.NewDefaultRules()
	set.ReplaceRule(rules.FieldsOnCorrectTypeRule.Name, rules.FieldsOnCorrectTypeRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.ScalarLeafsRule.Name, rules.ScalarLeafsRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	return set
}

// begin counts operations, and notes that they began.
func begin(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx).Operation
	httpd.CountOperation(ctx, string(op.Operation), rootFields(op))
	if x := exchangeFrom(ctx); x != nil {
		x.began = true
	}
	if op.Operation != ast.Subscription {
		ctx = db.WithPatience(ctx)
	}
	return next(ctx)
}

// limitTime ends each field of a query or mutation that is not done operationLimit after the operation began, but for
// checks of chains, which take as long as the log is. Subscriptions have no such fields.
func limitTime(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if isCheck(graphql.GetRootFieldContext(ctx).Field.Field) {
		return next(ctx)
	}
	began := graphql.GetOperationContext(ctx).Stats.Validation.End
	ctx, cancel := context.WithDeadline(ctx, began.Add(operationLimit))
	defer cancel()
	return next(ctx)
}

// rootFields gives the names of an operation's root fields. The operation is valid, so that they are names of the
// schema.
func rootFields(op *ast.OperationDefinition) []string { return fieldNames(nil, op.SelectionSet) }

func fieldNames(names []string, set ast.SelectionSet) []string {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			names = append(names, x.Name)
		case *ast.InlineFragment:
			names = fieldNames(names, x.SelectionSet)
		case *ast.FragmentSpread:
			names = fieldNames(names, x.Definition.SelectionSet)
		}
	}
	return names
}
