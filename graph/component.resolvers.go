package graph

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
)

func (r *flagResolver) ID(ctx context.Context, obj *model.Flag) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *hashtagResolver) ID(ctx context.Context, obj *model.Hashtag) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *itemResolver) ID(ctx context.Context, obj *model.Item) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *locationResolver) ID(ctx context.Context, obj *model.Location) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *mutationResolver) UpsertComponents(ctx context.Context, components []model.ComponentInput) ([]model.Component, error) {
	panic(fmt.Errorf("not implemented: UpsertComponents - upsertComponents"))
}

func (r *playerResolver) ID(ctx context.Context, obj *model.Player) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *queryResolver) Component(ctx context.Context, hash chain.Hash) (model.Component, error) {
	panic(fmt.Errorf("not implemented: Component - component"))
}

func (r *queryResolver) Components(ctx context.Context, namespaces []component.Namespace, search *string, first *int, after *string) (*model.ComponentConnection, error) {
	panic(fmt.Errorf("not implemented: Components - components"))
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
