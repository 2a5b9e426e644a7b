package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

type fixture struct {
	t     *testing.T
	token string
	now   time.Time
	gate  *Gate
	mux   *http.ServeMux
}

func setUp(t *testing.T) *fixture {
	f := &fixture{t: t, token: NewAdminToken(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	sessions := NewSessions()
	sessions.Now = func() time.Time { return f.now }
	f.gate = NewGate(verifierFunc(func(ctx context.Context, token string) (Caller, error) {
		if role, ok := roleOf(token); ok && role == Hook {
			return Caller{Role: Hook, Scopes: EventsIngest, TokenID: "a hook's"}, nil
		}
		return NewAdminVerifier(f.token).Verify(ctx, token)
	}), sessions)
	f.mux = http.NewServeMux()
	f.mux.Handle("/session", f.gate.Sessions())
	f.mux.Handle("/who", f.gate.Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := From(r.Context())
		if err != nil {
			refuse(w, http.StatusUnauthorized, err)
			return
		}
		_, _ = io.WriteString(w, string(caller.Role))
	})))
	return f
}

type verifierFunc func(context.Context, string) (Caller, error)

func (f verifierFunc) Verify(ctx context.Context, token string) (Caller, error) { return f(ctx, token) }

func (f *fixture) do(method, target, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.mux.ServeHTTP(w, r)
	return w.Result()
}

func (f *fixture) signIn(header ...string) *http.Cookie {
	f.t.Helper()
	r := f.do("POST", "http://cm.localhost/session", `{"token":"`+f.token+`"}`, header...)
	if r.StatusCode != http.StatusNoContent || len(r.Cookies()) != 1 {
		f.t.Fatalf("POST /session = %d with %d cookies, want 204 with one", r.StatusCode, len(r.Cookies()))
	}
	return r.Cookies()[0]
}

func message(t *testing.T, r *http.Response) (code fault.Code, text string) {
	t.Helper()
	var body struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code fault.Code }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Errors) != 1 {
		t.Fatalf("the body is no error of GraphQL's form: %v", err)
	}
	return body.Errors[0].Extensions.Code, body.Errors[0].Message
}

func TestBearer(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for name, test := range map[string]struct {
		header string
		status int
		text   string
	}{
		"the token":         {"Bearer " + f.token, 200, ""},
		"scheme's case":     {"bearer " + f.token, 200, ""},
		"none":              {"", 401, "no token: send it"},
		"another scheme":    {"Basic " + f.token, 401, "no token: the Authorization header"},
		"no scheme":         {f.token, 401, "no token: the Authorization header"},
		"another token":     {"Bearer " + NewAdminToken(), 401, "unknown token"},
		"something else":    {"Bearer abc", 401, "malformed token"},
		"the token, broken": {"Bearer " + f.token[:54] + "!", 401, "malformed token"},
	} {
		var header []string
		if test.header != "" {
			header = []string{"Authorization", test.header}
		}
		r := f.do("GET", "http://cm.localhost/who", "", header...)
		if r.StatusCode != test.status {
			t.Errorf("%s: status = %d, want %d", name, r.StatusCode, test.status)
		}
		if r.StatusCode == 401 {
			if code, text := message(t, r); code != fault.Unauthenticated || !strings.HasPrefix(text, test.text) {
				t.Errorf("%s: %s %q, want UNAUTHENTICATED %q", name, code, text, test.text)
			}
		}
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.signIn()
	if c.Name != "cm_session" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure {
		t.Errorf("the cookie = %v, want HttpOnly, SameSite=Strict and Path=/", c)
	}
	if strings.Contains(c.Value, f.token) || len(c.Value) < 43 {
		t.Errorf("the cookie's value = %q, want a random id", c.Value)
	}
	cookie := c.Name + "=" + c.Value
	r := f.do("GET", "http://cm.localhost/session", "", "Cookie", cookie)
	var who struct {
		Player, Role string
		Scopes       []string
		Token        *string
	}
	if err := json.NewDecoder(r.Body).Decode(&who); err != nil || who.Role != "admin" || len(who.Scopes) != 8 || who.Token == nil || *who.Token != "" || who.Player != Administrator().Player.String() {
		t.Errorf("GET /session = %v, %v, want the administrator", who, err)
	}
	if r := f.do("POST", "http://cm.localhost/who", "", "Cookie", cookie); r.StatusCode != 200 {
		t.Errorf("a request with the cookie = %d, want 200", r.StatusCode)
	}
	if r := f.do("DELETE", "http://cm.localhost/session", "", "Cookie", cookie); r.StatusCode != 204 || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("DELETE /session = %d %v, want 204 and the cookie deleted", r.StatusCode, r.Cookies())
	}
	r = f.do("GET", "http://cm.localhost/session", "", "Cookie", cookie)
	if code, text := message(t, r); r.StatusCode != 401 || code != fault.Unauthenticated || !strings.HasPrefix(text, "the session has ended") {
		t.Errorf("GET /session after DELETE = %d %s %q, want 401", r.StatusCode, code, text)
	}
}

