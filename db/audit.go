package db

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// office is on whose behalf an administrator's view of the store is used.
type office struct {
	by      auth.Caller
	reading *Reading // nil: what is read need not go on record
}

// AsAdministrator gives the store as an administrator sees it: all of it. What they erase and quarantine goes on record,
// and reading gathers the sessions that are read in; nil gathers none, where nothing is read but hashes and numbers.
func (d *DB) AsAdministrator(by auth.Caller, reading *Reading) *DB {
	return &DB{shared: d.shared, office: &office{by: by, reading: reading}}
}

// AuditSession is the session in which it stands on record what a player does, unless others had begun one of this name
// before: SHA-256 of "audit:" and the player's hash.
func AuditSession(player chain.Hash) chain.Hash { return chain.Sum([]byte("audit:" + player.String())) }

// errAuditSession says that a session is the server's own to write.
func errAuditSession(field string) error {
	return &fault.Error{Code: fault.Forbidden, Field: field, Message: "names a session in which the server records what a player does; nobody else writes there"}
}

// What audit events say they are.
const (
	auditReading    = "reading"
	auditErasure    = "erasure"
	auditQuarantine = "quarantine"
	auditRelease    = "quarantine.release"
	auditToken      = "token." // and what happened to it
)

// auditDetails is what an audit event has as its attachments. It never holds a secret, or text of messages.
type auditDetails struct {
	Kind     string       `json:"kind"`
	ByToken  string       `json:"byToken,omitempty"` // id of the token that was used; none for the file's and a provider's
	Sessions []chain.Hash `json:"sessions,omitempty"`
	Message  *chain.Hash  `json:"message,omitempty"`
	Event    *chain.Hash  `json:"event,omitempty"`  // the message that records it in the session
	Reason   string       `json:"reason,omitempty"` // as it was given

	// Of a token.
	Token     string      `json:"token,omitempty"` // its id
	TokenKind string      `json:"tokenKind,omitempty"`
	Player    *chain.Hash `json:"player,omitempty"`
	Scopes    []string    `json:"scopes,omitempty"`
	ExpiresAt string      `json:"expiresAt,omitempty"`
}

// putOnRecord appends an event to the audit session of the caller, in the transaction of q, and gives it.
func putOnRecord(ctx context.Context, q *dbgen.Queries, by auth.Caller, details auditDetails, format string, args ...any) (chain.Message, error) {
	details.ByToken = by.TokenID
	text, err := json.Marshal(details)
	if err != nil {
		return chain.Message{}, fmt.Errorf("audit event: %w", err)
	}
	row, err := q.Audit(ctx, by.Player.String(), fmt.Sprintf(format, args...), chain.JSON(text))
	if err != nil {
		return chain.Message{}, err
	}
	return messageOf(row), nil
}

// eraseOnRecord is Erase by an administrator: it stands in their audit session as well, in the same transaction.
func (d *DB) eraseOnRecord(ctx context.Context, message, eraser chain.Hash, reason string) (written []dbgen.LogMessage, err error) {
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := dbgen.New(tx)
		if err := q.LockForErasure(ctx, message.String(), d.office.by.Player.String()); err != nil {
			return err
		}
		written, err = d.eraseIn(ctx, q, message, eraser, reason)
		return err
	})
	return written, err
}

// eraseIn erases in the transaction of q, in which an administrator's doing goes on record as well. The session of the message
// and that of the record are locked already, if there is a record.
func (d *DB) eraseIn(ctx context.Context, q *dbgen.Queries, message, eraser chain.Hash, reason string) ([]dbgen.LogMessage, error) {
	written, err := q.Erase(ctx, message.String(), eraser.String(), reason)
	if err != nil || len(written) != 1 || d.office == nil {
		return written, err
	}
	details := auditDetails{Kind: auditErasure, Message: &message, Event: &written[0].Hash, Sessions: []chain.Hash{written[0].SessionHash}}
	_, err = putOnRecord(ctx, q, d.office.by, details, "Erased the message %s.", message)
	return written, err
}
