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

// choose selects at the default threshold, and tells the scores of all that was looked at.
const choose = `mutation Choose($input: ContextRequestInput!) {
  requestContext(input: $input) { items { score } dropped { score } }
}`

// Ask implements Asker.
func (c *Client) Ask(ctx context.Context, query string, thread chain.Hash, limit int) ([]chain.Hash, time.Duration, error) {
	var answer struct {
		Items []struct {
			Source struct{ Hash string }
		}
	}
	took, err := c.request(ctx, ask, map[string]any{
		"query": query, "limit": limit, "threshold": 0, "scope": map[string]any{"threads": []string{thread.String()}},
	}, &answer)
	if err != nil {
		return nil, took, err
	}
	var messages []chain.Hash
	for _, item := range answer.Items {
		hash, err := chain.ParseHash(item.Source.Hash)
		if err != nil {
			return nil, took, fmt.Errorf("requestContext: %w", err)
		}
		messages = append(messages, hash)
	}
	return messages, took, nil
}

// Select implements Selector.
func (c *Client) Select(ctx context.Context, query string, thread chain.Hash) (selected int, best float64, err error) {
	type scored struct{ Score float64 }
	var answer struct{ Items, Dropped []scored }
	input := map[string]any{"query": query, "scope": map[string]any{"threads": []string{thread.String()}}}
	if _, err := c.request(ctx, choose, input, &answer); err != nil {
		return 0, 0, err
	}
	for _, item := range append(answer.Items, answer.Dropped...) {
		best = max(best, item.Score)
	}
	return len(answer.Items), best, nil
}

// request calls requestContext, reads its answer into the value that is pointed to, and tells how long that took.
func (c *Client) request(ctx context.Context, operation string, input map[string]any, into any) (time.Duration, error) {
	body, err := json.Marshal(map[string]any{"query": operation, "variables": map[string]any{"input": input}})
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.Token)
	var answer struct {
		Errors []struct{ Message string }
		Data   struct{ RequestContext any }
	}
	answer.Data.RequestContext = into
	start := time.Now()
	response, err := c.HTTP.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&answer)
	took := time.Since(start)
	if err != nil {
		return took, fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	if len(answer.Errors) > 0 {
		return took, fmt.Errorf("requestContext: %s", answer.Errors[0].Message)
	}
	return took, nil
}
