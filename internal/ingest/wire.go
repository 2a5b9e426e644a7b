package ingest

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// wireMessage is a message in JSON lines: a MessageInput of the GraphQL schema, where keys may stand for hashes;
// a label; and, from an export, what the log gave the message. An export has the JSON values as texts, as Postgres
// prints them, which is what the hashes cover. Docs/seal.md says what a verifier does with it.
type wireMessage struct {
	Label           *string        `json:"label,omitzero"`
	Hash            *string        `json:"hash,omitzero"`
	PrevHash        *string        `json:"prevHash,omitzero"`
	Sequence        *int64         `json:"sequence,omitzero"`
	SessionHash     string         `json:"sessionHash"`
	ThreadHash      *string        `json:"threadHash,omitzero"`
	OwnerID         string         `json:"ownerId"`
	PlayerIDs       []string       `json:"playerIds,omitzero"`
	MasterPlayer    *string        `json:"masterPlayer,omitzero"`
	Role            *string        `json:"role,omitzero"`
	EventType       *string        `json:"eventType,omitzero"`
	Importance      *int           `json:"importance,omitzero"`
	Channel         *string        `json:"channel,omitzero"`
	Source          *string        `json:"source,omitzero"`
	Content         *string        `json:"content,omitzero"` // absent from an export's line of an erased message
	Attachments     jsontext.Value `json:"attachments,omitzero"`
	AttachmentsText *string        `json:"attachmentsText,omitzero"`
	Hashtags        []string       `json:"hashtags,omitzero"`
	FlagID          *string        `json:"flagId,omitzero"`
	MasterItemID    *string        `json:"masterItemId,omitzero"`
	ItemIDs         []string       `json:"itemIds,omitzero"`
	LocationID      *string        `json:"locationId,omitzero"`
	Ambient         jsontext.Value `json:"ambient,omitzero"`
	AmbientText     *string        `json:"ambientText,omitzero"`
	CreatedAt       *string        `json:"createdAt,omitzero"`
	Refs            []wireRef      `json:"refs,omitzero"`
	IdempotencyKey  *string        `json:"idempotencyKey,omitzero"`
	Salt            []byte         `json:"salt,omitzero"`
	ContentDigest   *string        `json:"contentDigest,omitzero"`
	RefsDigest      *string        `json:"refsDigest,omitzero"`
	Proof           *string        `json:"proof,omitzero"` // for verifiers
}

// wireLeaves are leaves of the tree, for verifiers.
type wireLeaves struct {
	First   int64  `json:"first"`
	Entries []byte `json:"entries"`
}

// wireRef is a RefInput, or names an earlier line by its label.
type wireRef struct {
	Hash  *string `json:"hash,omitzero"`
	Label *string `json:"label,omitzero"`
	Type  *string `json:"type,omitzero"`
}

// wireComponent is a ComponentInput of the GraphQL schema.
type wireComponent struct {
	Namespace   string         `json:"namespace"`
	Key         string         `json:"key"`
	Hash        *string        `json:"hash,omitzero"`
	Name        *string        `json:"name,omitzero"`
	Description *string        `json:"description,omitzero"`
	Data        jsontext.Value `json:"data,omitzero"`
	Preferences []string       `json:"preferences,omitzero"`
}

// wireRecord is a RecordInput of the GraphQL schema; a label; and, from an export, hash and time.
type wireRecord struct {
	Label     *string        `json:"label,omitzero"`
	Hash      *string        `json:"hash,omitzero"`
	Kind      string         `json:"kind"`
	Book      string         `json:"book"`
	Title     string         `json:"title"`
	Content   string         `json:"content"`
	Data      jsontext.Value `json:"data,omitzero"`
	DataText  *string        `json:"dataText,omitzero"` // of an export: as Postgres prints it
	Verified  *bool          `json:"verified,omitzero"`
	CreatedAt *string        `json:"createdAt,omitzero"`
}

