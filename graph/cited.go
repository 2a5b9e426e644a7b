package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
)

// citedBy gives a page of the messages that were sent with a message or record; list names its cursors.
func (r *Resolver) citedBy(ctx context.Context, source chain.Hash, list cursor.Hashes, args pageArgs) (*model.MessageConnection, error) {
	p, err := pageOf(args, list.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).CitingMessages(ctx, source, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, list.Encode, messageEdge)
	expectMessages(ctx, edges)
	return &model.MessageConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountCitingMessages(ctx, source)
	}}, nil
}
