package db

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/token"
)

// Limits of conversations.
const (
	MaxConversations = 10_000 // that a user has at a time with an assistant, but for what took the place of deleted ones
	MaxListed        = 1000   // of a user's, the latest
	MaxExchangeKey   = 200    // bytes of an idempotency key
)

// ConversationSource is the source of messages that record an exchange; behind it stands the mark of an administrator who has
// recorded what is not their own.
const ConversationSource = "conversation"

// SetConversationTTL says how long working memories last after the last interaction. It must be called before the store is
// used; without, it is memory.DefaultTTL.
func (d *DB) SetConversationTTL(ttl time.Duration) { d.conversationTTL = ttl }

// StartConversation begins a conversation of a user with an assistant, who is the one who asks.
//
// Faults: BAD_USER_INPUT for the user; CONFLICT if they have MaxConversations.
func (d *DB) StartConversation(ctx context.Context, role memory.Role, userID string, assistant chain.Hash) (memory.Conversation, error) {
	id, err := memory.NewID(role, userID)
	if err != nil {
		return memory.Conversation{}, err
	}
	var started memory.Conversation
	err = d.startConversation(ctx, id, assistant, &started)
	for try := 1; try < upsertTries && taken(err); try++ {
		err = d.startConversation(ctx, id, assistant, &started)
	}
	return started, mapError(err)
}

func (d *DB) startConversation(ctx context.Context, id memory.ID, assistant chain.Hash, started *memory.Conversation) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := dbgen.New(tx)
		person, err := q.UpsertComponent(ctx, dbgen.UpsertComponentParams{
			KindTable: "players", Namespace: "plu", Key: memory.UserKey(id.Role, id.UserID), Hash: memory.Person(id.Role, id.UserID).String(),
		})
		if err == nil {
			*started, err = d.newConversation(ctx, q, id, person, assistant, MaxConversations)
		}
		return err
	})
}

// newConversation begins one unless the user has as many with the assistant as most. Others begin none for the two meanwhile, until
// the transaction ends: each counts those before it.
func (d *DB) newConversation(ctx context.Context, q *dbgen.Queries, id memory.ID, person, assistant chain.Hash, most int64) (memory.Conversation, error) {
	if most < math.MaxInt64 {
		if err := q.LockConversationsOf(ctx, fmt.Sprintf("conversations of %s with %s", memory.UserKey(id.Role, id.UserID), assistant)); err != nil {
			return memory.Conversation{}, err
		}
	}
	rows, err := q.NewConversation(ctx, dbgen.NewConversationParams{
		ID: id.String(), Role: string(id.Role), UserID: id.UserID, Person: person.String(), Assistant: assistant.String(),
		SessionHash: id.Session().String(), Now: d.inHands(), Seconds: d.conversationTTL.Seconds(), Most: most,
	})
	if err == nil && len(rows) == 0 {
		err = fault.New(fault.Conflict, "the user has %d conversations with you, which is the most at a time", MaxConversations)
	}
	if err != nil {
		return memory.Conversation{}, err
	}
	return d.conversationOf(rows[0])
}

// moment is what is known of the database's clock, in microseconds.
func (d *DB) moment() time.Time { return d.Now().UTC().Truncate(time.Microsecond) }

// inHands is the time of a clock that a test has in its hands. Nil: there is none, and the database tells by its own what has ended.
func (d *DB) inHands() *time.Time {
	if d.Clock == nil {
		return nil
	}
	now := d.moment()
	return &now
}

func (d *DB) conversationOf(r dbgen.MemoryConversation) (memory.Conversation, error) {
	id, err := memory.ParseID("id", r.ID)
	if err != nil {
		return memory.Conversation{}, mapError(err)
	}
	return d.known(memory.Conversation{
		ID: id, Person: r.Person, Assistant: r.Assistant, CreatedAt: r.CreatedAt.UTC(), LastActivity: r.LastActivity.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}, string(r.History), string(r.State))
}

// known gives a conversation with what is kept of it, and notes that it was read.
func (d *DB) known(c memory.Conversation, history, state string) (memory.Conversation, error) {
	err := fillConversation(&c, history, state)
	if err == nil && (len(c.History) > 0 || len(c.State) > 0) {
		d.noteSession(c.ID.Session())
	}
	return c, mapError(err)
}

// Conversation gives a conversation that has not expired; NOT_FOUND if there is none that whoever asks takes part in.
func (d *DB) Conversation(ctx context.Context, id memory.ID) (memory.Conversation, error) {
	rows, err := d.readByKey().ConversationByID(ctx, id.String(), d.inHands(), d.viewerText())
	if err != nil {
		return memory.Conversation{}, mapError(err)
	}
	if len(rows) == 0 {
		return memory.Conversation{}, errNoConversation("conversation")
	}
	return d.conversationOf(rows[0])
}

