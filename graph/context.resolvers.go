package graph

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/graph/model"
)

func (r *mutationResolver) RequestContext(ctx context.Context, input model.ContextRequestInput) (*model.ContextSelection, error) {
	panic(fmt.Errorf("not implemented: RequestContext - requestContext"))
}

func (r *queryResolver) ContextSelection(ctx context.Context, id string) (*model.ContextSelection, error) {
	panic(fmt.Errorf("not implemented: ContextSelection - contextSelection"))
}
