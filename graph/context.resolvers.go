package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

func (r *contextItemResolver) Source(ctx context.Context, obj *selection.Item) (model.ContextSource, error) {
	return selectedSource(ctx, obj.Type, obj.Hash)
}

func (r *contextSelectionResolver) ID(ctx context.Context, obj *model.ContextSelection) (string, error) {
	return model.GlobalID(selectionKind, obj.Selection.ID), nil
}

func (r *droppedItemResolver) Source(ctx context.Context, obj *selection.Dropped) (model.ContextSource, error) {
	return selectedSource(ctx, obj.Type, obj.Hash)
}

func (r *mutationResolver) RequestContext(ctx context.Context, input model.ContextRequestInput) (*model.ContextSelection, error) {
	request := selection.Request{
		Query: input.Query, Player: input.Player, Limit: selection.DefaultLimit, Threshold: selection.DefaultThreshold,
		TokenBudget: input.TokenBudget,
	}
	if input.Scope != nil {
		request.Scope = *input.Scope
	}
	if input.Limit != nil {
		request.Limit = *input.Limit
	}
	if input.Threshold != nil {
		request.Threshold = *input.Threshold
	}
	if input.At != nil {
		request.At = *input.At
	}
	chosen, err := r.Store.RequestContext(ctx, request)
	if err != nil {
		return nil, err
	}
	return showSelection(ctx, chosen), nil
}

func (r *queryResolver) ContextSelection(ctx context.Context, id string) (*model.ContextSelection, error) {
	kind, key, ok := model.ParseGlobalID(id)
	if !ok || kind != selectionKind {
		return nil, fault.Input("id", "is not the id of a selection")
	}
	return r.selection(ctx, key)
}

func (r *Resolver) ContextItem() generated.ContextItemResolver { return &contextItemResolver{r} }

func (r *Resolver) ContextSelection() generated.ContextSelectionResolver {
	return &contextSelectionResolver{r}
}

func (r *Resolver) DroppedItem() generated.DroppedItemResolver { return &droppedItemResolver{r} }

type (
	contextItemResolver      struct{ *Resolver }
	contextSelectionResolver struct{ *Resolver }
	droppedItemResolver      struct{ *Resolver }
)
