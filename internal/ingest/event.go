package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// MaxEvents is how many events one call may bring.
const MaxEvents = 1000

// MaxEventNameBytes is how long the texts may be that name something: agent, user, thread and tags.
const MaxEventNameBytes = 200

// Event is something that happened elsewhere, with the fields of public.ia_nest_events.
type Event struct {
	Source     string         `json:"source"`
	Agent      string         `json:"agent"`
	UserID     name           `json:"user_id"`
	Channel    *string        `json:"channel"`
	ThreadID   name           `json:"thread_id"`
	EventType  string         `json:"event_type"` // empty: message
	Role       string         `json:"role"`
	Importance int            `json:"importance"`
	Tags       []string       `json:"tags"`
	Content    string         `json:"content"`
	Payload    jsontext.Value `json:"payload"`    // an object
	CreatedAt  *time.Time     `json:"created_at"` // nil: now
}

// name is a text, or a number that stands for one: tools have both for the same user.
type name string

// UnmarshalJSONFrom reads either.
func (n *name) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '"', '0':
		*n = name(token.String())
	case 'n':
		*n = ""
	default:
		return fmt.Errorf("is neither a text nor a number")
	}
	return nil
}

// ReadEvents reads a JSON event, or a list of up to MaxEvents. The fault names the field, such as events[3].agent.
func ReadEvents(body []byte) ([]Event, error) {
	events, err := decodeEvents(jsontext.NewDecoder(bytes.NewReader(body)))
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return nil, f
	} else if err != nil {
		return nil, fault.Wrap(err, fault.BadUserInput, "the body is not an event, or a list of them: %s", trimPrefix(err))
	}
	if n := len(events); n == 0 || n > MaxEvents {
		return nil, fault.Input("events", "are none or too many; 1 to %d are allowed", MaxEvents)
	}
	for i := range events {
		if err := events[i].validate(fmt.Sprintf("events[%d]", i)); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// decodeEvents reads one by one, and one more than are allowed at most.
func decodeEvents(d *jsontext.Decoder) (events []Event, err error) {
	list := d.PeekKind() == '['
	if list {
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
	}
	for len(events) <= MaxEvents && d.PeekKind() != ']' {
		var e Event
		if err := json.UnmarshalDecode(d, &e, json.RejectUnknownMembers(true)); err != nil {
			return nil, ofEvent(err, len(events))
		}
		if events = append(events, e); !list {
			break
		}
	}
	if len(events) > MaxEvents {
		return events, nil
	}
	if list {
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows")
	}
	return events, nil
}

// eventRoles are who may say something in an event.
var eventRoles = []string{"user", "assistant", "system", "tool"}

func (e *Event) validate(field string) error {
	for _, t := range []struct {
		name, text string
		limit      int
	}{
		{"source", e.Source, MaxEventNameBytes}, {"agent", e.Agent, MaxEventNameBytes}, {"user_id", string(e.UserID), MaxEventNameBytes},
		{"thread_id", string(e.ThreadID), MaxEventNameBytes}, {"content", e.Content, chain.MaxContentBytes},
	} {
		if t.text == "" {
			return fault.Input(field+"."+t.name, "is missing")
		}
		if err := chain.CheckText(field+"."+t.name, &t.text, t.limit); err != nil {
			return err
		}
	}
	if err := chain.CheckUnclaimed(field+".source", &e.Source); err != nil {
		return err
	}
	if len(e.Tags) > chain.MaxListLength {
		return fault.Input(field+".tags", "has %d entries; at most %d are allowed", len(e.Tags), chain.MaxListLength)
	}
	if e.Importance < 0 || e.Importance > 2 {
		return fault.Input(field+".importance", "%d is outside of 0 to 2", e.Importance)
	}
	for _, role := range []memory.Role{memory.Client, memory.Admin} { // whose conversations are kept apart: see package memory
		if strings.HasPrefix(string(e.UserID), memory.UserKey(role, "")) {
			return fault.Input(field+".user_id", "begins with %q, which is for users of conversations", memory.UserKey(role, ""))
		}
	}
	for i := range e.Tags {
		if err := chain.CheckText(fmt.Sprintf("%s.tags[%d]", field, i), &e.Tags[i], MaxEventNameBytes); err != nil || e.Tags[i] == "" {
			return orEmpty(err, fmt.Sprintf("%s.tags[%d]", field, i))
		}
	}
	if !slices.Contains(eventRoles, e.Role) {
		return fault.Input(field+".role", "is none of %s", strings.Join(eventRoles, ", "))
	}
	if e.EventType == "" {
		e.EventType = string(chain.EventMessage)
	}
	if kind := chain.EventType(e.EventType); !slices.Contains(eventTypes, kind) || kind == chain.EventErasure {
		return fault.Input(field+".event_type", "is none of message, error, system, tool")
	}
	if len(e.Payload) == 0 || string(e.Payload) == "null" {
		e.Payload = jsontext.Value("{}")
	}
	if e.Payload.Kind() != '{' {
		return fault.Input(field+".payload", "is not a JSON object")
	}
	return e.Payload.Compact() // the same event, written otherwise, is the same
}

func orEmpty(err error, field string) error {
	if err != nil {
		return err
	}
	return fault.Input(field, "is empty")
}

// EventThread is the thread, and the session, of an agent's conversation with a user: SHA-256 of "context-manager/events/v1",
// the agent, the user and the thread's id, each at the end of a line.
func EventThread(agent, userID, threadID string) chain.Hash {
	framed := "context-manager/events/v1\n"
	for _, part := range []string{agent, userID, threadID} {
		framed += fmt.Sprintf("%d %s\n", len(part), part)
	}
	return chain.Sum([]byte(framed))
}

// EventPlayers are the namespaces of players whom events name by key.
const (
	AgentNamespace component.Namespace = "ply"
	UserNamespace  component.Namespace = "plu"
	TagNamespace   component.Namespace = "hsu"
)

// Components lists what events name by key, each once.
func Components(events []Event) []component.Draft {
	var drafts []component.Draft
	seen := map[componentName]bool{}
	add := func(namespace component.Namespace, key string) {
		d := component.Draft{Namespace: namespace, Key: key}
		if n := nameOf(&d); !seen[n] {
			seen[n] = true
			drafts = append(drafts, d)
		}
	}
	for i := range events {
		e := &events[i]
		add(AgentNamespace, e.Agent)
		add(UserNamespace, string(e.UserID))
		for _, tag := range e.Tags {
			add(TagNamespace, tag)
		}
	}
	return drafts
}

// Drafts gives the messages of events, by the hashes of what they name, which are in the order of Components; nil: those that
// keys have by themselves, which is enough to learn whether the events can be messages. Who delivers
// them stands in what is ambient, since whoever is a message's master player takes part in its session; nil: nobody. Those
// have an idempotency key whose payload gives them an id and, with a key for the call, the others: theirs stand for the call.
func Drafts(events []Event, hashes []chain.Hash, by *chain.Hash, key string) ([]chain.Draft, error) {
	known := map[componentName]chain.Hash{}
	for i, d := range Components(events) {
		if hashes == nil {
			known[nameOf(&d)] = component.DefaultHash(d.Namespace, d.Key)
			continue
		}
		known[nameOf(&d)] = hashes[i]
	}
	of := func(namespace component.Namespace, key string) chain.Hash {
		return known[nameOf(&component.Draft{Namespace: namespace, Key: key})]
	}
	drafts, unnamed := make([]chain.Draft, len(events)), 0
	for i := range events {
		e := &events[i]
		thread := EventThread(e.Agent, string(e.UserID), string(e.ThreadID))
		ambient := map[string]any{"thread_id": string(e.ThreadID)}
		if e.CreatedAt != nil { // the log's own time may be later
			ambient["created_at"] = e.CreatedAt.UTC().Format(time.RFC3339Nano)
		}
		if by != nil {
			ambient["delivered_by"] = by.String()
		}
		agent, user := of(AgentNamespace, e.Agent), of(UserNamespace, string(e.UserID))
		d := chain.Draft{
			SessionHash: thread, ThreadHash: &thread, OwnerID: agent, PlayerIDs: []chain.Hash{user}, Role: &e.Role, EventType: chain.EventType(e.EventType),
			Importance: e.Importance, Channel: e.Channel, Source: &e.Source, Content: e.Content, Attachments: pointer(chain.JSON(e.Payload)), CreatedAt: e.CreatedAt, Late: true,
		}
		if e.Role == "user" {
			d.OwnerID, d.PlayerIDs = user, []chain.Hash{agent}
		}
		for _, tag := range e.Tags {
			if hash := of(TagNamespace, tag); !slices.Contains(d.Hashtags, hash) {
				d.Hashtags = append(d.Hashtags, hash)
			}
		}
		text, err := json.Marshal(ambient, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		d.Ambient = pointer(chain.JSON(text))
		if d.IdempotencyKey, err = e.key(thread, i); err != nil {
			return nil, err
		}
		if d.IdempotencyKey == nil && key != "" {
			if d.IdempotencyKey, err = callKey(by, key, unnamed); err != nil {
				return nil, err
			}
			d.KeyOf = by
			unnamed++
		}
		if err := d.Validate(fmt.Sprintf("events[%d]", i)); err != nil {
			return nil, OfEvents(err)
		}
		drafts[i] = d
	}
	return drafts, nil
}

// idOf gives an id that is a text or a number, empty for anything else.
func idOf(value jsontext.Value) string {
	switch value.Kind() {
	case '"':
		text, _ := jsontext.AppendUnquote(nil, value)
		return string(text)
	case '0':
		return plain(string(value))
	}
	return ""
}

// plain gives a number as jsonb has it, without an exponent, so that an id is the same by SQL. One of very many digits, which
// is refused there, stays as it is.
func plain(number string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	exact, ok := new(big.Rat), false
	if err == nil && max(power, -power) <= chain.MaxNameBytes {
		exact, ok = exact.SetString(number)
	}
	if !ok {
		return number
	}
	_, fraction, _ := strings.Cut(mantissa, ".")
	return exact.FloatString(max(0, len(fraction)-power))
}

// key gives the idempotency key of an event by its id within its thread, nil if it has none.
func (e *Event) key(thread chain.Hash, place int) (*string, error) {
	var ids struct {
		Frontend jsontext.Value `json:"frontend_message_id"`
		Backend  jsontext.Value `json:"backend_message_id"`
	}
	if err := json.Unmarshal(e.Payload, &ids); err != nil {
		return nil, fault.Input(fmt.Sprintf("events[%d].payload", place), "is not valid JSON: %s", trimPrefix(err))
	}
	type id struct{ kind, id string }
	known := []id{{"b", idOf(ids.Backend)}, {"f", idOf(ids.Frontend)}}
	if e.Role == "user" { // what the user said; elsewhere it may name what is answered
		slices.Reverse(known)
	}
	short := thread.String()[:32]
	for _, id := range known {
		if id.id != "" {
			key := fmt.Sprintf("event:%s:%s:%s", short, id.kind, id.id)
			if len(key) > chain.MaxNameBytes {
				return nil, fault.Input(fmt.Sprintf("events[%d].payload", place), "has a message id of more than %d bytes", chain.MaxNameBytes-len(key)+len(id.id))
			}
			return &key, nil
		}
	}
	return nil, nil
}

// callKey gives the idempotency key of an event by its place among those of a call that have no id, so that whatever else is
// sent with the call's key meets it.
func callKey(by *chain.Hash, call string, place int) (*string, error) {
	if err := chain.CheckText("Idempotency-Key", &call, chain.MaxNameBytes); err != nil {
		return nil, err
	}
	sender := "signed"
	if by != nil {
		sender = by.String()[:32]
	}
	key := fmt.Sprintf("event:call:%s:%s#%d", sender, call, place)
	if len(key) > chain.MaxNameBytes {
		return nil, fault.Input("Idempotency-Key", "has %d bytes; at most %d are allowed", len(call), chain.MaxNameBytes-len(key)+len(call))
	}
	return &key, nil
}
