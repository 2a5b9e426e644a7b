package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// TokenState says whether a token may be used.
type TokenState string

// The states of a token.
const (
	TokenActive  TokenState = "active"
	TokenExpired TokenState = "expired"
	TokenRevoked TokenState = "revoked"
)

// MaxPlayerTokens is how many tokens that may be used a player makes, or a few more at the same moment. Administrators make
// as many as they like.
const MaxPlayerTokens = 1000

// Token is a token as it is kept: everything but the token.
type Token struct {
	ID         string // a UUID
	Role       auth.Role
	Player     chain.Hash
	Scopes     auth.Scopes
	Note       string
	Creator    chain.Hash // the player of whoever made it
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RevokedAt  *time.Time
	LastUsedAt *time.Time // to the minute
	State      TokenState // when it was read, by the database's clock
}

// CreateToken makes a token, and gives it with its secret, which nobody can read again. Whoever is no administrator makes
// none that outlives the token that they use.
//
// Faults: BAD_USER_INPUT and FORBIDDEN name the field below "input": see auth.Draft, and MaxPlayerTokens. UNAUTHENTICATED if the token that the
// caller uses may no longer be used.
func (d *DB) CreateToken(ctx context.Context, draft auth.Draft, by auth.Caller) (token Token, secret string, err error) {
	if err := draft.Complete(by, "input"); err != nil {
		return Token{}, "", err
	}
	secret = auth.NewToken(draft.Role)
	digest := auth.DigestOf(secret)
	args := dbgen.CreateTokenParams{
		Digest: digest[:], Role: string(draft.Role), Player: draft.Player.String(), Scopes: draft.Scopes.Names(), Note: draft.Note,
		Creator: by.Player.String(), CreatorToken: tokenID(by), ExpiresAt: draft.Expires, DefaultDays: int32(auth.DefaultLifetimeDays(draft.Role)),
	}
	err = d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		latest, err := endOfMaker(ctx, q, by)
		if err != nil {
			return err
		}
		args.Latest = latest
		if err := mayHaveMore(ctx, q, draft.Player, by); err != nil {
			return err
		}
		made, err := q.CreateToken(ctx, args)
		switch {
		case err != nil:
			return err
		case len(made) == 0:
			return fault.Input("input.expiresAt", "is not after now and at most %d days later, by the database's clock", auth.MaxLifetimeDays)
		}
		token = tokenOf(made[0], false)
		return d.auditToken(ctx, tx, TokenEvent{Kind: TokenCreated, Token: token, By: by})
	})
	if err != nil {
		return Token{}, "", err
	}
	return token, secret, nil
}

// endOfMaker gives when the tokens end at the latest that a caller makes, nil if that is not limited. The token that they
// use is not revoked before the transaction ends.
func endOfMaker(ctx context.Context, q *dbgen.Queries, by auth.Caller) (*time.Time, error) {
	var end *time.Time
	switch {
	case by.TokenID != "":
		found, err := q.ShareToken(ctx, by.TokenID)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fault.New(fault.Unauthenticated, "your own token has expired or was revoked")
		}
		end = &found[0]
	case !by.Expires.IsZero():
		end = &by.Expires
	}
	if by.IsAdmin() {
		end = nil
	}
	return end, nil
}

// mayHaveMore tells whether a caller may make another token of a player.
func mayHaveMore(ctx context.Context, q *dbgen.Queries, player chain.Hash, by auth.Caller) error {
	if by.IsAdmin() {
		return nil
	}
	live, err := q.CountLiveTokens(ctx, player.String(), MaxPlayerTokens)
	if err == nil && live >= MaxPlayerTokens {
		err = fault.Input("input.player", "has %d tokens that may be used, which is the limit: revoke one that is not needed", MaxPlayerTokens)
	}
	return err
}

// RevokeToken makes that a token may no longer be used, nor any that was made with it or with those, for good; servers that
// have asked for it in the last seconds know within five. One that was revoked before is given as it is. Administrators revoke any, others those of their own
// player but for administrators'. NOT_FOUND if there is no such token.
func (d *DB) RevokeToken(ctx context.Context, id string, by auth.Caller) (token Token, err error) {
	err = d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		found, err := q.LockToken(ctx, id, onlyPlayer(by))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fault.New(fault.NotFound, "there is no such token")
		}
		token = tokenOf(found[0].AuthToken, found[0].Expired)
		if token.State == TokenRevoked {
			return nil
		}
		made, err := lockTokensMadeWith(ctx, q, id)
		if err != nil {
			return err
		}
		for i, id := range append([]string{id}, made...) {
			revoked, err := q.RevokeToken(ctx, by.Player.String(), id)
			if err != nil {
				return err
			}
			one := tokenOf(revoked, i == 0 && found[0].Expired)
			if i == 0 {
				token = one
			}
			if err := d.auditToken(ctx, tx, TokenEvent{Kind: TokenRevocation, Token: one, By: by}); err != nil {
				return err
			}
		}
		return nil
	})
	return token, err
}

