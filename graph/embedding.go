package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/model"
)

func (r *Resolver) embeddingModels(ctx context.Context) ([]model.EmbeddingModel, error) {
	models, err := r.Store.EmbeddingModels(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]model.EmbeddingModel, len(models))
	for i, m := range models {
		out[i] = model.EmbeddingModel{EmbeddingModel: m}
	}
	return out, nil
}
