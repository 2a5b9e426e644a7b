package db

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// SelectionFilter narrows a list of selections; nil does not.
type SelectionFilter struct {
	Player       *chain.Hash // whose they are
	Since, Until *time.Time  // from, and before
}

// Selections gives a page of the selections that the viewer may see, the latest first, as they were kept. It ends before its
// limit if they come to more than maxPageBytes.
func (d *DB) Selections(ctx context.Context, f SelectionFilter, p Page[SelectionKey]) (Rows[selection.Selection, SelectionKey], error) {
	args := dbgen.SelectionsOfParams{Viewer: d.viewerText(), Player: hashText(f.Player), Since: f.Since, Until: f.Until, RowCount: p.more()}
	if p.After != nil {
		args.AfterID, args.AfterTime = &p.After.ID, &p.After.At
	}
	page := &cut{left: maxPageBytes}
	found, err := d.read().SelectionsOf(context.WithValue(ctx, cutKey{}, page), args)
	if err != nil {
		return Rows[selection.Selection, SelectionKey]{}, mapError(err)
	}
	rows := rowsOf(p, found, func(r dbgen.SelectionsOfRow) Item[selection.Selection, SelectionKey] {
		s, broken := keptSelection(dbgen.SelectionByIDRow(r))
		if broken != nil {
			err = broken
		}
		d.NoteItems(s.Items)
		return Item[selection.Selection, SelectionKey]{s, SelectionKey{s.CreatedAt, s.ID}}
	})
	rows.More = rows.More || page.done
	return rows, mapError(err)
}

// CountSelections counts what Selections lists.
func (d *DB) CountSelections(ctx context.Context, f SelectionFilter) (int64, error) {
	n, err := d.read().CountSelectionsOf(ctx, d.viewerText(), hashText(f.Player), f.Since, f.Until)
	return n, mapError(err)
}
