package graph

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
)

func (r *mutationResolver) AddRecords(ctx context.Context, records []knowledge.Draft) ([]model.Record, error) {
	added, err := r.view(ctx).AddRecords(ctx, records)
	if err != nil {
		return nil, err
	}
	out := make([]model.Record, len(added))
	for i, record := range added {
		out[i] = model.Record{Record: record}
	}
	return out, nil
}

func (r *queryResolver) Record(ctx context.Context, hash chain.Hash) (*model.Record, error) {
	record, err := loader.From(ctx).Records.Load(ctx, hash)
	if err != nil || record == nil {
		return nil, err
	}
	return &model.Record{Record: *record}, nil
}

func (r *queryResolver) Records(ctx context.Context, kind *chain.RefType, book *string, search *string, first *int, after *string) (*model.RecordConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.Records.Parse)
	if err != nil {
		return nil, err
	}
	if search, err = searchText(search); err != nil {
		return nil, err
	}
	if err := bookName(book); err != nil {
		return nil, err
	}
	filter := db.RecordFilter{Kind: kind, Book: book, Search: search}
	rows, err := r.view(ctx).Records(ctx, filter, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.Records.Encode, recordEdge)
	return &model.RecordConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountRecords(ctx, filter)
	}}, nil
}

func (r *recordResolver) ID(ctx context.Context, obj *model.Record) (string, error) {
	return model.GlobalID("Record", obj.Hash.String()), nil
}

func (r *recordResolver) UsedBy(ctx context.Context, obj *model.Record, first *int, after *string) (*model.SelectionHolderConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.RecordSelections.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).SelectionsWithRecord(ctx, obj.Hash, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.RecordSelections.Encode, holderEdge)
	expectHolders(ctx, edges)
	return &model.SelectionHolderConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountSelectionsWithRecord(ctx, obj.Hash)
	}}, nil
}

func (r *recordResolver) CitedBy(ctx context.Context, obj *model.Record, first *int, after *string) (*model.MessageConnection, error) {
	return r.citedBy(ctx, obj.Hash, cursor.RecordCitedBy, pageArgs{first: first, after: after})
}

func (r *Resolver) Record() generated.RecordResolver { return &recordResolver{r} }

type recordResolver struct{ *Resolver }
