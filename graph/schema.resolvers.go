package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

func (r *queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	kind, key, ok := model.ParseGlobalID(id)
	if !ok {
		return nil, fault.Input("id", "is not an id that this server gave")
	}
	if kind == selectionKind {
		s, err := r.selection(ctx, key)
		if err != nil || s == nil {
			return nil, err
		}
		return s, nil
	}
	if kind == model.WindowKind && uuid.MatchString(key) {
		w, err := r.window(ctx, key)
		if err != nil || w == nil {
			return nil, err
		}
		return *w, nil
	}
	hash, err := chain.ParseHash(key)
	if err != nil {
		return nil, fault.Input("id", "is not an id that this server gave")
	}
	return r.nodeByHash(ctx, kind, hash)
}

func (r *Resolver) Mutation() generated.MutationResolver { return &mutationResolver{r} }

func (r *Resolver) Query() generated.QueryResolver { return &queryResolver{r} }

func (r *Resolver) Subscription() generated.SubscriptionResolver { return &subscriptionResolver{r} }

type (
	mutationResolver     struct{ *Resolver }
	queryResolver        struct{ *Resolver }
	subscriptionResolver struct{ *Resolver }
)
