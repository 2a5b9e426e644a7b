package graph

import (
	"bytes"
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/overload"
)

// Limits of a request's body, in bytes.
const (
	MaxBody       = 1 << 20
	MaxAppendBody = 16 << 20 // of mutations that only add to the log
)

// exchange is what the guard has to know of the HTTP request that an operation came in, and the status that its
// answer shall have. A WebSocket has none. It belongs to the request's goroutine.
type exchange struct {
	method  string
	query   string             // the document that the guard has looked at
	params  *graphql.RawParams // what was sent, unless it is refused or asks for a stream
	refused *gqlerror.Error    // why it is refused, nil if it is not
	stream  bool               // the answer is a stream of events
	size    int                // of the body, in bytes
	status  int                // 0 leaves it to the transport
	began   bool               // the operation was executed, or is being
	leave   func()             // gives back its place among those at work, nil if it has none
	aside   int64              // bytes that are set aside for a large answer
	held    *held              // what its answer holds, nil until it began
	more    func() bool        // whether another event waits to be sent, nil if nobody can tell
	full    error              // why it has none, nil if that is not why it is refused
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeFrom gives the exchange of a request, nil on a WebSocket.
func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// refuse gives an error whose answer has the status.
func refuse(ctx context.Context, status int, code fault.Code, format string, args ...any) *gqlerror.Error {
	if x := exchangeFrom(ctx); x != nil {
		x.status = status
	}
	err := gqlerror.Errorf(format, args...)
	err.Extensions = map[string]any{"code": string(code)}
	return err
}

// check tells whether the operation may come in a request like this.
func (x *exchange) check(op *ast.OperationDefinition) *gqlerror.Error {
	if x == nil {
		return nil
	}
	switch {
	case x.size > MaxBody && !onlyAdds(op):
		x.status = http.StatusRequestEntityTooLarge
		return limitError("%s", errNotLarge())
	case x.stream && x.size > smallBody:
		x.status = http.StatusRequestEntityTooLarge
		return errLargeStream()
	case x.method == http.MethodGet && op.Operation == ast.Mutation:
		x.status = http.StatusMethodNotAllowed
		return limitError("GET is for queries: send mutations by POST")
	case !x.stream && op.Operation == ast.Subscription:
		return limitError("subscriptions come as a stream: send `Accept: text/event-stream`, or use a WebSocket")
	}
	return nil
}

func errLargeStream() *gqlerror.Error {
	return limitError("a request for a stream has at most %d bytes, since they are kept as long as it lasts", smallBody)
}

// onlyAdds tells whether an operation is a mutation all of whose root fields stand in the document itself and add to
// the log.
func onlyAdds(op *ast.OperationDefinition) bool {
	if op.Operation != ast.Mutation {
		return false
	}
	for _, selection := range op.SelectionSet {
		field, ok := selection.(*ast.Field)
		if !ok {
			return false
		}
		switch field.Name {
		case "appendMessages", "recordSelection", "addRecords", "upsertComponents":
		default:
			return false
		}
	}
	return true
}

// mayAsk tells whether the caller may ask for the root fields of a mutation that only adds, whatever they send.
func mayAsk(c auth.Caller, op *ast.OperationDefinition) bool {
	for _, selection := range op.SelectionSet {
		if f, ok := selection.(*ast.Field); ok && access["Mutation"][f.Name].early(c) != nil {
			return false
		}
	}
	return true
}

// reply is a response writer that gives the answer the status that the guard asked for, and one that fits where
// gqlgen's transports give another: a document that is not valid is no reason for anything but 200 where the client
// wants application/json.
type reply struct {
	http.ResponseWriter
	exchange *exchange
	begun    bool
}

// WriteHeader sends the status.
func (r *reply) WriteHeader(status int) {
	r.begun = true
	switch {
	case r.exchange.status != 0:
		status = r.exchange.status
	case status == http.StatusUnprocessableEntity:
		status = http.StatusOK
	}
	if status == http.StatusServiceUnavailable {
		r.Header().Set("Retry-After", overload.RetryAfter)
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends the answer. gqlgen gives each a "data"; where nothing was executed, the specification wants none.
func (r *reply) Write(p []byte) (int, error) {
	if !r.begun {
		r.WriteHeader(http.StatusOK)
	}
	if r.exchange.began || r.exchange.stream {
		return r.ResponseWriter.Write(p)
	}
	if rest, ok := bytes.CutSuffix(p, []byte(`,"data":null}`)); ok {
		_, err := r.ResponseWriter.Write(append(bytes.Clone(rest), '}'))
		return len(p), err
	}
	return r.ResponseWriter.Write(p)
}

// Flush sends what was written.
func (r *reply) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap gives the writer below to http.ResponseController.
func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }
