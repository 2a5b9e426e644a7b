package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// Names of the cookie that holds the id of a session. Browsers keep the first to this host, to https and to /. The plain
// name, which neighbours of a host can set for it, is for http on loopback alone.
const (
	secureCookie = "__Host-cm_session"
	plainCookie  = "cm_session"
)

// maxSignIn is how large a request to sign in may be, in bytes.
const maxSignIn = 16 << 10

// Gate finds out who is calling. Make it with NewGate; it is safe for concurrent use.
type Gate struct {
	tokens   Verifier
	sessions *Sessions
	origin   *http.CrossOriginProtection
}

// NewGate makes a gate for tokens and sessions.
func NewGate(tokens Verifier, sessions *Sessions) *Gate {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, fault.New(fault.Forbidden, "the request comes from another origin"))
	}))
	return &Gate{tokens: tokens, sessions: sessions, origin: origin}
}

// Identify puts the caller, or the reason why there is none, into the request's context, where From finds it. It
// refuses nothing, so that what is open to all stays so. A cookie counts only if the request comes from the console's
// own origin, whatever its method: see probe.
func (g *Gate) Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, session, err := g.identify(r)
		o := outcome{caller: caller, err: err}
		if session != "" {
			o.session = func() bool { return g.sessions.isOpen(session) }
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, o)))
	})
}

// identify gives the caller, and the id of the session of the console that they came with, if it was one.
func (g *Gate) identify(r *http.Request) (c Caller, session string, err error) {
	if header := r.Header.Get("Authorization"); header != "" {
		token, err := Bearer(header)
		if err != nil {
			return Caller{}, "", err
		}
		c, err = g.tokens.Verify(r.Context(), token)
		return c, "", err
	}
	if session = sessionID(r); session == "" {
		return Caller{}, "", errNoToken()
	}
	if err := g.origin.Check(probe(r)); err != nil {
		return Caller{}, "", fault.New(fault.Unauthenticated,
			"the request comes from another origin: the console's session does not count there, send a token")
	}
	c, err = g.sessions.Caller(r.Context(), session)
	return c, session, err
}

// probe gives what to check the origin of. http.CrossOriginProtection takes GET for safe; but a GET reads and exports all that
// the session may see, and a WebSocket is opened by one and does as much as a POST. So each counts as a POST. A WebSocket's
// Origin, which browsers always send, says more than Sec-Fetch-Site, which they disagree on for WebSockets.
func probe(r *http.Request) *http.Request {
	p := &http.Request{Method: http.MethodPost, Host: r.Host, URL: r.URL, Header: http.Header{}}
	p.Header["Origin"] = r.Header["Origin"]
	if r.Header.Get("Upgrade") == "" {
		p.Header["Sec-Fetch-Site"] = r.Header["Sec-Fetch-Site"]
	}
	return p
}

// Bearer gives the token of an Authorization header, or UNAUTHENTICATED.
func Bearer(header string) (string, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", fault.New(fault.Unauthenticated, "no token: the Authorization header is not of the form `Bearer …`")
	}
	return strings.TrimSpace(token), nil
}

// sessionID gives the id that the request's cookie holds, or "".
func sessionID(r *http.Request) string {
	names := []string{secureCookie}
	if isLocal(r) {
		names = append(names, plainCookie)
	}
	for _, name := range names {
		if c, err := r.Cookie(name); err == nil && c.Value != "" {
			return c.Value
		}
	}
	return ""
}

// isSecure tells whether the request came by https. A proxy that speaks it says so. Whoever lies about it only makes their
// own browser stricter.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// isLocal tells whether the request came by http, for a name that only this machine has.
func isLocal(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return !isSecure(r) && isLoopback(host)
}

// Sessions serves the console's session: POST {"token": …} signs in, GET tells who is signed in, DELETE signs out.
// Errors have the form of GraphQL's.
func (g *Gate) Sessions() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session", g.signIn)
	mux.HandleFunc("GET /session", g.whoAmI)
	mux.HandleFunc("DELETE /session", g.signOut)
	return g.origin.Handler(noStore(mux))
}

func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (g *Gate) signIn(w http.ResponseWriter, r *http.Request) {
	if !isSecure(r) && !isLocal(r) {
		refuse(w, http.StatusForbidden, fault.New(fault.Forbidden,
			"signing in needs https, or a name of loopback such as localhost; a proxy that speaks https says so by X-Forwarded-Proto"))
		return
	}
	var body struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSignIn)).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, fault.New(fault.BadUserInput,
			`the body is not {"token": "…"} of at most %d bytes`, maxSignIn))
		return
	}
	caller, err := g.tokens.Verify(r.Context(), body.Token)
	if err != nil {
		refuse(w, Status(err), err)
		return
	}
	if caller.Role == Hook {
		refuse(w, http.StatusForbidden, fault.New(fault.Forbidden, "a hook's token opens no session"))
		return
	}
	if replaced := sessionID(r); replaced != "" {
		g.sessions.End(replaced)
	}
	http.SetCookie(w, cookie(r, g.sessions.Start(caller), int(SessionLife.Seconds())))
	w.WriteHeader(http.StatusNoContent)
}

func (g *Gate) whoAmI(w http.ResponseWriter, r *http.Request) {
	caller, _, err := g.identify(r)
	if err != nil {
		refuse(w, Status(err), err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"player": caller.Player.String(), "role": caller.Role, "scopes": caller.Scopes.Names(), "token": caller.TokenID,
	})
}

func (g *Gate) signOut(w http.ResponseWriter, r *http.Request) {
	if id := sessionID(r); id != "" {
		g.sessions.End(id)
	}
	http.SetCookie(w, cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
}

// cookie makes the cookie of a session; maxAge is in seconds, and a negative one deletes it.
func cookie(r *http.Request, id string, maxAge int) *http.Cookie {
	c := &http.Cookie{
		Name: plainCookie, Value: id, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if isSecure(r) {
		c.Name, c.Secure = secureCookie, true
	}
	return c
}

// Status is what a request is answered with whose caller is not known.
func Status(err error) int {
	switch fault.CodeOf(err) {
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.RateLimited:
		return http.StatusTooManyRequests
	}
	return http.StatusUnauthorized
}

// refuse answers with an error in GraphQL's form.
func refuse(w http.ResponseWriter, status int, err error) {
	message := "internal error"
	if f, ok := errors.AsType[*fault.Error](err); ok {
		message = f.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{
		"message": message, "extensions": map[string]any{"code": fault.CodeOf(err)},
	}}})
}
