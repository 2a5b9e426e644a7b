package chaos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
)

// patience is how long a client waits for an answer: longer than the server may take for any, so that an answer that
// comes too late is measured, and one that never comes is known.
const patience = 45 * time.Second

// client asks one server. Safe for concurrent use.
type client struct {
	addr, token string
	http        *http.Client
}

func (v *server) client(connections int) *client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.Proxy = connections, connections, nil
	return &client{addr: v.addr, token: v.token, http: &http.Client{Transport: t}}
}

// with is the same client with another token.
func (c *client) with(token string) *client { return &client{addr: c.addr, token: token, http: c.http} }

// refusal is an error that the server answered.
type refusal struct {
	code, message string
}

// Error gives both.
func (r *refusal) Error() string { return r.code + ": " + r.message }

// ask asks the API and reads the data.
func (c *client) ask(ctx context.Context, query string, variables, data any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	return c.send(ctx, body, data)
}

// send asks with a body that was made before.
func (c *client) send(ctx context.Context, body []byte, data any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.addr+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Data   jsontext.Value `json:"data"`
		Errors []struct {
			Message    string `json:"message"`
			Extensions struct {
				Code string `json:"code"`
			} `json:"extensions"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return &refusal{response.Status, string(text[:min(len(text), 200)])}
	}
	if len(answer.Errors) > 0 {
		return &refusal{answer.Errors[0].Extensions.Code, answer.Errors[0].Message}
	}
	if data == nil {
		return nil
	}
	return json.Unmarshal(answer.Data, data)
}

// outcome names how a request went.
func outcome(err error) (code, message string) {
	var r *refusal
	switch {
	case err == nil:
		return answered, ""
	case errors.As(err, &r):
		return r.code, r.message
	case errors.Is(err, context.DeadlineExceeded):
		return silent, ""
	}
	return transport, err.Error()
}

const appendQuery = `mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { hash sequence } }`

// message is what the harness appends.
type message struct {
	Session string `json:"sessionHash"`
	Owner   string `json:"ownerId"`
	Content string `json:"content"`
	Key     string `json:"idempotencyKey"`
}

// append appends one message, and gives its hash and its place in its session.
func (c *client) append(ctx context.Context, m message) (hash string, sequence int, err error) {
	var data struct {
		AppendMessages []struct {
			Hash     string `json:"hash"`
			Sequence int    `json:"sequence"`
		} `json:"appendMessages"`
	}
	err = c.ask(ctx, appendQuery, map[string]any{"m": []message{m}}, &data)
	if err == nil && len(data.AppendMessages) != 1 {
		err = errors.New("one message was appended, and the answer has another number")
	}
	if err != nil {
		return "", 0, err
	}
	return data.AppendMessages[0].Hash, data.AppendMessages[0].Sequence, nil
}

func hashOf(text string) string { return chain.Sum([]byte(text)).String() }
