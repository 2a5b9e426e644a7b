package db

import (
	"context"
	"time"
)

// statementLimit is how long the database may take to answer what is asked in the background, where nobody gives up by
// himself: something on the way may take what is sent, and be dead.
const statementLimit = 10 * time.Second

// bounded gives a context for such a question, which ends too when the pool's connections are replaced.
func (p *pool) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := p.untilReplaced(ctx)
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	return ctx, func() { cancel(); end() }
}
