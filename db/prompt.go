package db

import (
	"context"
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// What a prompt reads. Not for sqlc: the statements go together in one round trip.
var (
	//go:embed prompt/quarantined.sql
	quarantinedTurnsSQL string
	//go:embed prompt/conversation.sql
	promptSQL string
)

// plannedSQL has the plans of a transaction made for no values in particular, and so once.
const plannedSQL = "SELECT set_config('plan_cache_mode', 'force_generic_plan', TRUE)"

// ConversationForPrompt gives what Conversation gives but for turns whose messages are in quarantine, which no prompt is to
// have, in one round trip.
func (d *DB) ConversationForPrompt(ctx context.Context, id memory.ID) (memory.Conversation, error) {
	var quarantined []chain.Hash
	var found []dbgen.MemoryConversation
	batch := &pgx.Batch{}
	batch.Queue(plannedSQL)
	// In a table that players may not read, and before the conversation: a turn that joins it in between is none of these.
	batch.Queue(quarantinedTurnsSQL, id.String()).Query(func(rows pgx.Rows) (err error) {
		quarantined, err = pgx.CollectRows(rows, pgx.RowTo[chain.Hash])
		return err
	})
	as := ""
	if d.viewer != nil && d.fenced {
		batch.Queue(becomePlannedSQL, d.viewer.String())
		as = asPlayer
	}
	budget := budgetFrom(ctx)
	batch.Queue(as+promptSQL, id.String(), d.moment(), d.viewerText()).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(&meteredRows{Rows: rows, budget: budget, cancel: func() {}}, pgx.RowToStructByPos[dbgen.MemoryConversation])
		return err
	})
	if err := d.reads.SendBatch(ctx, batch).Close(); err != nil {
		return memory.Conversation{}, mapError(err)
	}
	if len(found) == 0 {
		return memory.Conversation{}, errNoConversation("conversation")
	}
	c, err := d.conversationOf(found[0])
	c.History = slices.DeleteFunc(c.History, func(turn memory.Turn) bool { return slices.Contains(quarantined, turn.Message) })
	return c, err
}
