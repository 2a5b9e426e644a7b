package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// MaxReasonBytes is how long the reason of an erasure may be.
const MaxReasonBytes = 1024

// eraseTries bounds how often an erasure is tried again that Postgres broke off because another transaction and it
// waited for each other.
const eraseTries = 3

// Erase removes a message's content, attachments, ambient and salt for good, with everything in the database that was
// made of them, and appends an ERASURE message to its session, which it gives: by whom (eraser) and why. Once it
// returns it is on disk; nothing is half done. From then on no search finds the message, and its idempotency keys
// stand for it whatever is sent with them.
//
// Faults: BAD_USER_INPUT for the reason; FORBIDDEN if a player did not send it; NOT_FOUND if there is no such message; CONFLICT if it was erased before or is
// an ERASURE message itself; UNAVAILABLE if the database cannot serve: to ask again is safe.
func (d *DB) Erase(ctx context.Context, message, eraser chain.Hash, reason string) (chain.Message, error) {
	if reason == "" {
		return chain.Message{}, fault.Input("reason", "is empty")
	}
	if err := chain.CheckText("reason", &reason, MaxReasonBytes); err != nil {
		return chain.Message{}, err
	}
	if err := d.checkErasable(ctx, message); err != nil {
		return chain.Message{}, err
	}
	var written []dbgen.LogMessage
	err := againIfDeadlocked(func() (err error) {
		written, err = d.eraseOnce(ctx, message, eraser, reason)
		return err
	})
	if err == nil && len(written) != 1 {
		err = fmt.Errorf("log.erase gave %d rows", len(written))
	}
	if err != nil {
		return chain.Message{}, mapError(err)
	}
	return messageOf(written[0]), nil
}

// eraseOnce erases, with what an administrator does on record.
func (d *DB) eraseOnce(ctx context.Context, message, eraser chain.Hash, reason string) ([]dbgen.LogMessage, error) {
	if d.office != nil {
		return d.eraseOnRecord(ctx, message, eraser, reason)
	}
	return d.eraseIn(ctx, d.queries(), message, eraser, reason)
}

// checkErasable sees to it that a player erases only what they sent.
func (d *DB) checkErasable(ctx context.Context, message chain.Hash) error {
	if d.viewer == nil {
		return nil
	}
	found, err := d.MessagesByHash(ctx, []chain.Hash{message})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return fault.New(fault.NotFound, "there is no such message")
	case found[0].OwnerID != *d.viewer:
		return fault.New(fault.Forbidden, "the message is not of the token's player")
	}
	return nil
}

// ErasuresOf gives, of those of the messages that were erased, the message that records it.
func (d *DB) ErasuresOf(ctx context.Context, messages []chain.Hash) (map[chain.Hash]chain.Message, error) {
	rows, err := d.readByKey().ErasuresOf(ctx, hashTexts(messages))
	out := make(map[chain.Hash]chain.Message, len(rows))
	for _, r := range rows {
		out[r.Erased] = messageOf(r.LogMessage)
		d.note(out[r.Erased])
	}
	return out, mapError(err)
}

// withoutErasures runs f while no erasure is under way: one that comes waits. What f keeps of messages' texts must be
// kept by q: another connection would wait for the erasures that wait. It runs one f at a time, since f may take a
// connection beside the one that is held here.
func (d *DB) withoutErasures(ctx context.Context, f func(q *dbgen.Queries) error) error {
	d.undisturbed.Lock()
	defer d.undisturbed.Unlock()
	return d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockIndexing(ctx); err != nil {
			return err
		}
		return f(q)
	})
}

// againIfDeadlocked does what erases, and again if Postgres broke it off.
func againIfDeadlocked(erase func() error) error {
	for try := 1; ; try++ {
		if err := erase(); err == nil || try == eraseTries || !deadlock(err) {
			return err
		}
	}
}

func deadlock(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "40P01"
}

// erasedMeanwhile tells whether something was not kept because a message that it was made of has been erased.
func erasedMeanwhile(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == codeMeanwhile
}
