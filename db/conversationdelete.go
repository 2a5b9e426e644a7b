package db

import (
	"context"

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
// memory is still there or not: portion after portion, so that an interrupted call is to be repeated, and then the fresh one
// is begun.
//
// Faults: NOT_FOUND; CONFLICT as of StartConversation, after the erasures.
func (d *DB) DeleteConversation(ctx context.Context, id memory.ID, eraseFor string, eraser chain.Hash) (memory.Conversation, error) {
	fresh, err := memory.NewID(id.Role, id.UserID)
	if err != nil {
		return memory.Conversation{}, err
	}
	var ended, started memory.Conversation
	err = d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) (err error) {
		ended, _, err = d.lockConversation(ctx, q, "id", id)
		if eraseFor != "" && fault.CodeOf(err) == fault.NotFound {
			ended, err = d.conversationInLog(ctx, q, id)
		}
		if err == nil {
			err = q.DropConversation(ctx, id.String())
		}
		if err == nil && eraseFor == "" {
			started, err = d.newConversation(ctx, q, fresh, ended.Person, ended.Assistant)
		}
		return err
	})
	if err != nil || eraseFor == "" {
		return started, err
	}
	// From here on no exchange adds to it.
	if err := d.eraseConversation(ctx, ended, eraser, eraseFor); err != nil {
		return started, mapError(err)
	}
	started, err = d.newConversation(ctx, d.queries(), fresh, ended.Person, ended.Assistant)
	return started, mapError(err)
}

// conversationInLog gives of whom a conversation was whose working memory is gone.
func (d *DB) conversationInLog(ctx context.Context, q *dbgen.Queries, id memory.ID) (memory.Conversation, error) {
	rows, err := q.ConversationInLog(ctx, id.Session(), ConversationSource, memory.UserKey(id.Role, id.UserID), d.viewerText())
	if err == nil && len(rows) == 0 {
		err = errNoConversation("id")
	}
	if err != nil {
		return memory.Conversation{}, err
	}
	return memory.Conversation{ID: id, Person: rows[0].Person, Assistant: rows[0].Assistant}, nil
}

// eraseConversation erases what the two of a conversation have said in it.
func (d *DB) eraseConversation(ctx context.Context, c memory.Conversation, eraser chain.Hash, reason string) error {
	for after, more := int64(0), true; more; {
		err := againIfDeadlocked(func() error {
			last, full, err := d.eraseSome(ctx, c, after, eraser, reason)
			if err == nil {
				after, more = last, full
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseSome erases the first of a conversation's messages after a place, and tells the last one's place and whether there may be
// more; an administrator's doing goes on record.
func (d *DB) eraseSome(ctx context.Context, c memory.Conversation, after int64, eraser chain.Hash, reason string) (last int64, more bool, err error) {
	sessions := []string{c.ID.Session().String()}
	if d.office != nil {
		sessions = append(sessions, AuditSession(d.office.by.Player).String())
	}
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := dbgen.New(tx)
		if err := q.LockConversationLog(ctx, sessions); err != nil {
			return err
		}
		messages, err := q.ConversationMessages(ctx, dbgen.ConversationMessagesParams{
			SessionHash: c.ID.Session(), After: after, Person: c.Person, Assistant: c.Assistant, Most: erasePortion,
		})
		if err != nil {
			return err
		}
		for _, m := range messages {
			if _, err := d.eraseIn(ctx, q, m.Hash, eraser, reason); err != nil {
				return err
			}
			last = m.Sequence
		}
		more = len(messages) == erasePortion
		return nil
	})
	return last, more, err
}
