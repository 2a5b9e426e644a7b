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

func (r *messageResolver) Quarantined(ctx context.Context, obj *model.Message) (bool, error) {
	return loader.From(ctx).Quarantined.Load(ctx, obj.Hash)
}

func (r *mutationResolver) Quarantine(ctx context.Context, message chain.Hash, reason string) (*model.Quarantine, error) {
	q, err := r.view(ctx).Quarantine(ctx, message, reason)
	if err != nil {
		return nil, err
	}
	return &model.Quarantine{Quarantine: q}, nil
}

func (r *mutationResolver) ReleaseQuarantine(ctx context.Context, message chain.Hash, reason string) (*model.Quarantine, error) {
	q, err := r.view(ctx).ReleaseQuarantine(ctx, message, reason)
	if err != nil {
		return nil, err
	}
	return &model.Quarantine{Quarantine: q}, nil
}

func (r *quarantineResolver) Message(ctx context.Context, obj *model.Quarantine) (*model.Message, error) {
	return recorded(ctx, obj.Quarantine.Message)
}

func (r *quarantineResolver) PlacedBy(ctx context.Context, obj *model.Quarantine) (*model.Player, error) {
	return optionalComponent(ctx, &obj.Quarantine.PlacedBy, component.Player, asPlayer)
}

func (r *quarantineResolver) Event(ctx context.Context, obj *model.Quarantine) (*model.Message, error) {
	return recorded(ctx, obj.Quarantine.Event)
}

func (r *quarantineResolver) Selections(ctx context.Context, obj *model.Quarantine, first *int, after *string) (*model.SelectionHolderConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.QuarantineSelections.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).SelectionsWith(ctx, obj.Quarantine.Message, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.QuarantineSelections.Encode, holderEdge)
	expectHolders(ctx, edges)
	return &model.SelectionHolderConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountSelectionsWith(ctx, obj.Quarantine.Message)
	}}, nil
}

func (r *quarantineReleaseResolver) By(ctx context.Context, obj *db.Release) (*model.Player, error) {
	return optionalComponent(ctx, &obj.By, component.Player, asPlayer)
}

func (r *quarantineReleaseResolver) Event(ctx context.Context, obj *db.Release) (*model.Message, error) {
	return recorded(ctx, obj.Event)
}

func (r *queryResolver) Quarantine(ctx context.Context, message chain.Hash) (*model.Quarantine, error) {
	q, found, err := r.view(ctx).QuarantineOf(ctx, message)
	if err != nil || !found {
		return nil, err
	}
	return &model.Quarantine{Quarantine: q}, nil
}

func (r *queryResolver) Quarantines(ctx context.Context, active *bool, first *int, after *string) (*model.QuarantineConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.Quarantines.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).Quarantines(ctx, active, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.Quarantines.Encode, quarantineEdge)
	expectQuarantines(ctx, edges)
	return &model.QuarantineConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountQuarantines(ctx, active)
	}}, nil
}

func (r *selectionHolderResolver) ID(ctx context.Context, obj *model.SelectionHolder) (string, error) {
	return model.GlobalID(selectionKind, obj.Holder.ID), nil
}

func (r *selectionHolderResolver) Player(ctx context.Context, obj *model.SelectionHolder) (*model.Player, error) {
	return optionalComponent(ctx, obj.Viewer, component.Player, asPlayer)
}

func (r *Resolver) Quarantine() generated.QuarantineResolver { return &quarantineResolver{r} }

func (r *Resolver) QuarantineRelease() generated.QuarantineReleaseResolver {
	return &quarantineReleaseResolver{r}
}

func (r *Resolver) SelectionHolder() generated.SelectionHolderResolver {
	return &selectionHolderResolver{r}
}

type (
	quarantineResolver        struct{ *Resolver }
	quarantineReleaseResolver struct{ *Resolver }
	selectionHolderResolver   struct{ *Resolver }
)
