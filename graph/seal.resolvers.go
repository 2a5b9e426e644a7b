package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
)

func (r *mutationResolver) AcceptTree(ctx context.Context, reason string) (*model.Seal, error) {
	return nil, errNotBuilt
}

func (r *mutationResolver) EraseMessage(ctx context.Context, hash chain.Hash, reason string) (*model.Message, error) {
	return nil, errNotBuilt
}

func (r *queryResolver) Checkpoint(ctx context.Context, size *int) (*model.Checkpoint, error) {
	return nil, errNotBuilt
}

func (r *queryResolver) Checkpoints(ctx context.Context, first *int, after *string) (*model.CheckpointConnection, error) {
	return nil, errNotBuilt
}

func (r *queryResolver) ConsistencyProof(ctx context.Context, from int, to int) ([]string, error) {
	return nil, errNotBuilt
}

func (r *queryResolver) Seal(ctx context.Context) (*model.Seal, error) {
	return nil, errNotBuilt
}

func (r *sealResolver) Checkpoint(ctx context.Context, obj *model.Seal) (*model.Checkpoint, error) {
	return nil, errNotBuilt
}

func (r *sealResolver) Witnessed(ctx context.Context, obj *model.Seal) (*model.Checkpoint, error) {
	return nil, errNotBuilt
}

func (r *sealResolver) Waiting(ctx context.Context, obj *model.Seal) (int, error) {
	return 0, errNotBuilt
}

func (r *sealResolver) Witnesses(ctx context.Context, obj *model.Seal) ([]model.Witness, error) {
	return nil, errNotBuilt
}

func (r *Resolver) Seal() generated.SealResolver { return &sealResolver{r} }

type sealResolver struct{ *Resolver }
