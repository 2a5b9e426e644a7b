package auth

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// nobodysTokens is of a server on which nobody has made a token. Its clock is the machine's, unless it has another.
type nobodysTokens struct{ clock func() time.Time }

func (nobodysTokens) FindToken(context.Context, Digest) (Caller, time.Duration, error) {
	return Caller{}, 0, fault.New(fault.NotFound, "there is no such token")
}
func (nobodysTokens) LiveTokens(context.Context, []string) ([]string, error) { return nil, nil }
func (nobodysTokens) TokensUsed(context.Context, []string) error             { return nil }

func (s nobodysTokens) Now() time.Time {
	if s.clock != nil {
		return s.clock()
	}
	return time.Now()
}

func newProviderTokens(t *testing.T) (*issuer, *Tokens) {
	t.Helper()
	i := newIssuer(t)
	tokens := NewTokens(NewAdminToken(), nobodysTokens{}, i.provider(""), slog.New(slog.DiscardHandler))
	t.Cleanup(tokens.Close)
	return i, tokens
}

// A token of the provider opens a session of the console, which ends with it.
func TestSessionOfAProvidersToken(t *testing.T) {
	t.Parallel()
	i, tokens := newProviderTokens(t)
	clock := newClock()
	clock.at = time.Now()
	sessions := NewSessions()
	sessions.Recheck = tokens.Recheck
	tokens.store = nobodysTokens{clock.now}
	f := &fixture{t: t, token: i.token(nil), gate: NewGate(tokens, sessions), mux: http.NewServeMux()}
	f.mux.Handle("/session", f.gate.Sessions())
	c := f.signIn()
	who := func() int {
		return f.do("GET", "http://cm.localhost/session", "", "Cookie", c.Name+"="+c.Value).StatusCode
	}
	if status := who(); status != 200 {
		t.Errorf("GET /session = %d, want 200", status)
	}
	clock.pass(time.Hour + time.Second)
	if status := who(); status != 401 {
		t.Errorf("GET /session after the token's end = %d, want 401", status)
	}
	if len(sessions.open) != 0 {
		t.Error("the session is kept after the token's end")
	}
}

// However wrong the machine's clock is, a provider's token ends by the database's: when it is taken, while a stream is open, and for
// who came with it before.
func TestProvidersTokenEndsByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	i, off := newIssuer(t), time.Duration(0)
	clock := func() time.Time { return time.Now().Add(off) }
	provider := NewProvider(ProviderConfig{Issuer: i.server.URL, Audience: "cm", Now: clock})
	tokens := NewTokens(NewAdminToken(), nobodysTokens{clock}, provider, slog.New(slog.DiscardHandler))
	t.Cleanup(tokens.Close)
	until := func(d time.Duration) string { return i.token(claims{"exp": time.Now().Add(d).Unix()}) }
	off = -time.Hour
	caller, err := tokens.Verify(t.Context(), until(-30*time.Minute))
	if err != nil {
		t.Fatalf("Verify() of a token that lasts for half an hour = %v", err)
	}
	ctx, watch, err := tokens.Watch(WithCaller(t.Context(), caller))
	if err != nil || ctx.Err() != nil {
		t.Fatalf("Watch() = %v, %v", err, ctx.Err())
	}
	watch.Stop()
	off = time.Hour
	if err := tokens.Recheck(t.Context(), caller); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("Recheck() after the token's end = %v", err)
	}
	if _, err := tokens.Verify(t.Context(), until(30*time.Minute)); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("Verify() after the token's end = %v", err)
	}
}

func TestWatchOfAProvidersToken(t *testing.T) {
	t.Parallel()
	i, tokens := newProviderTokens(t)
	caller, err := tokens.Verify(t.Context(), i.token(claims{"exp": time.Now().Add(2 * time.Second).Unix()}))
	if err != nil || caller.Player != component.DefaultHash("ply", "lena") {
		t.Fatalf("Verify() = %+v, %v, want lena", caller, err)
	}
	ctx, watch, err := tokens.Watch(WithCaller(t.Context(), caller))
	if err != nil || watch.Check(ctx) != nil {
		t.Fatalf("Watch() = %v, want it watched", err)
	}
	defer watch.Stop()
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the stream goes on 20 s after the token's end")
	}
	if err := context.Cause(ctx); fault.CodeOf(err) != fault.Unauthenticated || time.Now().Before(caller.Expires) {
		t.Errorf("the stream ended with %v, want UNAUTHENTICATED at the token's end", err)
	}
	if _, _, err := tokens.Watch(WithCaller(t.Context(), caller)); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("Watch() after the token's end = %v, want UNAUTHENTICATED", err)
	}
}

