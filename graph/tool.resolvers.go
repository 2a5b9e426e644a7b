package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/window"
)

func (r *mutationResolver) RegisterTools(ctx context.Context, window string, tools []model.ToolInput, replace bool) ([]window.Tool, error) {
	caller, key, err := callerAndWindow(ctx, "window", window)
	if err != nil {
		return nil, err
	}
	if replace {
		return r.view(ctx).ReplaceTools(ctx, key, model.WindowTools(tools), caller.Player)
	}
	return r.view(ctx).RegisterTools(ctx, key, model.WindowTools(tools), caller.Player)
}

func (r *queryResolver) SearchTools(ctx context.Context, window string, query string, limit *int) ([]window.Tool, error) {
	caller, key, err := callerAndWindow(ctx, "window", window)
	if err != nil {
		return nil, err
	}
	most := defaultTools
	if limit != nil {
		most = *limit
	}
	return r.view(ctx).SearchTools(ctx, key, query, most, caller.Player)
}