func TestSessionBehindHTTPS(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.signIn("X-Forwarded-Proto", "https")
	if c.Name != "__Host-cm_session" || !c.Secure {
		t.Errorf("the cookie = %v, want __Host- and Secure", c)
	}
	if r := f.do("GET", "http://cm.localhost/who", "", "Cookie", c.Name+"="+c.Value); r.StatusCode != 200 {
		t.Errorf("a request with the cookie = %d, want 200", r.StatusCode)
	}
}

func TestSignInRefuses(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for name, test := range map[string]struct {
		body   string
		status int
		code   fault.Code
	}{
		"a hook's":    {`{"token":"` + NewToken(Hook) + `"}`, 403, fault.Forbidden},
		"wrong token": {`{"token":"` + NewAdminToken() + `"}`, 401, fault.Unauthenticated},
		"no token":    {`{}`, 401, fault.Unauthenticated},
		"no JSON":     {`token`, 400, fault.BadUserInput},
		"a number":    {`{"token":1}`, 400, fault.BadUserInput},
		"too large":   {`{"token":"` + strings.Repeat("x", 1<<20) + `"}`, 400, fault.BadUserInput},
	} {
		r := f.do("POST", "http://cm.localhost/session", test.body)
		if len(r.Cookies()) != 0 {
			t.Errorf("%s: a cookie", name)
		}
		if code, _ := message(t, r); r.StatusCode != test.status || code != test.code {
			t.Errorf("%s: %d %s, want %d %s", name, r.StatusCode, code, test.status, test.code)
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.signIn()
	cookie := c.Name + "=" + c.Value
	for name, test := range map[string]struct {
		method string
		header []string
		status int
	}{
		"own origin":             {"POST", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, 200},
		"own origin, old":        {"POST", []string{"Cookie", cookie, "Origin", "http://cm.localhost"}, 200},
		"another site":           {"POST", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 401},
		"another origin, old":    {"POST", []string{"Cookie", cookie, "Origin", "http://evil.test"}, 401},
		"another port":           {"POST", []string{"Cookie", cookie, "Origin", "http://cm.localhost:81"}, 401},
		"a WebSocket":            {"GET", []string{"Cookie", cookie, "Upgrade", "websocket", "Origin", "http://cm.localhost", "Sec-Fetch-Site", "same-site"}, 200},
		"another's WebSocket":    {"GET", []string{"Cookie", cookie, "Upgrade", "websocket", "Origin", "http://app.cm.localhost"}, 401},
		"a read":                 {"GET", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, 200},
		"a read by a program":    {"GET", []string{"Cookie", cookie}, 200},
		"an address typed in":    {"GET", []string{"Cookie", cookie, "Sec-Fetch-Site", "none"}, 200},
		"another site's read":    {"GET", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 401},
		"a neighbour's read":     {"GET", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, 401},
		"another's read, old":    {"GET", []string{"Cookie", cookie, "Origin", "http://evil.test"}, 401},
		"another's HEAD":         {"HEAD", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 401},
		"another's, by token":    {"GET", []string{"Authorization", "Bearer " + f.token, "Sec-Fetch-Site", "cross-site"}, 200},
		"another site, by token": {"POST", []string{"Authorization", "Bearer " + f.token, "Sec-Fetch-Site", "cross-site"}, 200},
	} {
		if r := f.do(test.method, "http://cm.localhost/who", "", test.header...); r.StatusCode != test.status {
			t.Errorf("%s: %d, want %d", name, r.StatusCode, test.status)
		}
	}
	if r := f.do("GET", "http://cm.localhost/session", "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site"); r.StatusCode != 401 {
		t.Errorf("another site asks who is signed in: %d, want 401", r.StatusCode)
	}
	r := f.do("POST", "http://cm.localhost/session", `{"token":"`+f.token+`"}`, "Sec-Fetch-Site", "cross-site")
	if code, _ := message(t, r); r.StatusCode != 403 || code != fault.Forbidden || len(r.Cookies()) != 0 {
		t.Errorf("to sign in from another site = %d %s, want 403", r.StatusCode, code)
	}
}

func TestSessionExpires(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	open := func(c *http.Cookie) bool {
		return f.do("GET", "http://cm.localhost/session", "", "Cookie", c.Name+"="+c.Value).StatusCode == 200
	}
	idle, used := f.signIn(), f.signIn()
	for elapsed := 59 * time.Minute; elapsed < SessionLife; elapsed += 59 * time.Minute {
		f.now = f.now.Add(59 * time.Minute)
		if !open(used) {
			t.Fatalf("a session in use ended after %v, want %v", elapsed, SessionLife)
		}
	}
	if open(idle) {
		t.Errorf("an idle session is open after %v", SessionLife)
	}
	f.now = f.now.Add(30 * time.Minute)
	if open(used) {
		t.Errorf("a session in use is open after more than %v", SessionLife)
	}
}

// The plain name of the cookie, which a neighbour can set, counts only where no other can be had.
func TestPlainCookie(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	c := f.signIn()
	cookie := c.Name + "=" + c.Value
	for name, test := range map[string]struct {
		target string
		header []string
		status int
	}{
		"http on loopback":             {"http://localhost:8080/who", nil, 200},
		"http on a loopback address":   {"http://[::1]:8080/who", nil, 200},
		"https behind a proxy":         {"http://cm.test/who", []string{"X-Forwarded-Proto", "https"}, 401},
		"https to a name of loopback":  {"http://localhost/who", []string{"X-Forwarded-Proto", "https"}, 401},
		"https itself":                 {"https://cm.test/who", nil, 401},
		"http elsewhere":               {"http://cm.test/who", nil, 401},
		"a name that looks like local": {"http://localhost.test/who", nil, 401},
	} {
		if r := f.do("GET", test.target, "", append(test.header, "Cookie", cookie)...); r.StatusCode != test.status {
			t.Errorf("%s: %d, want %d", name, r.StatusCode, test.status)
		}
	}
	r := f.do("POST", "http://cm.test/session", `{"token":"`+f.token+`"}`)
	if code, _ := message(t, r); r.StatusCode != 403 || code != fault.Forbidden || len(r.Cookies()) != 0 {
		t.Errorf("to sign in by http from elsewhere = %d %s, want 403", r.StatusCode, code)
	}
}

func TestSignInReplaces(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	first := f.signIn()
	cookie := first.Name + "=" + first.Value
	f.do("POST", "http://cm.localhost/session", `{"token":"`+NewAdminToken()+`"}`, "Cookie", cookie)
	if r := f.do("GET", "http://cm.localhost/who", "", "Cookie", cookie); r.StatusCode != 200 {
		t.Errorf("the session after somebody failed to sign in = %d, want 200", r.StatusCode)
	}
	f.signIn("Cookie", cookie)
	if r := f.do("GET", "http://cm.localhost/who", "", "Cookie", cookie); r.StatusCode != 401 {
		t.Errorf("the session that was replaced = %d, want 401", r.StatusCode)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := NewSessions()
	s.Now = func() time.Time { return now }
	start := func(player, token string) string {
		now = now.Add(time.Millisecond)
		return s.Start(Caller{Player: chain.Sum([]byte(player)), Role: Client, TokenID: token})
	}
	others := start("other", "other's")
	var ids []string
	for range maxOfToken + 1 {
		ids = append(ids, start("one", "one's"))
	}
	if s.isOpen(ids[0]) || !s.isOpen(ids[1]) || !s.isOpen(others) || len(s.open) != maxOfToken+1 {
		t.Errorf("after %d sessions of a token %d are open; want its first ended, and no other", maxOfToken+1, len(s.open))
	}
	for i := range 2 * maxSessions { // with ever new tokens
		start("many", fmt.Sprint(i))
	}
	if len(s.open) != maxSessions || !s.isOpen(others) || !s.isOpen(ids[1]) {
		t.Errorf("%d sessions are open, want %d, and those of others among them", len(s.open), maxSessions)
	}
	late := start("late", "late's")
	if len(s.open) != maxSessions || !s.isOpen(late) || !s.isOpen(others) {
		t.Errorf("%d sessions are open; want room for another player, at the cost of whoever has the most", len(s.open))
	}
	s = NewSessions() // tokens without an id
	file := s.Start(Administrator())
	for range maxOfToken {
		s.Start(Caller{Player: chain.Sum([]byte("a provider's")), Role: Client})
	}
	if !s.isOpen(file) {
		t.Error("a provider's tokens have ended the administrator's session")
	}
}

func TestFromNothing(t *testing.T) {
	t.Parallel()
	if _, err := From(context.Background()); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("From(an empty context) = %v, want UNAUTHENTICATED", err)
	}
}
