package limit

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// clock is a clock that goes when it is told.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func newClock() *clock { return &clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func TestBuckets(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := newBuckets(10, 20, 100, c.now)
	for i := range 20 {
		if wait := b.take("a"); wait != 0 {
			t.Fatalf("take %d: wait %v, want none within the burst", i, wait)
		}
	}
	if wait := b.take("a"); wait != 100*time.Millisecond {
		t.Errorf("take 21: wait %v, want 100ms", wait)
	}
	if wait := b.look("a"); wait != 100*time.Millisecond {
		t.Errorf("look: wait %v, want 100ms", wait)
	}
	if wait := b.take("b"); wait != 0 {
		t.Errorf("another key waits %v", wait)
	}
	c.pass(100 * time.Millisecond)
	if first, second := b.take("a"), b.take("a"); first != 0 || second == 0 {
		t.Errorf("after 100ms: waits %v and %v, want one let through", first, second)
	}
	c.pass(-time.Hour)
	if wait := b.take("a"); wait == 0 {
		t.Error("a clock that jumps back fills a bucket")
	}
	if wait := newBuckets(0, 0, 10, c.now).take("a"); wait != 0 {
		t.Errorf("without a limit: wait %v", wait)
	}
}

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBuckets(1, 1, 100, time.Now)
	for i := range 10_000 {
		b.take(fmt.Sprint(i))
	}
	if n := b.each.Len(); n != 100 {
		t.Errorf("%d buckets are kept, want 100", n)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var c Counts
	first, ok := c.Enter("a", 2, 3)
	_, ok2 := c.Enter("a", 2, 3)
	_, tooMany := c.Enter("a", 2, 3)
	_, ok3 := c.Enter("b", 2, 3)
	_, full := c.Enter("c", 2, 3)
	if !ok || !ok2 || tooMany || !ok3 || full {
		t.Errorf("let in: %v %v %v %v %v, want two of a and one of b", ok, ok2, tooMany, ok3, full)
	}
	first()
	first()
	last, ok := c.Enter("c", 2, 3)
	if _, again := c.Enter("a", 0, 3); !ok || again {
		t.Errorf("after one left, let in: %v %v, want one", ok, again)
	}
	last()
	if len(c.each) != 2 || c.total != 2 {
		t.Errorf("%d keys and %d in all are kept, want 2 and 2", len(c.each), c.total)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.7", "::1"})
	if err != nil {
		t.Fatal(err)
	}
	l := New(Config{Proxies: proxies})
	for _, test := range []struct {
		from string
		said []string
		want string
	}{
		{"203.0.113.5:1", nil, "203.0.113.5"},
		{"203.0.113.5:1", []string{"198.51.100.1"}, "203.0.113.5"}, // not trusted
		{"10.1.2.3:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.1.2.3:1", []string{"6.6.6.6, 198.51.100.1, 192.0.2.7"}, "198.51.100.1"}, // the client made up the first
		{"10.1.2.3:1", []string{"6.6.6.6", "198.51.100.1"}, "198.51.100.1"},
		{"10.1.2.3:1", []string{"6.6.6.6, rubbish"}, "10.1.2.3"},
		{"10.1.2.3:1", []string{"10.2.2.2, 10.3.3.3"}, "10.2.2.2"},
		{"10.1.2.3:1", nil, "10.1.2.3"},
		{"[::ffff:203.0.113.5]:1", nil, "203.0.113.5"},
		{"[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::"},
		{"[2001:db8:1:2:ffff::1]:1", nil, "2001:db8:1:2::"},
		{"[::1]:1", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = test.from, test.said
		if got := l.address(r); got != test.want {
			t.Errorf("%s with %q is %s, want %s", test.from, test.said, got, test.want)
		}
	}
	if _, err := ParseProxies([]string{"proxy.example"}); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("a name as proxy = %v, want BAD_USER_INPUT", err)
	}
}

// asked counts how often it was asked whose a token is.
type asked struct {
	times atomic.Int64
	valid string
}

// Told tells what is malformed, and the file's token.
func (a *asked) Told(token string) (auth.Caller, bool, error) {
	switch {
	case strings.HasPrefix(token, "malformed"):
		return auth.Caller{}, true, fault.New(fault.Unauthenticated, "malformed token")
	case token == "file":
		return auth.Administrator(), true, nil
	}
	return auth.Caller{}, false, nil
}

func (a *asked) Verify(_ context.Context, token string) (auth.Caller, error) {
	a.times.Add(1)
	if token == "untold" {
		return auth.Caller{}, fault.New(fault.Unavailable, "tokens cannot be looked up")
	}
	if token != a.valid {
		return auth.Caller{}, fault.New(fault.Unauthenticated, "unknown token")
	}
	return auth.Caller{Player: chain.Sum([]byte("agent")), Role: auth.Agent}, nil
}

// gated is a handler behind the limits, and what it answers to a token from an address.
func gated(l *Limiter, tokens Verifier) func(token, address string) *http.Response {
	h := l.Note(auth.NewGate(l.Verifier(tokens), auth.NewSessions()).Identify(
		l.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := auth.From(r.Context()); err != nil {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))))
	return func(token, address string) *http.Response {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = address + ":1"
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
}

func TestRateOfAToken(t *testing.T) {
	t.Parallel()
	c := newClock()
	get := gated(New(Config{Token: 10, Address: 20, Now: c.now}), &asked{valid: "good"})
	for i := range 20 {
		if r := get("good", "203.0.113.5"); r.StatusCode != 200 {
			t.Fatalf("request %d: %d, want 200 within the burst", i, r.StatusCode)
		}
	}
	r := get("good", "203.0.113.6") // the token counts, wherever it comes from
	if r.StatusCode != 429 || r.Header.Get("Retry-After") != "1" {
		t.Errorf("one too many: %d with Retry-After %q, want 429 with 1", r.StatusCode, r.Header.Get("Retry-After"))
	}
	c.pass(100 * time.Millisecond)
	if r := get("good", "203.0.113.5"); r.StatusCode != 200 {
		t.Errorf("after a while: %d, want 200", r.StatusCode)
	}
}

// many is a verifier of tokens that all are of one player, but for "other".
type many struct{}

func (many) Told(string) (auth.Caller, bool, error) { return auth.Caller{}, false, nil }

func (many) Verify(_ context.Context, token string) (auth.Caller, error) {
	c := auth.Caller{Player: chain.Sum([]byte("agent")), Role: auth.Agent, TokenID: token}
	if token == "other" {
		c.Player = chain.Sum([]byte(token))
	}
	return c, nil
}

func TestRateOfAPlayer(t *testing.T) {
	t.Parallel()
	c := newClock()
	get := gated(New(Config{Token: 10, Address: 20, Now: c.now}), many{})
	served := 0
	for i := range 10 * 20 {
		if r := get(fmt.Sprint(i/20), "203.0.113.5"); r.StatusCode == 200 {
			served++
		} else if r.StatusCode != 429 || r.Header.Get("Retry-After") != "1" {
			t.Fatalf("request %d: %d with Retry-After %q, want 429 with 1", i, r.StatusCode, r.Header.Get("Retry-After"))
		}
	}
	if served != 80 {
		t.Errorf("%d requests with ten tokens of a player are served, want 80: as many as with four", served)
	}
	if r := get("other", "203.0.113.5"); r.StatusCode != 200 {
		t.Errorf("another player: %d, want 200", r.StatusCode)
	}
	c.pass(100 * time.Millisecond)
	for i, want := range []int{200, 200, 200, 200, 429} {
		if r := get("11", "203.0.113.5"); r.StatusCode != want {
			t.Errorf("request %d after a while: %d, want %d", i, r.StatusCode, want)
		}
	}
}

func TestRateOfAnAddress(t *testing.T) {
	t.Parallel()
	c := newClock()
	tokens := &asked{valid: "good"}
	get := gated(New(Config{Token: 1000, Address: 2, Now: c.now}), tokens)
	if r := get("good", "203.0.113.5"); r.StatusCode != 200 {
		t.Fatalf("a valid token: %d", r.StatusCode)
	}
	for i := range 10 {
		if r := get([]string{"", "malformed"}[i%2], "203.0.113.5"); r.StatusCode != 401 {
			t.Fatalf("request %d: %d, want 401 within the burst", i, r.StatusCode)
		}
	}
	before := tokens.times.Load()
	for _, token := range []string{"", "malformed"} {
		if r := get(token, "203.0.113.5"); r.StatusCode != 429 || r.Header.Get("Retry-After") != "1" {
			t.Errorf("one too many, with %q: %d with Retry-After %q, want 429 with 1", token, r.StatusCode, r.Header.Get("Retry-After"))
		}
	}
	if after := tokens.times.Load(); after != before {
		t.Errorf("malformed tokens were looked up %d times", after-before)
	}
	if r := get("good", "203.0.113.5"); r.StatusCode != 200 {
		t.Errorf("a token that was valid before, from the same address: %d, want 200", r.StatusCode)
	}
	if r := get("malformed", "203.0.113.6"); r.StatusCode != 401 {
		t.Errorf("another address: %d, want 401", r.StatusCode)
	}
	c.pass(time.Second)
	if r := get("malformed", "203.0.113.5"); r.StatusCode != 401 {
		t.Errorf("after a second: %d, want 401", r.StatusCode)
	}
}

// However many tokens come from an address that are malformed, or that nobody has, one that was never seen before and that
// somebody has is let in from there; and the file's, whatever comes.
func TestNewTokensAmongGuesses(t *testing.T) {
	t.Parallel()
	const here = "203.0.113.5"
	c := newClock()
	tokens := &asked{valid: "good"}
	l := New(Config{Token: 1000, Address: 2, Now: c.now})
	get := gated(l, tokens)
	for i := range 10_000 {
		get(fmt.Sprint("malformed ", i), here)
	}
	if n := tokens.times.Load(); n != 0 {
		t.Errorf("malformed tokens were looked up %d times", n)
	}
	for i := range 5*LookUps*2 - 1 {
		get(fmt.Sprint("invented ", i), here)
	}
	if r := get("good", here); r.StatusCode != 200 {
		t.Errorf("a new token after guesses: %d, want 200", r.StatusCode)
	}
	for i := range 10_000 {
		get(fmt.Sprint("invented too ", i), here)
	}
	if n := tokens.times.Load(); n != 5*LookUps*2+1 {
		t.Errorf("tokens were looked up %d times, want %d for guesses and once more", n, 5*LookUps*2)
	}
	for token, want := range map[string]int{"good": 200, "file": 200, "another": 429} {
		if r := get(token, here); r.StatusCode != want {
			t.Errorf("%s, after too many guesses: %d, want %d", token, r.StatusCode, want)
		}
	}
	c.pass(time.Second)
	if r := get("another", here); r.StatusCode != 401 {
		t.Errorf("another guess after a second: %d, want it looked up", r.StatusCode)
	}
	if l.lookUps.look(guessesFrom(context.WithValue(t.Context(), visitKey{}, &visit{address: here}), "a.provider's.token")) != 0 {
		t.Error("guesses of tokens count against those of a provider")
	}
}

// Who shows a token that cannot be looked up at present has not shown a bad one.
func TestTokensThatNobodyCanTell(t *testing.T) {
	t.Parallel()
	c := newClock()
	get := gated(New(Config{Token: 1000, Address: 2, Now: c.now}), &asked{valid: "good"})
	for range 50 {
		if r := get("untold", "203.0.113.5"); r.StatusCode != 401 { // as the handler here answers whoever is nobody
			t.Fatalf("a token that cannot be looked up: %d, want it let through", r.StatusCode)
		}
	}
	if r := get("bad", "203.0.113.5"); r.StatusCode != 401 {
		t.Errorf("a bad token after them: %d, want 401, since none of them counts", r.StatusCode)
	}
}

func TestAdministratorsHaveNoLimit(t *testing.T) {
	t.Parallel()
	get := gated(New(Config{Token: 1, Address: 1}), &asked{valid: "good"})
	for range 100 {
		if r := get("file", "203.0.113.5"); r.StatusCode != 200 {
			t.Fatalf("an administrator gets %d", r.StatusCode)
		}
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Refuse(w, limited(1500*time.Millisecond, "too much"))
	if w.Code != 429 || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), `"code":"RATE_LIMITED"`) {
		t.Errorf("%d, Retry-After %q, %s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "2001:db8::1": "2001:db8::", "2001:db8::1:2:3:4": "2001:db8::", "2001:db8:0:1::1": "2001:db8:0:1::",
	} {
		if got := Network(netip.MustParseAddr(text).Unmap()).String(); got != want {
			t.Errorf("Network(%s) = %s, want %s", text, got, want)
		}
	}
}
