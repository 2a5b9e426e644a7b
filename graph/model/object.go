package model

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// GlobalID gives the id of an object over all types. Clients must not read it; ParseGlobalID does.
func GlobalID(kind, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + key))
}

// ParseGlobalID gives the type and the key of a global id, and false if it is none.
func ParseGlobalID(id string) (kind, key string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), ":")
}

// Message is a message of the log.
type Message struct {
	chain.Message
	KeptForImportance bool
}

// IsNode marks it as readable by its id.
func (Message) IsNode() {}

// IsContextSource marks it as something that context can be drawn from.
func (Message) IsContextSource() {}

// Attachments are those of the message; an empty object once erased.
func (m Message) Attachments() chain.JSON {
	if m.Message.Attachments == nil {
		return "{}"
	}
	return *m.Message.Attachments
}

// Plain gives fields that are at hand, and that whoever appends mostly asks for.
func (m Message) Plain(field string) (value any, ok bool) {
	switch field {
	case "hash":
		return m.Hash.String(), true
	case "prevHash":
		if m.PrevHash == nil {
			return nil, true
		}
		return m.PrevHash.String(), true
	case "sequence":
		return int(m.Sequence), true
	case "createdAt":
		return m.CreatedAt, true
	}
	return nil, false
}

// Record is a piece of knowledge.
type Record struct{ knowledge.Record }

// IsNode marks it as readable by its id.
func (Record) IsNode() {}

// IsContextSource marks it as something that context can be drawn from.
func (Record) IsContextSource() {}

// Session is one hash chain.
type Session struct{ chain.Session }

// IsNode marks it as readable by its id.
func (Session) IsNode() {}

// Thread is one conversation.
type Thread struct{ chain.Thread }

// IsNode marks it as readable by its id.
func (Thread) IsNode() {}

// Player is a person, an agent or an organisation.
type Player struct{ component.Component }

// Hashtag is a tag.
type Hashtag struct{ component.Component }

// Flag is a jurisdiction or a regulation.
type Flag struct{ component.Component }

// Item is a thing.
type Item struct{ component.Component }

// Location is a place.
type Location struct{ component.Component }

// IsNode marks it as readable by its id.
func (Player) IsNode() {}

// IsNode marks it as readable by its id.
func (Hashtag) IsNode() {}

// IsNode marks it as readable by its id.
func (Flag) IsNode() {}

// IsNode marks it as readable by its id.
func (Item) IsNode() {}

// IsNode marks it as readable by its id.
func (Location) IsNode() {}

// IsComponent marks it as a component.
func (Player) IsComponent() {}

// IsComponent marks it as a component.
func (Hashtag) IsComponent() {}

// IsComponent marks it as a component.
func (Flag) IsComponent() {}

// IsComponent marks it as a component.
func (Item) IsComponent() {}

// IsComponent marks it as a component.
func (Location) IsComponent() {}

// MessageRange are messages by position.
type MessageRange struct {
	From       int
	TotalCount int
	Messages   []Message
}

// Count counts a connection's whole set, when somebody asks.
type Count func(context.Context) (int64, error)

// MessageConnection is a page of messages.
type MessageConnection struct {
	Edges    []MessageEdge
	PageInfo PageInfo
	Count    Count
}

// SessionConnection is a page of sessions.
type SessionConnection struct {
	Edges    []SessionEdge
	PageInfo PageInfo
	Count    Count
}

// ThreadConnection is a page of threads.
type ThreadConnection struct {
	Edges    []ThreadEdge
	PageInfo PageInfo
	Count    Count
}

// ComponentConnection is a page of components.
type ComponentConnection struct {
	Edges    []ComponentEdge
	PageInfo PageInfo
	Count    Count
}

// RecordConnection is a page of records.
type RecordConnection struct {
	Edges    []RecordEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c MessageConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// TotalCount counts the whole set.
func (c SessionConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// TotalCount counts the whole set.
func (c ThreadConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// TotalCount counts the whole set.
func (c ComponentConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// TotalCount counts the whole set.
func (c RecordConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// NewComponent gives a component as the type of its kind.
func NewComponent(c component.Component) Component {
	switch c.Kind {
	case component.Hashtag:
		return Hashtag{c}
	case component.Flag:
		return Flag{c}
	case component.Item:
		return Item{c}
	case component.Location:
		return Location{c}
	default:
		return Player{c}
	}
}
