package graph

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
)

func (r *flagResolver) ID(ctx context.Context, obj *model.Flag) (string, error) {
	return model.GlobalID("Flag", obj.Hash.String()), nil
}

func (r *hashtagResolver) ID(ctx context.Context, obj *model.Hashtag) (string, error) {
	return model.GlobalID("Hashtag", obj.Hash.String()), nil
}

func (r *itemResolver) ID(ctx context.Context, obj *model.Item) (string, error) {
	return model.GlobalID("Item", obj.Hash.String()), nil
}

func (r *locationResolver) ID(ctx context.Context, obj *model.Location) (string, error) {
	return model.GlobalID("Location", obj.Hash.String()), nil
}

func (r *mutationResolver) UpsertComponents(ctx context.Context, components []component.Draft) ([]model.Component, error) {
	components, err := r.ownDrafts(ctx, components)
	if err != nil {
		return nil, err
	}
	changed, err := r.view(ctx).UpsertComponents(ctx, components)
	if err != nil {
		return nil, err
	}
	out := make([]model.Component, len(changed))
	for i, c := range changed {
		out[i] = model.NewComponent(c)
	}
	return out, nil
}

func (r *playerResolver) ID(ctx context.Context, obj *model.Player) (string, error) {
	return model.GlobalID("Player", obj.Hash.String()), nil
}

func (r *queryResolver) Component(ctx context.Context, hash chain.Hash) (model.Component, error) {
	c, err := loader.From(ctx).Components.Load(ctx, hash)
	if err != nil || c.Key == nil {
		return nil, err
	}
	return model.NewComponent(c), nil
}

func (r *queryResolver) Components(ctx context.Context, namespaces []component.Namespace, search *string, first *int, after *string) (*model.ComponentConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.AllComponents.Parse)
	if err != nil {
		return nil, err
	}
	if search, err = searchText(search); err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).Components(ctx, namespaces, search, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.AllComponents.Encode, componentEdge)
	return &model.ComponentConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountComponents(ctx, namespaces, search)
	}}, nil
}

func (r *queryResolver) ComponentUsage(ctx context.Context, hash chain.Hash, bucket db.UsageBucket) (*db.Usage, error) {
	usage, err := r.view(ctx).ComponentUsage(ctx, hash, bucket)
	return &usage, err
}

func (r *Resolver) Flag() generated.FlagResolver { return &flagResolver{r} }

func (r *Resolver) Hashtag() generated.HashtagResolver { return &hashtagResolver{r} }

func (r *Resolver) Item() generated.ItemResolver { return &itemResolver{r} }

func (r *Resolver) Location() generated.LocationResolver { return &locationResolver{r} }

func (r *Resolver) Player() generated.PlayerResolver { return &playerResolver{r} }

type (
	flagResolver     struct{ *Resolver }
	hashtagResolver  struct{ *Resolver }
	itemResolver     struct{ *Resolver }
	locationResolver struct{ *Resolver }
	playerResolver   struct{ *Resolver }
)
