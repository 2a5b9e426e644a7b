package graph

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
)

func (r *Resolver) embeddingModels(ctx context.Context) ([]model.EmbeddingModel, error) {
	return embeddingModelsOf(r.Store.EmbeddingModels(ctx))
}

func embeddingModelsOf(models []db.EmbeddingModel, err error) ([]model.EmbeddingModel, error) {
	if err != nil {
		return nil, err
	}
	out := make([]model.EmbeddingModel, len(models))
	for i, m := range models {
		out[i] = model.EmbeddingModel{EmbeddingModel: m}
	}
	return out, nil
}
