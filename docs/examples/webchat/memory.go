package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// What the model is told first. It stays the same from call to call, so that a provider's prompt cache holds.
const rolePrompt = "You are the assistant of a small web chat. Be brief and friendly."

var rules = map[string]string{
	"en": "Answer in English. Say so when you do not know something.",
	"es": "Answer in Spanish. Say so when you do not know something.",
}

const (
	memoryTimeout = 15 * time.Second // of a call to the context manager
	maxAnswerBody = 16 << 20         // bytes of what is read of any answer
)

// memory is the context manager, which keeps all that this chat knows.
type memory struct {
	url, token string
	budget     int // of a prompt, in tokens
}

// fault is an error with a code: the context manager's own, or one of model.go. It holds nothing of what was said.
type fault struct{ code, message string }

func (f *fault) Error() string { return f.code + ": " + f.message }

// code gives the code of a fault; empty for any other error.
func code(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.code
	}
	return ""
}

// isPassing tells whether the same call may well succeed later: nothing has answered, or the context manager cannot serve now.
func isPassing(err error) bool {
	switch code(err) {
	case "", "UNAVAILABLE", "RATE_LIMITED":
		return err != nil
	}
	return false
}

// conversation is what a visitor is shown of one: the log, which has more than the ten turns that are remembered.
type conversation struct {
	ID      string // client:{visitor}:{uuid}; empty: there is none
	Session *struct {
		Messages struct{ Edges []struct{ Node message } }
	}
}

type message struct {
	Hash    string `json:"id"`
	Role    string `json:"role"`
	Content string `json:"text"` // empty once it was erased
}

func (c *conversation) messages() []message {
	said := []message{}
	if c.Session != nil {
		for _, e := range c.Session.Messages.Edges {
			if m := e.Node; (m.Role == "user" || m.Role == "assistant") && m.Content != "" {
				said = append(said, m)
			}
		}
	}
	return said
}

const conversationFields = ` { id session { messages(last: 100) { edges { node { id: hash role text: content } } } } }`

// start begins a conversation.
func (m *memory) start(ctx context.Context, visitor string) (c conversation, err error) {
	err = m.ask(ctx, `mutation($u: String!) { it: startConversation(role: CLIENT, userId: $u)`+conversationFields+` }`, map[string]any{"u": visitor}, &c)
	return c, err
}

// latest gives the id of a visitor's latest conversation; empty if all have expired.
func (m *memory) latest(ctx context.Context, visitor string) (string, error) {
	var found []conversation
	err := m.ask(ctx, `query($u: String!) { it: conversations(role: CLIENT, userId: $u) { id } }`, map[string]any{"u": visitor}, &found)
	return append(found, conversation{})[0].ID, err
}

// read gives a conversation; without an id if it has expired.
func (m *memory) read(ctx context.Context, id string) (c conversation, err error) {
	err = m.ask(ctx, `query($c: String!) { it: conversation(id: $c)`+conversationFields+` }`, map[string]any{"c": id}, &c)
	return c, err
}

// prompt gives what to ask the model, in the form that it takes.
func (m *memory) prompt(ctx context.Context, id, text, language string) (messages json.RawMessage, err error) {
	err = m.ask(ctx, `mutation($c: String!, $t: String!, $p: String!, $r: String!, $b: Int!) {
		it: promptMessages(conversation: $c, input: $t, rolePrompt: $p, rules: $r, context: {query: $t}, tokenBudget: $b) { role content } }`,
		map[string]any{"c": id, "t": text, "p": rolePrompt, "r": rules[language], "b": m.budget}, &messages)
	return messages, err
}

// record keeps what was said; with the same key once.
func (m *memory) record(ctx context.Context, id, key, user, assistant string) (c conversation, err error) {
	err = m.ask(ctx, `mutation($c: String!, $k: String!, $u: String!, $a: String!) {
		it: recordExchange(conversation: $c, user: $u, assistant: $a, idempotencyKey: $k)`+conversationFields+` }`,
		map[string]any{"c": id, "k": key, "u": user, "a": assistant}, &c)
	return c, err
}

// ask asks the GraphQL API for one field, which is called it.
func (m *memory) ask(ctx context.Context, query string, variables map[string]any, it any) error {
	return m.call(ctx, "/graphql", map[string]any{"query": query, "variables": variables}, it)
}

// deliver writes an event: the same one, by its backend_message_id, once.
func (m *memory) deliver(ctx context.Context, event map[string]any) error {
	return m.call(ctx, "/hooks/events", event, nil)
}

func (m *memory) call(ctx context.Context, path string, what, it any) error {
	status, body, err := post(ctx, memoryTimeout, m.url+path, m.token, what)
	if err != nil {
		return err
	}
	var answer struct {
		Data   struct{ It any }
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	answer.Data.It = it
	if json.Unmarshal(body, &answer) != nil || status != http.StatusOK && len(answer.Errors) == 0 {
		return &fault{"UNAVAILABLE", http.StatusText(status) + ", which is no context manager's answer"}
	}
	for _, e := range answer.Errors {
		return &fault{e.Extensions.Code, e.Message}
	}
	return nil
}

// post sends JSON with a bearer token, if there is one, and gives what is answered, whatever the status.
func post(ctx context.Context, limit time.Duration, url, token string, what any) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := json.Marshal(what)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(http.MaxBytesReader(nil, response.Body, maxAnswerBody))
	return response.StatusCode, body, err
}
