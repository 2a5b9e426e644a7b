package graph

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/overload"
)

// Admission says how many operations may be at work at once, those that read, those that write and those that search
// apart: none keeps the others out. Checks of chains and subscriptions take long, have limits of their own, and do not
// count; what is asked for beside a check does. Nil gates let everything in.
type Admission struct {
	Reads, Writes *overload.Gate
	Searches      *overload.Gate // of context, which are mutations since they are kept

	unread *overload.Room // bytes of large answers
}

// whoAsks names the caller among those whom places, and room, are shared between: all tokens of a player are one.
func whoAsks(ctx context.Context) string {
	caller, err := auth.From(ctx)
	if err != nil {
		return ""
	}
	return string(caller.Player[:])
}

// gates gives the gates that an operation has to pass. Its fragments are among those given.
func (a Admission) gates(op *ast.OperationDefinition, fragments ast.FragmentDefinitionList) []*overload.Gate {
	if op.Operation == ast.Subscription {
		return nil
	}
	var found rootKinds
	found.add(op.SelectionSet, fragments)
	var gates []*overload.Gate
	switch {
	case found.others && op.Operation == ast.Mutation:
		gates = append(gates, a.Writes)
		if found.leadsOn {
			gates = append(gates, a.Reads)
		}
	case found.others:
		gates = append(gates, a.Reads)
	}
	if found.searches {
		gates = append(gates, a.Searches)
	}
	return gates
}

// rootKinds are the kinds of fields that an operation has at its root. leadsOn says that others give objects of which further
// objects are asked for, which have to be read.
type rootKinds struct{ searches, others, leadsOn bool }

func (k *rootKinds) add(set ast.SelectionSet, fragments ast.FragmentDefinitionList) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			switch {
			case isSearch(x):
				k.searches = true
			case !isCheck(x):
				k.others = true
				k.leadsOn = k.leadsOn || hasObjects(x.SelectionSet, fragments)
			}
		case *ast.InlineFragment:
			k.add(x.SelectionSet, fragments)
		case *ast.FragmentSpread: // in a document that is not valid yet, it does not know its definition
			if f := fragments.ForName(x.Name); f != nil {
				k.add(f.SelectionSet, fragments)
			}
		}
	}
}

// hasObjects tells whether fields are asked for that have fields of their own.
func hasObjects(set ast.SelectionSet, fragments ast.FragmentDefinitionList) bool {
	return slices.ContainsFunc(set, func(selection ast.Selection) bool {
		switch x := selection.(type) {
		case *ast.Field:
			return len(x.SelectionSet) > 0
		case *ast.InlineFragment:
			return hasObjects(x.SelectionSet, fragments)
		case *ast.FragmentSpread:
			f := fragments.ForName(x.Name)
			return f != nil && hasObjects(f.SelectionSet, fragments)
		}
		return false
	})
}

// isSearch tells whether a root field searches for context. No other fields have these names.
func isSearch(f *ast.Field) bool {
	switch f.Name {
	case "requestContext", "replayContext", "tryContext", "whyNot", "selectIntoWindow":
		return true
	case "promptMessages":
		return f.Arguments.ForName("context") != nil
	}
	return false
}

// pass finds the places that an operation needs.
func (a Admission) pass(ctx context.Context, op *ast.OperationDefinition, fragments ast.FragmentDefinitionList) (leave func(), err error) {
	var left []func()
	leave = func() {
		for _, leave := range left {
			leave()
		}
	}
	for _, gate := range a.gates(op, fragments) {
		one, err := gate.Enter(ctx, whoAsks(ctx))
		if err != nil {
			leave()
			return nil, err
		}
		left = append(left, one)
	}
	return leave, nil
}

// enter finds a place for the operation of an HTTP request, which keeps it until it leaves. Who leaves as many large answers
// unread as there is room for has to have room for another before there is a place.
func (a Admission) enter(ctx context.Context, x *exchange, op *ast.OperationDefinition, fragments ast.FragmentDefinitionList) *gqlerror.Error {
	room, err := true, error(errUnread)
	if op.Operation != ast.Subscription {
		x.aside, room = a.unread.SetAside(whoAsks(ctx))
	}
	if room {
		x.leave, err = a.pass(ctx, op, fragments)
	}
	if err != nil {
		x.full = err
		return noPlace
	}
	return nil
}

