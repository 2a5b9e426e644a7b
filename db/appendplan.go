package db

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// What planning reads. Not for sqlc: one round trip brings all.
var (
	//go:embed append/lock.sql
	lockSQL string
	//go:embed append/heads.sql
	headsSQL string
	//go:embed append/clock.sql
	clockSQL string
	//go:embed append/json.sql
	jsonSQL string
	//go:embed append/sources.sql
	sourcesSQL string
	//go:embed append/keys.sql
	keysSQL string
	//go:embed append/members.sql
	membersSQL string
)

// head is the end of a session's chain as the plan knows it, what it will write itself included.
type head struct {
	hash     *chain.Hash // nil in a new session
	sequence int64
	at       time.Time
	audit    bool // the server's own: see log.audit
}

type appendKey struct {
	owner chain.Hash
	key   string
}

// use is what an idempotency key stands for.
type use struct {
	fingerprint *chain.Hash // nil once the message was erased: then the key stands for it whatever is sent
	hash        chain.Hash
	message     *chain.Message // nil until it was read
}

// appendPlan decides, with the sessions locked or by what is remembered of them, which drafts can be written and what the messages will be, hashes
// included. Calls are planned one after the other; one that cannot be written leaves no trace.
type appendPlan struct {
	recalled bool // by what is remembered: nothing is read nor locked before it is written
	now      time.Time
	read     time.Time // when now was
	heads    map[chain.Hash]head
	uses     map[appendKey]*use
	sources  map[chain.Hash]refSource
	members  map[member]bool
	json     map[string]chain.JSON // by what was sent: what Postgres makes of it
	repeats  []repeat
	rows     messageRows
	refs     refRows
	keys     keyRows
	began    map[chain.Hash]chain.Hash       // who owns a session's first message, where something is between two
	talks    map[string]*memory.Conversation // by id: those that something is added to, unless they have ended
	said     map[string]bool                 // of these, those that have changed
}

// refSource is what a ref may name: a message of a session, or a record.
type refSource struct {
	kind    chain.RefType
	session *chain.Hash
}

type member struct{ player, session chain.Hash }

// referrer is who names a ref.
type referrer struct{ player, ref chain.Hash }

// repeat is the place in an answer of a message that a key stands for. It is filled when that has its id.
type repeat struct{ place, of *chain.Message }

// wanted is what a group needs to know of the log.
type wanted struct {
	sessions, refs map[chain.Hash]bool
	members        map[member]bool // of sessions that their calls add to
	referrers      map[referrer]bool
	owners, keys   []string
	json           map[string]bool
	conversations  []string
	between        bool
}

func wantedBy(calls []*appendCall) *wanted {
	w := &wanted{
		sessions: map[chain.Hash]bool{}, refs: map[chain.Hash]bool{}, members: map[member]bool{}, referrers: map[referrer]bool{},
		json: map[string]bool{},
	}
	for _, call := range calls {
		w.between = w.between || call.between
		if call.exchange != nil {
			w.conversations = append(w.conversations, call.exchange.id.String())
		}
		for i := range call.drafts {
			d := &call.drafts[i]
			w.sessions[d.SessionHash] = true
			if call.viewer != nil {
				w.members[member{*call.viewer, d.SessionHash}] = true
			}
			for _, r := range d.Refs {
				w.refs[r.Hash] = true
				if call.viewer != nil {
					w.referrers[referrer{*call.viewer, r.Hash}] = true
				}
			}
			if d.IdempotencyKey != nil {
				key := keyOf(d)
				w.owners, w.keys = append(w.owners, key.owner.String()), append(w.keys, key.key)
			}
			if call.bytes <= preparedBytes { // of a larger one, once it is known that it can be written
				wantedJSON(d, w.json)
			}
		}
	}
	return w
}

// wantedJSON adds the JSON of a draft that Postgres is to write its own way.
func wantedJSON(d *chain.Draft, texts map[string]bool) {
	for _, j := range []*chain.JSON{d.Attachments, d.Ambient} {
		if j != nil && *j != emptyObject {
			texts[string(*j)] = true
		}
	}
}

