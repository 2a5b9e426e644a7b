package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/model"
)

func (r *mutationResolver) DropEmbeddingModel(ctx context.Context, name string) ([]model.EmbeddingModel, error) {
	if _, err := administrator(ctx); err != nil {
		return nil, err
	}
	if err := r.Store.DropEmbeddingModel(ctx, name); err != nil {
		return nil, err
	}
	return r.embeddingModels(ctx)
}

func (r *queryResolver) EmbeddingModels(ctx context.Context) ([]model.EmbeddingModel, error) {
	if _, err := administrator(ctx); err != nil {
		return nil, err
	}
	return r.embeddingModels(ctx)
}
