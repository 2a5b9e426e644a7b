package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// MaxAppendBytes is how much text one call may append.
const MaxAppendBytes = 16 << 20

// preparedBytes is how much text is hashed before it is known whether it can be written: of more, refusing would cost too much.
const preparedBytes = 1 << 20

// Append writes messages to the ends of their sessions' chains, in order: all of them or none. It returns once
// they are on disk, with what the log gave them. A draft whose idempotency key was used before gives the message
// of that time.
//
// A player appends in their own name, to sessions that they start or are a member of, with refs to what they see. That is
// checked with the session locked, since somebody else may start it at the same time.
//
// Faults: BAD_USER_INPUT names the field; FORBIDDEN for another owner; NOT_FOUND for a session of others; CONFLICT if prevHash is not the session's head or a key was used for
// another message; UNAVAILABLE if the database cannot serve: unless the message says that nothing was written, only a
// repetition with idempotency keys is safe.
func (d *DB) Append(ctx context.Context, drafts []chain.Draft) ([]chain.Message, error) {
	switch {
	case len(drafts) == 0:
		return nil, fault.Input("messages", "is empty")
	case len(drafts) > chain.MaxDrafts:
		return nil, fault.Input("messages", "has %d entries; at most %d are allowed", len(drafts), chain.MaxDrafts)
	}
	bytes := 0
	for i := range drafts {
		bytes += drafts[i].Size()
	}
	if bytes > MaxAppendBytes { // which is known before the texts are looked at
		return nil, fault.Input("messages", "have %d bytes together; at most %d are allowed", bytes, MaxAppendBytes)
	}
	for i := range drafts {
		if err := drafts[i].Validate(fmt.Sprintf("messages[%d]", i)); err != nil {
			return nil, err
		}
		if key := drafts[i].IdempotencyKey; key != nil && slices.ContainsFunc(ownKeys, func(own string) bool { return strings.HasPrefix(*key, own) }) {
			return nil, fault.Input(fmt.Sprintf("messages[%d].idempotencyKey", i), "begins as the server's own do: with none of %s", strings.Join(ownKeys, ", "))
		}
		if d.viewer != nil && drafts[i].OwnerID != *d.viewer {
			return nil, &fault.Error{Code: fault.Forbidden, Field: fmt.Sprintf("messages[%d].ownerId", i), Message: "is not the player of the token"}
		}
	}
	call := &appendCall{ctx: ctx, viewer: d.viewer, drafts: drafts, bytes: bytes, done: make(chan struct{})}
	if bytes <= preparedBytes {
		call.prepare()
	}
	written, err := d.writer.submit(call)
	d.noteWritten(written)
	return written, err
}

// aheadOfTime is how far ahead another's clock may be: all that comes later would get a time right behind it.
const aheadOfTime = 5 * time.Minute

// Prefixes of idempotency keys that are the server's own: whoever used one first could keep others from being written.
const (
	exchangeKeys = "exchange:"
	ingestKeys   = "event:" // internal/ingest gives events theirs
)

var ownKeys = []string{exchangeKeys, ingestKeys}

// CheckDelivery tells whether drafts can be delivered, as far as that can be known without the log.
func (d *DB) CheckDelivery(drafts []chain.Draft) error {
	bytes, latest := 0, d.Now().Add(aheadOfTime)
	for i := range drafts {
		bytes += drafts[i].Size()
		if at := drafts[i].CreatedAt; at != nil && at.After(latest) {
			return fault.Input(fmt.Sprintf("events[%d].created_at", i), "is more than %v ahead", aheadOfTime)
		}
	}
	if len(drafts) == 0 || len(drafts) > chain.MaxDrafts || bytes > MaxAppendBytes {
		return fault.Input("events", "are %d, of %d bytes; 1 to %d, of at most %d bytes, are allowed", len(drafts), bytes, chain.MaxDrafts, MaxAppendBytes)
	}
	return nil
}

