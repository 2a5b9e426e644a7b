// Package limit says how often a token may call, a player with all their tokens, and an address that shows no valid token,
// and how many streams there may be. It counts in memory, so each server counts by itself. What a caller may do is not its
// business.
package limit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// Config says how much is let through. Nothing in it means no limit.
type Config struct {
	Token   int            // requests a second of each token, twice that at once, and of a player PlayerTokens times that; administrators have no limit
	Address int            // requests a second of each address without a valid token, five times that at once, and LookUps times that of tokens that nobody has
	Proxies []netip.Prefix // whose X-Forwarded-For is believed
	Now     func() time.Time
}

// PlayerTokens is how many tokens' rate a player has with all their tokens, so that making more of them gives no more.
const PlayerTokens = 4

// Limiter counts. Make it with New; safe for concurrent use.
type Limiter struct {
	proxies   []netip.Prefix
	tokens    *Buckets
	players   *Buckets
	addresses *Buckets
	lookUps   *Buckets // by address: of tokens that nobody has

	mu    sync.Mutex
	known *simplelru.LRU[[sha256.Size]byte, struct{}] // SHA-256 of tokens that were valid
}

// New makes a limiter.
func New(cfg Config) *Limiter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	known, err := simplelru.NewLRU[[sha256.Size]byte, struct{}](mostBuckets, nil)
	if err != nil {
		panic(err) // the size is a constant above 0
	}
	return &Limiter{
		proxies: cfg.Proxies, known: known,
		tokens:    newBuckets(float64(cfg.Token), 2*cfg.Token, mostBuckets, cfg.Now),
		players:   newBuckets(float64(PlayerTokens*cfg.Token), 2*PlayerTokens*cfg.Token, mostBuckets, cfg.Now),
		addresses: newBuckets(float64(cfg.Address), 5*cfg.Address, mostBuckets, cfg.Now),
		lookUps:   newBuckets(float64(LookUps*cfg.Address), 5*LookUps*cfg.Address, mostBuckets, cfg.Now),
	}
}

// Wait is how long to wait before the next try.
type Wait time.Duration

// Error says so; it is the cause of a RATE_LIMITED.
func (w Wait) Error() string { return "wait " + time.Duration(w).String() }

// Seconds gives it as Retry-After has it: whole seconds, 1 at least.
func (w Wait) Seconds() string {
	return strconv.Itoa(int(max(1, math.Ceil(time.Duration(w).Seconds()))))
}

func limited(wait time.Duration, format string, args ...any) error {
	if wait == 0 {
		return nil
	}
	return fault.Wrap(Wait(wait), fault.RateLimited, format, args...)
}

// visit is what is known of where a request comes from. It is counted against its address once.
type visit struct {
	address string
	counted sync.Once
	wait    time.Duration
}

type visitKey struct{}

// Note keeps the address that a request comes from in its context, where Take and Verifier look for it.
func (l *Limiter) Note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, &visit{address: l.address(r)})))
	})
}

// Take counts a request, or an operation on a WebSocket, of the caller in the context; one without a caller counts
// against its address, once however often Take is asked. Where nobody can tell at present whether the token is valid,
// nothing is counted.
//
// Faults: RATE_LIMITED, with Wait as its cause, if that is one too many.
func (l *Limiter) Take(ctx context.Context) error {
	if l == nil {
		return nil
	}
	switch caller, err := auth.From(ctx); {
	case err == nil && caller.IsAdmin(), fault.CodeOf(err) == fault.Unavailable:
		return nil
	case err == nil:
		return l.takeToken(caller)
	}
	v, ok := ctx.Value(visitKey{}).(*visit)
	if !ok {
		return nil
	}
	v.counted.Do(func() { v.wait = l.addresses.take(v.address) })
	return l.tooMany(v.wait)
}

func (l *Limiter) takeToken(c auth.Caller) error {
	if wait := l.tokens.take(Key(c)); wait > 0 {
		return limited(wait, "the token has made more than %v requests a second", l.tokens.perSecond)
	}
	return limited(l.players.take(string(c.Player[:])), "the player has made more than %v requests a second with all their tokens", l.players.perSecond)
}

// Look is Take for one who may still show a valid token: nothing is counted.
func (l *Limiter) Look(ctx context.Context) error {
	if from := Address(ctx); l != nil && from != "" {
		return l.tooMany(l.addresses.look(from))
	}
	return nil
}

func (l *Limiter) tooMany(wait time.Duration) error {
	return limited(wait, "more than %v requests a second without a valid token come from the address", l.addresses.perSecond)
}

// Key tells callers' tokens apart.
func Key(c auth.Caller) string {
	if c.TokenID != "" {
		return c.TokenID
	}
	return string(c.Role) + c.Player.String()
}

// Address gives the key of the address in the context, "" if there is none.
func Address(ctx context.Context) string {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v.address
	}
	return ""
}

// Handler counts each request before it is handed on, and answers 429 to those that are too many. The caller must be in
// the context: see auth.Gate.
func (l *Limiter) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := l.Take(r.Context()); err != nil {
			Refuse(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Refuse answers a request with RATE_LIMITED, in GraphQL's form.
func Refuse(w http.ResponseWriter, err error) {
	SetRetryAfter(w, err)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = fmt.Fprintf(w, `{"errors":[{"message":%q,"extensions":{"code":%q}}]}`+"\n", err.Error(), fault.RateLimited)
}
