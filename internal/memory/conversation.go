// Package memory says what an assistant knows now of a conversation with somebody: the last turns and the confirmed facts,
// which expire together, and the prompt that is made of them. It is pure; package db keeps it.
package memory

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// Role is which of the two assistants a conversation is with.
type Role string

// The roles.
const (
	Client Role = "client"
	Admin  Role = "admin"
)

// Limits of a conversation.
const (
	MaxTurns     = 10 // the newest stay
	MaxUserBytes = 128
	MaxTurnBytes = 128 << 10
	MaxStateKeys = 256
	MaxState     = 64 << 10 // bytes of the state's JSON
)

// How long a working memory lasts after the last interaction, unless it is set otherwise.
const (
	DefaultTTL = 30 * time.Minute
	MinTTL     = time.Minute
	MaxTTL     = 24 * time.Hour
)

// ID is a conversation's identity: `{role}:{userId}:{uuid}`.
type ID struct {
	Role   Role
	UserID string
	UUID   uuid.UUID
}

// NewID makes an identity of its own.
func NewID(role Role, userID string) (ID, error) {
	if err := checkUser(role, userID); err != nil {
		return ID{}, err
	}
	return ID{role, userID, uuid.New()}, nil
}

// ParseID reads an identity as String writes it, and in no other form, so that a conversation has one name only. The fault
// names the field.
func ParseID(field, text string) (ID, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || checkUser(Role(parts[0]), parts[1]) != nil {
		return ID{}, fault.Input(field, "is not the id of a conversation, as in client:42:01234567-89ab-4cde-8f01-23456789abcd")
	}
	id, err := uuid.Parse(parts[2])
	if err != nil || id.String() != parts[2] {
		return ID{}, fault.Input(field, "does not end in a UUID in lower case")
	}
	return ID{Role(parts[0]), parts[1], id}, nil
}

func checkUser(role Role, userID string) error {
	switch {
	case role != Client && role != Admin:
		return fault.Input("role", "is neither CLIENT nor ADMIN")
	case userID == "":
		return fault.Input("userId", "is empty")
	case strings.ContainsFunc(userID, func(r rune) bool {
		return r == ':' || r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.IsSpace(r)
	}):
		return fault.Input("userId", "has a colon, white space or a character that cannot be seen")
	}
	return chain.CheckText("userId", &userID, MaxUserBytes)
}

// String gives the identity as text.
func (id ID) String() string { return fmt.Sprintf("%s:%s:%s", id.Role, id.UserID, id.UUID) }

// Session is the session in the log that holds the whole conversation, and the thread: the SHA-256 of the identity.
func (id ID) Session() chain.Hash { return chain.Sum([]byte(id.String())) }

// UserKey is the key, in the namespace plu, of the player whom a user is: the client 42 and the administrator 42 are two.
func UserKey(role Role, userID string) string { return string(role) + ":" + userID }

// Person is the player whom a user is.
func Person(role Role, userID string) chain.Hash {
	return component.DefaultHash("plu", UserKey(role, userID))
}

// Speaker is who said something.
type Speaker string

// The speakers. Nothing that anybody else says is kept: no tool, no system.
const (
	User      Speaker = "user"
	Assistant Speaker = "assistant"
)

// Turn is something that was said.
type Turn struct {
	Role    Speaker    `json:"role"`
	Content string     `json:"content"`
	At      time.Time  `json:"at"`
	Message chain.Hash `json:"message"`         // where it stands in the log
	Tokens  int        `json:"tokens,omitzero"` // of the content, counted once; 0: they were not
}

// Conversation is what an assistant knows now.
type Conversation struct {
	ID           ID
	Person       chain.Hash // the player whom the user is
	Assistant    chain.Hash // the player who speaks as the assistant
	History      []Turn     // at most MaxTurns, oldest first
	Unread       int        // turns of the history that were counted only, in a list
	State        State
	CreatedAt    time.Time
	LastActivity time.Time
	ExpiresAt    time.Time // from then on it is gone
}

// Turns is how many turns of history are in memory.
func (c *Conversation) Turns() int { return len(c.History) + c.Unread }

// Say adds turns, of which the newest MaxTurns stay.
func (c *Conversation) Say(turns ...Turn) {
	c.History = append(slices.Clip(c.History), turns...)
	c.History = c.History[max(0, len(c.History)-MaxTurns):]
}

// Touch renews it: it lasts for the time to live from now on.
func (c *Conversation) Touch(now time.Time, ttl time.Duration) {
	c.LastActivity, c.ExpiresAt = now, now.Add(ttl)
}

// State is what was confirmed, by name.
type State map[string]json.RawMessage

// ParseState reads a JSON object; the fault names the field.
func ParseState(field string, text chain.JSON) (State, error) {
	if err := chain.CheckJSON(field, &text, MaxState); err != nil {
		return nil, err
	}
	var s State
	if err := json.Unmarshal([]byte(text), &s); err != nil || s == nil {
		return nil, fault.Input(field, "is not a JSON object")
	}
	return s, nil
}

// Check says whether what was confirmed may be kept: CONTENT_REJECTED for a tool's run, or a model's request or response, at
// any depth.
func (s State) Check(field string) error {
	if why := technical(string(s.JSON()), 0); why != "" {
		return rejected(field, why)
	}
	return nil
}

// Merge gives the state with a patch over it, key by key: a value takes the place of the one before, and null removes it.
// Faults: BAD_USER_INPUT beyond the limits, CONTENT_REJECTED for what both make together that is not to be kept.
func (s State) Merge(field string, patch State) (State, error) {
	merged := maps.Clone(s)
	if merged == nil {
		merged = State{}
	}
	for key, value := range patch {
		if string(value) == "null" {
			delete(merged, key)
			continue
		}
		merged[key] = value
	}
	if len(merged) > MaxStateKeys {
		return nil, fault.Input(field, "makes a state of %d keys; at most %d are allowed", len(merged), MaxStateKeys)
	}
	if size := len(merged.JSON()); size > MaxState {
		return nil, fault.Input(field, "makes a state of %d bytes; at most %d are allowed", size, MaxState)
	}
	return merged, merged.Check(field)
}

// JSON writes the state, keys in order: the same state is the same text.
func (s State) JSON() chain.JSON {
	if s == nil {
		return "{}"
	}
	var text strings.Builder
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	_ = to.Encode(s) // it was read from JSON
	return chain.JSON(strings.TrimSuffix(text.String(), "\n"))
}
