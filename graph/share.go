package graph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
)

// An event that many are told is made once, if it is as new as this and no larger.
const (
	shareFor  = time.Second
	mostShare = 16 << 10 // bytes
)

// sharing makes the event of a message once for all subscriptions that ask for the same, with the same token. It would
// come out the same for each; what is nested in it may be as old as shareFor.
type sharing struct {
	mu    sync.Mutex
	alike map[[sha256.Size]byte]*alike
}

// alike are subscriptions whose events are the same, and the event that was made last.
type alike struct {
	mu      sync.Mutex
	members int // under the lock of sharing as well, to be changed
	message int64
	made    time.Time
	data    []byte
}

// delivery is how messages come to a subscription: the executor takes each from next, where it is put as soon as the
// executor asks for it.
type delivery struct {
	ctx  context.Context // the resolver's
	feed *db.Subscription
	next chan *model.Message
}

type deliveryKey struct{}

// deliver gives the channel of a subscription to messages. ctx is the resolver's.
func deliver(ctx context.Context, feed *db.Subscription) <-chan *model.Message {
	d := ctx.Value(deliveryKey{}).(*delivery)
	d.ctx, d.feed, d.next = ctx, feed, make(chan *model.Message, 1)
	return d.next
}

// around is a gqlgen OperationMiddleware, and belongs within all others.
func (s *sharing) around(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	of := graphql.GetOperationContext(ctx)
	if of.Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	d := &delivery{}
	respond := next(context.WithValue(ctx, deliveryKey{}, d))
	if d.feed == nil { // not to messages
		return respond
	}
	if x := exchangeFrom(ctx); x != nil {
		x.more = d.feed.Waits
	}
	with := s.join(ctx, of)
	return func(ctx context.Context) *graphql.Response {
		m, err := d.feed.Next(ctx)
		if err != nil {
			endStream(d.ctx, err)
			return nil
		}
		if made := with.get(m.ID); made != nil {
			return made
		}
		d.next <- &model.Message{Message: *m}
		response := respond(ctx)
		with.put(m.ID, response)
		return response
	}
}

// join finds the subscriptions that are like one, until ctx ends.
func (s *sharing) join(ctx context.Context, of *graphql.OperationContext) *alike {
	caller, _ := auth.From(ctx)
	what, err := json.Marshal([]any{caller, of.RawQuery, of.OperationName, of.Variables})
	if err != nil { // of a variable that is no JSON, which none is
		return &alike{}
	}
	key := sha256.Sum256(what)
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.alike[key]
	if a == nil {
		a = &alike{}
		s.alike[key] = a
	}
	a.count(1)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if a.count(-1) == 0 {
			delete(s.alike, key)
		}
	})
	return a
}

func (a *alike) count(more int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.members += more
	return a.members
}

// get gives the event of a message, nil if it has to be made.
func (a *alike) get(message int64) *graphql.Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.message != message || a.data == nil || time.Since(a.made) > shareFor {
		return nil
	}
	return &graphql.Response{Data: a.data}
}

// put keeps an event for the others, unless there are none, or it holds more than data.
func (a *alike) put(message int64, r *graphql.Response) {
	if r == nil || len(r.Errors) > 0 || len(r.Extensions) > 0 || r.HasNext != nil || len(r.Data) > mostShare {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.members > 1 {
		a.message, a.made, a.data = message, time.Now(), bytes.Clone(r.Data)
	}
}