// ConversationForPrompt gives what Conversation gives but for its times, which no prompt needs, and for turns whose messages are in
// quarantine, which no prompt is to have; NOT_FOUND for the user, too: a prompt is the assistant's.
func (d *DB) ConversationForPrompt(ctx context.Context, id memory.ID) (memory.Conversation, error) {
	rows, err := d.readByKey().ConversationForPrompt(ctx, id.String(), d.inHands(), d.viewerText())
	if err != nil {
		return memory.Conversation{}, mapError(err)
	}
	if len(rows) == 0 {
		return memory.Conversation{}, errNoConversation("conversation")
	}
	r := rows[0]
	c, err := d.known(memory.Conversation{ID: id, Person: r.Person, Assistant: r.Assistant}, string(r.History), string(r.State))
	if err == nil && d.viewer != nil && *d.viewer != c.Assistant {
		return memory.Conversation{}, errNoConversation("conversation")
	}
	if hidden := r.Quarantined; len(hidden) > 0 {
		c.History = slices.DeleteFunc(c.History, func(turn memory.Turn) bool { return slices.Contains(hidden, turn.Message.String()) })
	}
	return c, err
}

// Conversations gives those of a user that have not expired, the latest first.
func (d *DB) Conversations(ctx context.Context, role memory.Role, userID string) ([]memory.Conversation, error) {
	return d.conversations(ctx, role, userID, true)
}

// ConversationsInBrief gives the same without history, but for how many turns it has, and state.
func (d *DB) ConversationsInBrief(ctx context.Context, role memory.Role, userID string) ([]memory.Conversation, error) {
	return d.conversations(ctx, role, userID, false)
}

func (d *DB) conversations(ctx context.Context, role memory.Role, userID string, withMemory bool) ([]memory.Conversation, error) {
	if _, err := memory.NewID(role, userID); err != nil {
		return nil, err
	}
	rows, err := d.readByKey().ConversationsOf(ctx, dbgen.ConversationsOfParams{
		WithMemory: withMemory, Role: string(role), UserID: userID, Now: d.inHands(), Viewer: d.viewerText(), Most: MaxListed,
	})
	if err != nil {
		return nil, mapError(err)
	}
	out := make([]memory.Conversation, len(rows))
	for i, r := range rows {
		out[i], err = d.conversationOf(dbgen.MemoryConversation{
			ID: r.ID, Role: r.Role, UserID: r.UserID, Person: r.Person, Assistant: r.Assistant, SessionHash: r.SessionHash,
			History: r.History, State: r.State, CreatedAt: r.CreatedAt, LastActivity: r.LastActivity, ExpiresAt: r.ExpiresAt,
		})
		if err != nil {
			return nil, err
		}
		out[i].Unread = int(r.Unread)
	}
	return out, nil
}

// Exchange is what a user and an assistant have said, one after the other, and what it confirmed.
type Exchange struct {
	User, Assistant string
	State           memory.State // merged over what was confirmed before
	Key             *string      // an idempotency key: recorded again with it, it is recorded once
}

