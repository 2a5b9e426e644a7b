package db

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// What exchanges read and write in the transaction of their messages. Not for sqlc: they are parts of the writer's round trips.
var (
	//go:embed append/conversations.sql
	conversationsSQL string
	//go:embed append/converse.sql
	converseSQL string
)

// exchange is what two messages of a call are: what a user and an assistant have said. The conversation's working memory
// takes them in the transaction that appends them.
type exchange struct {
	id      memory.ID
	viewer  *chain.Hash // who records it; nil: an administrator
	tokens  [2]int      // of what was said
	patch   memory.State
	ttl     time.Duration
	inHands func() *time.Time

	kept memory.Conversation // what came of it
}

// errNoConversation is for one that never was, has ended, or is somebody else's: nobody is told which.
func errNoConversation(field string) error {
	return &fault.Error{Code: fault.NotFound, Field: field, Message: "names no conversation of yours; it may have expired"}
}

// exchangeKey is the idempotency key of one of the two messages of an exchange: the same key in another conversation, of the same
// user, is another.
func exchangeKey(id memory.ID, key string, message int) string {
	return fmt.Sprintf("%s%s:%s#%d", exchangeKeys, id.UUID, key, message)
}

// ifRecorded says of a conversation that is gone, to its assistant and administrators, that the log has the exchange of a key:
// whoever did not hear the first answer would take it for lost.
func (d *DB) ifRecorded(ctx context.Context, id memory.ID, key *string, err error) error {
	if key == nil || fault.CodeOf(err) != fault.NotFound {
		return err
	}
	q := dbgen.New(d.reads)
	ended, unknown := d.conversationInLog(ctx, q, "conversation", id)
	if unknown != nil || d.viewer != nil && *d.viewer != ended.Assistant {
		return err
	}
	recorded, failed := q.ExchangeRecorded(ctx, ended.Assistant.String(), exchangeKey(id, *key, 1))
	if failed != nil {
		return mapError(failed)
	}
	if !recorded {
		return err
	}
	return &fault.Error{Code: fault.NotFound, Field: "conversation", Message: "has ended; the exchange with this idempotency key was recorded before that and stands in the log"}
}

func (p *appendPlan) readConversations(rows pgx.Rows) error {
	var id, history, state string
	var c memory.Conversation
	_, err := pgx.ForEachRow(rows, []any{&id, &c.Person, &c.Assistant, &history, &state, &c.CreatedAt, &c.LastActivity, &c.ExpiresAt}, func() error {
		read := memory.Conversation{Person: c.Person, Assistant: c.Assistant, CreatedAt: c.CreatedAt.UTC(), LastActivity: c.LastActivity.UTC(), ExpiresAt: c.ExpiresAt.UTC()}
		var err error
		if read.ID, err = memory.ParseID("id", id); err == nil {
			err = fillConversation(&read, history, state)
		}
		p.talks[id] = &read
		return err
	})
	return err
}

// converse adds what a call's messages say to their conversation, which is locked. Messages that were written before, as their
// idempotency keys tell, were added before. Barred is given where nothing else refuses them, and then nothing is added.
func (p *appendPlan) converse(x *exchange, messages []chain.Message, repeated int, barred error) error {
	if x == nil {
		return barred
	}
	now, id := p.now.UTC(), x.id.String()
	if at := x.inHands(); at != nil {
		now = *at
	}
	found := p.talks[id]
	if found == nil || !now.Before(found.ExpiresAt) || x.viewer != nil && *x.viewer != found.Assistant {
		return errNoConversation("conversation")
	}
	changed := *found
	if repeated > 0 && repeated < len(messages) {
		return &fault.Error{Code: fault.Conflict, Field: "idempotencyKey", Message: "was used for half of another exchange"}
	}
	if repeated == 0 {
		for i := range messages {
			m := &messages[i]
			changed.Say(memory.Turn{Role: memory.Speaker(*m.Role), Content: *m.Content, At: m.CreatedAt, Message: m.Hash, Tokens: x.tokens[i]})
		}
		var err error
		if changed.State, err = changed.State.Merge("state", x.patch); err != nil {
			return err
		}
		if barred != nil {
			return barred
		}
		changed.Touch(now, x.ttl)
		p.talks[id], p.said[id] = &changed, true
	}
	x.kept = changed
	x.kept.History = slices.Clone(changed.History)
	return nil
}

// keepConversations writes what has changed.
func (p *appendPlan) keepConversations(batch *pgx.Batch) error {
	for id := range p.said {
		c := p.talks[id]
		history, err := json.Marshal(c.History)
		if err != nil {
			return err
		}
		batch.Queue(converseSQL, id, string(history), string(c.State.JSON()), c.LastActivity, c.ExpiresAt)
	}
	return nil
}
