package auth

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// Store finds the tokens that were made; package db keeps them. Whether one may be used is for the database's clock to
// say.
type Store interface {
	// FindToken gives whose a token is that may be used, and how long it may be. NOT_FOUND if there is none.
	FindToken(ctx context.Context, digest Digest) (c Caller, left time.Duration, err error)
	// LiveTokens gives those of the tokens, by their ids, that may be used.
	LiveTokens(ctx context.Context, ids []string) ([]string, error)
	// TokensUsed notes that these tokens, by their ids, were used just now; at most once a minute each.
	TokensUsed(ctx context.Context, ids []string) error
	// Now is the clock by which tokens end.
	Now() time.Time
}

// Tokens verifies tokens of every kind: that of the data directory's file, which needs no database, those that were made,
// and those of an OpenID provider. Make it with NewTokens, and Close it when done. It is safe for concurrent use.
type Tokens struct {
	admin    AdminToken
	store    Store
	provider Verifier // nil without an OpenID provider
	log      *slog.Logger
	cache    *cache
	used     *uses
	watches  *watches

	stop context.CancelFunc
	wait sync.WaitGroup
}

// NewTokens makes the verifier of an administrator's token, of those in a store, and of those of a provider, which may
// be nil.
func NewTokens(admin string, store Store, provider Verifier, log *slog.Logger) *Tokens {
	ctx, stop := context.WithCancel(context.Background())
	t := &Tokens{
		admin: NewAdminVerifier(admin), store: store, provider: provider, log: log,
		cache: newCache(time.Now), used: newUses(time.Now), watches: newWatches(time.Now), stop: stop,
	}
	t.wait.Go(func() { t.run(ctx) })
	return t
}

// Close writes down what was used last. Streams that are watched go on.
func (t *Tokens) Close() {
	t.stop()
	t.wait.Wait()
}

// run looks after streams every second, and writes down which tokens were used, until ctx ends.
func (t *Tokens) run(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for written := time.Now(); ; {
		select {
		case <-ctx.Done():
			t.writeUses(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
		}
		t.watches.look(ctx, t.store)
		if time.Since(written) >= useInterval {
			written = time.Now()
			t.writeUses(ctx)
		}
	}
}

// Told tells whose a token is as far as that needs no look-up: one whose checksum does not fit is nobody's, and that of the
// data directory's file is the administrator's.
func (t *Tokens) Told(token string) (c Caller, told bool, err error) {
	if t.provider != nil && IsJWT(token) {
		return Caller{}, false, nil
	}
	if _, ok := roleOf(token); !ok {
		return Caller{}, true, errMalformed()
	}
	if t.admin.is(DigestOf(token)) {
		return Administrator(), true, nil
	}
	return Caller{}, false, nil
}

// Verify gives the caller that a token stands for.
func (t *Tokens) Verify(ctx context.Context, token string) (Caller, error) {
	if c, told, err := t.Told(token); told {
		return c, err
	}
	if IsJWT(token) {
		return t.provider.Verify(ctx, token)
	}
	digest := DigestOf(token)
	caller, err := t.cache.get(ctx, string(digest[:]), func(ctx context.Context) (Caller, time.Duration, error) {
		found, left, err := t.store.FindToken(ctx, digest)
		if fault.CodeOf(err) == fault.NotFound {
			err = errUnknown()
		}
		return found, left, err
	})
	if err == nil {
		t.used.note(caller.TokenID)
	}
	return caller, err
}

// Recheck tells whether the token that a caller came with may still be used: UNAUTHENTICATED if not.
func (t *Tokens) Recheck(ctx context.Context, c Caller) error {
	if c.TokenID == "" {
		if !c.Expires.IsZero() && !t.store.Now().Before(c.Expires) {
			return errUnknown()
		}
		return nil
	}
	_, err := t.cache.get(ctx, c.TokenID, func(ctx context.Context) (Caller, time.Duration, error) {
		live, err := t.store.LiveTokens(ctx, []string{c.TokenID})
		if err == nil && !slices.Contains(live, c.TokenID) {
			err = errUnknown()
		}
		return c, believed, err
	})
	if err == nil {
		t.used.note(c.TokenID)
	}
	return err
}