// appendBeginSQL: what is read is read after the locks.
const appendBeginSQL = "begin isolation level read committed"

// appendSettingsSQL also does what awaitSQL does, in every transaction.
const appendSettingsSQL = `SELECT set_config('lock_timeout', $1, TRUE), CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
	THEN set_config('synchronous_commit', 'on', TRUE) END`

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// readState begins a transaction, locks the sessions and reads all that planning needs, in one round trip.
func readState(ctx context.Context, conn *pgx.Conn, calls []*appendCall) (*appendPlan, error) {
	w := wantedBy(calls)
	p := newAppendPlan()
	batch := &pgx.Batch{}
	batch.Queue(appendBeginSQL)
	batch.Queue(appendSettingsSQL, milliseconds(lockTimeout))
	sessions := texts(w.sessions)
	batch.Queue(lockSQL, sessions)
	batch.Queue(headsSQL, sessions).Query(p.readHeads)
	if len(w.json) > 0 {
		p.queueJSON(batch, w.json)
	}
	if len(w.refs) > 0 {
		batch.Queue(sourcesSQL, texts(w.refs)).Query(p.readSources)
	}
	if len(w.members) > 0 {
		p.queueMembers(batch, w)
	}
	if len(w.keys) > 0 {
		batch.Queue(keysSQL, w.owners, w.keys).Query(p.readKeys)
	}
	if w.between {
		batch.Queue(beganSQL, sessions).Query(p.readBegan)
	}
	if len(w.conversations) > 0 {
		batch.Queue(conversationsSQL, w.conversations).Query(p.readConversations)
	}
	batch.Queue(clockSQL).QueryRow(func(row pgx.Row) error { // when all that is locked is had
		p.read = time.Now()
		return row.Scan(&p.now)
	})
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	return p, p.readUsed(ctx, dbgen.New(conn))
}

func (p *appendPlan) readHeads(rows pgx.Rows) error {
	var session, hash chain.Hash
	var h head
	_, err := pgx.ForEachRow(rows, []any{&session, &hash, &h.sequence, &h.at, &h.audit}, func() error {
		own := hash
		p.heads[session] = head{hash: &own, sequence: h.sequence, at: h.at, audit: h.audit}
		return nil
	})
	return err
}

func (p *appendPlan) queueJSON(batch *pgx.Batch, texts map[string]bool) {
	sent := slices.Collect(maps.Keys(texts))
	batch.Queue(jsonSQL, sent).QueryRow(func(row pgx.Row) error { return p.readJSON(row, sent) })
}

func (p *appendPlan) readJSON(row pgx.Row, sent []string) error {
	var stored []string
	if err := row.Scan(&stored); err != nil {
		return err
	}
	for i, text := range stored {
		p.json[sent[i]] = chain.JSON(text)
	}
	return nil
}

func (p *appendPlan) readSources(rows pgx.Rows) error {
	var hash chain.Hash
	var kind string
	var session *chain.Hash
	_, err := pgx.ForEachRow(rows, []any{&hash, &kind, &session}, func() error {
		p.sources[hash] = refSource{chain.RefType(kind), session}
		return nil
	})
	return err
}

func (p *appendPlan) queueMembers(batch *pgx.Batch, w *wanted) {
	var players, sessions, referrers, refs []string
	for m := range w.members {
		players, sessions = append(players, m.player.String()), append(sessions, m.session.String())
	}
	for r := range w.referrers {
		referrers, refs = append(referrers, r.player.String()), append(refs, r.ref.String())
	}
	batch.Queue(membersSQL, players, sessions, referrers, refs).Query(p.readMembers)
}

func (p *appendPlan) readMembers(rows pgx.Rows) error {
	var m member
	_, err := pgx.ForEachRow(rows, []any{&m.player, &m.session}, func() error {
		p.members[m] = true
		return nil
	})
	return err
}

func (p *appendPlan) readKeys(rows pgx.Rows) error {
	var key appendKey
	var fingerprint *chain.Hash
	var hash chain.Hash
	_, err := pgx.ForEachRow(rows, []any{&key.owner, &key.key, &fingerprint, &hash}, func() error {
		p.uses[key] = &use{fingerprint: fingerprint, hash: hash}
		return nil
	})
	return err
}

