package graph

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
)

func (r *mutationResolver) Offload(ctx context.Context, window string, contents []string) ([]db.ScratchpadEntry, error) {
	caller, key, err := callerAndWindow(ctx, "window", window)
	if err != nil {
		return nil, err
	}
	return r.view(ctx).Offload(ctx, key, contents, caller.Player)
}

func (r *mutationResolver) InjectFromScratchpad(ctx context.Context, window string, entry string) (*model.WindowItem, error) {
	caller, key, err := callerAndWindow(ctx, "window", window)
	if err != nil {
		return nil, err
	}
	item, err := r.view(ctx).InjectFromScratchpad(ctx, key, entry, caller.Player)
	if err != nil {
		return nil, err
	}
	return &model.WindowItem{Item: item}, nil
}

func (r *queryResolver) ScratchpadEntry(ctx context.Context, id string) (*db.ScratchpadEntry, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	entry, err := r.view(ctx).ReadScratchpad(ctx, id, caller.Player)
	if absent(err) {
		return nil, nil
	}
	return &entry, err
}

func (r *scratchpadEntryResolver) Window(ctx context.Context, obj *db.ScratchpadEntry) (*model.ContextWindow, error) {
	return r.window(ctx, obj.Window)
}

func (r *Resolver) ScratchpadEntry() generated.ScratchpadEntryResolver {
	return &scratchpadEntryResolver{r}
}

type scratchpadEntryResolver struct{ *Resolver }
