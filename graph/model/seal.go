package model

import (
	"context"
	"encoding/base64"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// Checkpoint is a signed head of the tree.
type Checkpoint struct{ seal.Checkpoint }

// Root is the tree's root as the note has it.
func (c Checkpoint) Root() string { return base64.StdEncoding.EncodeToString(c.Head.Root[:]) }

// Cosignatures is how many witnesses cosigned it.
func (c Checkpoint) Cosignatures() int { return len(c.Checkpoint.Cosignatures) }

// CheckpointConnection is a page of checkpoints.
type CheckpointConnection struct {
	Edges    []CheckpointEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c CheckpointConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// MessageIntegrity is how far a message can be proved. What needs more than the message itself is resolved when asked
// for.
type MessageIntegrity struct{ Message chain.Message }

// Preimage is base64 of what the message's hash covers.
func (i MessageIntegrity) Preimage() string {
	return base64.StdEncoding.EncodeToString(i.Message.Preimage())
}

// ContentPreimage is base64 of what the content digest covers, nil once the content is erased.
func (i MessageIntegrity) ContentPreimage() *string {
	m := &i.Message
	if m.Content == nil || m.Attachments == nil {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(chain.ContentPreimage(m.Salt, *m.Content, *m.Attachments, m.Ambient))
	return &text
}

// MarshalSealCondition writes whether the server seals.
func MarshalSealCondition(v db.SealCondition) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalSealCondition reads whether the server seals.
func UnmarshalSealCondition(v any) (db.SealCondition, error) {
	return unmarshalEnum[db.SealCondition](v)
}

// EraseImpact is what erasing a message, or what was said in a conversation, would take away.
type EraseImpact struct {
	Hash chain.Hash // of the message, or of the conversation's session
	db.EraseImpact
}

// Obstacle is why the message cannot be erased, nil if it can.
func (e EraseImpact) Obstacle() *db.EraseObstacle {
	if e.EraseImpact.Obstacle == "" {
		return nil
	}
	return &e.EraseImpact.Obstacle
}

// ContentBytes is how long the content is.
func (e EraseImpact) ContentBytes() int64 { return e.Content }

// AttachmentsBytes is how long the text of the attachments is.
func (e EraseImpact) AttachmentsBytes() int64 { return e.Attachments }

// AmbientBytes is how long the text of the ambient is.
func (e EraseImpact) AmbientBytes() int64 { return e.Ambient }

// LexicalVectors is how many vectors of words there are.
func (e EraseImpact) LexicalVectors() int64 { return e.Lexical }

// DenseVectors is how many vectors of meaning there are.
func (e EraseImpact) DenseVectors() int64 { return e.Dense }

// SearchTerms is how many terms searches find it by.
func (e EraseImpact) SearchTerms() int64 { return e.Terms }

// IdempotencyKeys is how many keys stand for it.
func (e EraseImpact) IdempotencyKeys() int64 { return e.Keys }

// Refs is how many messages it was sent with.
func (e EraseImpact) Refs() int64 { return e.SentWith }

// MarshalEraseObstacle writes why a message cannot be erased.
func MarshalEraseObstacle(v db.EraseObstacle) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalEraseObstacle reads why a message cannot be erased.
func UnmarshalEraseObstacle(v any) (db.EraseObstacle, error) {
	return unmarshalEnum[db.EraseObstacle](v)
}
