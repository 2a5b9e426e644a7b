package db

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// erasePortion is how many messages of a conversation are erased in one transaction, for which others wait.
const erasePortion = 50

// DeleteConversation removes a working memory and begins the one that takes its place, of the same user and assistant. With
// a reason, what both have said in the conversation is erased from the log as well, as Erase does it, whether the working
// memory is still there or not: portion after portion, of which the first removes the working memory and the last begins the
// fresh one. So an interrupted call is to be repeated until then, and nothing is left undone after it.
//
// What is deleted makes room for what takes its place, however many conversations the user has.
//
// Faults: BAD_USER_INPUT for the reason; NOT_FOUND; CONFLICT as of StartConversation, and only if there was nothing to remove
// and nothing left to erase.
func (d *DB) DeleteConversation(ctx context.Context, id memory.ID, eraseFor string, eraser chain.Hash) (memory.Conversation, error) {
	fresh, err := memory.NewID(id.Role, id.UserID)
	if err == nil {
		err = chain.CheckText("reason", &eraseFor, MaxReasonBytes)
	}
	if err != nil {
		return memory.Conversation{}, err
	}
	c := deletion{id: id, fresh: fresh, eraser: eraser, reason: eraseFor}
	for err == nil && c.started == nil {
		err = againIfDeadlocked(func() error {
			after := c
			err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return d.deleteSome(ctx, dbgen.New(tx), &after) })
			if err == nil {
				c = after
			}
			return err
		})
	}
	if err != nil {
		return memory.Conversation{}, mapError(err)
	}
	return *c.started, nil
}

// deletion is how far the deletion of a conversation has come.
type deletion struct {
	id, fresh memory.ID
	eraser    chain.Hash
	reason    string // why the log's messages are erased; "": they are not

	ended   *memory.Conversation // of whom it is; nil: that was not looked for yet
	makes   bool                 // whether anything was removed or erased, which makes room
	after   int64                // what stands there or before is erased
	started *memory.Conversation // what takes its place; nil: there is something left
}

// deleteSome goes one portion further, in the transaction of q. The locks come in the order that exchanges and erasures keep: the
// sessions, then the working memory.
func (d *DB) deleteSome(ctx context.Context, q *dbgen.Queries, c *deletion) error {
	if c.reason != "" {
		sessions := []string{c.id.Session().String()}
		if d.office != nil {
			sessions = append(sessions, AuditSession(d.office.by.Player).String())
		}
		if err := q.LockConversationLog(ctx, sessions); err != nil {
			return err
		}
	}
	if c.ended == nil {
		if err := d.dropConversation(ctx, q, c); err != nil {
			return err
		}
	}
	if c.reason != "" {
		if more, err := d.eraseSome(ctx, q, c); err != nil || more {
			return err
		}
	}
	most := int64(MaxConversations)
	if c.makes {
		most = math.MaxInt64
	}
	started, err := d.newConversation(ctx, q, c.fresh, c.ended.Person, c.ended.Assistant, most)
	c.started = &started
	return err
}

// dropConversation removes the working memory, from which on no exchange adds to it. To erase what was said it need not be there.
func (d *DB) dropConversation(ctx context.Context, q *dbgen.Queries, c *deletion) error {
	ended, _, err := d.lockConversation(ctx, q, "id", c.id)
	c.makes = err == nil
	if c.reason != "" && fault.CodeOf(err) == fault.NotFound {
		ended, err = d.conversationInLog(ctx, q, "id", c.id)
	}
	if err != nil {
		return err
	}
	c.ended = &ended
	return q.DropConversation(ctx, c.id.String())
}

// conversationInLog gives of whom a conversation was whose working memory is gone; faults name the field.
func (d *DB) conversationInLog(ctx context.Context, q *dbgen.Queries, field string, id memory.ID) (memory.Conversation, error) {
	rows, err := q.ConversationInLog(ctx, id.Session(), ConversationSource, memory.UserKey(id.Role, id.UserID), d.viewerText())
	if err == nil && len(rows) == 0 {
		err = errNoConversation(field)
	}
	if err != nil {
		return memory.Conversation{}, err
	}
	return memory.Conversation{ID: id, Person: rows[0].Person, Assistant: rows[0].Assistant}, nil
}

// eraseSome erases the next of what the two of a conversation have said in it, and tells whether there is more; an
// administrator's doing goes on record.
func (d *DB) eraseSome(ctx context.Context, q *dbgen.Queries, c *deletion) (more bool, err error) {
	messages, err := q.ConversationMessages(ctx, dbgen.ConversationMessagesParams{
		SessionHash: c.id.Session(), After: c.after, Person: c.ended.Person, Assistant: c.ended.Assistant, Most: erasePortion + 1,
	})
	if more = len(messages) > erasePortion; more {
		messages = messages[:erasePortion]
	}
	for _, m := range messages {
		if err == nil {
			_, err = d.eraseIn(ctx, q, m.Hash, c.eraser, c.reason)
		}
		c.after, c.makes = m.Sequence, true
	}
	return more, err
}
