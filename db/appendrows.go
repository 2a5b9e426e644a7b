package db

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/chain"
)

// What a group writes, in one round trip. Not for sqlc: its lists hold no NULL.
var (
	//go:embed append/messages.sql
	messagesInsertSQL string
	//go:embed append/refs.sql
	refsInsertSQL string
	//go:embed append/newkeys.sql
	keysInsertSQL string
)

// emptyObject is what attachments are unless something else is sent; Postgres writes it the same.
const emptyObject = "{}"

// prepared is what a draft's message has that does not depend on the log.
type prepared struct {
	salt        []byte
	refsDigest  chain.Hash
	fingerprint chain.Hash // of a draft with an idempotency key
}

// prepare computes in the caller's goroutine what the writer would else compute in its own.
func (c *appendCall) prepare() {
	c.prepared = make([]prepared, len(c.drafts))
	salts := make([]byte, chain.SaltBytes*len(c.drafts))
	_, _ = rand.Read(salts) // never fails
	for i := range c.drafts {
		d, ready := &c.drafts[i], &c.prepared[i]
		ready.salt, salts = salts[:chain.SaltBytes:chain.SaltBytes], salts[chain.SaltBytes:]
		if d.Original != nil {
			ready.salt = d.Original.Salt
		}
		ready.refsDigest = chain.RefsDigest(d.Refs)
		if d.IdempotencyKey != nil {
			ready.fingerprint = d.Fingerprint()
			if c.exchange != nil && len(c.exchange.patch) > 0 { // what was confirmed is part of an exchange, and of none of its messages
				ready.fingerprint = chain.Sum([]byte(ready.fingerprint.String() + string(c.exchange.patch.JSON())))
			}
		}
	}
	c.prepareKeys()
}

// preparedOnce prepares a call that was too large to be prepared before it was known that it can be written.
func (c *appendCall) preparedOnce() []prepared {
	if c.prepared == nil {
		c.prepare()
	}
	return c.prepared
}

// fingerprint gives that of one draft, without preparing the others.
func (c *appendCall) fingerprint(i int) chain.Hash {
	if c.prepared == nil && c.drafts[i].KeyOf == nil {
		return c.drafts[i].Fingerprint()
	}
	return c.preparedOnce()[i].fingerprint
}

// prepareKeys lets keys that stand for all of the call have the fingerprint of it all.
func (c *appendCall) prepareKeys() {
	var all *chain.Hash
	for i := range c.drafts {
		if c.drafts[i].IdempotencyKey == nil || c.drafts[i].KeyOf == nil {
			continue
		}
		if all == nil {
			var text []byte
			for j := range c.drafts {
				mark := c.drafts[j].Fingerprint()
				text = append(text, mark[:]...)
			}
			sum := chain.Sum(text)
			all = &sum
		}
		c.prepared[i].fingerprint = *all
	}
}

// keyOf gives what an idempotency key is known by: whose it is, and the key.
func keyOf(d *chain.Draft) appendKey {
	if d.KeyOf != nil {
		return appendKey{*d.KeyOf, *d.IdempotencyKey}
	}
	return appendKey{d.OwnerID, *d.IdempotencyKey}
}

// empty tells whether there is nothing to write.
func (p *appendPlan) empty() bool { return len(p.rows.messages) == 0 }

// errUnsent says that a connection was found closed before any row was sent over it.
var errUnsent = errors.New("the connection was closed before")

// write inserts what was planned, and commits, in one round trip, in which the sessions of a recalled plan are locked first. It calls
// sent once all is sent. An error of the database's is before or at COMMIT, errUnsent before any row; with any other, whether it was
// committed is not known. For appended see appendedType.
func (p *appendPlan) write(ctx context.Context, conn *pgx.Conn, appended uint32, sent func()) error {
	batch := &pgx.Batch{}
	if p.recalled {
		batch.Queue(appendBeginSQL)
		batch.Queue(appendSettingsSQL, milliseconds(recalledLock))
		batch.Queue(lockSQL, texts(p.heads))
	}
	batch.Queue(messagesInsertSQL, p.rows.records.list(appended)).Query(p.rows.readIDs)
	if len(p.refs.messages) > 0 {
		batch.Queue(refsInsertSQL, p.refs.messages, p.refs.positions, p.refs.refs, p.refs.types)
	}
	if len(p.keys.keys) > 0 {
		batch.Queue(keysInsertSQL, p.keys.owners, p.keys.keys, p.keys.fingerprints, p.keys.messages)
	}
	if err := p.keepConversations(batch); err != nil {
		return err
	}
	batch.Queue("commit")
	results := conn.SendBatch(ctx, batch)
	sent()
	unsent := conn.IsClosed() // what goes wrong later closes it later: SafeToRetry alone also says yes once all was sent
	err := results.Close()
	if unsent && pgconn.SafeToRetry(err) {
		return errors.Join(errUnsent, err)
	}
	return err
}

// messageRows are rows of log.messages.
type messageRows struct {
	messages []*chain.Message // whose ids are set once they are written
	records  records
}

func (r *messageRows) add(m *chain.Message) {
	r.messages = append(r.messages, m)
	r.records.add(m)
}

func (r *messageRows) readIDs(rows pgx.Rows) error {
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	if len(ids) != len(r.messages) {
		return fmt.Errorf("%d messages were given ids of %d", len(ids), len(r.messages))
	}
	for i, m := range r.messages {
		m.ID = ids[i]
	}
	return nil
}

// refRows are rows of log.message_refs.
type refRows struct {
	messages, refs, types []string
	positions             []int32
}

func (r *refRows) add(m *chain.Message, refs []chain.Ref) {
	for i, ref := range refs {
		r.messages, r.positions = append(r.messages, m.Hash.String()), append(r.positions, int32(i+1))
		r.refs, r.types = append(r.refs, ref.Hash.String()), append(r.types, string(ref.Type))
	}
}

// keyRows are rows of log.append_keys.
type keyRows struct{ owners, keys, fingerprints, messages []string }

func (r *keyRows) add(key appendKey, u *use) {
	r.owners, r.keys = append(r.owners, key.owner.String()), append(r.keys, key.key)
	r.fingerprints, r.messages = append(r.fingerprints, u.fingerprint.String()), append(r.messages, u.hash.String())
}
