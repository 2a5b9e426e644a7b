package graph

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
)

// Only those who come with the same token, and ask for the same, share what they are told.
func TestWhoShares(t *testing.T) {
	t.Parallel()
	s := &sharing{alike: map[[sha256.Size]byte]*alike{}}
	ana := auth.Caller{Player: chain.Hash{1}, Role: auth.Agent, Scopes: auth.LogRead, TokenID: "1"}
	of := func(query, name string, variables map[string]any) *graphql.OperationContext {
		return &graphql.OperationContext{RawQuery: query, OperationName: name, Variables: variables}
	}
	ctx, leave := context.WithCancel(auth.WithCaller(t.Context(), ana))
	defer leave()
	const query = "subscription { messageAppended { hash } }"
	first := s.join(ctx, of(query, "", map[string]any{"s": []any{"a"}, "t": nil}))
	if s.join(ctx, of(query, "", map[string]any{"t": nil, "s": []any{"a"}})) != first {
		t.Error("two who ask for the same share nothing")
	}
	for what, other := range map[string]auth.Caller{
		"player": {Player: chain.Hash{2}, Role: ana.Role, Scopes: ana.Scopes, TokenID: ana.TokenID},
		"role":   {Player: ana.Player, Role: auth.Client, Scopes: ana.Scopes, TokenID: ana.TokenID},
		"scopes": {Player: ana.Player, Role: ana.Role, Scopes: auth.AllScopes, TokenID: ana.TokenID},
		"token":  {Player: ana.Player, Role: ana.Role, Scopes: ana.Scopes, TokenID: "2"},
	} {
		if s.join(auth.WithCaller(ctx, other), of(query, "", map[string]any{"s": []any{"a"}, "t": nil})) == first {
			t.Errorf("another %s shares what the first is told", what)
		}
	}
	for what, other := range map[string]*graphql.OperationContext{
		"query":     of(query+" ", "", map[string]any{"s": []any{"a"}, "t": nil}),
		"name":      of(query, "x", map[string]any{"s": []any{"a"}, "t": nil}),
		"variables": of(query, "", map[string]any{"s": []any{"b"}, "t": nil}),
		"none":      of(query, "", nil),
	} {
		if s.join(ctx, other) == first {
			t.Errorf("who asks with another %s shares what the first is told", what)
		}
	}
	leave()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		left := len(s.alike)
		s.mu.Unlock()
		if left == 0 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%d are kept when all have left", left)
		}
	}
}

// An event is kept for a moment, for the others if there are any, unless it is large or says more than data.
func TestWhatIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		data := []byte(`{"n":1}`)
		alone := &alike{members: 1}
		if alone.put(1, &graphql.Response{Data: data}); alone.get(1) != nil {
			t.Error("an event is kept for nobody")
		}
		a := &alike{members: 2}
		a.put(1, &graphql.Response{Data: data})
		copy(data, "xxxxxxx") // the executor's buffer, that it uses again
		if got := a.get(1); got == nil || string(got.Data) != `{"n":1}` {
			t.Errorf("the event is %v", got)
		}
		if a.get(2) != nil {
			t.Error("another message has the event of the first")
		}
		for what, r := range map[string]*graphql.Response{
			"nothing":    nil,
			"errors":     {Data: []byte("null"), Errors: gqlerror.List{{Message: "no"}}},
			"extensions": {Data: []byte("{}"), Extensions: map[string]any{"a": 1}},
			"much":       {Data: []byte(strings.Repeat(" ", mostShare+1))},
		} {
			if a.put(3, r); a.get(3) != nil {
				t.Errorf("an event with %s is kept", what)
			}
		}
		if time.Sleep(shareFor + 1); a.get(1) != nil {
			t.Error("an event is kept for longer than a moment")
		}
	})
}
