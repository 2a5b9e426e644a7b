package retrieval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// client asks for context over one connection of HTTP.
type client struct {
	endpoint, token string
	http            *http.Client
}

func newClient(endpoint, token string) *client {
	return &client{endpoint, token, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

const ask = `mutation Ask($input: ContextRequestInput!) {
  requestContext(input: $input) { receipt tokens rendered items { score source { ... on Message { hash } } } }
}`

// ask asks as agents do who say nothing else, and gives how long the whole answer took.
func (c *client) ask(ctx context.Context, query string, scope map[string]any) (time.Duration, error) {
	body, err := json.Marshal(map[string]any{"query": ask, "variables": map[string]any{"input": map[string]any{
		"query": query, "scope": scope,
	}}})
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.endpoint+"/graphql", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.token)
	began := time.Now()
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	took := time.Since(began)
	if err == nil && !bytes.HasPrefix(text, []byte(`{"data":{"requestContext":{"receipt":`)) {
		err = fmt.Errorf("the server answered %s: %.300s", answer.Status, text)
	}
	return took, err
}

func scopeOf(name string, hash chain.Hash) map[string]any {
	return map[string]any{name: []chain.Hash{hash}}
}
