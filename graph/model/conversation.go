package model

import (
	"strings"
	"sync"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/token"
)

// Conversation is what an assistant knows now.
type Conversation struct{ memory.Conversation }

// ID is its identity as text.
func (c Conversation) ID() string { return c.Conversation.ID.String() }

// Role is which assistant it is with.
func (c Conversation) Role() ConversationRole {
	return ConversationRole(strings.ToUpper(string(c.Conversation.ID.Role)))
}

// UserID is whom it is with.
func (c Conversation) UserID() string { return c.Conversation.ID.UserID }

// State is what was confirmed.
func (c Conversation) State() chain.JSON { return c.Conversation.State.JSON() }

// History is what was said last.
func (c Conversation) History() []Turn {
	out := make([]Turn, len(c.Conversation.History))
	for i, turn := range c.Conversation.History {
		out[i] = Turn{turn}
	}
	return out
}

// MemoryRole gives the role as the domain has it.
func (r ConversationRole) MemoryRole() memory.Role { return memory.Role(strings.ToLower(string(r))) }

// Turn is something that was said.
type Turn struct{ memory.Turn }

// Role is who said it.
func (t Turn) Role() TurnRole { return TurnRole(strings.ToUpper(string(t.Turn.Role))) }

// Plain gives fields that are at hand.
func (t Turn) Plain(field string) (value any, ok bool) {
	switch field {
	case "role":
		return string(t.Role()), true
	case "content":
		return t.Content, true
	case "at":
		return t.At, true
	}
	return nil, false
}

// PromptMessage is a message for a model.
type PromptMessage struct {
	memory.PromptMessage
	pieces *pieces
}

// pieces are a text's tokens, cut when they are first asked for, and once, however often they are: an operation may name a
// field many times.
type pieces struct {
	once sync.Once
	list []string
	err  error
}

// NewPromptMessages shows messages.
func NewPromptMessages(messages []memory.PromptMessage) []PromptMessage {
	out, cut := make([]PromptMessage, len(messages)), make([]pieces, len(messages))
	for i, m := range messages {
		out[i] = PromptMessage{m, &cut[i]}
	}
	return out
}

// Role is who says it.
func (m PromptMessage) Role() string { return string(m.PromptMessage.Role) }

// Pieces is its text, token by token.
func (m PromptMessage) Pieces() ([]string, error) {
	m.pieces.once.Do(func() { m.pieces.list, m.pieces.err = token.Pieces(m.Content) })
	return m.pieces.list, m.pieces.err
}

// Plain gives fields that are at hand.
func (m PromptMessage) Plain(field string) (value any, ok bool) {
	switch field {
	case "role":
		return m.Role(), true
	case "content":
		return m.Content, true
	case "tokens":
		return m.Tokens, true
	}
	return nil, false
}
