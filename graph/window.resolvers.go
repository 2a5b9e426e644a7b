package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

func (r *contextWindowResolver) Agent(ctx context.Context, obj *model.ContextWindow) (*model.Player, error) {
	return optionalComponent(ctx, &obj.Of.Agent, component.Player, asPlayer)
}

func (r *contextWindowResolver) Items(ctx context.Context, obj *model.ContextWindow) ([]model.WindowItem, error) {
	w, err := obj.Whole(ctx)
	return showItems(ctx, w.Items), err
}

func (r *contextWindowResolver) Segments(ctx context.Context, obj *model.ContextWindow) ([]model.SharedSegment, error) {
	w, err := obj.Whole(ctx)
	return r.showSegments(ctx, w.Segments), err
}

func (r *contextWindowResolver) Tools(ctx context.Context, obj *model.ContextWindow) ([]window.Tool, error) {
	w, err := obj.Whole(ctx)
	return append([]window.Tool{}, w.Tools...), err
}

func (r *contextWindowResolver) Scratchpad(ctx context.Context, obj *model.ContextWindow, first *int, after *string) (*model.ScratchpadEntryConnection, error) {
	return r.scratchpad(ctx, obj.Of.ID, pageArgs{first: first, after: after})
}

func (r *contextWindowResolver) Operations(ctx context.Context, obj *model.ContextWindow, first *int, after *string) (*model.WindowOperationConnection, error) {
	return r.windowOperations(ctx, obj.Of.ID, pageArgs{first: first, after: after})
}

func (r *mutationResolver) CreateWindow(ctx context.Context, input model.WindowInput) (*model.ContextWindow, error) {
	return r.createWindow(ctx, input)
}

func (r *mutationResolver) DeleteWindow(ctx context.Context, id string) (bool, error) {
	key, err := windowKey("id", id)
	if err != nil {
		return false, err
	}
	return r.view(ctx).DeleteWindow(ctx, key)
}

func (r *mutationResolver) WriteContext(ctx context.Context, input model.WriteInput) (*model.WriteResult, error) {
	caller, key, draft, err := r.windowDraft(ctx, input)
	if err != nil {
		return nil, err
	}
	return showWritten(ctx)(r.view(ctx).WriteContext(ctx, key, draft, input.Source, caller.Player))
}

func (r *mutationResolver) SelectIntoWindow(ctx context.Context, window string, input model.ContextRequestInput) (*model.ContextSelection, error) {
	return r.selectIntoWindow(ctx, window, input)
}

func (r *mutationResolver) CompressWindow(ctx context.Context, window string, target *float64) (*model.Compression, error) {
	caller, key, err := callerAndWindow(ctx, "window", window)
	if err != nil {
		return nil, err
	}
	to := defaultTarget
	if target != nil {
		to = *target
	}
	done, err := r.view(ctx).CompressWindow(ctx, key, to, caller.Player)
	return model.NewCompression(&done), err
}

func (r *mutationResolver) RemoveFromWindow(ctx context.Context, window string, items []string) (*model.ContextWindow, error) {
	caller, key, err := callerAndWindow(ctx, "window", window)
	if err != nil {
		return nil, err
	}
	left, err := r.view(ctx).RemoveFromWindow(ctx, key, items, caller.Player)
	return showWindow(left), err
}

func (r *mutationResolver) CreateSegment(ctx context.Context, name string, windows []string) (*model.SharedSegment, error) {
	return r.createSegment(ctx, name, windows)
}

func (r *mutationResolver) WriteToSegment(ctx context.Context, segment string, input model.WriteInput) (*model.WriteResult, error) {
	caller, key, draft, err := r.windowDraft(ctx, input)
	if err != nil {
		return nil, err
	}
	if !uuid.MatchString(segment) {
		return nil, fault.Input("segment", "is not the id of a segment")
	}
	return showWritten(ctx)(r.view(ctx).WriteToSegment(ctx, segment, key, draft, input.Source, caller.Player))
}

func (r *queryResolver) Window(ctx context.Context, id string) (*model.ContextWindow, error) {
	key, err := windowKey("id", id)
	if err != nil {
		return nil, err
	}
	return r.window(ctx, key)
}

func (r *queryResolver) Windows(ctx context.Context, first *int, after *string) (*model.ContextWindowConnection, error) {
	return r.windows(ctx, pageArgs{first: first, after: after})
}

func (r *windowItemResolver) VerifiedBy(ctx context.Context, obj *model.WindowItem) (*model.Record, error) {
	return optionalRecord(ctx, obj.Item.VerifiedBy)
}

func (r *windowItemResolver) Source(ctx context.Context, obj *model.WindowItem) (model.ContextSource, error) {
	if obj.Item.Source == nil {
		return nil, nil
	}
	return sourceOf(ctx, obj.Item.Source.Type, obj.Item.Source.Hash)
}

func (r *Resolver) ContextWindow() generated.ContextWindowResolver { return &contextWindowResolver{r} }

func (r *Resolver) WindowItem() generated.WindowItemResolver { return &windowItemResolver{r} }

type (
	contextWindowResolver struct{ *Resolver }
	windowItemResolver    struct{ *Resolver }
)
