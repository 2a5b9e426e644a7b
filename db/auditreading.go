package db

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// How reading goes on record.
const (
	readingLasts      = 24 * time.Hour // in which more of a session may be read by the same administrator
	maxReadings       = 50_000         // sessions that are known to be on record
	MaxAuditSessions  = 1000           // that one event lists
	readingWriteLimit = 10 * time.Second
)

// Reading gathers the sessions that an administrator has read in, until RecordReading puts them on record.
type Reading struct {
	mu       sync.Mutex
	sessions map[chain.Hash]bool
	messages map[chain.Hash]bool // whose sessions are not at hand
}

// NewReading gives one that has gathered nothing.
func NewReading() *Reading {
	return &Reading{sessions: map[chain.Hash]bool{}, messages: map[chain.Hash]bool{}}
}

// Empty tells whether nothing was read that may have to go on record.
func (r *Reading) Empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)+len(r.messages) == 0
}

// note notes that messages were read, if somebody has to know.
func (d *DB) note(messages ...chain.Message) {
	if d.office == nil || d.office.reading == nil {
		return
	}
	r, by := d.office.reading, d.office.by.Player
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range messages {
		m := &messages[i]
		if own(m, by) {
			d.readings.learn(d.Now(), by, m.SessionHash)
		} else {
			r.sessions[m.SessionHash] = true
		}
	}
}

// noteSession notes that of a session something was read, if somebody has to know.
func (d *DB) noteSession(session chain.Hash) {
	if d.office == nil || d.office.reading == nil {
		return
	}
	d.office.reading.mu.Lock()
	defer d.office.reading.mu.Unlock()
	d.office.reading.sessions[session] = true
}

// noted notes a page of messages, and gives it.
func noted[K any](d *DB, rows Rows[chain.Message, K]) Rows[chain.Message, K] {
	for _, item := range rows.Items {
		d.note(item.Value)
	}
	return rows
}

// noteWritten notes that a session that an administrator has begun is their own.
func (d *DB) noteWritten(messages []chain.Message) {
	if d.office == nil {
		return
	}
	for i := range messages {
		if own(&messages[i], d.office.by.Player) {
			d.readings.learn(d.Now(), d.office.by.Player, messages[i].SessionHash)
		}
	}
}

// NoteItems notes that the items of a selection were read.
func (d *DB) NoteItems(items []selection.Item) {
	if d.office == nil || d.office.reading == nil {
		return
	}
	r := d.office.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, item := range items {
		switch {
		case item.Provenance != nil:
			r.sessions[item.Provenance.Session] = true
		case item.Type == chain.RefContext:
			r.messages[item.Hash] = true
		}
	}
}

// takesPart tells whether a message makes a player a member of its session: the rule of log.follow_messages.
func takesPart(m *chain.Message, player chain.Hash) bool {
	return m.OwnerID == player && m.EventType != chain.EventErasure || slices.Contains(m.PlayerIDs, player) || m.MasterPlayer != nil && *m.MasterPlayer == player
}

// own tells whether a message alone shows that a session is an administrator's own: they have begun it, for themself or for another.
// What they append to a session that is there makes it not their own, else that would be a way to read without a record; nor does what
// names them, which may answer that: SessionsRead tells whether it came first.
func own(m *chain.Message, by chain.Hash) bool {
	wrote := m.OwnerID == by || m.MasterPlayer != nil && *m.MasterPlayer == by || m.Source != nil && strings.HasSuffix(*m.Source, chain.ActedBy(by))
	return wrote && m.Sequence == 1
}

// RecordReading puts on record what the administrator, whose view this is, has read in sessions that are not their own
// and that are not on record yet. What was read may be shown once it has returned without an error: then it is on disk.
//
// Faults: UNAVAILABLE.
func (d *DB) RecordReading(ctx context.Context) error {
	if d.office == nil || d.office.reading == nil {
		return nil
	}
	err := d.recordReading(ctx, d.office.reading)
	if err != nil && !errors.Is(mapError(err), context.Canceled) {
		return fault.Wrap(err, fault.Unavailable, "reading others' sessions is recorded in the log, which cannot be written now")
	}
	return mapError(err)
}

