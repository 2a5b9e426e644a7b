package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Quarantine says that a message was taken out of selections, by whom and why, and how that ended.
type Quarantine struct {
	ID       int64
	Message  chain.Hash
	Reason   string
	PlacedBy chain.Hash
	PlacedAt time.Time
	Event    chain.Hash // the message that records it
	Release  *Release   // nil: it is in force
}

// Release is the end of a quarantine.
type Release struct {
	Reason string
	By     chain.Hash
	At     time.Time
	Event  chain.Hash // the message that records it
}

// changedMeanwhile undoes what was done for a quarantine that somebody else has changed at the same time.
var errChangedMeanwhile = errors.New("the quarantine was changed meanwhile")

// Quarantine keeps a message out of every selection that is kept from then on, by whatever server of the database, and
// puts that on record in the administrator's audit session. If it is in quarantine already, that one is given.
//
// Faults: BAD_USER_INPUT for the reason; FORBIDDEN without an administrator's view; NOT_FOUND if there is no such message.
func (d *DB) Quarantine(ctx context.Context, message chain.Hash, reason string) (Quarantine, error) {
	return d.changeQuarantine(ctx, reason, func(q *dbgen.Queries, by auth.Caller) ([]dbgen.MemoryQuarantine, error) {
		newest, err := q.NewestQuarantine(ctx, message.String())
		if err != nil || len(newest) > 0 && newest[0].ReleasedAt == nil {
			return newest, err
		}
		found, err := q.MessagesByHash(ctx, []string{message.String()}, nil)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fault.New(fault.NotFound, "there is no such message")
		}
		details := auditDetails{Kind: auditQuarantine, Message: &message, Sessions: []chain.Hash{found[0].SessionHash}, Reason: reason}
		event, err := putOnRecord(ctx, q, by, details, "Put the message %s into quarantine.", message)
		if err != nil {
			return nil, err
		}
		return q.PlaceQuarantine(ctx, reason, by.Player.String(), event.Hash.String(), message.String())
	})
}

// ReleaseQuarantine lets a message be selected again, and puts that on record like Quarantine. If it was released before,
// that is given.
//
// Faults: those of Quarantine; NOT_FOUND if the message never was in quarantine.
func (d *DB) ReleaseQuarantine(ctx context.Context, message chain.Hash, reason string) (Quarantine, error) {
	return d.changeQuarantine(ctx, reason, func(q *dbgen.Queries, by auth.Caller) ([]dbgen.MemoryQuarantine, error) {
		newest, err := q.NewestQuarantine(ctx, message.String())
		if err != nil || len(newest) > 0 && newest[0].ReleasedAt != nil {
			return newest, err
		}
		if len(newest) == 0 {
			return nil, fault.New(fault.NotFound, "the message is not in quarantine")
		}
		found, err := q.MessagesByHash(ctx, []string{message.String()}, nil)
		if err != nil {
			return nil, err
		}
		details := auditDetails{Kind: auditRelease, Message: &message, Reason: reason}
		for i := range found {
			details.Sessions = append(details.Sessions, messageOf(found[i]).SessionHash)
		}
		event, err := putOnRecord(ctx, q, by, details, "Released the message %s from quarantine.", message)
		if err != nil {
			return nil, err
		}
		return q.ReleaseQuarantine(ctx, by.Player.String(), reason, event.Hash.String(), message.String())
	})
}

// changeTries bounds how often a change is tried again that met another one.
const changeTries = 5

// changeQuarantine runs a change in a transaction; when it gives no row, somebody was faster, and it begins anew.
func (d *DB) changeQuarantine(ctx context.Context, reason string, change func(q *dbgen.Queries, by auth.Caller) ([]dbgen.MemoryQuarantine, error)) (Quarantine, error) {
	if d.office == nil {
		return Quarantine{}, errAdministratorsOnly
	}
	if reason == "" {
		return Quarantine{}, fault.Input("reason", "is empty")
	}
	if err := chain.CheckText("reason", &reason, MaxReasonBytes); err != nil {
		return Quarantine{}, err
	}
	var rows []dbgen.MemoryQuarantine
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) (err error) {
			if rows, err = change(dbgen.New(tx), d.office.by); err == nil && len(rows) == 0 {
				return errChangedMeanwhile
			}
			return err
		})
		switch {
		case err == nil:
			return quarantineOf(rows[0]), nil
		case try < changeTries && (errors.Is(err, errChangedMeanwhile) || deadlock(err)):
		case errors.Is(err, errChangedMeanwhile):
			return Quarantine{}, fault.New(fault.Unavailable, "too much at once; try again")
		default:
			return Quarantine{}, mapError(err)
		}
	}
}

var errAdministratorsOnly = fault.New(fault.Forbidden, "only administrators may do this")