// readUsed reads the messages that keys stand for.
func (p *appendPlan) readUsed(ctx context.Context, q *dbgen.Queries) error {
	if len(p.uses) == 0 {
		return nil
	}
	hashes := map[chain.Hash]bool{}
	for _, u := range p.uses {
		hashes[u.hash] = true
	}
	rows, err := q.MessagesByHash(ctx, texts(hashes), nil)
	if err != nil {
		return err
	}
	for i := range rows {
		m := messageOf(rows[i])
		for _, u := range p.uses {
			if u.hash == m.Hash {
				u.message = &m
			}
		}
	}
	return nil
}

// make plans what check has let through. With a reason that its writer may not be told before all others, the plan stays as it
// was, and the reason is given if there is no other.
func (p *appendPlan) make(call *appendCall, barred error) ([]chain.Message, error) {
	messages := make([]chain.Message, len(call.drafts))
	fresh := make([]bool, len(call.drafts))
	prepared := call.preparedOnce()
	heads, uses := map[chain.Hash]head{}, map[appendKey]*use{} // what this call changes
	var repeats []repeat
	for i := range call.drafts {
		d, field := &call.drafts[i], fmt.Sprintf("messages[%d]", i)
		var key appendKey
		if d.IdempotencyKey != nil {
			key = keyOf(d)
			u, known := uses[key]
			if !known {
				u, known = p.uses[key]
			}
			if known && u.fingerprint != nil && *u.fingerprint != prepared[i].fingerprint && !(isEvent(d) && p.sameEvent(d, u.message)) {
				return nil, errKeyUsed(d, field)
			}
			if known {
				repeats = append(repeats, repeat{&messages[i], u.message})
				continue
			}
		}
		h, changed := heads[d.SessionHash]
		if !changed {
			h, _ = p.found(call, d, field)
		}
		at, err := p.place(d, h, call.viewer, field)
		if err != nil {
			return nil, err
		}
		m := &messages[i]
		if *m, err = p.message(d, &prepared[i], h, at); err != nil {
			return nil, &fault.Error{Code: fault.BadUserInput, Field: field, Message: err.Error()}
		}
		fresh[i] = true
		heads[d.SessionHash] = head{hash: &m.Hash, sequence: m.Sequence, at: at, audit: h.audit}
		if d.IdempotencyKey != nil {
			uses[key] = &use{fingerprint: &prepared[i].fingerprint, hash: m.Hash, message: m}
		}
	}
	if err := p.converse(call.exchange, messages, len(repeats), barred); err != nil {
		return nil, err
	}
	p.repeats = append(p.repeats, repeats...)
	for session, h := range heads {
		p.heads[session] = h
	}
	for i := range messages {
		if fresh[i] {
			p.enroll(&messages[i])
		}
	}
	for key, u := range uses {
		p.uses[key] = u
		p.keys.add(key, u)
	}
	for i := range messages {
		if fresh[i] {
			p.rows.add(&messages[i])
			p.refs.add(&messages[i], call.drafts[i].Refs)
		}
	}
	return messages, nil
}

// enroll makes members of those whom a message names, as log.follow_messages does once it is written: later calls may be theirs.
func (p *appendPlan) enroll(m *chain.Message) {
	if m.EventType != chain.EventErasure {
		p.members[member{m.OwnerID, m.SessionHash}] = true
	}
	if m.Sequence == 1 {
		p.began[m.SessionHash] = m.OwnerID
	}
	for _, player := range m.PlayerIDs {
		p.members[member{player, m.SessionHash}] = true
	}
	if m.MasterPlayer != nil {
		p.members[member{*m.MasterPlayer, m.SessionHash}] = true
	}
}

// sees tells whether a viewer may name what a ref names.
func (p *appendPlan) sees(viewer *chain.Hash, s refSource) bool {
	return viewer == nil || s.session == nil || p.members[member{*viewer, *s.session}]
}

// answer fills the places of messages that keys stand for.
func (p *appendPlan) answer() {
	for _, r := range p.repeats {
		*r.place = *r.of
	}
}
