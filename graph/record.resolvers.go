package graph

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
)

func (r *mutationResolver) AddRecords(ctx context.Context, records []model.RecordInput) ([]model.Record, error) {
	panic(fmt.Errorf("not implemented: AddRecords - addRecords"))
}

func (r *queryResolver) Record(ctx context.Context, hash chain.Hash) (*model.Record, error) {
	panic(fmt.Errorf("not implemented: Record - record"))
}

func (r *queryResolver) Records(ctx context.Context, kind *chain.RefType, search *string, first *int, after *string) (*model.RecordConnection, error) {
	panic(fmt.Errorf("not implemented: Records - records"))
}

func (r *recordResolver) ID(ctx context.Context, obj *model.Record) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *Resolver) Record() generated.RecordResolver { return &recordResolver{r} }

type recordResolver struct{ *Resolver }
