package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/fault"
)

// inField gives the context of a field that is resolved.
func inField(ctx context.Context, name string) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Field: graphql.CollectedField{Field: &ast.Field{Name: name, Alias: name}},
	})
}

func inInput(path ...any) ast.Path {
	var p ast.Path
	for _, x := range path {
		switch x := x.(type) {
		case string:
			p = append(p, ast.PathName(x))
		case int:
			p = append(p, ast.PathIndex(x))
		}
	}
	return p
}

func coded(code string, path ast.Path, message string) error {
	return &gqlerror.Error{Message: message, Path: path, Extensions: map[string]any{"code": code}}
}

func TestPresent(t *testing.T) {
	t.Parallel()
	secret := errors.New("password=hunter2 SELECT * FROM log.messages")
	for name, test := range map[string]struct {
		err     error
		code    fault.Code
		message string
		logged  bool
	}{
		"a fault":              {fault.New(fault.NotFound, "there is no such session"), fault.NotFound, "there is no such session", false},
		"a fault, wrapped":     {fmt.Errorf("append: %w", fault.New(fault.Conflict, "not the head")), fault.Conflict, "not the head", false},
		"a field":              {fault.Input("messages[3].content", "is empty"), fault.BadUserInput, "messages[3].content: is empty", false},
		"a cause":              {fault.Wrap(secret, fault.Conflict, "not the head"), fault.Conflict, "not the head", false},
		"an internal fault":    {fault.Wrap(secret, fault.Internal, "something"), fault.Internal, "internal error", true},
		"unavailable":          {fault.Wrap(secret, fault.Unavailable, "the database cannot be reached"), fault.Unavailable, "the database cannot be reached", true},
		"a client that went":   {fault.Wrap(fmt.Errorf("query: %w", context.Canceled), fault.Unavailable, "ended"), fault.Unavailable, "ended", false},
		"anything":             {secret, fault.Internal, "internal error", true},
		"anything, by gqlgen":  {gqlerror.Errorf("must not be null"), fault.Internal, "internal error", true},
		"the deadline":         {context.DeadlineExceeded, fault.Unavailable, "the request was ended before it was answered", false},
		"cancelled, wrapped":   {fmt.Errorf("query: %w", context.Canceled), fault.Unavailable, "the request was ended before it was answered", false},
		"a panic":              {recovered(context.Background(), secret), fault.Internal, "internal error", true},
		"a scalar's fault":     {gqlerror.WrapPath(inInput("appendMessages", "messages", 3, "sessionHash"), fault.New(fault.BadUserInput, "a hash is 64 digits")), fault.BadUserInput, "messages[3].sessionHash: a hash is 64 digits", false},
		"a scalar's error":     {gqlerror.WrapPath(inInput("appendMessages", "first"), errors.New("x is not an int")), fault.BadUserInput, "first: x is not an int", false},
		"a fault with path":    {gqlerror.WrapPath(inInput("appendMessages"), fault.New(fault.NotFound, "no")), fault.NotFound, "no", false},
		"another field's path": {gqlerror.WrapPath(inInput("message", "hash"), secret), fault.Internal, "internal error", true},
		"a variable":           {coded(errcode.ValidationFailed, inInput("variable", "messages", 3, "content"), "must be defined"), fault.BadUserInput, "messages[3].content: must be defined", false},
		"validation":           {coded(errcode.ValidationFailed, nil, `Cannot query field "a".`), fault.BadUserInput, `Cannot query field "a".`, false},
		"parser":               {coded(errcode.ParseFailed, nil, "Expected Name"), fault.BadUserInput, "Expected Name", false},
		"the guard":            {coded("FORBIDDEN", nil, "not for you"), fault.Forbidden, "not for you", false},
		"very long":            {coded(errcode.ParseFailed, nil, strings.Repeat("ñ", 1000)), fault.BadUserInput, strings.Repeat("ñ", 250) + "…", false},
	} {
		var log bytes.Buffer
		p := presenter{log: slog.New(slog.NewTextHandler(&log, nil))}
		got := p.present(inField(t.Context(), "appendMessages"), test.err)
		if got.Extensions["code"] != string(test.code) || got.Message != test.message {
			t.Errorf("%s: present = %v %q, want %s %q", name, got.Extensions["code"], got.Message, test.code, test.message)
		}
		if (log.Len() > 0) != test.logged {
			t.Errorf("%s: the log has %q, want something: %v", name, log.String(), test.logged)
		}
		if test.logged && strings.Contains(test.err.Error(), "hunter2") && !strings.Contains(log.String(), "hunter2") {
			t.Errorf("%s: the log %q does not have the cause", name, log.String())
		}
	}
}

func TestPresentKeepsPath(t *testing.T) {
	t.Parallel()
	p := presenter{log: slog.New(slog.DiscardHandler)}
	for _, test := range []struct {
		err  error
		want string
	}{
		{fault.New(fault.NotFound, "no"), "appendMessages"},
		{gqlerror.WrapPath(inInput("appendMessages", "messages", 3, "refs", 0, "hash"), fault.New(fault.BadUserInput, "no")), "appendMessages.messages[3].refs[0].hash"},
		{coded(errcode.ValidationFailed, inInput("variable", "messages", 3), "no"), "variable.messages[3]"},
	} {
		if got := p.present(inField(t.Context(), "appendMessages"), test.err).Path.String(); got != test.want {
			t.Errorf("present(%v).Path = %s, want %s", test.err, got, test.want)
		}
	}
}
