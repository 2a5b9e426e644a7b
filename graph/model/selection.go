package model

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// ContextSelection is the ranked context that somebody asked for and got.
type ContextSelection struct{ selection.Selection }

// IsNode marks it as readable by its id.
func (ContextSelection) IsNode() {}

// Query is what was asked.
func (s ContextSelection) Query() string { return s.Request.Query }

// TokenBudget is the budget that was given.
func (s ContextSelection) TokenBudget() *int { return s.Request.TokenBudget }

// Policy is the policy as it was kept.
func (s ContextSelection) Policy() (ranking.Policy, error) { return policy(&s.Selection) }

// EmbeddingModel is what words ranked by.
func (s ContextSelection) EmbeddingModel() string { return s.Model }

// DenseModel is the provider's model that took part, nil if none did.
func (s ContextSelection) DenseModel() *string { return denseModel(&s.Selection) }

// Preimage is base64 of what the receipt covers, nil where that can no longer be given.
func (s ContextSelection) Preimage() (*string, error) { return preimage(&s.Selection) }

// RenderedSalt is base64 of the salt, nil if there is none.
func (s ContextSelection) RenderedSalt() *string {
	if s.Selection.RenderedSalt == nil {
		return nil
	}
	return inBase64(s.Selection.RenderedSalt)
}

// ReplayedSelection is a selection that was computed again, and is not kept.
type ReplayedSelection struct{ selection.Selection }

// Policy is the policy that ranked.
func (s ReplayedSelection) Policy() (ranking.Policy, error) { return policy(&s.Selection) }

// EmbeddingModel is what words ranked by.
func (s ReplayedSelection) EmbeddingModel() string { return s.Model }

// DenseModel is the provider's model that took part, nil if none did.
func (s ReplayedSelection) DenseModel() *string { return denseModel(&s.Selection) }

// Preimage is base64 of what the receipt covers.
func (s ReplayedSelection) Preimage() (*string, error) { return preimage(&s.Selection) }

// ContextReplay is what computing a selection again has shown.
type ContextReplay struct {
	selection.Replay
	Original  ContextSelection
	Selection ReplayedSelection
}

// ContextSelectionConnection is a page of selections.
type ContextSelectionConnection struct {
	Edges    []ContextSelectionEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c ContextSelectionConnection) TotalCount(ctx context.Context) (int64, error) {
	return c.Count(ctx)
}

func policy(s *selection.Selection) (p ranking.Policy, err error) {
	err = json.Unmarshal(s.Policy, &p)
	return p, err
}

func denseModel(s *selection.Selection) *string {
	if s.DenseModel == "" {
		return nil
	}
	return &s.DenseModel
}

func preimage(s *selection.Selection) (*string, error) {
	if !s.HasPreimage() {
		return nil, nil
	}
	bytes, err := s.Preimage()
	if err != nil {
		return nil, err
	}
	return inBase64(bytes), nil
}

func inBase64(bytes []byte) *string {
	text := base64.StdEncoding.EncodeToString(bytes)
	return &text
}
