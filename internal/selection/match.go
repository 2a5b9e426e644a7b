package selection

import (
	"fmt"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
)

// Limits of a match.
const (
	MaxChannels     = 100
	MaxChannelBytes = 256
	MaxImportance   = 2
	MaxMatchBytes   = 256 // of its text
	MaxParts        = MaxScopeEntries
)

// Match says which messages of a list to show. A nil list does not narrow; an empty one matches nothing.
type Match struct {
	Channels   []string
	Importance []int
	Text       *string // words that a message has to hold
	Receivers  []chain.Hash
	Leaders    []chain.Hash // players that coordinated it
	Since      *time.Time
	Until      *time.Time
}

// Validate says what is wrong with a match; the fault names the field below field.
func (m *Match) Validate(field string) error {
	if len(m.Channels) > MaxChannels {
		return fault.Input(field+".channels", "has %d entries; at most %d are allowed", len(m.Channels), MaxChannels)
	}
	for name, players := range map[string][]chain.Hash{".leaders": m.Leaders, ".receivers": m.Receivers} {
		if len(players) > MaxParts {
			return fault.Input(field+name, "has %d entries; at most %d are allowed", len(players), MaxParts)
		}
	}
	for i := range m.Channels {
		if err := chain.CheckText(fmt.Sprintf("%s.channels[%d]", field, i), &m.Channels[i], MaxChannelBytes); err != nil {
			return err
		}
	}
	if len(m.Importance) > MaxImportance+1 {
		return fault.Input(field+".importance", "has %d entries; at most %d are allowed", len(m.Importance), MaxImportance+1)
	}
	for i, n := range m.Importance {
		if n < 0 || n > MaxImportance {
			return fault.Input(fmt.Sprintf("%s.importance[%d]", field, i), "%d is outside of 0 to %d", n, MaxImportance)
		}
	}
	if m.Text == nil {
		return nil
	}
	if err := chain.CheckText(field+".text", m.Text, MaxMatchBytes); err != nil {
		return err
	}
	if len(ranking.Words(*m.Text)) == 0 {
		return fault.Input(field+".text", "holds no word")
	}
	return nil
}

// Narrows says whether the match leaves out any message.
func (m *Match) Narrows() bool {
	return m.Channels != nil || m.Importance != nil || m.Text != nil || m.Since != nil || m.Until != nil || m.HasParts()
}

// HasParts says whether the match asks for what players had to do with a message.
func (m *Match) HasParts() bool { return m.Receivers != nil || m.Leaders != nil }

// Within gives a scope that holds what both hold, as far as times say.
func (m *Match) Within(s Scope) Scope {
	if m.Since != nil && (s.Since == nil || s.Since.Before(*m.Since)) {
		s.Since = m.Since
	}
	if m.Until != nil && (s.Until == nil || m.Until.Before(*s.Until)) {
		s.Until = m.Until
	}
	return s
}
