package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// AddRecords adds records, with their search vectors: all of them or none. One that is there already is given as
// it is. Faults: BAD_USER_INPUT names the field.
func (d *DB) AddRecords(ctx context.Context, drafts []knowledge.Draft) ([]knowledge.Record, error) {
	switch {
	case d.viewer != nil:
		return nil, fault.New(fault.Forbidden, "records are shared by all, so only administrators add some")
	case len(drafts) == 0:
		return nil, fault.Input("records", "is empty")
	case len(drafts) > knowledge.MaxDrafts:
		return nil, fault.Input("records", "has %d entries; at most %d are allowed", len(drafts), knowledge.MaxDrafts)
	}
	for i := range drafts {
		if err := drafts[i].Validate(fmt.Sprintf("records[%d]", i)); err != nil {
			return nil, err
		}
	}
	records := make([]knowledge.Record, len(drafts))
	err := d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockSessions(ctx, []string{"knowledge.records"}); err != nil { // one at a time: see addRecord
			return err
		}
		search := d.newLexicalRows()
		for i := range drafts {
			record, added, err := addRecord(ctx, q, &drafts[i])
			if err != nil {
				return err
			}
			if added {
				search.add(record.Kind, record.ID, record.SearchText())
			}
			records[i] = record
		}
		return search.write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// addRecord adds one, or finds it. Two that add the same at once would wait for each other in the order of their
// lists, so AddRecords lets one at a time in.
func addRecord(ctx context.Context, q *dbgen.Queries, r *knowledge.Draft) (record knowledge.Record, added bool, err error) {
	rows, err := q.AddRecord(ctx, dbgen.AddRecordParams{
		Kind: string(r.Kind), Book: r.Book, Title: r.Title, Content: r.Content, Data: (*string)(r.Data), Verified: r.Verified, CreatedAt: r.CreatedAt,
	})
	if err != nil {
		return record, false, err
	}
	if len(rows) == 1 {
		return recordOf(rows[0]), true, nil
	}
	row, err := q.FindRecord(ctx, dbgen.FindRecordParams{
		Kind: string(r.Kind), Book: r.Book, Title: r.Title, Content: r.Content, Data: (*string)(r.Data), Verified: r.Verified,
	})
	return recordOf(row), false, err
}

func recordOf(r dbgen.KnowledgeRecord) knowledge.Record {
	return knowledge.Record{
		ID: r.ID, Hash: r.Hash, Kind: r.Kind, Book: r.Book, Title: r.Title, Content: r.Content, Data: r.Data,
		Verified: r.Verified, CreatedAt: r.CreatedAt.UTC(),
	}
}

func recordsOf(rows []dbgen.KnowledgeRecord) []knowledge.Record {
	out := make([]knowledge.Record, len(rows))
	for i, r := range rows {
		out[i] = recordOf(r)
	}
	return out
}

// RecordsByHash gives those of the records that there are, in no order.
func (d *DB) RecordsByHash(ctx context.Context, hashes []chain.Hash) ([]knowledge.Record, error) {
	rows, err := d.readByKey().RecordsByHash(ctx, hashTexts(hashes))
	return recordsOf(rows), mapError(err)
}

// RecordFilter narrows a list of records; what is nil does not.
type RecordFilter struct {
	Kind   *chain.RefType
	Book   *string // the whole name
	Search *string // part of the title or the book, or words of the content
}

// Records gives a page of records, latest first.
func (d *DB) Records(ctx context.Context, f RecordFilter, p Page[int64]) (Rows[knowledge.Record, int64], error) {
	found, err := d.read().SearchRecords(ctx, dbgen.SearchRecordsParams{
		Kind: (*string)(f.Kind), Book: f.Book, Search: f.Search, Before: p.After, RowCount: p.more(),
	})
	return rowsOf(p, found, func(r dbgen.KnowledgeRecord) Item[knowledge.Record, int64] {
		return Item[knowledge.Record, int64]{recordOf(r), r.ID}
	}), mapError(err)
}

// CountRecords counts what Records lists.
func (d *DB) CountRecords(ctx context.Context, f RecordFilter) (int64, error) {
	n, err := d.read().CountRecords(ctx, (*string)(f.Kind), f.Book, f.Search)
	return n, mapError(err)
}
