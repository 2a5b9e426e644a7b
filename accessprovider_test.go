package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/config"
)

// issuer is an OpenID provider with one key.
type issuer struct {
	t   *testing.T
	url string
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := object{"keys": []object{{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": in64(key.N.Bytes()), "e": in64(big.NewInt(int64(key.E)).Bytes())}}}
		if r.URL.Path == "/.well-known/openid-configuration" {
			answer = object{"issuer": i.url, "jwks_uri": i.url + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

func in64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token signs what a token says, besides who has issued it for whom.
func (i *issuer) token(name string, until time.Time, more object) string {
	i.t.Helper()
	claims := object{"iss": i.url, "aud": "cm", "sub": "some number", "preferred_username": name, "exp": until.Unix(), "iat": time.Now().Unix()}
	for name, value := range more {
		claims[name] = value
	}
	text := ""
	for n, part := range []object{{"alg": "RS256", "kid": "one"}, claims} {
		encoded, err := json.Marshal(part)
		if err != nil {
			i.t.Fatal(err)
		}
		if n > 0 {
			text += "."
		}
		text += in64(encoded)
	}
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + in64(signature)
}

// Whoever has a token of the OpenID provider of the settings is a client of the player that its claim names, whichever way they
// come, and sees what that player sees.
func TestAccessByAProvidersToken(t *testing.T) {
	t.Parallel()
	i, other := newIssuer(t), newIssuer(t)
	s := newStage(t, newSite(t, true, config.Server{OIDCIssuer: i.url, OIDCAudience: "cm", OIDCPlayerClaim: "preferred_username"}))
	soon := time.Now().Add(time.Hour)
	read := fieldCase{Document: "query($message: Hash!) { message(hash: $message) { content } }"}
	tests := map[string]struct{ token, want string }{
		"a member":                      {i.token("ana", soon, nil), "ok"},
		"no member":                     {i.token("cleo", soon, nil), "null"},
		"nobody so far":                 {i.token("newcomer", soon, nil), "null"},
		"a hash for a name":             {i.token(ana.String(), soon, nil), "null"},
		"a member, without the scope":   {i.token("ana", soon, object{"scope": "openid verify"}), "FORBIDDEN"},
		"the administrator":             {i.token("admin", soon, nil), "401"},
		"a member, for another server":  {i.token("ana", soon, object{"aud": "other"}), "401"},
		"a member, an hour ago":         {i.token("ana", time.Now().Add(-time.Hour), nil), "401"},
		"a member, of another provider": {other.token("ana", soon, nil), "401"},
		"a member, forged":              {other.token("ana", soon, object{"iss": i.url}), "401"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.with(t).outcome(read, caller{ana, test.token}); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	for name, want := range map[string]string{"ana": "ok", "cleo": "null"} {
		if got := s.outcome(read, caller{ana, s.signIn(i.token(name, soon, nil))}); got != want {
			t.Errorf("with a session of the console, %s gets %s, want %s", name, got, want)
		}
	}
	listen := object{"query": "subscription { messageAppended { content } }"}
	for name, want := range map[string]string{"ana": "ok", "cleo": "empty"} {
		if got := s.stream(s.events(i.token(name, soon, nil), listen), "messageAppended"); got != want {
			t.Errorf("by events, %s gets %s, want %s", name, got, want)
		}
		if got := s.stream(s.frames(i.token(name, soon, nil), listen), "messageAppended"); got != want {
			t.Errorf("on a WebSocket, %s gets %s, want %s", name, got, want)
		}
	}
	if got := s.stream(s.frames(other.token("ana", soon, nil), listen), "messageAppended"); got != "4401" {
		t.Errorf("on a WebSocket, with another provider's token: %s, want 4401", got)
	}
	began := time.Now()
	events := s.events(i.token("cleo", began.Add(2*time.Second), nil), listen)
	for e := range events {
		if e.end != "" || e.code() != "" {
			if took := time.Since(began); e.code() != "UNAUTHENTICATED" || took > 7*time.Second {
				t.Errorf("a stream ends with %+v after %v, want UNAUTHENTICATED with its token, after 2 s", e, took)
			}
			break
		}
	}
	for _, own := range []string{fmt.Sprintf("%s.%s", in64([]byte(`{"alg":"none"}`)), "e30."), "a.b.c", ".."} {
		if a := s.ask(own, "{__typename}", nil); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", own, a.status)
		}
	}
}