// RecordExchange appends an exchange to the log, in the conversation's session, and adds it to its working memory, which
// lasts anew from then on: both or neither. By is who records it.
//
// Faults: those of Append; NOT_FOUND if the conversation has expired or is another assistant's, which says so if the log has an
// exchange with the key; CONTENT_REJECTED for what is never kept.
func (d *DB) RecordExchange(ctx context.Context, id memory.ID, x Exchange, by chain.Hash) (memory.Conversation, error) {
	for _, said := range []struct{ field, text string }{{"user", x.User}, {"assistant", x.Assistant}} {
		if err := memory.CheckTurn(said.field, said.text); err != nil {
			return memory.Conversation{}, err
		}
	}
	if err := x.State.Check("state"); err != nil {
		return memory.Conversation{}, err
	}
	now, err := d.Conversation(ctx, id)
	if err != nil {
		return now, d.ifRecorded(ctx, id, x.Key, err)
	}
	if x.Key != nil && (*x.Key == "" || len(*x.Key) > MaxExchangeKey) {
		return now, fault.Input("idempotencyKey", "has %d bytes; 1 to %d are allowed", len(*x.Key), MaxExchangeKey)
	}
	drafts := []chain.Draft{
		d.said(now, memory.User, x.User, by),
		d.said(now, memory.Assistant, x.Assistant, by),
	}
	if x.Key != nil {
		for i := range drafts {
			key := exchangeKey(id, *x.Key, i)
			drafts[i].IdempotencyKey = &key
		}
	}
	count, err := token.Default()
	if err != nil {
		return now, err
	}
	var tokens [2]int
	for i := range drafts {
		if tokens[i], err = count(drafts[i].Content); err != nil {
			return now, err
		}
		if err := drafts[i].Validate([]string{"user", "assistant"}[i]); err != nil {
			return now, renameField(err, ".idempotencyKey", "idempotencyKey")
		}
	}
	call := &appendCall{
		ctx: ctx, drafts: drafts, bytes: drafts[0].Size() + drafts[1].Size() + len(x.State.JSON()), between: true, done: make(chan struct{}),
		exchange: &exchange{id: id, viewer: d.viewer, tokens: tokens, patch: x.State, ttl: d.conversationTTL, inHands: d.inHands},
	}
	call.prepare()
	written, err := d.writer.submit(call)
	d.noteWritten(written)
	if err != nil {
		return now, d.ifRecorded(ctx, id, x.Key, renameField(renameField(err, ".idempotencyKey", "idempotencyKey"), ".sessionHash", "conversation"))
	}
	return call.exchange.kept, nil
}

// renameField gives a fault of a field that ends in something under the name that the caller knows.
func renameField(err error, suffix, name string) error {
	if f, ok := err.(*fault.Error); ok && strings.HasSuffix(f.Field, suffix) {
		renamed := *f
		renamed.Field = name
		return &renamed
	}
	return err
}

// said is a message of a conversation. Who records it stands in it, unless they say it themself, and an administrator with
// the mark that nobody else can make.
func (d *DB) said(c memory.Conversation, who memory.Speaker, content string, by chain.Hash) chain.Draft {
	session, role, source := c.ID.Session(), string(who), ConversationSource
	m := chain.Draft{
		SessionHash: session, ThreadHash: &session, OwnerID: c.Person, PlayerIDs: []chain.Hash{c.Assistant},
		Role: &role, Source: &source, Content: content,
	}
	if who == memory.Assistant {
		m.OwnerID, m.PlayerIDs = c.Assistant, []chain.Hash{c.Person}
	}
	if m.OwnerID != by {
		m.MasterPlayer = &by
		if d.office != nil {
			source += chain.ActedBy(by)
		}
	}
	return m
}

// UpdateState merges what was confirmed into a conversation's state, which lasts anew from then on.
//
// Faults: NOT_FOUND, BAD_USER_INPUT and CONTENT_REJECTED as of RecordExchange.
func (d *DB) UpdateState(ctx context.Context, id memory.ID, patch memory.State) (memory.Conversation, error) {
	var kept memory.Conversation
	err := d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) (err error) {
		var now time.Time
		if kept, now, err = d.lockConversation(ctx, q, "conversation", id); err != nil {
			return err
		}
		if d.viewer != nil && *d.viewer != kept.Assistant {
			return errNoConversation("conversation")
		}
		if kept.State, err = kept.State.Merge("state", patch); err != nil {
			return err
		}
		kept.Touch(now, d.conversationTTL)
		return q.SetState(ctx, kept.State.JSON(), kept.LastActivity, kept.ExpiresAt, id.String())
	})
	return kept, err
}

// lockConversation gives a conversation that has not expired when it is had, and when that is; faults name the field.
func (d *DB) lockConversation(ctx context.Context, q *dbgen.Queries, field string, id memory.ID) (c memory.Conversation, now time.Time, err error) {
	rows, err := q.LockConversation(ctx, id.String(), d.viewerText())
	if err == nil && len(rows) == 0 {
		err = errNoConversation(field)
	}
	if err != nil {
		return c, now, err
	}
	if at := d.inHands(); at != nil {
		now = *at
	} else if now, err = q.Clock(ctx); err != nil {
		return c, now, err
	}
	c, err = d.conversationOf(rows[0])
	if err == nil && !now.Before(c.ExpiresAt) {
		err = errNoConversation(field)
	}
	return c, now.UTC(), err
}

// SweepConversations frees the room of conversations that have expired, which nobody sees any more, and tells how many.
func (d *DB) SweepConversations(ctx context.Context) (int64, error) {
	const most = 1000 // in one transaction
	var all int64
	for {
		n, err := d.queries().SweepConversations(ctx, d.inHands(), most)
		if all += n; err != nil || n < most {
			return all, mapError(err)
		}
	}
}