// lockTokensMadeWith gives the tokens that were made with a token, which must be locked, or with such a one, and may be
// used. Each is locked before it is asked what was made with it, so that none is made meanwhile.
func lockTokensMadeWith(ctx context.Context, q *dbgen.Queries, id string) (live []string, err error) {
	for makers := []string{id}; len(makers) > 0; {
		made, err := q.LockTokensMadeWith(ctx, makers)
		if err != nil {
			return nil, err
		}
		makers = nil
		for _, t := range made {
			makers = append(makers, t.ID)
			if t.Live {
				live = append(live, t.ID)
			}
		}
	}
	return live, nil
}

// TokenKey is where a token stands in a list: by the time it was made, then its id.
type TokenKey struct {
	At time.Time
	ID string
}

// Tokens gives a page of the tokens that a caller may see, the latest first: administrators see all, others those of
// their own player but for administrators'. A nil player does not narrow.
func (d *DB) Tokens(ctx context.Context, by auth.Caller, player *chain.Hash, p Page[TokenKey]) (Rows[Token, TokenKey], error) {
	of, ok := tokensOf(by, player)
	if !ok {
		return Rows[Token, TokenKey]{}, nil
	}
	args := dbgen.ListTokensParams{Player: of, WithAdmins: by.IsAdmin(), RowCount: p.more()}
	if p.After != nil {
		args.AfterTime, args.AfterID = &p.After.At, &p.After.ID
	}
	found, err := d.queries().ListTokens(ctx, args)
	return rowsOf(p, found, func(r dbgen.ListTokensRow) Item[Token, TokenKey] {
		token := tokenOf(r.AuthToken, r.Expired)
		return Item[Token, TokenKey]{token, TokenKey{token.CreatedAt, token.ID}}
	}), mapError(err)
}

// CountTokens counts what Tokens lists.
func (d *DB) CountTokens(ctx context.Context, by auth.Caller, player *chain.Hash) (int64, error) {
	of, ok := tokensOf(by, player)
	if !ok {
		return 0, nil
	}
	n, err := d.queries().CountTokens(ctx, of, by.IsAdmin())
	return n, mapError(err)
}

// tokensOf gives the player whose tokens a caller who asks for those of a player sees, nil for all players, and false if
// they see none.
func tokensOf(by auth.Caller, asked *chain.Hash) (*string, bool) {
	own := onlyPlayer(by)
	if asked == nil {
		return own, true
	}
	text := asked.String()
	return &text, own == nil || *own == text
}

// onlyPlayer gives the player whose tokens a caller manages, nil for all.
func onlyPlayer(by auth.Caller) *string {
	if by.IsAdmin() {
		return nil
	}
	text := by.Player.String()
	return &text
}

// tokenID gives the id of the token that a caller uses, nil if it is none of the table's.
func tokenID(by auth.Caller) *string {
	if by.TokenID == "" {
		return nil
	}
	return &by.TokenID
}

func tokenOf(r dbgen.AuthToken, expired bool) Token {
	t := Token{
		ID: r.ID, Role: auth.Role(r.Role), Player: r.Player, Scopes: auth.ScopesOf(r.Scopes), Note: r.Note, Creator: r.Creator,
		CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), RevokedAt: r.RevokedAt, LastUsedAt: r.LastUsedAt, State: TokenActive,
	}
	switch {
	case r.RevokedAt != nil:
		t.State = TokenRevoked
	case expired:
		t.State = TokenExpired
	}
	return t
}

// FindToken gives whose a token is that may be used, and how long it may be. NOT_FOUND if there is none.
func (d *DB) FindToken(ctx context.Context, digest auth.Digest) (c auth.Caller, left time.Duration, err error) {
	r, err := d.queries().FindToken(ctx, digest[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return c, 0, fault.New(fault.NotFound, "there is no such token")
	}
	if err != nil {
		return c, 0, mapError(err)
	}
	return auth.Caller{
		Player: r.Player, Role: auth.Role(r.Role), Scopes: auth.ScopesOf(r.Scopes), TokenID: r.ID, Expires: r.ExpiresAt.UTC(),
	}, time.Duration(r.LeftUs) * time.Microsecond, nil
}

// LiveTokens gives those of the tokens, by their ids, that may be used.
func (d *DB) LiveTokens(ctx context.Context, ids []string) ([]string, error) {
	live, err := d.queries().LiveTokens(ctx, ids)
	return live, mapError(err)
}

// TokensUsed notes that these tokens, by their ids, were used just now. What was noted within the last minute stays.
func (d *DB) TokensUsed(ctx context.Context, ids []string) error {
	return mapError(d.queries().TokensUsed(ctx, ids))
}