// Deliver is Append for events that others bring: each goes to the session of its agent and its user, which nobody else
// may have begun. The drafts are valid.
//
// Faults: those of Append; CONFLICT for a session that somebody else has begun.
func (d *DB) Deliver(ctx context.Context, drafts []chain.Draft) ([]chain.Message, error) {
	if err := d.CheckDelivery(drafts); err != nil {
		return nil, err
	}
	bytes := 0
	for i := range drafts {
		bytes += drafts[i].Size()
	}
	call := &appendCall{ctx: ctx, drafts: drafts, bytes: bytes, between: true, done: make(chan struct{})}
	call.prepare()
	return d.writer.submit(call)
}

// errKeyUsed says that a key stands for something else: another message or, if it is a call's, another call.
func errKeyUsed(d *chain.Draft, field string) error {
	if d.KeyOf != nil {
		return &fault.Error{Code: fault.Conflict, Field: "idempotencyKey", Message: "was used for another call"}
	}
	return &fault.Error{Code: fault.Conflict, Field: field + ".idempotencyKey", Message: "was used for another message"}
}

// outcome is what became of one call of a group.
type outcome struct {
	messages []chain.Message
	err      error
}

// appendTries bounds how often a group is tried when another server gets in between, or Postgres' clock is set.
const appendTries = 3

// appendGroup writes a group in one transaction. With any fault but UNAVAILABLE nothing was written, and the cause
// is in what the group holds; with UNAVAILABLE, the message says whether it may have been written.
func (w *writer) appendGroup(ctx context.Context, calls []*appendCall, s *shift) ([]outcome, error) {
	for try := 0; ; try++ { // the first by what is remembered
		began := time.Now()
		outcomes, recalled, err := w.tryGroup(ctx, calls, s, try == 0)
		if recalled && refused(err) {
			continue
		}
		if err == nil || try == appendTries || !passing(err) && !hurried(err, time.Since(began)) && !leftAlone(err) && !reshaped(err) {
			return outcomes, err
		}
	}
}

// tryGroup does the work of a group in one transaction and two round trips: lock and read in the first, plan each call,
// write what the plans hold in the second, which ends in COMMIT. With recalling, a group that can be planned by what is remembered takes
// one, once the group before it is written: that is what it was planned behind. Whether it was is told with any error.
func (w *writer) tryGroup(ctx context.Context, calls []*appendCall, s *shift, recalling bool) (_ []outcome, recalled bool, _ error) {
	ctx, end := w.pool.untilReplaced(ctx)
	defer end()
	doubt := time.AfterFunc(groupDoubt, w.pool.lose)
	defer doubt.Stop()
	lost := w.pool.lost.Load() // before the connection is had: what is found on it may be of before
	conn, err := w.pool.Acquire(ctx)
	if err != nil {
		return nil, false, notWritten(err, true)
	}
	l := lease{conn}
	defer l.release()
	appended, err := appendedType(ctx, conn.Conn())
	if err != nil {
		return nil, false, notWritten(err, conn.Conn().IsClosed())
	}
	var plan *appendPlan
	var outcomes []outcome
	if recalling {
		plan, outcomes = w.recall.plan(ctx, calls, lost)
	}
	if recalled = plan != nil; recalled {
		s.wait()
	} else if plan, err = readState(ctx, conn.Conn(), calls); err != nil {
		rollBack(ctx, conn.Conn())
		return nil, false, notWritten(err, conn.Conn().IsClosed())
	}
	defer w.index.writes()() // not before: the wait for a session that somebody else holds keeps nobody else from anything, or not for long
	if !recalled {
		outcomes = make([]outcome, len(calls))
		for i, call := range calls {
			if outcomes[i], err = plan.call(ctx, conn.Conn(), call); err != nil {
				rollBack(ctx, conn.Conn())
				return nil, false, notWritten(err, conn.Conn().IsClosed())
			}
		}
	}
	if plan.empty() || ctx.Err() != nil {
		rollBack(ctx, conn.Conn())
		plan.answer()
		return outcomes, recalled, notWritten(ctx.Err(), true)
	}
	w.recall.learn(plan, lost)
	done := s.sends(len(calls))
	err = plan.write(ctx, conn.Conn(), appended, s.pass) // the next group is planned while this one is written
	if err != nil {
		w.recall.forget(recalled && outrun(err))
	} else {
		w.recall.seat(plan, lost)
	}
	done() // whoever waits for it knows by now what became of it
	switch {
	case err == nil:
		plan.answer()
		return outcomes, recalled, nil
	case refused(err):
		rollBack(ctx, conn.Conn())
		if reshaped(err) { // what the connection knows tables and types by holds no more
			_ = conn.Conn().Close(ctx)
		}
		return nil, recalled, notWritten(err, false)
	case leftAlone(err):
		return nil, recalled, notWritten(err, true)
	}
	return nil, recalled, fault.Wrap(err, fault.Unavailable,
		"the database did not answer, and whether the messages were written is not known; with idempotency keys it can be repeated safely")
}

