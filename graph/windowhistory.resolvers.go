package graph

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

func (r *judgementResolver) Record(ctx context.Context, obj *model.Judgement) (*model.Record, error) {
	return optionalRecord(ctx, obj.Judgement.Record)
}

func (r *mitigationResolver) Record(ctx context.Context, obj *model.Mitigation) (*model.Record, error) {
	return optionalRecord(ctx, obj.Mitigation.Record)
}

func (r *mutationResolver) OverruleJudgement(ctx context.Context, operation string, reason string) (*model.WindowOperation, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	if !uuid.MatchString(operation) {
		return nil, fault.Input("operation", "is not the id of an operation")
	}
	done, err := r.view(ctx).Overrule(ctx, operation, reason, caller.Player)
	if err != nil {
		return nil, err
	}
	return &model.WindowOperation{WindowOperation: done}, nil
}

func (r *queryResolver) ContextMetrics(ctx context.Context, since *time.Time) (*model.ContextMetrics, error) {
	m, err := r.view(ctx).ContextMetrics(ctx, since)
	return &model.ContextMetrics{Of: m}, err
}

func (r *windowOperationResolver) By(ctx context.Context, obj *model.WindowOperation) (*model.Player, error) {
	return optionalComponent(ctx, obj.WindowOperation.By, component.Player, asPlayer)
}

func (r *windowOperationResolver) Selection(ctx context.Context, obj *model.WindowOperation) (*model.ContextSelection, error) {
	if obj.WindowOperation.Selection == "" {
		return nil, nil
	}
	return r.selection(ctx, obj.WindowOperation.Selection)
}

func (r *Resolver) Judgement() generated.JudgementResolver { return &judgementResolver{r} }

func (r *Resolver) Mitigation() generated.MitigationResolver { return &mitigationResolver{r} }

func (r *Resolver) WindowOperation() generated.WindowOperationResolver {
	return &windowOperationResolver{r}
}

type (
	judgementResolver       struct{ *Resolver }
	mitigationResolver      struct{ *Resolver }
	windowOperationResolver struct{ *Resolver }
)
