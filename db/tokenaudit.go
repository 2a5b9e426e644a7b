package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/auth"
)

// TokenEventKind says what happened to a token.
type TokenEventKind string

// What happens to tokens by somebody's will.
const (
	TokenCreated    TokenEventKind = "created"
	TokenRevocation TokenEventKind = "revoked"
)

// TokenEvent is a change of the tokens, for the record.
type TokenEvent struct {
	Kind  TokenEventKind
	Token Token
	By    auth.Caller
}

// auditToken puts a change of the tokens on record, in the transaction of the change: an error undoes it.
func (d *DB) auditToken(ctx context.Context, _ pgx.Tx, e TokenEvent) error {
	d.log.InfoContext(ctx, "token changed", "what", e.Kind, "token", e.Token.ID, "kind", e.Token.Role, "player", e.Token.Player,
		"scopes", e.Token.Scopes, "by", e.By.Player, "by_token", e.By.TokenID)
	return nil
}
