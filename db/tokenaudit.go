package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
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

// auditToken puts a change of the tokens on record in the audit session of who made it, in the transaction of the change:
// an error undoes it.
func (d *DB) auditToken(ctx context.Context, tx pgx.Tx, e TokenEvent) error {
	what, t := "Made", &e.Token
	if e.Kind == TokenRevocation {
		what = "Revoked"
	}
	_, err := putOnRecord(ctx, dbgen.New(tx), e.By, auditDetails{
		Kind: auditToken + string(e.Kind), Token: t.ID, TokenKind: string(t.Role), Player: &t.Player, Scopes: t.Scopes.Names(),
		ExpiresAt: t.ExpiresAt.Format(time.RFC3339),
	}, "%s a token of the kind %s for the player %s.", what, t.Role, t.Player)
	if err != nil {
		return err
	}
	d.log.InfoContext(ctx, "token changed", "what", e.Kind, "token", t.ID, "kind", t.Role, "player", t.Player,
		"scopes", t.Scopes, "by", e.By.Player, "by_token", e.By.TokenID)
	return nil
}
