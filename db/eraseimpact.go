package db

import (
	"context"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// EraseObstacle says why a message cannot be erased.
type EraseObstacle string

// The obstacles.
const (
	ErasedBefore    EraseObstacle = "erased_before"
	ErasureItself   EraseObstacle = "erasure"
	OnRecordForGood EraseObstacle = "audit" // it stands in the session of an administrator's acts
)

// EraseImpact is what Erase would take away of a message, or DeleteConversation of the log, and what would stay.
type EraseImpact struct {
	Obstacle EraseObstacle // "" if it can be erased

	Contents     int64 // messages that lose their content
	ErasedBefore int64 // messages that have lost it

	Content, Attachments, Ambient int64 // bytes, as the content digest covers them
	Lexical, Dense                int64 // vectors
	Terms                         int64 // of the lexical ones
	Keys                          int64 // idempotency keys that lose the fingerprint of what was sent
	Selections                    int64 // that lose its text, of those that the viewer sees
	Windows                       int64 // that forget it: items, what was put aside, history; of those that the viewer sees

	CitedBy           int64 // messages that were sent with it, of those that the viewer sees; they stay
	SentWith, Records int64 // messages and records that it was sent with; they stay
}

// EraseImpact counts what Erase would do, and does nothing. Faults as those of Erase, but for what cannot be erased, which
// it says.
func (d *DB) EraseImpact(ctx context.Context, message chain.Hash) (EraseImpact, error) {
	if err := d.checkErasable(ctx, message); err != nil {
		return EraseImpact{}, err
	}
	rows, err := d.queries().EraseImpact(ctx, message.String(), d.viewerText())
	if err != nil {
		return EraseImpact{}, mapError(err)
	}
	if len(rows) == 0 {
		return EraseImpact{}, fault.New(fault.NotFound, "there is no such message")
	}
	r := rows[0]
	impact := EraseImpact{
		Content: r.Content, Attachments: r.Attachments, Ambient: r.Ambient, Lexical: r.Lexical, Dense: r.Dense, Terms: r.Terms,
		Keys: r.Keys, Selections: r.Selections, Windows: r.Windows, CitedBy: r.CitedBy, SentWith: r.SentWith, Records: r.Records,
	}
	switch {
	case r.Erased:
		impact.Obstacle = ErasedBefore
	case r.EventType == chain.EventErasure:
		impact.Obstacle = ErasureItself
	case r.Audit:
		impact.Obstacle = OnRecordForGood
	}
	if r.Erased {
		impact.ErasedBefore = 1
	} else if impact.Obstacle == "" {
		impact.Contents = 1
	}
	return impact, nil
}

// ConversationEraseImpact counts what DeleteConversation would erase from the log, and does nothing; and gives the conversation's
// session. Faults: NOT_FOUND as of DeleteConversation with a reason.
func (d *DB) ConversationEraseImpact(ctx context.Context, id memory.ID) (impact EraseImpact, session chain.Hash, err error) {
	q, session := d.queries(), id.Session()
	live, err := q.PartiesOfConversation(ctx, id.String(), d.inHands(), d.viewerText())
	if err != nil {
		return impact, session, mapError(err)
	}
	var of memory.Conversation
	if len(live) > 0 {
		of.Person, of.Assistant = live[0].Person, live[0].Assistant
	} else if of, err = d.conversationInLog(ctx, q, "conversation", id); err != nil {
		return impact, session, mapError(err)
	}
	r, err := q.ConversationEraseImpact(ctx, d.viewerText(), session, of.Person, of.Assistant)
	if err != nil {
		return impact, session, mapError(err)
	}
	impact = EraseImpact{
		Contents: r.Contents, ErasedBefore: r.ErasedBefore,
		Content: r.Content, Attachments: r.Attachments, Ambient: r.Ambient, Lexical: r.Lexical, Dense: r.Dense, Terms: r.Terms,
		Keys: r.Keys, Selections: r.Selections, Windows: r.Windows, CitedBy: r.CitedBy, SentWith: r.SentWith, Records: r.Records,
	}
	if impact.Contents == 0 && impact.ErasedBefore > 0 {
		impact.Obstacle = ErasedBefore
	}
	return impact, session, nil
}
