package db

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
)

//go:embed verify/messages.sql
var messagesSQL string

//go:embed verify/scan.sql
var scanSQL string

// Limits of a batch of rows: enough that handing it over costs nothing, few enough to be held three times.
const (
	batchRows  = 128
	batchBytes = 1 << 20
	batches    = 3
)

// scanRows is how many rows a statement of a scan gives: a scan ends early between two of them.
const scanRows = 10_000

// errDamaged ends a scan at a row that Postgres cannot read.
var errDamaged = errors.New("a message cannot be read")

type batch struct {
	rows  []storedRow // in use
	slots [batchRows]storedRow
	bytes int
}

// stream reads messages in order and hands them over in batches, which it gets back. Its goroutine owns all but the
// channels; err is set before full is closed. The reader closes stop to have no more of them.
type stream struct {
	tx          pgx.Tx
	session     *string
	scan        bool // in the order of ids, and no further than a row that cannot be read
	full, empty chan *batch
	stop        chan struct{}
	err         error
	batch       *batch

	// Where reading has come to, for going on behind a row that cannot be read.
	started  bool
	lastSess []byte
	lastSeq  int64
	lastID   int64
}

func newStream(tx pgx.Tx, session *string) *stream {
	s := &stream{
		tx: tx, session: session, full: make(chan *batch, batches), empty: make(chan *batch, batches), stop: make(chan struct{}),
	}
	for range batches {
		s.empty <- new(batch)
	}
	return s
}

// run reads until there is no more, or ctx ends.
func (s *stream) run(ctx context.Context) {
	defer close(s.full)
	if s.err = s.readAll(ctx); errors.Is(s.err, errStopped) {
		s.err = nil
	}
}

func (s *stream) readAll(ctx context.Context) error {
	if s.scan {
		return s.runScan(ctx)
	}
	for {
		err := pgx.BeginFunc(ctx, s.tx, func(tx pgx.Tx) error { // a savepoint
			session, sequence := s.behind()
			_, err := s.read(ctx, tx, messagesSQL, s.session, session, sequence)
			return err
		})
		if err == nil {
			return s.flush(ctx)
		}
		if !damaged(err) {
			return err
		}
		if err := s.skip(ctx, err); err != nil {
			return err
		}
	}
}

// runScan reads in the order of ids, some rows at a time.
func (s *stream) runScan(ctx context.Context) error {
	for {
		read := 0
		err := pgx.BeginFunc(ctx, s.tx, func(tx pgx.Tx) (err error) { // a savepoint
			var after *int64
			if s.started {
				after = &s.lastID
			}
			read, err = s.read(ctx, tx, scanSQL, after, scanRows)
			return err
		})
		switch {
		case damaged(err):
			return errDamaged
		case err != nil:
			return err
		case read < scanRows:
			return s.flush(ctx)
		}
	}
}

// errStopped ends a stream that nobody reads on.
var errStopped = errors.New("stopped")

// read hands over the rows that a statement gives, and tells how many they are.
func (s *stream) read(ctx context.Context, tx pgx.Tx, query string, args ...any) (read int, err error) {
	rows, err := tx.Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		values := rows.RawValues()
		slot, err := s.slot(ctx)
		if err != nil {
			return read, err
		}
		read++
		s.batch.bytes += slot.decode(values)
		s.started, s.lastSess, s.lastSeq = true, append(s.lastSess[:0], values[2]...), slot.entry.Sequence
		s.lastID = slot.entry.ID
	}
	return read, rows.Err()
}

func (s *stream) behind() (session *string, sequence *int64) {
	if !s.started {
		return nil, nil
	}
	text := string(s.lastSess)
	return &text, &s.lastSeq
}

// damaged tells whether an error is that of a row which Postgres itself cannot read.
func damaged(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code[:2] == "XX" || pg.Code[:2] == "22")
}

// skip hands over what is known of the row behind the last one, which could not be read.
func (s *stream) skip(ctx context.Context, cause error) error {
	session, sequence := s.behind()
	var place dbgen.NextPlaceRow
	err := pgx.BeginFunc(ctx, s.tx, func(tx pgx.Tx) (err error) {
		place, err = dbgen.New(tx).NextPlace(ctx, s.session, session, sequence)
		return err
	})
	if err != nil {
		return fmt.Errorf("a message cannot be read, nor its place: %w", cause)
	}
	slot, err := s.slot(ctx)
	if err != nil {
		return err
	}
	*slot = storedRow{}
	slot.entry.Sequence = place.Sequence
	slot.entry.Unreadable = cause.Error()
	slot.entry.PrevHash = lenient(&place.PrevHash)
	if h := lenient(&place.SessionHash); h != nil {
		slot.entry.SessionHash = *h
	}
	if h := lenient(&place.Hash); h != nil {
		slot.entry.Hash = *h
	}
	s.started, s.lastSess, s.lastSeq = true, []byte(place.SessionHash), place.Sequence
	return nil
}

// slot gives the place for the next row, and hands over the batch when that is full.
func (s *stream) slot(ctx context.Context) (*storedRow, error) {
	if s.batch != nil && (len(s.batch.rows) == batchRows || s.batch.bytes > batchBytes) {
		if err := s.flush(ctx); err != nil {
			return nil, err
		}
	}
	if s.batch == nil {
		select {
		case s.batch = <-s.empty:
			s.batch.rows, s.batch.bytes = s.batch.slots[:0], 0
		case <-s.stop:
			return nil, errStopped
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.batch.rows = s.batch.rows[:len(s.batch.rows)+1]
	return &s.batch.rows[len(s.batch.rows)-1], nil
}

func (s *stream) flush(ctx context.Context) error {
	if s.batch == nil {
		return nil
	}
	select {
	case s.full <- s.batch:
		s.batch = nil
		return nil
	case <-s.stop:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}