// wireTime has microseconds, always six digits of them.
const wireTime = "2006-01-02T15:04:05.000000Z"

func formatTime(t time.Time) *string {
	text := t.UTC().Format(wireTime)
	return &text
}

// optionalJSON takes null as absent, as GraphQL does.
func optionalJSON(v jsontext.Value) *chain.JSON {
	if v == nil || v.Kind() == 'n' {
		return nil
	}
	return exactJSON(v)
}

// exactJSON takes null as the JSON value null: for exports, which leave out what is absent.
func exactJSON(v jsontext.Value) *chain.JSON {
	if v == nil {
		return nil
	}
	text := chain.JSON(v)
	return &text
}

// setText reads a JSON value that an export has as a text.
func setText(field string, text *string, value jsontext.Value, hash *string, to **chain.JSON) error {
	switch {
	case text == nil:
		return nil
	case hash == nil:
		return fault.Input(field+"Text", "is for exports, next to a hash: write %s", field)
	case value != nil:
		return fault.Input(field+"Text", "is there, and so is %s", field)
	}
	*to = (*chain.JSON)(text)
	return nil
}

// validate checks all of a message that can be checked without the log; the fault names the field.
func (m *message) validate() error {
	if err := m.draft.Validate("messages[0]"); err != nil {
		return ofRow(err)
	}
	return nil
}

// eventTypes and refTypes are what stands in a file, in capitals as in GraphQL or small as in the log.
var (
	eventTypes = []chain.EventType{chain.EventMessage, chain.EventError, chain.EventSystem, chain.EventTool, chain.EventErasure}
	refTypes   = []chain.RefType{chain.RefContext, chain.RefAccountant, chain.RefSecretary}
)

func oneOf[T ~string](field, text string, known []T) (T, error) {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = strings.ToUpper(string(k))
		if strings.EqualFold(text, string(k)) {
			return k, nil
		}
	}
	return "", fault.Input(field, "%q is none of %s", text, strings.Join(names, ", "))
}

// toRow gives the component to upsert.
func (c *wireComponent) toRow(line int) (*row, error) {
	draft := component.Draft{
		Namespace: component.Namespace(strings.ToLower(c.Namespace)), Key: c.Key,
		Name: c.Name, Description: c.Description, Data: optionalJSON(c.Data), Preferences: c.Preferences,
	}
	if c.Hash != nil {
		hash, err := parseHash("component.hash", *c.Hash)
		if err != nil {
			return nil, err
		}
		draft.Hash = &hash
	}
	return &row{line: line, component: &draft}, draft.Validate("component")
}

// toRow gives the record to add.
func (r *wireRecord) toRow(line int) (*row, error) {
	to := &row{line: line}
	kind, err := oneOf("record.kind", r.Kind, refTypes[1:])
	if err != nil {
		return nil, err
	}
	draft := knowledge.Draft{Kind: kind, Book: r.Book, Title: r.Title, Content: r.Content, Data: optionalJSON(r.Data), Verified: true}
	if r.Verified != nil {
		draft.Verified = *r.Verified
	}
	if err := parseTime("record.createdAt", r.CreatedAt, &draft.CreatedAt); err != nil {
		return nil, err
	}
	if r.Hash != nil {
		hash, err := parseHash("record.hash", *r.Hash)
		if err != nil {
			return nil, err
		}
		to.hash = &hash
		draft.Data = exactJSON(r.Data)
	}
	if err := setText("record.data", r.DataText, r.Data, r.Hash, &draft.Data); err != nil {
		return nil, err
	}
	to.record = &draft
	if err := setLabel(to, "record.label", r.Label); err != nil {
		return nil, err
	}
	return to, draft.Validate("record")
}

func setLabel(to *row, field string, label *string) error {
	if label == nil {
		return nil
	}
	if *label == "" {
		return fault.Input(field, "is empty")
	}
	to.label = *label
	return chain.CheckText(field, label, chain.MaxNameBytes)
}
