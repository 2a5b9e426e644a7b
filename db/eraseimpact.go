package db

import (
	"context"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// EraseObstacle says why a message cannot be erased.
type EraseObstacle string

// The obstacles.
const (
	ErasedBefore    EraseObstacle = "erased_before"
	ErasureItself   EraseObstacle = "erasure"
	OnRecordForGood EraseObstacle = "audit" // it stands in the session of an administrator's acts
)

// EraseImpact is what Erase would take away of a message, and what would stay.
type EraseImpact struct {
	Obstacle EraseObstacle // "" if it can be erased

	Content, Attachments, Ambient int64 // bytes, as the content digest covers them
	Lexical, Dense                int64 // vectors
	Terms                         int64 // of the lexical ones
	Keys                          int64 // idempotency keys that lose the fingerprint of what was sent
	Selections                    int64 // that lose its text, of those that the viewer sees
	Windows                       int64 // that forget it: items, what was put aside, history; of those that the viewer sees

	CitedBy           int64 // messages that were sent with it, of those that the viewer sees; they stay
	Messages, Records int64 // that it was sent with; they stay
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
		Keys: r.Keys, Selections: r.Selections, Windows: r.Windows, CitedBy: r.CitedBy, Messages: r.Messages, Records: r.Records,
	}
	switch {
	case r.Erased:
		impact.Obstacle = ErasedBefore
	case r.EventType == chain.EventErasure:
		impact.Obstacle = ErasureItself
	case r.Audit:
		impact.Obstacle = OnRecordForGood
	}
	return impact, nil
}
