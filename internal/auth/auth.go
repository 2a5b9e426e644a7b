// Package auth says who is calling: it makes and checks tokens, keeps the console's sessions, and hands the caller
// on in the request's context. What a caller may do is for others to decide. It never logs or shows a token.
package auth

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// Role is what a caller is, apart from which player.
type Role string

// The roles.
const (
	Admin  Role = "admin"  // sees and does everything
	Agent  Role = "agent"  // a program that acts as its player
	Client Role = "client" // a person who acts as their player
	Hook   Role = "hook"   // a program that only delivers events
)

// Roles are all roles.
var roles = []Role{Admin, Agent, Client, Hook}

// Caller is whoever a request comes from.
type Caller struct {
	Player  chain.Hash
	Role    Role
	Scopes  Scopes
	TokenID string    // a UUID; empty for the token of the data directory's file and for those of an OpenID provider
	Expires time.Time // zero: never
}

// IsAdmin tells whether the caller is an administrator.
func (c Caller) IsAdmin() bool { return c.Role == Admin }

// Administrator is the caller that the token of the data directory's file stands for: the player "admin" of the system,
// with all scopes, for ever.
func Administrator() Caller {
	return Caller{Player: component.DefaultHash("ply", "admin"), Role: Admin, Scopes: AllScopes}
}

// Verifier tells whose a token is. The error is UNAUTHENTICATED if it is nobody's, and UNAVAILABLE if that cannot be told
// now. It is safe for concurrent use.
type Verifier interface {
	Verify(ctx context.Context, token string) (Caller, error)
}

type contextKey struct{}

type outcome struct {
	caller  Caller
	err     error
	session func() bool // whether the console's session that the caller came with is open; nil without one
}

// WithCaller gives a context in which From finds the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, outcome{caller: c})
}

// From gives the caller, or UNAUTHENTICATED with the reason why there is none.
func From(ctx context.Context) (Caller, error) {
	o, ok := ctx.Value(contextKey{}).(outcome)
	if !ok {
		return Caller{}, errNoToken()
	}
	return o.caller, o.err
}

func errNoToken() error {
	return fault.New(fault.Unauthenticated,
		"no token: send it as `Authorization: Bearer …`, or sign in to the console")
}
