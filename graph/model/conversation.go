package model

import (
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
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
