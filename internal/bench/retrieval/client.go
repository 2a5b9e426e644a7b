package retrieval

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tzzr/context-manager/internal/bench/wire"
	"github.com/tzzr/context-manager/internal/chain"
)

// client asks for context over one connection of HTTP.
type client struct {
	*wire.Client
	player *chain.Hash // whose token it has; nil: an administrator's
}

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
	if err := c.Ready(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = c.Ask(body, `{"data":{"requestContext":{"receipt":`)
	return time.Since(began), err
}

func scopeOf(name string, hash chain.Hash) map[string]any {
	return map[string]any{name: []chain.Hash{hash}}
}
