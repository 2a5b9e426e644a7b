package limit

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// Verifier lets a verifier alone with tokens that were not valid before while too many requests without a valid one
// come from an address: guessing costs nobody anything, and whoever shares the address and has a token goes on.
//
// Faults: RATE_LIMITED besides those of the verifier.
func (l *Limiter) Verifier(tokens auth.Verifier) auth.Verifier {
	return verifier{limiter: l, tokens: tokens}
}

type verifier struct {
	limiter *Limiter
	tokens  auth.Verifier
}

// Verify gives whose a token is.
func (v verifier) Verify(ctx context.Context, token string) (auth.Caller, error) {
	sum := sha256.Sum256([]byte(token))
	if !v.limiter.knows(sum) {
		if err := v.limiter.Look(ctx); err != nil {
			return auth.Caller{}, err
		}
	}
	caller, err := v.tokens.Verify(ctx, token)
	switch {
	case err == nil:
		v.limiter.remember(sum, true)
	case fault.CodeOf(err) == fault.Unauthenticated:
		v.limiter.remember(sum, false)
	}
	return caller, err
}

func (l *Limiter) knows(sum [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.known.Get(sum)
	return ok
}

func (l *Limiter) remember(sum [sha256.Size]byte, valid bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if valid {
		l.known.Add(sum, struct{}{})
	} else {
		l.known.Remove(sum)
	}
}

// SetRetryAfter says when to come back, if the error is a RATE_LIMITED of this package.
func SetRetryAfter(w http.ResponseWriter, err error) {
	if wait, ok := errors.AsType[Wait](err); ok {
		w.Header().Set("Retry-After", wait.Seconds())
	}
}
