package graph

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
)

// presenter makes errors fit for clients: a code, a message that names the field, and nothing that was not meant for
// them. Causes go to the log.
type presenter struct {
	log *slog.Logger
}

// present is gqlgen's graphql.ErrorPresenterFunc.
func (p presenter) present(ctx context.Context, err error) *gqlerror.Error {
	if isOver(ctx, err) {
		return overError
	}
	shown := p.show(ctx, err)
	code, _ := shown.Extensions["code"].(string)
	httpd.CountError(ctx, code)
	return shown
}

func (p presenter) show(ctx context.Context, err error) *gqlerror.Error {
	found, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		found = &gqlerror.Error{Err: err, Path: graphql.GetPath(ctx)}
	}
	switch code, _ := found.Extensions["code"].(string); code {
	case errcode.ParseFailed, errcode.ValidationFailed:
		return withCode(found, fault.BadUserInput, named(variablePath(found.Path), found.Message))
	case string(fault.Forbidden), string(fault.BadUserInput), string(fault.RateLimited), string(fault.Unavailable):
		return found // made by the guard
	}
	input := inputPath(ctx, found.Path)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return p.showFault(ctx, found, f, input)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return withCode(found, fault.Unavailable, "the request was ended before it was answered")
	case input != "": // a scalar that gqlgen could not read
		return withCode(found, fault.BadUserInput, named(input, found.Message))
	}
	return p.hide(ctx, found, err)
}

func (p presenter) showFault(ctx context.Context, found *gqlerror.Error, f *fault.Error, input string) *gqlerror.Error {
	switch {
	case f.Code == fault.Internal:
		return p.hide(ctx, found, f)
	case errors.Is(f.Cause, context.Canceled): // the client went away
		p.log.DebugContext(ctx, "unavailable", "field", fieldOf(ctx), "cause", fault.Redacted(f.Cause))
	case f.Code == fault.Unavailable && f.Cause != nil:
		p.log.WarnContext(ctx, "unavailable", "field", fieldOf(ctx), "cause", fault.Redacted(f.Cause))
	}
	if f.Field == "" {
		return withCode(found, f.Code, named(input, f.Message))
	}
	return withCode(found, f.Code, f.Error())
}

// hide logs what nobody foresaw, and tells the client no more than that.
func (p presenter) hide(ctx context.Context, found *gqlerror.Error, err error) *gqlerror.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil {
		err = f.Cause
	}
	p.log.ErrorContext(ctx, "internal error", "field", fieldOf(ctx), "cause", fault.Redacted(err))
	return withCode(found, fault.Internal, "internal error")
}

// fieldOf names what is resolved for the log, in words of the schema: paths hold aliases, which clients write.
func fieldOf(ctx context.Context) string {
	field := graphql.GetFieldContext(ctx)
	if field == nil || field.Field.Field == nil {
		return ""
	}
	return field.Object + "." + field.Field.Name
}

// maxMessage is how long a message may be, in bytes: the parser and the validation repeat names that clients wrote.
const maxMessage = 500

func withCode(found *gqlerror.Error, code fault.Code, message string) *gqlerror.Error {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return &gqlerror.Error{
		Message: message, Path: found.Path, Locations: found.Locations,
		Extensions: map[string]any{"code": string(code)},
	}
}

func named(field, message string) string {
	if field == "" {
		return message
	}
	return field + ": " + message
}

// variablePath gives the place in the variables that validation names, such as "messages[3].content", or "".
func variablePath(path ast.Path) string {
	if len(path) == 0 || path[0] != ast.PathName("variable") {
		return ""
	}
	return path[1:].String()
}

// inputPath gives the place in the arguments that an error is about, such as "messages[3].sessionHash": what its path
// has beyond the path of the field that is resolved. It is "" if the error is about the field.
func inputPath(ctx context.Context, path ast.Path) string {
	field := graphql.GetFieldContext(ctx)
	if field == nil {
		return ""
	}
	of := field.Path()
	if len(path) <= len(of) || !slices.Equal(path[:len(of)], of) {
		return ""
	}
	return strings.TrimPrefix(path[len(of):].String(), ".")
}

// maxErrors is how many errors an invalid document is told.
const maxErrors = 10

// firstErrors keeps the first few errors of a document that is not valid. It is a gqlgen ResponseMiddleware.
func firstErrors(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	response := next(ctx)
	if response != nil && len(response.Data) == 0 && len(response.Errors) > maxErrors {
		response.Errors = response.Errors[:maxErrors]
	}
	return response
}

// recovered makes an error of a panic, for present to log.
func recovered(_ context.Context, value any) error {
	return fault.Wrap(fault.Panicked(value), fault.Internal, "internal error")
}

// writeError answers a request that no transport sees, in GraphQL's form.
func writeError(w http.ResponseWriter, r *http.Request, status int, err error) {
	writeErrorBody(w, r, status, fault.CodeOf(err), errorBody(err))
}

func errorBody(err error) []byte {
	message, code := "internal error", fault.CodeOf(err)
	if f, ok := errors.AsType[*fault.Error](err); ok && code != fault.Internal {
		message = f.Error()
	}
	body, _ := json.Marshal(map[string]any{"errors": gqlerror.List{ // fails for nothing that is made of text
		{Message: message, Extensions: map[string]any{"code": string(code)}},
	}})
	return body
}

func writeErrorBody(w http.ResponseWriter, r *http.Request, status int, code fault.Code, body []byte) {
	httpd.CountError(r.Context(), string(code))
	media := "application/json"
	if strings.Contains(r.Header.Get("Accept"), "application/graphql-response+json") {
		media = "application/graphql-response+json"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
