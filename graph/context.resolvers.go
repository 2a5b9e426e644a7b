package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

func (r *contextItemResolver) Source(ctx context.Context, obj *selection.Item) (model.ContextSource, error) {
	return selectedSource(ctx, obj.Type, obj.Hash)
}

func (r *contextItemResolver) Owner(ctx context.Context, obj *selection.Item) (*model.Player, error) {
	p, err := provenance(ctx, obj)
	if err != nil || p == nil {
		return nil, err
	}
	return optionalComponent(ctx, &p.Owner, component.Player, asPlayer)
}

func (r *contextItemResolver) Role(ctx context.Context, obj *selection.Item) (*string, error) {
	p, err := provenance(ctx, obj)
	if err != nil || p == nil {
		return nil, err
	}
	return p.Role, nil
}

func (r *contextItemResolver) Origin(ctx context.Context, obj *selection.Item) (*string, error) {
	p, err := provenance(ctx, obj)
	if err != nil || p == nil {
		return nil, err
	}
	return p.Source, nil
}

func (r *contextSelectionResolver) ID(ctx context.Context, obj *model.ContextSelection) (string, error) {
	return model.GlobalID(selectionKind, obj.Selection.ID), nil
}

func (r *contextSelectionResolver) Previous(ctx context.Context, obj *model.ContextSelection) (*model.ContextSelection, error) {
	if obj.Request.PreviousID == "" {
		return nil, nil
	}
	return r.selection(ctx, obj.Request.PreviousID)
}

func (r *droppedItemResolver) Source(ctx context.Context, obj *selection.Dropped) (model.ContextSource, error) {
	return selectedSource(ctx, obj.Type, obj.Hash)
}

func (r *mutationResolver) RequestContext(ctx context.Context, input model.ContextRequestInput) (*model.ContextSelection, error) {
	request, err := contextRequest(input, "input")
	if err != nil {
		return nil, err
	}
	chosen, err := r.view(ctx).RequestContext(ctx, request)
	if err != nil {
		return nil, err
	}
	return showSelection(ctx, chosen), nil
}

func (r *mutationResolver) RecordSelection(ctx context.Context, selection string, message chain.Draft) (*model.Message, error) {
	key, err := selectionKey("selection", selection)
	if err != nil {
		return nil, err
	}
	acting, err := actingFor(ctx, []chain.Draft{message}, func(int) string { return "message" })
	if err != nil {
		return nil, err
	}
	written, err := r.view(ctx).RecordSelection(ctx, key, acting[0])
	if err != nil {
		return nil, err
	}
	if asksForMore(ctx) {
		loader.From(ctx).ExpectAround([]chain.Message{written})
	}
	return &model.Message{Message: written}, nil
}

func (r *queryResolver) ContextSelection(ctx context.Context, id string) (*model.ContextSelection, error) {
	key, err := selectionKey("id", id)
	if err != nil {
		return nil, err
	}
	return r.selection(ctx, key)
}

func (r *queryResolver) ReplayContext(ctx context.Context, id string, weights []ranking.Set, logSize *model.ReplayLog) (*model.ContextReplay, error) {
	key, err := selectionKey("id", id)
	if err != nil {
		return nil, err
	}
	as, err := replayAs(weights, logSize)
	if err != nil {
		return nil, err
	}
	replay, err := r.view(ctx).ReplayContextAs(ctx, key, as)
	if err != nil {
		return nil, err
	}
	for _, cause := range replay.Causes {
		loader.From(ctx).Messages.Expect(cause.Messages)
	}
	return &model.ContextReplay{
		Replay: replay, Original: *showSelection(ctx, replay.Original), Selection: model.ReplayedSelection{Selection: showSelection(ctx, replay.Replayed).Selection},
	}, nil
}

func (r *replayCauseResolver) Messages(ctx context.Context, obj *selection.Cause) ([]model.Message, error) {
	out := make([]model.Message, 0, len(obj.Messages))
	for _, hash := range obj.Messages {
		m, err := loader.From(ctx).Messages.Load(ctx, hash)
		if err != nil {
			return nil, err
		}
		if m != nil {
			out = append(out, model.Message{Message: *m})
		}
	}
	return out, nil
}

func (r *Resolver) ContextItem() generated.ContextItemResolver { return &contextItemResolver{r} }

func (r *Resolver) ContextSelection() generated.ContextSelectionResolver {
	return &contextSelectionResolver{r}
}

func (r *Resolver) DroppedItem() generated.DroppedItemResolver { return &droppedItemResolver{r} }

func (r *Resolver) ReplayCause() generated.ReplayCauseResolver { return &replayCauseResolver{r} }

type (
	contextItemResolver      struct{ *Resolver }
	contextSelectionResolver struct{ *Resolver }
	droppedItemResolver      struct{ *Resolver }
	replayCauseResolver      struct{ *Resolver }
)
