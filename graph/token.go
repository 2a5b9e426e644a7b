package graph

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// tokenDraft reads what a token shall be.
func tokenDraft(input model.TokenInput, by auth.Caller) (auth.Draft, error) {
	d := auth.Draft{Role: input.Kind, Player: by.Player, Expires: input.ExpiresAt}
	if input.Player != nil {
		d.Player = *input.Player
	}
	if input.Note != nil {
		d.Note = *input.Note
	}
	if input.Scopes == nil {
		return d, nil
	}
	if len(input.Scopes) == 0 {
		return d, fault.Input("input.scopes", "is empty: a token needs at least one scope")
	}
	for i, name := range input.Scopes {
		scope, ok := auth.ParseScope(name)
		if !ok {
			return d, fault.Input(fmt.Sprintf("input.scopes[%d]", i), "is none of %s", auth.AllScopes)
		}
		d.Scopes |= scope
	}
	return d, nil
}

func (r *Resolver) createToken(ctx context.Context, input model.TokenInput) (*model.CreatedToken, error) {
	by, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	draft, err := tokenDraft(input, by)
	if err != nil {
		return nil, err
	}
	token, secret, err := r.Store.CreateToken(ctx, draft, by)
	if err != nil {
		return nil, err
	}
	return &model.CreatedToken{Token: model.Token{Token: token}, Secret: secret}, nil
}

func (r *Resolver) revokeToken(ctx context.Context, id string) (*model.Token, error) {
	by, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	if !uuid.MatchString(id) {
		return nil, fault.Input("id", "is not the id of a token")
	}
	token, err := r.Store.RevokeToken(ctx, id, by)
	if err != nil {
		return nil, err
	}
	return &model.Token{Token: token}, nil
}

func (r *Resolver) tokens(ctx context.Context, player *chain.Hash, a pageArgs) (*model.TokenConnection, error) {
	by, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	p, err := pageOf(a, cursor.AllTokens.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.Store.Tokens(ctx, by, player, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.AllTokens.Encode, tokenEdge)
	return &model.TokenConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.Store.CountTokens(ctx, by, player)
	}}, nil
}

func tokenEdge(c string, t db.Token) model.TokenEdge {
	return model.TokenEdge{Cursor: c, Node: model.Token{Token: t}}
}