// noPlace stands for the refusal that writeFull answers with.
var noPlace = &gqlerror.Error{}

// end gives back what the answer to a request has held.
func (a Admission) end(ctx context.Context, x *exchange) {
	if x.leave != nil {
		x.leave()
	}
	a.unread.Settle(whoAsks(ctx), x.aside, 0)
	x.aside = 0
	if x.held != nil {
		x.held.release()
	}
}

// writeFull answers who found no place, with as little work as can be.
func writeFull(w http.ResponseWriter, r *http.Request, err error) {
	httpd.Quiet(r.Context())
	w.Header().Set("Retry-After", overload.RetryAfter)
	body := fullBody
	if !errors.Is(err, overload.ErrFull) {
		body = errorBody(err)
	}
	writeErrorBody(w, r, http.StatusServiceUnavailable, fault.CodeOf(err), body)
}

var fullBody = errorBody(overload.ErrFull)

// Large answers are counted while they are being read, so that who reads slowly takes memory from nobody but others who do.
const (
	mostUnread  = 256 << 20 // bytes of all of them
	largeAnswer = 1 << 20
)

var (
	errUnread     = fault.New(fault.Unavailable, "large answers wait to be read; nothing was done, read them and try again")
	errUnreadable = fault.New(fault.Unavailable, "large answers wait to be read, and there is no room for this one: try again once they are")
)

// around finds places for operations on WebSockets, and gives back those of HTTP requests once their answer is there: who
// reads slowly keeps nobody out. It is a gqlgen OperationMiddleware.
func (a Admission) around(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	of, x := graphql.GetOperationContext(ctx), exchangeFrom(ctx)
	large := &held{room: a.unread, who: whoAsks(ctx)}
	if x != nil {
		x.held = large
	}
	if of.Operation.Operation == ast.Subscription {
		return large.events(next(ctx))
	}
	leave := func() {}
	switch {
	case x == nil:
		var err error
		if leave, err = a.pass(ctx, of.Operation, of.Doc.Fragments); err != nil {
			return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{refuse(ctx, 0, fault.CodeOf(err), "%s", err)}})
		}
		context.AfterFunc(ctx, leave) // if nobody asks for the answer
	case x.leave != nil:
		leave = x.leave
	}
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		leave()
		if response == nil {
			large.release()
			return nil
		}
		var aside int64
		if x != nil {
			aside, x.aside = x.aside, 0
		}
		if large.hold(ctx, response, aside) {
			return response
		}
		err := errUnreadable
		if of.Operation.Operation == ast.Mutation {
			err = fault.New(err.Code, "%s; what it wrote is written", err.Message)
		}
		return &graphql.Response{Errors: gqlerror.List{refuse(ctx, http.StatusServiceUnavailable, err.Code, "%s", err)}}
	}
}

// held is what the large responses of an operation hold in the room for those that are not read yet.
type held struct {
	room *overload.Room
	who  string
	mu   sync.Mutex
	size int64
	stop func() bool // no longer waiting for the operation's end
}

// hold counts a response until the next comes, or the operation ends. It tells whether there is room; what was set aside for
// it is given back.
func (h *held) hold(ctx context.Context, response *graphql.Response, aside int64) bool {
	h.release()
	var size int64
	if len(response.Data) > largeAnswer {
		size = min(int64(len(response.Data)), mostUnread/2)
	}
	if size == 0 && aside == 0 {
		return true
	}
	if !h.room.Settle(h.who, aside, size) {
		return false
	}
	if size == 0 {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.size, h.stop = size, context.AfterFunc(ctx, h.release)
	return true
}

func (h *held) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.size > 0 {
		h.stop()
		h.room.Give(h.who, h.size)
		h.size = 0
	}
}

// events counts the events of a stream one after the other. One that there is no room for ends it: its client can subscribe
// again, and read what it has missed.
func (h *held) events(respond graphql.ResponseHandler) graphql.ResponseHandler {
	ended := false
	return func(ctx context.Context) *graphql.Response {
		if ended {
			return nil
		}
		response := respond(ctx)
		if response == nil {
			h.release()
			return nil
		}
		if h.hold(ctx, response, 0) {
			return response
		}
		ended = true
		err := refuse(ctx, 0, errUnreadable.Code, "%s", errUnreadable)
		if exchangeFrom(ctx) == nil {
			transport.AddSubscriptionError(ctx, err)
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{err}}
	}
}