// rollBack ends a transaction. When that fails, the pool closes the connection, which does the same.
func rollBack(ctx context.Context, conn *pgx.Conn) {
	if !conn.IsClosed() {
		_, _ = conn.Exec(ctx, "rollback")
	}
}

// notWritten gives an error as a fault, when it is known that nothing was written. lost says that the connection
// was lost, or there was none.
func notWritten(err error, lost bool) error {
	if err == nil {
		return nil
	}
	mapped := mapError(err)
	if lost || fault.CodeOf(mapped) == fault.Unavailable {
		return fault.Wrap(err, fault.Unavailable, "the database cannot serve now; nothing was written")
	}
	return mapped
}

// refused says that Postgres itself has answered with an error that rolls the transaction back. One that ends the
// connection as well (FATAL) does not count: in answer to COMMIT it may come too late.
func refused(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.SeverityUnlocalized == "ERROR"
}

// lockedOut says that a session's lock was not to be had in time: nothing was written, and it is one session's matter.
func lockedOut(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03"
}

// passing says whether an error comes from what another server wrote at the same time, and a new try sees it.
func passing(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused(pg) && (pg.Code == "23505" && pg.TableName == "append_keys" || pg.Code == "40001" || pg.Code == "40P01")
}

// outrun says whether an error comes from what another has written to the same session.
func outrun(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "CM001" || pg.Code == "CM003" || pg.Code == "23505" && pg.TableName == "messages")
}

// reshaped says whether an error comes from tables or types that are others than when the connection was told of them, as when a
// dump is restored meanwhile.
func reshaped(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused(pg) && (strings.HasPrefix(pg.Code, "42") && pg.Code != "42501" || pg.Code == "XX000")
}

// hurried says whether a wait for a session was ended before its time: Postgres measures its limits by the clock that walls
// have, which may be set while it waits.
func hurried(err error, waited time.Duration) bool { return lockedOut(err) && waited < lockTimeout/2 }

// leftAlone says whether Postgres has ended a session that nobody asked anything within a transaction: before it looked at what was
// sent next, so nothing was written. Its clock may have been set, as for hurried, or the server's machine stood still. Once its
// process is gone, then or for any other reason, nothing can be sent.
func leftAlone(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "25P03" || errors.Is(err, errUnsent)
}

// messageOf gives a row of the log as a message.
func messageOf(r dbgen.LogMessage) chain.Message {
	return chain.Message{
		ID: r.ID, Hash: r.Hash, PrevHash: r.PrevHash, Sequence: r.Sequence, SessionHash: r.SessionHash, ThreadHash: r.ThreadHash,
		OwnerID: r.OwnerID, PlayerIDs: r.PlayersID, MasterPlayer: r.MasterPlayer, Role: r.Role, EventType: r.EventType,
		Importance: r.Importance, Channel: r.Channel, Source: r.Source, Content: r.Content, Attachments: r.Attachments.JSON,
		Ambient: r.Ambient.JSON, Salt: r.Salt, ContentDigest: r.ContentDigest, Hashtags: r.Hashtags, FlagID: r.FlagID,
		MasterItemID: r.MasterItemID, ItemIDs: r.ItemID, LocationID: r.LocID, RefsDigest: r.RefsDigest, CreatedAt: r.CreatedAt.UTC(),
	}
}
