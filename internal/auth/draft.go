package auth

import (
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of a token. The database holds the same.
const (
	MaxNoteBytes    = 256
	MaxLifetimeDays = 366
)

// DefaultLifetimeDays gives how long a token of a role lives unless it is made with another end.
func DefaultLifetimeDays(role Role) int {
	switch role {
	case Admin, Client:
		return 30
	default:
		return 90
	}
}

// Draft is a token that somebody wants to make.
type Draft struct {
	Role    Role
	Player  chain.Hash
	Scopes  Scopes     // none: those of DefaultScopes that the maker's token has too
	Note    string     // what it is for
	Expires *time.Time // nil: after DefaultLifetimeDays
}

// Complete checks what can be checked without the database, and whether the caller may make such a token: nobody gives
// a scope that their own token lacks, and only administrators make tokens of other players or of administrators. It
// fills in the scopes. The fault names the field below field.
func (d *Draft) Complete(by Caller, field string) error {
	if _, ok := prefixes[d.Role]; !ok {
		return fault.Input(field+".kind", "%q is no kind of token", d.Role)
	}
	if !by.IsAdmin() && d.Role == Admin {
		return forbidden(field+".kind", "only administrators make tokens of administrators")
	}
	if !by.IsAdmin() && d.Player != by.Player {
		return forbidden(field+".player", "is not your token's player; only administrators make tokens of others")
	}
	if err := chain.CheckText(field+".note", &d.Note, MaxNoteBytes); err != nil {
		return err
	}
	if d.Scopes == 0 {
		d.Scopes = DefaultScopes(d.Role) & by.Scopes
	}
	if lacking := d.Scopes &^ by.Scopes; lacking != 0 {
		return forbidden(field+".scopes", "your own token lacks "+lacking.String())
	}
	if d.Scopes == 0 {
		return forbidden(field+".scopes", "your own token has none of the scopes of this kind; name some that it has: "+by.Scopes.String())
	}
	return nil
}

func forbidden(field, message string) error {
	return &fault.Error{Code: fault.Forbidden, Field: field, Message: message}
}
