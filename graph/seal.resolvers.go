package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

func (r *mutationResolver) AcceptTree(ctx context.Context, reason string) (*model.Seal, error) {
	sealer, err := r.sealer()
	if err != nil {
		return nil, err
	}
	if _, err := administrator(ctx); err != nil {
		return nil, err
	}
	state, err := sealer.Accept(ctx, reason)
	if err != nil {
		return nil, err
	}
	return sealOf(state), nil
}

func (r *mutationResolver) EraseMessage(ctx context.Context, hash chain.Hash, reason string) (*model.Message, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	erasure, err := r.view(ctx).Erase(ctx, hash, caller.Player, reason)
	if err != nil {
		return nil, err
	}
	return &model.Message{Message: erasure}, nil
}

func (r *queryResolver) Checkpoint(ctx context.Context, size *int) (*model.Checkpoint, error) {
	if size != nil {
		return optionalCheckpoint(r.Store.CheckpointOfSize(ctx, int64(*size)))
	}
	return optionalCheckpoint(r.Store.NewestCheckpoint(ctx))
}

func (r *queryResolver) Checkpoints(ctx context.Context, first *int, after *string) (*model.CheckpointConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.AllCheckpoints.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.Store.Checkpoints(ctx, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.AllCheckpoints.Encode, checkpointEdge)
	return &model.CheckpointConnection{Edges: edges, PageInfo: info, Count: r.Store.CountCheckpoints}, nil
}

func (r *queryResolver) ConsistencyProof(ctx context.Context, from int, to int) ([]string, error) {
	path, err := r.Store.ConsistencyProof(ctx, int64(from), int64(to))
	return seal.Base64(path), err
}

func (r *queryResolver) Seal(ctx context.Context) (*model.Seal, error) {
	sealer, err := r.sealer()
	if err != nil {
		return nil, err
	}
	return sealOf(sealer.State()), nil
}

func (r *queryResolver) EraseImpact(ctx context.Context, message *chain.Hash, conversation *string) (*model.EraseImpact, error) {
	return r.eraseImpact(ctx, message, conversation)
}

func (r *sealResolver) Checkpoint(ctx context.Context, obj *model.Seal) (*model.Checkpoint, error) {
	return optionalCheckpoint(r.Store.NewestCheckpoint(ctx))
}

func (r *sealResolver) Witnessed(ctx context.Context, obj *model.Seal) (*model.Checkpoint, error) {
	return optionalCheckpoint(r.Store.WitnessedCheckpoint(ctx))
}

func (r *sealResolver) Waiting(ctx context.Context, obj *model.Seal) (int, error) {
	n, err := r.Store.Waiting(ctx)
	return int(n), err
}

func (r *sealResolver) Witnesses(ctx context.Context, obj *model.Seal) ([]model.Witness, error) {
	sealer, err := r.sealer()
	if err != nil {
		return nil, err
	}
	sizes, err := r.Store.WitnessedSizes(ctx, obj.Origin)
	if err != nil {
		return nil, err
	}
	return witnessesOf(sealer.State().Witnesses, sizes), nil
}

func (r *Resolver) Seal() generated.SealResolver { return &sealResolver{r} }

type sealResolver struct{ *Resolver }