func (d *DB) recordReading(ctx context.Context, r *Reading) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	by := d.office.by
	sessions := d.readings.unknown(d.Now(), by.Player, r.sessions)
	if len(sessions)+len(r.messages) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, patienceKey{}, (*patience)(nil)), readingWriteLimit) // it has a limit of its own
	defer cancel()
	select { // one after the other, so that what several read at once goes on record once
	case d.readings.turn <- struct{}{}:
		defer func() { <-d.readings.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	sessions = d.readings.unknown(d.Now(), by.Player, r.sessions)
	if len(sessions)+len(r.messages) == 0 {
		return nil
	}
	found, err := dbgen.New(d.reads).SessionsRead(ctx, by.Player.String(), list(hashTexts(sessions)), texts(r.messages))
	if err != nil {
		return err
	}
	others := map[chain.Hash]bool{}
	for _, s := range found {
		if s.Own {
			d.readings.learn(d.Now(), by.Player, s.SessionHash)
		} else {
			others[s.SessionHash] = true
		}
	}
	sessions = d.readings.unknown(d.Now(), by.Player, others)
	if len(sessions) == 0 {
		return nil
	}
	if err := d.writeReading(ctx, by, sessions); err != nil {
		return err
	}
	d.readings.learn(d.Now(), by.Player, sessions...)
	return nil
}

func (d *DB) writeReading(ctx context.Context, by auth.Caller, sessions []chain.Hash) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		for part := range slices.Chunk(sessions, MaxAuditSessions) {
			what := "%d sessions"
			if len(part) == 1 {
				what = "%d session"
			}
			if _, err := putOnRecord(ctx, dbgen.New(tx), by, auditDetails{Kind: auditReading, Sessions: part}, "Read messages of "+what+" of others.", len(part)); err != nil {
				return err
			}
		}
		return nil
	})
}

// readings are the sessions of which this server knows that they need not go on record: until when, by whom they were read.
// Membership has no end either, but is asked for again at times like the rest.
type readings struct {
	turn  chan struct{} // holds one while something goes on record
	mu    sync.Mutex
	until map[readSession]time.Time
}

type readSession struct{ by, session chain.Hash }

func newReadings() *readings {
	return &readings{turn: make(chan struct{}, 1), until: map[readSession]time.Time{}}
}

// learn keeps sessions in mind.
func (r *readings) learn(now time.Time, by chain.Hash, sessions ...chain.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, session := range sessions {
		if len(r.until) >= maxReadings {
			r.makeRoom(now)
		}
		r.until[readSession{by, session}] = now.Add(readingLasts)
	}
}

// makeRoom forgets what is over or, if too little is, any half: that goes on record once more.
func (r *readings) makeRoom(now time.Time) {
	for key, until := range r.until {
		if !now.Before(until) {
			delete(r.until, key)
		}
	}
	for key := range r.until {
		if len(r.until) <= maxReadings/2 {
			return
		}
		delete(r.until, key)
	}
}

// unknown gives those of the sessions that it does not keep in mind, in order.
func (r *readings) unknown(now time.Time, by chain.Hash, sessions map[chain.Hash]bool) []chain.Hash {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []chain.Hash
	for session := range sessions {
		if until, known := r.until[readSession{by, session}]; !known || !now.Before(until) {
			out = append(out, session)
		}
	}
	slices.SortFunc(out, func(a, b chain.Hash) int { return slices.Compare(a[:], b[:]) })
	return out
}

// recordDelivered puts on record that a message is delivered to an administrator who subscribed.
func (d *DB) recordDelivered(ctx context.Context, m *chain.Message) error {
	one := d.AsAdministrator(d.office.by, NewReading())
	one.note(*m)
	return one.RecordReading(ctx)
}
