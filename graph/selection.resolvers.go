package graph

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

func (r *contextSelectionResolver) Player(ctx context.Context, obj *model.ContextSelection) (*model.Player, error) {
	return optionalComponent(ctx, obj.Viewer, component.Player, asPlayer)
}

func (r *queryResolver) Selections(ctx context.Context, player *chain.Hash, since *time.Time, until *time.Time, first *int, after *string) (*model.ContextSelectionConnection, error) {
	return r.selections(ctx, player, since, until, pageArgs{first: first, after: after})
}

func (r *queryResolver) RankingPolicy(ctx context.Context) (*ranking.Policy, error) {
	policy := ranking.Default()
	return &policy, nil
}

func (r *queryResolver) TryContext(ctx context.Context, request model.ContextRequestInput, weights []ranking.Set) (*model.ReplayedSelection, error) {
	return r.tryContext(ctx, request, weights)
}

func (r *queryResolver) WhyNot(ctx context.Context, selection string, hash *chain.Hash, text *string) (*model.WhyNot, error) {
	return r.whyNot(ctx, selection, hash, text)
}

func (r *whyNotVerdictResolver) Source(ctx context.Context, obj *selection.Verdict) (model.ContextSource, error) {
	if obj.Kind == selection.VerdictUnknown {
		return nil, nil
	}
	return selectedSource(ctx, obj.Type, obj.Hash)
}

func (r *Resolver) WhyNotVerdict() generated.WhyNotVerdictResolver { return &whyNotVerdictResolver{r} }

type whyNotVerdictResolver struct{ *Resolver }