// QuarantineOf gives the quarantine of a message that is in force or, if none is, the last; false if there never was one.
func (d *DB) QuarantineOf(ctx context.Context, message chain.Hash) (Quarantine, bool, error) {
	if d.viewer != nil {
		return Quarantine{}, false, errAdministratorsOnly
	}
	rows, err := d.read().NewestQuarantine(ctx, message.String())
	if err != nil || len(rows) == 0 {
		return Quarantine{}, false, mapError(err)
	}
	return quarantineOf(rows[0]), true, nil
}

// Quarantines gives a page of the quarantines, the newest first: all, or those that are in force, or that are not.
func (d *DB) Quarantines(ctx context.Context, active *bool, p Page[int64]) (Rows[Quarantine, int64], error) {
	if d.viewer != nil {
		return Rows[Quarantine, int64]{}, errAdministratorsOnly
	}
	found, err := d.read().Quarantines(ctx, active, p.After, p.more())
	return rowsOf(p, found, func(r dbgen.MemoryQuarantine) Item[Quarantine, int64] {
		return Item[Quarantine, int64]{quarantineOf(r), r.ID}
	}), mapError(err)
}

// CountQuarantines counts what Quarantines lists.
func (d *DB) CountQuarantines(ctx context.Context, active *bool) (int64, error) {
	if d.viewer != nil {
		return 0, errAdministratorsOnly
	}
	n, err := d.read().CountQuarantines(ctx, active)
	return n, mapError(err)
}

// InQuarantine gives those of the messages that are in quarantine, of those that the viewer sees.
func (d *DB) InQuarantine(ctx context.Context, messages []chain.Hash) ([]chain.Hash, error) {
	found, err := dbgen.New(d.reads).InQuarantine(ctx, list(hashTexts(messages)), d.viewerText()) // a table that players may not read
	return found, mapError(err)
}

// Holder is a selection that holds a message or a record.
type Holder struct {
	ID        string
	Receipt   chain.Hash
	Viewer    *chain.Hash // whose it is; nil: an administrator's
	CreatedAt time.Time
	Position  int // of the message or record, from 1
}

// SelectionKey is where a selection stands in a list: by the time it was made, then its id.
type SelectionKey struct {
	At time.Time
	ID string
}

// SelectionsWith gives a page of the selections that hold a message, the latest first: what they kept of an earlier one
// are items of theirs as well.
func (d *DB) SelectionsWith(ctx context.Context, message chain.Hash, p Page[SelectionKey]) (Rows[Holder, SelectionKey], error) {
	if d.viewer != nil {
		return Rows[Holder, SelectionKey]{}, errAdministratorsOnly
	}
	return d.selectionsWith(ctx, message, p)
}

// CountSelectionsWith counts them.
func (d *DB) CountSelectionsWith(ctx context.Context, message chain.Hash) (int64, error) {
	if d.viewer != nil {
		return 0, errAdministratorsOnly
	}
	return d.countSelectionsWith(ctx, message)
}

// SelectionsWithRecord gives a page of the selections that the viewer sees and that hold a record, the latest first.
func (d *DB) SelectionsWithRecord(ctx context.Context, record chain.Hash, p Page[SelectionKey]) (Rows[Holder, SelectionKey], error) {
	return d.selectionsWith(ctx, record, p)
}

// CountSelectionsWithRecord counts them.
func (d *DB) CountSelectionsWithRecord(ctx context.Context, record chain.Hash) (int64, error) {
	return d.countSelectionsWith(ctx, record)
}

func (d *DB) selectionsWith(ctx context.Context, source chain.Hash, p Page[SelectionKey]) (Rows[Holder, SelectionKey], error) {
	var id *string
	var at *time.Time
	if p.After != nil {
		id, at = &p.After.ID, &p.After.At
	}
	found, err := d.read().SelectionsWith(ctx, dbgen.SelectionsWithParams{
		Source: source.String(), Viewer: d.viewerText(), AfterID: id, AfterTime: at, RowCount: p.more(),
	})
	return rowsOf(p, found, func(r dbgen.SelectionsWithRow) Item[Holder, SelectionKey] {
		h := Holder{ID: r.ID, Receipt: r.Receipt, Viewer: r.Viewer, CreatedAt: r.CreatedAt.UTC(), Position: int(r.Position)}
		return Item[Holder, SelectionKey]{h, SelectionKey{h.CreatedAt, h.ID}}
	}), mapError(err)
}

func (d *DB) countSelectionsWith(ctx context.Context, source chain.Hash) (int64, error) {
	n, err := d.read().CountSelectionsWith(ctx, source.String(), d.viewerText())
	return n, mapError(err)
}

func quarantineOf(r dbgen.MemoryQuarantine) Quarantine {
	q := Quarantine{ID: r.ID, Message: r.Message, Reason: r.Reason, PlacedBy: r.PlacedBy, PlacedAt: r.PlacedAt.UTC(), Event: r.Event}
	if r.ReleasedAt != nil {
		q.Release = &Release{Reason: *r.ReleaseReason, By: *r.ReleasedBy, At: r.ReleasedAt.UTC(), Event: *r.ReleaseEvent}
	}
	return q
}
