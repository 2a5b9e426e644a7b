package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// Client asks through the API, so that the time it takes is what a client sees: the request, the ranking and the
// whole answer.
type Client struct {
	URL   string // of /graphql
	Token string
	HTTP  *http.Client
}

// ask selects what an agent would: the messages with their scores, and the block for its prompt.
const ask = `mutation Ask($input: ContextRequestInput!) {
  requestContext(input: $input) {
    receipt
    tokens
    rendered
    items { position score source { __typename ... on Message { hash content createdAt } } }
  }
}`

// Ask implements Asker.
func (c *Client) Ask(ctx context.Context, query string, thread chain.Hash, limit int) ([]chain.Hash, time.Duration, error) {
	body, err := json.Marshal(map[string]any{"query": ask, "variables": map[string]any{"input": map[string]any{
		"query": query, "limit": limit, "threshold": 0, "scope": map[string]any{"threads": []string{thread.String()}},
	}}})
	if err != nil {
		return nil, 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.Token)
	var answer struct {
		Errors []struct{ Message string }
		Data   struct {
			RequestContext struct {
				Items []struct {
					Source struct{ Hash string }
				}
			}
		}
	}
	start := time.Now()
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&answer)
	took := time.Since(start)
	if err != nil {
		return nil, took, fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	if len(answer.Errors) > 0 {
		return nil, took, fmt.Errorf("requestContext: %s", answer.Errors[0].Message)
	}
	var messages []chain.Hash
	for _, item := range answer.Data.RequestContext.Items {
		hash, err := chain.ParseHash(item.Source.Hash)
		if err != nil {
			return nil, took, fmt.Errorf("requestContext: %w", err)
		}
		messages = append(messages, hash)
	}
	return messages, took, nil
}
