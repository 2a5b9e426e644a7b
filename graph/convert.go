package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// searchText checks the text of a search. White space around it does not count, and none is no search.
func searchText(search *string) (*string, error) {
	if search == nil {
		return nil, nil
	}
	text := strings.TrimSpace(*search)
	if text == "" {
		return nil, nil
	}
	return &text, chain.CheckText("search", &text, chain.MaxNameBytes)
}

// bookName checks the name of a ledger or file; null is any.
func bookName(book *string) error {
	if book != nil && *book == "" {
		return fault.Input("book", "is empty")
	}
	return chain.CheckText("book", book, chain.MaxNameBytes)
}

// scopeOf checks a filter; null is the whole log.
func scopeOf(filter *selection.Scope, field string) (selection.Scope, error) {
	if filter == nil {
		return selection.Scope{}, nil
	}
	return *filter, filter.Validate(field)
}

// expectMessages announces the fields of a page of messages to the loaders.
func expectMessages(ctx context.Context, edges []model.MessageEdge) {
	messages := make([]chain.Message, len(edges))
	for i, e := range edges {
		messages[i] = e.Node.Message
	}
	loader.From(ctx).ExpectAround(messages)
}

// asksForMore tells whether the field that is being resolved is asked for fields that have fields of their own, and so
// may need loaders.
func asksForMore(ctx context.Context) bool {
	for _, selection := range graphql.GetFieldContext(ctx).Field.Selections {
		if field, ok := selection.(*ast.Field); !ok || len(field.SelectionSet) > 0 {
			return true
		}
	}
	return false
}

// componentField gives the component that a message names, as the kind that the field has.
func componentField(ctx context.Context, hash chain.Hash, kind component.Kind) (component.Component, error) {
	c, err := loader.From(ctx).Components.Load(ctx, hash)
	if err == nil && c.Kind != kind {
		// Nobody described it, or as something else: then the field has only its hash.
		c = component.Component{Kind: kind, Hash: hash, Data: "{}", Preferences: []string{}}
	}
	return c, err
}

// optionalComponent gives nil for an absent hash.
func optionalComponent[T any](ctx context.Context, hash *chain.Hash, kind component.Kind, wrap func(component.Component) T) (*T, error) {
	if hash == nil {
		return nil, nil
	}
	c, err := componentField(ctx, *hash, kind)
	if err != nil {
		return nil, err
	}
	wrapped := wrap(c)
	return &wrapped, nil
}

func componentList[T any](ctx context.Context, hashes []chain.Hash, kind component.Kind, wrap func(component.Component) T) ([]T, error) {
	out := make([]T, len(hashes))
	for i, h := range hashes {
		c, err := componentField(ctx, h, kind)
		if err != nil {
			return nil, err
		}
		out[i] = wrap(c)
	}
	return out, nil
}

func asPlayer(c component.Component) model.Player     { return model.Player{Component: c} }
func asHashtag(c component.Component) model.Hashtag   { return model.Hashtag{Component: c} }
func asFlag(c component.Component) model.Flag         { return model.Flag{Component: c} }
func asItem(c component.Component) model.Item         { return model.Item{Component: c} }
func asLocation(c component.Component) model.Location { return model.Location{Component: c} }

// sourceOf gives the message or record with a hash, nil if it is not in this log.
func sourceOf(ctx context.Context, kind chain.RefType, hash chain.Hash) (model.ContextSource, error) {
	if kind == chain.RefContext {
		m, err := loader.From(ctx).Messages.Load(ctx, hash)
		if err != nil || m == nil {
			return nil, err
		}
		return model.Message{Message: *m}, nil
	}
	record, err := loader.From(ctx).Records.Load(ctx, hash)
	if err != nil || record == nil {
		return nil, err
	}
	return model.Record{Record: *record}, nil
}

// session gives a session, nil if it has no messages.
func (r *Resolver) session(ctx context.Context, hash chain.Hash) (*model.Session, error) {
	s, err := loader.From(ctx).Sessions.Load(ctx, hash)
	if err != nil || s == nil {
		return nil, err
	}
	return &model.Session{Session: *s}, nil
}

// thread gives a thread, nil if it has no messages.
func (r *Resolver) thread(ctx context.Context, hash chain.Hash) (*model.Thread, error) {
	t, err := loader.From(ctx).Threads.Load(ctx, hash)
	if err != nil || t == nil {
		return nil, err
	}
	return &model.Thread{Thread: *t}, nil
}
