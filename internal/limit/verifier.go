package limit

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// Verifier tells whose tokens are.
type Verifier interface {
	auth.Verifier
	// Told is Verify as far as nothing has to be looked up for it: told is false if only Verify can tell.
	Told(token string) (c auth.Caller, told bool, err error)
}

// LookUps is how many times as many tokens may be looked up for an address in vain as requests without a valid token may come
// from it: to look one up by its digest costs little, and whoever is new shares this rate with all who invent tokens there.
const LookUps = 10

// Verifier lets a verifier alone with tokens that were not valid before while too many come from an address that nobody has:
// guessing costs nobody anything, and whoever shares the address and has a token goes on. Only tokens that had to be looked up
// count for that, and those of a provider apart from the others; what needs no look-up is told at any rate.
//
// Faults: RATE_LIMITED besides those of the verifier.
func (l *Limiter) Verifier(tokens Verifier) auth.Verifier {
	return verifier{limiter: l, tokens: tokens}
}

type verifier struct {
	limiter *Limiter
	tokens  Verifier
}

// Verify gives whose a token is.
func (v verifier) Verify(ctx context.Context, token string) (auth.Caller, error) {
	if caller, told, err := v.tokens.Told(token); told {
		return caller, err
	}
	sum := sha256.Sum256([]byte(token))
	guesses := guessesFrom(ctx, token)
	if !v.limiter.knows(sum) {
		if err := v.limiter.mayLookUp(guesses); err != nil {
			return auth.Caller{}, err
		}
	}
	caller, err := v.tokens.Verify(ctx, token)
	switch {
	case err == nil:
		v.limiter.remember(sum, true)
	case fault.CodeOf(err) == fault.Unauthenticated:
		v.limiter.remember(sum, false)
		v.limiter.lookUps.take(guesses)
	}
	return caller, err
}

// guessesFrom gives the key that a token which nobody has counts against, "" if it is not known where it comes from.
func guessesFrom(ctx context.Context, token string) string {
	from := Address(ctx)
	if from != "" && auth.IsJWT(token) {
		return "provider " + from
	}
	return from
}

func (l *Limiter) mayLookUp(guesses string) error {
	if guesses == "" {
		return nil
	}
	return limited(l.lookUps.look(guesses), "more than %v tokens a second that nobody has come from the address", l.lookUps.perSecond)
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
