package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
)

func (r *mutationResolver) CreateToken(ctx context.Context, input model.TokenInput) (*model.CreatedToken, error) {
	return r.createToken(ctx, input)
}

func (r *mutationResolver) RevokeToken(ctx context.Context, id string) (*model.Token, error) {
	return r.revokeToken(ctx, id)
}

func (r *queryResolver) Tokens(ctx context.Context, player *chain.Hash, first *int, after *string) (*model.TokenConnection, error) {
	return r.tokens(ctx, player, pageArgs{first: first, after: after})
}

func (r *tokenResolver) Player(ctx context.Context, obj *model.Token) (*model.Player, error) {
	return optionalComponent(ctx, &obj.Token.Player, component.Player, asPlayer)
}

func (r *tokenResolver) Creator(ctx context.Context, obj *model.Token) (*model.Player, error) {
	return optionalComponent(ctx, &obj.Token.Creator, component.Player, asPlayer)
}

func (r *Resolver) Token() generated.TokenResolver { return &tokenResolver{r} }

type tokenResolver struct{ *Resolver }
