package chain

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// EventType says what kind of entry of the log a message is. Its text is what the hash covers.
type EventType string

// The kinds of entries.
const (
	EventMessage EventType = "message"
	EventError   EventType = "error"
	EventSystem  EventType = "system"
	EventTool    EventType = "tool"
	EventErasure EventType = "erasure"
)

// RefType says what a ref points to. Its text is what the hash covers.
type RefType string

// The kinds of refs.
const (
	RefContext    RefType = "context"
	RefAccountant RefType = "accountant"
	RefSecretary  RefType = "secretary"
)

// JSON is a JSON value in the text form that Postgres gives to jsonb. The hash covers this text, so it is never
// written again by anything else.
type JSON string

// Ref is one thing that a message was sent with. Its place in the list, from 1, is its position.
type Ref struct {
	Type RefType
	Hash Hash
}

// Limits of a message. The database holds the same.
const (
	MaxContentBytes = 1 << 20 // of content, and of each JSON value
	MaxNameBytes    = 256     // of channel, source and idempotency key
	MaxRoleBytes    = 64
	MaxListLength   = 256  // of receivers, tags and items each
	MaxRefs         = 1000 // of one message
	SaltBytes       = 16
)

// Message is one entry of the log, as it is stored.
type Message struct {
	ID            int64 // place in this database's log; not part of the hash
	Hash          Hash
	PrevHash      *Hash // nil for the first of a session
	Sequence      int64 // 1, 2, 3 … within the session
	SessionHash   Hash
	ThreadHash    *Hash
	OwnerID       Hash   // sender
	PlayerIDs     []Hash // receivers
	MasterPlayer  *Hash  // coordinator
	Role          *string
	EventType     EventType
	Importance    int16 // 0 normal, 1 relevant, 2 very relevant
	Channel       *string
	Source        *string
	Content       *string // nil once erased
	Attachments   *JSON   // nil once erased
	Ambient       *JSON
	Salt          []byte // SaltBytes; nil once erased
	ContentDigest Hash
	Hashtags      []Hash
	FlagID        *Hash
	MasterItemID  *Hash
	ItemIDs       []Hash
	LocationID    *Hash
	RefsDigest    Hash
	CreatedAt     time.Time // whole microseconds
}

// Value gives the text to the database.
func (j JSON) Value() (driver.Value, error) { return string(j), nil }

// Scan reads the text as Postgres writes it.
func (j *JSON) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*j = JSON(v)
	case []byte:
		*j = JSON(v)
	default:
		return fmt.Errorf("cannot read JSON from %T", src)
	}
	return nil
}

// ScanBytes is Scan of what the driver lends: it is copied once, where Scan has it copied twice.
func (j *JSON) ScanBytes(text []byte) error {
	if text == nil {
		return j.Scan(nil)
	}
	return j.Scan(text)
}

// NullJSON is a JSON value of the database that may be NULL, which the JSON value null is not.
type NullJSON struct {
	JSON *JSON // nil for NULL
}

// Scan reads the text as Postgres writes it.
func (n *NullJSON) Scan(src any) error {
	n.JSON = nil
	if src == nil {
		return nil
	}
	n.JSON = new(JSON)
	return n.JSON.Scan(src)
}