// What has the form of a token of ours, and of nobody else's, is told apart.
func TestTokensTellsForms(t *testing.T) {
	t.Parallel()
	i, tokens := newProviderTokens(t)
	without := NewTokens(NewAdminToken(), nobodysTokens{}, nil, slog.New(slog.DiscardHandler))
	t.Cleanup(without.Close)
	for name, test := range map[string]struct {
		tokens *Tokens
		token  string
		want   string // "": taken
	}{
		"a provider's":                {tokens, i.token(nil), ""},
		"a provider's, and none":      {without, i.token(nil), "malformed token"},
		"an expired provider's":       {tokens, i.token(claims{"exp": 1}), "the provider's token is not taken: it has expired"},
		"ours, unknown":               {tokens, NewToken(Hook), "unknown token"},
		"ours with a wrong checksum":  {tokens, NewToken(Agent) + "0", "malformed token"},
		"ours with dots":              {tokens, "cmagt_a.b.c", "the provider's token is not taken"},
		"nothing":                     {tokens, "", "malformed token"},
		"an unknown administrator's":  {without, NewAdminToken(), "unknown token"},
		"very long":                   {tokens, strings.Repeat("x", 1<<20), "malformed token"},
		"very long, with dots":        {tokens, strings.Repeat("x", 1<<20) + "..", "the provider's token is not taken"},
		"an administrator's, by role": {without, NewToken("root"), "malformed token"},
	} {
		_, err := test.tokens.Verify(t.Context(), test.token)
		if test.want == "" && err != nil || test.want != "" && (fault.CodeOf(err) != fault.Unauthenticated || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// What needs no look-up is told without: malformed tokens, and the file's.
func TestToldWithoutLookUp(t *testing.T) {
	t.Parallel()
	file := NewAdminToken()
	tokens := NewTokens(file, nil, nil, slog.New(slog.DiscardHandler)) // there is no store to ask
	t.Cleanup(tokens.Close)
	for name, test := range map[string]struct {
		token string
		told  bool
		role  Role
	}{
		"the file's":              {file, true, Admin},
		"with a wrong checksum":   {NewToken(Agent)[:54] + "!", true, ""},
		"nothing":                 {"", true, ""},
		"a provider's, and none":  {"a.b.c", true, ""},
		"another administrator's": {NewAdminToken(), false, ""},
		"an agent's, well-formed": {NewToken(Agent), false, ""},
	} {
		c, told, err := tokens.Told(test.token)
		if told != test.told || c.Role != test.role || (fault.CodeOf(err) == fault.Unauthenticated) != (told && test.role == "") {
			t.Errorf("%s: %v %v %v, want it told: %t, and the role %q", name, c.Role, told, err, test.told, test.role)
		}
		if !test.told {
			continue
		}
		if _, again := tokens.Verify(t.Context(), test.token); (again == nil) != (err == nil) {
			t.Errorf("%s: Verify() = %v, and it was told %v", name, again, err)
		}
	}
}

// silent is a store that knows one token, until it says nothing any more.
type silent struct {
	nobodysTokens
	mute atomic.Bool
}

func (s *silent) LiveTokens(_ context.Context, ids []string) ([]string, error) {
	if s.mute.Load() {
		return nil, fault.New(fault.Unavailable, "the database cannot be reached")
	}
	return ids, nil
}

// A stream outlives a database that does not answer, but nothing goes out on it that was not checked for in the last
// seconds.
func TestNothingGoesOutUnchecked(t *testing.T) {
	t.Parallel()
	store, clock := &silent{}, newClock()
	tokens := &Tokens{store: store, cache: newCache(clock.now), used: newUses(clock.now), watches: newWatches(clock.now)}
	ctx, watch, err := tokens.Watch(WithCaller(t.Context(), Caller{Role: Agent, TokenID: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	tokens.watches.look(t.Context(), store)
	store.mute.Store(true)
	clock.pass(watchTrust - 1)
	tokens.watches.look(t.Context(), store)
	if err := watch.Check(t.Context()); err != nil || ctx.Err() != nil {
		t.Errorf("Check() within %v = %v, want nothing", watchTrust, err)
	}
	clock.pass(1)
	tokens.watches.look(t.Context(), store)
	if ctx.Err() != nil {
		t.Errorf("the stream ended with %v, want it to stay as long as nothing goes out", context.Cause(ctx))
	}
	if err := watch.Check(t.Context()); fault.CodeOf(err) != fault.Unavailable || fault.CodeOf(context.Cause(ctx)) != fault.Unavailable {
		t.Errorf("Check() after %v = %v, and the stream ends with %v, want UNAVAILABLE", watchTrust, err, context.Cause(ctx))
	}
}
