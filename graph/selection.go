package graph

import (
	"context"
	"regexp"

	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

const selectionKind = "ContextSelection"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// selection gives a selection as it was kept, nil if there is none.
func (r *Resolver) selection(ctx context.Context, key string) (*model.ContextSelection, error) {
	if !uuid.MatchString(key) {
		return nil, fault.Input("id", "is not the id of a selection")
	}
	kept, err := r.Store.Selection(ctx, key)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return showSelection(ctx, kept)
}

// showSelection reads the messages and records that a selection names.
func showSelection(ctx context.Context, s selection.Selection) (*model.ContextSelection, error) {
	expectSources(ctx, s)
	out := &model.ContextSelection{
		ID: model.GlobalID(selectionKind, s.ID), Receipt: s.Receipt, Query: s.Request.Query, Rendered: s.Rendered, Tokens: s.Tokens,
		TokenBudget: s.Request.TokenBudget, LogSize: int(s.LogSize), EmbeddingModel: s.Model, CreatedAt: s.CreatedAt,
		Items: make([]model.ContextItem, len(s.Items)), Dropped: make([]model.DroppedItem, len(s.Dropped)),
	}
	for i, item := range s.Items {
		source, err := selectedSource(ctx, item.Type, item.Hash)
		if err != nil {
			return nil, err
		}
		out.Items[i] = model.ContextItem{
			Position: item.Position, Source: source, Type: item.Type, Score: item.Score, Explanation: item.Explanation, Tokens: item.Tokens,
		}
	}
	for i, d := range s.Dropped {
		source, err := selectedSource(ctx, d.Type, d.Hash)
		if err != nil {
			return nil, err
		}
		out.Dropped[i] = model.DroppedItem{Source: source, Score: d.Score, Tokens: d.Tokens, Reason: d.Reason}
	}
	return out, nil
}

// expectSources announces the messages and records of a selection to the loaders.
func expectSources(ctx context.Context, s selection.Selection) {
	var messages, records []chain.Hash
	add := func(kind chain.RefType, hash chain.Hash) {
		if kind == chain.RefContext {
			messages = append(messages, hash)
		} else {
			records = append(records, hash)
		}
	}
	for _, item := range s.Items {
		add(item.Type, item.Hash)
	}
	for _, d := range s.Dropped {
		add(d.Type, d.Hash)
	}
	loader.From(ctx).Messages.Expect(messages)
	loader.From(ctx).Records.Expect(records)
}

// selectedSource gives what was selected; the log never loses a message, so that it is gone is a defect.
func selectedSource(ctx context.Context, kind chain.RefType, hash chain.Hash) (model.ContextSource, error) {
	source, err := sourceOf(ctx, kind, hash)
	if err == nil && source == nil {
		return nil, fault.New(fault.NotFound, "%s, which was selected, is no longer in the log", hash)
	}
	return source, err
}
