package model

import (
	"encoding/base64"

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
