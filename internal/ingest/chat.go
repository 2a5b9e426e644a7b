package ingest

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// What stands where a message of a chat has no text.
const (
	noContent   = "[empty]"
	chatChannel = "chat"
	chatSource  = "import"
)

// Roles of chats that mean more than who speaks.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleTool      = "tool"
	roleFunction  = "function"
)

type chat struct {
	Messages []chatMessage  `json:"messages"`
	Rest     jsontext.Value `json:",unknown"` // model, tools, …: kept with the first message
}

type chatMessage struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	Rest    jsontext.Value `json:",unknown"` // tool_calls, tool_call_id, name, …
}

// chatAttachments keeps what a message's text does not hold.
type chatAttachments struct {
	Chat  jsontext.Value   `json:"chat,omitzero"`  // the fields of the chat next to messages
	Parts []jsontext.Value `json:"parts,omitzero"` // parts of the content that are not only text
	Rest  jsontext.Value   `json:",unknown"`
}

// readChat reads a chat in OpenAI's style: one thread and one session, both named "chat:<SHA-256>:<ordinal>". The
// roles are its players, and what somebody says goes to the other side. It has no dates: its messages get the
// time of their import.
func readChat(values *values, v value, ordinals *ordinals, add func(*row) error) error {
	var read chat
	if err := values.decode(v, &read); err != nil {
		return err
	}
	name, err := ordinals.key("chat", v.json)
	if err != nil {
		return err
	}
	for i := range read.Messages {
		rest := jsontext.Value(nil)
		if i == 0 {
			rest = read.Rest
		}
		row, err := read.Messages[i].toRow(name, i, rest)
		if err != nil {
			return values.explainRow(v, inList("messages", i, err))
		}
		row.line, _ = values.lines.at(v.offset)
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}

// inList gives a fault with the field's path below list[i].
func inList(list string, i int, err error) error {
	if f, ok := ofRow(err).(*fault.Error); ok {
		inner := *f
		inner.Field = fmt.Sprintf("%s[%d]", list, i)
		if f.Field != "" {
			inner.Field += "." + f.Field
		}
		return &inner
	}
	return err
}

func (c *chatMessage) toRow(name string, i int, rest jsontext.Value) (*row, error) {
	if c.Role == "" {
		return nil, fault.Input("role", "is missing")
	}
	text, parts, err := c.text()
	if err != nil {
		return nil, err
	}
	attachments, err := json.Marshal(chatAttachments{Chat: rest, Parts: parts, Rest: c.Rest})
	if err != nil {
		return nil, fmt.Errorf("attachments: %w", err)
	}
	m := new(message)
	key, thread := fmt.Sprintf("%s:%d", name, i), ThreadHash(name)
	m.draft = chain.Draft{
		SessionHash: SessionHash(name), ThreadHash: &thread, Role: &c.Role, EventType: chatEvent(c.Role), Content: text,
		Attachments: exactJSON(attachments), Channel: pointer(chatChannel), Source: pointer(chatSource), IdempotencyKey: &key,
	}
	if err := m.component("role", string(defaultPlayer)+":"+c.Role, defaultPlayer, &m.draft.OwnerID); err != nil {
		return nil, err
	}
	if err := m.list("role", []string{otherSide(c.Role)}, defaultPlayer, &m.draft.PlayerIDs); err != nil {
		return nil, err
	}
	return &row{message: m}, m.validate()
}

// text gives what a message says, and the parts of its content that are not only text. What has no text at all is
// described by its tool calls or parts, in brackets.
func (c *chatMessage) text() (string, []jsontext.Value, error) {
	var texts []string
	var parts []jsontext.Value
	switch c.Content.Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(c.Content, &text); err != nil {
			return "", nil, err
		}
		texts = append(texts, text)
	case '[':
		var list []jsontext.Value
		if err := json.Unmarshal(c.Content, &list); err != nil {
			return "", nil, err
		}
		for _, part := range list {
			text, isText, more := textOf(part)
			if isText {
				texts = append(texts, text)
			}
			if more {
				parts = append(parts, part)
			}
		}
	case 'n', 0: // absent
	default:
		return "", nil, fault.Input("content", "cannot be a JSON %s: a string or a list of parts belongs here", kindName(c.Content.Kind()))
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		text = c.describe(parts)
	}
	return text, parts, nil
}

// textOf reads a part of type text (or input_text, output_text), or a bare string. more is whether the part holds
// anything else.
func textOf(part jsontext.Value) (text string, isText, more bool) {
	if json.Unmarshal(part, &text) == nil {
		return text, true, false
	}
	var typed struct {
		Type string         `json:"type"`
		Text *string        `json:"text"`
		Rest jsontext.Value `json:",unknown"`
	}
	if json.Unmarshal(part, &typed) != nil || typed.Text == nil || (typed.Type != "text" && !strings.HasSuffix(typed.Type, "_text")) {
		return "", false, true
	}
	return *typed.Text, true, typed.Rest != nil
}

// describe says in words what a message without text holds.
func (c *chatMessage) describe(parts []jsontext.Value) string {
	type call struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}
	var said []string
	var calls struct {
		ToolCalls []struct {
			Function call `json:"function"`
		} `json:"tool_calls"`
		FunctionCall *call   `json:"function_call"`
		Refusal      *string `json:"refusal"`
	}
	if c.Rest != nil && json.Unmarshal(c.Rest, &calls) == nil {
		for _, t := range calls.ToolCalls {
			said = append(said, fmt.Sprintf("[call %s %v]", t.Function.Name, t.Function.Arguments))
		}
		if f := calls.FunctionCall; f != nil {
			said = append(said, fmt.Sprintf("[call %s %v]", f.Name, f.Arguments))
		}
		if calls.Refusal != nil && *calls.Refusal != "" {
			said = append(said, *calls.Refusal)
		}
	}
	for _, part := range parts {
		var typed struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(part, &typed) == nil && typed.Type != "" {
			said = append(said, "["+typed.Type+"]")
		}
	}
	if len(said) == 0 {
		return noContent
	}
	return strings.Join(said, "\n")
}

func chatEvent(role string) chain.EventType {
	switch role {
	case roleTool, roleFunction:
		return chain.EventTool
	case roleSystem, roleDeveloper:
		return chain.EventSystem
	}
	return chain.EventMessage
}

func otherSide(role string) string {
	if role == roleAssistant {
		return roleUser
	}
	return roleAssistant
}

func pointer[T any](v T) *T { return &v }
