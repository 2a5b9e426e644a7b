package chain

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unsafe"

	fastutf8 "github.com/segmentio/asm/utf8"

	"github.com/tzzr/context-manager/internal/fault"
)

// MaxDrafts is how many messages one call may append.
const MaxDrafts = 1000

// Draft is a message that somebody wants to append: what the log gives itself is left out.
type Draft struct {
	SessionHash    Hash
	ThreadHash     *Hash
	OwnerID        Hash
	PlayerIDs      []Hash
	MasterPlayer   *Hash
	Role           *string
	EventType      EventType // empty: EventMessage
	Importance     int
	Channel        *string
	Source         *string
	Content        string
	Attachments    *JSON // nil: an empty object; any JSON text that CheckJSON takes
	Ambient        *JSON
	PrevHash       *Hash // nil: whatever the head is
	Hashtags       []Hash
	FlagID         *Hash
	MasterItemID   *Hash
	ItemIDs        []Hash
	LocationID     *Hash
	CreatedAt      *time.Time // nil: now
	Late           bool       // CreatedAt may be before the session's last message: then the log gives it the time behind that one's
	Refs           []Ref
	IdempotencyKey *string
	KeyOf          *Hash // the key is this player's, for all that is appended together; nil: the owner's, for this message

	// Original is set when the message comes from an export of a log: it is then written with the same salt and
	// must get the same hash, and may have refs to what this log does not hold.
	Original *Original
}

// Original is what an exported message had that a writer does not choose.
type Original struct {
	Hash Hash
	Salt []byte
}

// Validate checks everything that can be checked without the log, and cuts createdAt to microseconds.
// field is the draft's path in the request, such as "messages[3]"; the fault names the field within it.
func (d *Draft) Validate(field string) error {
	if d.EventType == "" {
		d.EventType = EventMessage
	}
	if d.EventType == EventErasure && d.Original == nil {
		return fault.Input(field+".eventType", "ERASURE is written by an erasure only")
	}
	if d.CreatedAt != nil {
		cut := d.CreatedAt.UTC().Truncate(time.Microsecond)
		if cut.Year() < 1 || cut.Year() > 9999 {
			return fault.Input(field+".createdAt", "the year is outside of 1 to 9999")
		}
		d.CreatedAt = &cut
	}
	if d.Importance < 0 || d.Importance > 2 {
		return fault.Input(field+".importance", "%d is outside of 0 to 2", d.Importance)
	}
	if d.Content == "" {
		return fault.Input(field+".content", "is empty")
	}
	texts := []struct {
		name  string
		text  *string
		limit int
	}{
		{"content", &d.Content, MaxContentBytes},
		{"role", d.Role, MaxRoleBytes},
		{"channel", d.Channel, MaxNameBytes},
		{"source", d.Source, MaxNameBytes},
		{"idempotencyKey", d.IdempotencyKey, MaxNameBytes},
	}
	for _, t := range texts {
		if err := CheckText(field+"."+t.name, t.text, t.limit); err != nil {
			return err
		}
	}
	if err := CheckJSON(field+".attachments", d.Attachments, MaxContentBytes); err != nil {
		return err
	}
	if err := CheckJSON(field+".ambient", d.Ambient, MaxContentBytes); err != nil {
		return err
	}
	if d.IdempotencyKey != nil && *d.IdempotencyKey == "" {
		return fault.Input(field+".idempotencyKey", "is empty")
	}
	lists := []struct {
		name string
		list []Hash
	}{{"playerIds", d.PlayerIDs}, {"hashtags", d.Hashtags}, {"itemIds", d.ItemIDs}}
	for _, l := range lists {
		if len(l.list) > MaxListLength {
			return fault.Input(field+"."+l.name, "has %d entries; at most %d are allowed", len(l.list), MaxListLength)
		}
	}
	return d.validateRefs(field + ".refs")
}

func (d *Draft) validateRefs(field string) error {
	if len(d.Refs) > MaxRefs {
		return fault.Input(field, "has %d entries; at most %d are allowed", len(d.Refs), MaxRefs)
	}
	seen := make(map[Hash]int, len(d.Refs))
	for i, r := range d.Refs {
		if first, twice := seen[r.Hash]; twice {
			return fault.Input(fmt.Sprintf("%s[%d].hash", field, i), "is the same as that of refs[%d]", first)
		}
		seen[r.Hash] = i
	}
	return nil
}

// CheckText refuses a text that the log cannot hold: longer than limit bytes, not UTF-8, or with U+0000. An absent
// text is well.
func CheckText(field string, text *string, limit int) error {
	switch {
	case text == nil:
		return nil
	case len(*text) > limit:
		return fault.Input(field, "has %d bytes; at most %d are allowed", len(*text), limit)
	case strings.ContainsRune(*text, 0):
		return fault.Input(field, "holds the character U+0000, which the log cannot store")
	case !IsUTF8(*text):
		return fault.Input(field, "is not valid UTF-8")
	}
	return nil
}

// IsUTF8 is utf8.ValidString, which is ten times as slow beyond ASCII.
func IsUTF8(text string) bool {
	return fastutf8.Valid(unsafe.Slice(unsafe.StringData(text), len(text))) // which only reads
}

// Size is how many bytes of text the draft holds.
func (d *Draft) Size() int {
	size := len(d.Content)
	if d.Attachments != nil {
		size += len(*d.Attachments)
	}
	if d.Ambient != nil {
		size += len(*d.Ambient)
	}
	return size
}

// draftLabel keeps fingerprints apart from the digests that the log holds. They are kept with idempotency keys, so a
// field that Draft gains later may change the bytes only of a draft that uses it.
const draftLabel = "context-manager/draft/v1\n"

// Fingerprint tells a repetition of the same draft from another draft with the same idempotency key: SHA-256 over
// the label and every field that the writer chose, framed as in the log's digests, but for Original and the key
// itself. What is left out equals its default: a list that is nil, one that is empty.
func (d *Draft) Fingerprint() Hash {
	f := make(frames, 0, 1024+d.Size())
	f = append(f, draftLabel...)
	f.bytes(d.SessionHash[:])
	f.optionalHash(d.PrevHash)
	f.optionalHash(d.ThreadHash)
	f.bytes(d.OwnerID[:])
	f.hashes(d.PlayerIDs)
	f.optionalHash(d.MasterPlayer)
	f.optionalText(d.Role)
	f.text(string(cmp.Or(d.EventType, EventMessage)))
	f.int64(int64(d.Importance))
	f.optionalText(d.Channel)
	f.optionalText(d.Source)
	f.text(d.Content)
	if d.Attachments == nil {
		f.text("{}")
	} else {
		f.text(string(*d.Attachments))
	}
	f.optionalText((*string)(d.Ambient))
	f.hashes(d.Hashtags)
	f.optionalHash(d.FlagID)
	f.optionalHash(d.MasterItemID)
	f.hashes(d.ItemIDs)
	f.optionalHash(d.LocationID)
	if d.CreatedAt == nil {
		f.none()
	} else {
		f.int64(d.CreatedAt.UnixMicro())
	}
	f.count(len(d.Refs))
	for _, r := range d.Refs {
		f.text(string(r.Type))
		f.bytes(r.Hash[:])
	}
	return Sum(f)
}
