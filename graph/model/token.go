package model

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
)

// Token is a token as it is kept.
type Token struct{ db.Token }

// Kind is what it makes of whoever has it.
func (t Token) Kind() auth.Role { return t.Role }

// Scopes is what it may be used for.
func (t Token) Scopes() []string { return t.Token.Scopes.Names() }

// TokenConnection is a page of tokens.
type TokenConnection struct {
	Edges    []TokenEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c TokenConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// MarshalTokenKind writes what a token makes of whoever has it.
func MarshalTokenKind(v auth.Role) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalTokenKind reads what a token makes of whoever has it.
func UnmarshalTokenKind(v any) (auth.Role, error) { return unmarshalEnum[auth.Role](v) }

// MarshalTokenState writes whether a token may be used.
func MarshalTokenState(v db.TokenState) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalTokenState reads whether a token may be used.
func UnmarshalTokenState(v any) (db.TokenState, error) { return unmarshalEnum[db.TokenState](v) }
