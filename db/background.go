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

// portion is how much is asked for at once: less after no answer came in time, so that a slow network and a slow disk get
// through in the end, and more again after one.
type portion struct{ now, most int64 }

func newPortion(most int64) portion { return portion{most, most} }

// learn takes in how asking went; ctx is that of bounded.
func (p *portion) learn(ctx context.Context, err error) {
	switch {
	case err == nil:
		p.now = min(2*p.now, p.most)
	case ctx.Err() == context.DeadlineExceeded:
		p.now = max(p.now/8, 1)
	}
}
