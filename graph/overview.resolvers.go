package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
)

func (r *overviewResolver) AppendsPerSecond(ctx context.Context, obj *model.Overview) (*float64, error) {
	pace, known, err := r.view(ctx).AppendsPerSecond(ctx)
	if err != nil || !known {
		return nil, err
	}
	return &pace, nil
}

func (r *overviewResolver) Outstanding(ctx context.Context, obj *model.Overview) (*int, error) {
	waiting, err := r.Store.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	n := int(waiting)
	return &n, nil
}

func (r *overviewResolver) LagSeconds(ctx context.Context, obj *model.Overview) (*float64, error) {
	sealer := r.Store.Sealer()
	if sealer == nil {
		return nil, nil
	}
	lag := sealer.Pace().Lag.Seconds()
	return &lag, nil
}

func (r *overviewResolver) Checkpoint(ctx context.Context, obj *model.Overview) (*model.Checkpoint, error) {
	return optionalCheckpoint(r.Store.NewestCheckpoint(ctx))
}

func (r *overviewResolver) Cosigners(ctx context.Context, obj *model.Overview) ([]string, error) {
	newest, _, err := r.Store.NewestCheckpoint(ctx)
	names := make([]string, len(newest.Cosignatures))
	for i, c := range newest.Cosignatures {
		names[i] = c.Witness
	}
	return names, err
}

func (r *overviewResolver) EmbeddingModels(ctx context.Context, obj *model.Overview) ([]model.EmbeddingModel, error) {
	caller, err := auth.From(ctx)
	if err != nil || !caller.IsAdmin() {
		return nil, err
	}
	return embeddingModelsOf(r.Store.EmbeddingModelsKept(ctx))
}

func (r *overviewResolver) Problems(ctx context.Context, obj *model.Overview) ([]model.Problem, error) {
	return r.problems(ctx)
}

func (r *queryResolver) Overview(ctx context.Context) (*model.Overview, error) {
	totals, err := r.view(ctx).Totals(ctx)
	if err != nil {
		return nil, err
	}
	return &model.Overview{Totals: totals}, nil
}

func (r *queryResolver) Server(ctx context.Context) (*model.ServerInfo, error) {
	if _, err := administrator(ctx); err != nil {
		return nil, err
	}
	return r.serverInfo(ctx)
}

func (r *Resolver) Overview() generated.OverviewResolver { return &overviewResolver{r} }

type overviewResolver struct{ *Resolver }
