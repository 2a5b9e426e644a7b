package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// issuer is an OpenID provider over HTTP that signs whatever the test wants.
type issuer struct {
	t      *testing.T
	server *httptest.Server

	mu      sync.Mutex
	keys    map[string]*rsa.PrivateKey
	curve   *ecdsa.PrivateKey
	down    bool
	broken  bool // its keys are no keys
	fetched map[string]int
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, keys: map[string]*rsa.PrivateKey{}, fetched: map[string]int{}}
	i.rotate("one")
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.curve = curve
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		i.serve(w, r, map[string]any{
			"issuer": i.server.URL, "jwks_uri": i.server.URL + "/keys", "authorization_endpoint": i.server.URL + "/auth",
			"token_endpoint": i.server.URL + "/token", "id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) { i.serve(w, r, nil) })
	i.server = httptest.NewServer(mux)
	t.Cleanup(i.server.Close)
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request, document map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fetched[r.URL.Path]++
	if i.down {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	if document == nil {
		keys := []any{}
		for id, key := range i.keys {
			keys = append(keys, map[string]any{
				"kty": "RSA", "use": "sig", "alg": "RS256", "kid": id, "n": raw64(key.N.Bytes()), "e": raw64(big.NewInt(int64(key.E)).Bytes()),
			})
		}
		keys = append(keys, map[string]any{
			"kty": "EC", "use": "sig", "alg": "ES256", "kid": "curve", "crv": "P-256",
			"x": raw64(i.curve.X.FillBytes(make([]byte, 32))), "y": raw64(i.curve.Y.FillBytes(make([]byte, 32))),
		})
		document = map[string]any{"keys": keys}
		if i.broken {
			document["keys"] = "none"
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

// rotate makes the provider sign with a new key, and forget the others.
func (i *issuer) rotate(id string) {
	i.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = map[string]*rsa.PrivateKey{id: key}
}

func (i *issuer) set(down, broken bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down, i.broken = down, broken
}

func (i *issuer) count(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetched[path]
}

func raw64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

type claims = map[string]any

// claims gives those of a token that is well, with changes; nil takes one away.
func (i *issuer) claims(changes claims) claims {
	c := claims{"iss": i.server.URL, "aud": "cm", "sub": "lena", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func signed(t *testing.T, header, claims map[string]any, sign func(text []byte) []byte) string {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := raw64(h) + "." + raw64(c)
	return text + "." + raw64(sign([]byte(text)))
}

func signRSA(t *testing.T, key *rsa.PrivateKey) func([]byte) []byte {
	return func(text []byte) []byte {
		digest := sha256.Sum256(text)
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
}

// token gives a token that the provider's key has signed.
func (i *issuer) token(changes claims) string {
	i.t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	for id, key := range i.keys {
		return signed(i.t, claims{"alg": "RS256", "kid": id, "typ": "JWT"}, i.claims(changes), signRSA(i.t, key))
	}
	return ""
}

func (i *issuer) provider(claim string) *Provider {
	return NewProvider(ProviderConfig{Issuer: i.server.URL, Audience: "cm", Claim: claim})
}

func TestProviderTokens(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p, hash := i.provider(""), strings.Repeat("0a", 32)
	usual := DefaultScopes(Client)
	for name, test := range map[string]struct {
		claims claims
		player string
		scopes Scopes
	}{
		"plain":                     {nil, component.DefaultHash("ply", "lena").String(), usual},
		"a hash is a key":           {claims{"sub": hash}, component.DefaultHash("ply", hash).String(), usual},
		"a hash in upper case":      {claims{"sub": strings.ToUpper(hash)}, component.DefaultHash("ply", strings.ToUpper(hash)).String(), usual},
		"several audiences":         {claims{"aud": []string{"x", "cm"}}, component.DefaultHash("ply", "lena").String(), usual},
		"scopes of others":          {claims{"scope": "openid profile"}, component.DefaultHash("ply", "lena").String(), usual},
		"some scopes":               {claims{"scope": "openid log:read verify"}, component.DefaultHash("ply", "lena").String(), LogRead | Verify},
		"scopes in a list":          {claims{"scope": []string{"openid", "log:read"}}, component.DefaultHash("ply", "lena").String(), LogRead},
		"more than a client has":    {claims{"scope": "log:read tokens:manage erase"}, component.DefaultHash("ply", "lena").String(), LogRead},
		"only what no client has":   {claims{"scope": "tokens:manage"}, component.DefaultHash("ply", "lena").String(), 0},
		"a scope that is no string": {claims{"scope": 7}, component.DefaultHash("ply", "lena").String(), usual},
	} {
		c, err := p.Verify(t.Context(), i.token(test.claims))
		if err != nil || c.Player.String() != test.player || c.Role != Client || c.Scopes != test.scopes || c.TokenID != "" || !c.Expires.After(time.Now()) {
			t.Errorf("%s: %+v, %v, want the client %s with %q", name, c, err, test.player, test.scopes)
		}
	}
	c, err := i.provider("player").Verify(t.Context(), i.token(claims{"player": "porter"}))
	if err != nil || c.Player != component.DefaultHash("ply", "porter") {
		t.Errorf("by another claim: %+v, %v, want porter", c, err)
	}
	curve := signed(t, claims{"alg": "ES256", "kid": "curve"}, i.claims(nil), func(text []byte) []byte {
		digest := sha256.Sum256(text)
		r, s, err := ecdsa.Sign(rand.Reader, i.curve, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
	if _, err := p.Verify(t.Context(), curve); err != nil {
		t.Errorf("a token by ES256: %v, want it taken", err)
	}
}

func TestProviderRefuses(t *testing.T) {
	t.Parallel()
	i, other := newIssuer(t), newIssuer(t)
	p := i.provider("")
	good := i.token(nil)
	parts := strings.Split(good, ".")
	public, err := x509.MarshalPKIXPublicKey(&i.keys["one"].PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ token, says string }{
		"wrong audience":        {i.token(claims{"aud": "other"}), "it is for another audience"},
		"no audience":           {i.token(claims{"aud": nil}), "it is for another audience"},
		"expired":               {i.token(claims{"exp": time.Now().Add(-time.Second).Unix()}), "it has expired"},
		"without an end":        {i.token(claims{"exp": nil}), "it has expired"},
		"not yet":               {i.token(claims{"nbf": time.Now().Add(time.Hour).Unix()}), "it does not hold yet"},
		"another provider's":    {other.token(nil), "no key of the provider has signed it"},
		"another issuer's name": {i.token(claims{"iss": other.server.URL}), "another provider has issued it"},
		"alg none":              {signed(t, claims{"alg": "none"}, i.claims(nil), func([]byte) []byte { return nil }), "no key"},
		"alg none with a kid":   {raw64([]byte(`{"alg":"none","kid":"one"}`)) + "." + parts[1] + "." + parts[2], "no key"},
		"the public key as secret": {signed(t, claims{"alg": "HS256", "kid": "one"}, i.claims(nil), func(text []byte) []byte {
			mac := hmac.New(sha256.New, public)
			mac.Write(text)
			return mac.Sum(nil)
		}), "no key"},
		"other claims":        {parts[0] + "." + raw64([]byte(`{"iss":"`+i.server.URL+`","aud":"cm","sub":"admin","exp":9999999999}`)) + "." + parts[2], "no key"},
		"no signature":        {parts[0] + "." + parts[1] + ".", "no key"},
		"an unknown key":      {signed(t, claims{"alg": "RS256", "kid": "two"}, i.claims(nil), signRSA(t, other.keys["one"])), "no key"},
		"the administrator":   {i.token(claims{"sub": "admin"}), "its claim sub names the administrator's player"},
		"no subject":          {i.token(claims{"sub": nil}), "its claim sub names no player"},
		"an empty subject":    {i.token(claims{"sub": ""}), "its claim sub names no player"},
		"a subject in a list": {i.token(claims{"sub": []string{"lena"}}), "no key"},
		"a long subject":      {i.token(claims{"sub": strings.Repeat("x", 257)}), "its claim sub names no player"},
		"nothing":             {"..", "no key"},
		"two parts":           {"a.b", "it has not the form of one"},
		"very long":           {good + strings.Repeat("x", 1<<20), "it has not the form of one"},
	} {
		c, err := p.Verify(t.Context(), test.token)
		if fault.CodeOf(err) != fault.Unauthenticated || !strings.Contains(err.Error(), test.says) || c != (Caller{}) {
			t.Errorf("%s: %+v, %v, want UNAUTHENTICATED: %s", name, c, err, test.says)
		}
	}
}

// A key that is new is fetched; tokens that no key has signed do not make the server fetch keys as often as they come.
func TestProviderRotatesKeys(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.provider("")
	old := i.token(nil)
	if _, err := p.Verify(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	i.rotate("two")
	fresh := i.token(nil)
	for limit := time.Now().Add(20 * time.Second); ; {
		if _, err := p.Verify(t.Context(), fresh); err == nil {
			break
		} else if time.Now().After(limit) {
			t.Fatalf("a token of the new key: %v, want it taken within some seconds", err)
		}
	}
	// go-oidc answers whoever waits for the new keys a moment before it forgets the old ones.
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := p.Verify(t.Context(), old); fault.CodeOf(err) == fault.Unauthenticated {
			break
		} else if time.Now().After(limit) {
			t.Fatalf("a token of the old key: %v, want UNAUTHENTICATED", err)
		}
	}
	before := i.count("/keys")
	began := time.Now()
	for n := range 200 {
		forged := signed(t, claims{"alg": "RS256", "kid": fmt.Sprint(n)}, i.claims(nil), func([]byte) []byte { return make([]byte, 256) })
		if _, err := p.Verify(t.Context(), forged); fault.CodeOf(err) != fault.Unauthenticated {
			t.Fatalf("a forged token: %v", err)
		}
	}
	if fetched, most := i.count("/keys")-before, int(time.Since(began)/fetchAgain)+1; fetched > most {
		t.Errorf("200 forged tokens made the server fetch keys %d times, want at most %d", fetched, most)
	}
	if n := i.count("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("the provider was asked where its keys are %d times, want once", n)
	}
}

func TestProviderDown(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	token := i.token(nil)
	soon := func(p *Provider, token string, want fault.Code) {
		t.Helper()
		var err error
		for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); {
			if _, err = p.Verify(t.Context(), token); fault.CodeOf(err) == want || want == "" && err == nil {
				return
			}
		}
		t.Errorf("Verify() = %v, want %q", err, want)
	}
	i.set(true, false)
	p := i.provider("")
	if _, err := p.Verify(t.Context(), token); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("before the provider was ever reached: %v, want UNAVAILABLE", err)
	}
	i.set(false, true)
	for limit := time.Now().Add(20 * time.Second); p.found.Load() == nil && time.Now().Before(limit); {
		soon(p, token, fault.Unavailable)
	}
	soon(p, token, fault.Unavailable) // it says where its keys are, and they are none
	i.set(false, false)
	soon(p, token, "")
	i.set(true, false)
	if _, err := p.Verify(t.Context(), token); err != nil {
		t.Errorf("with the provider down, a token of a known key: %v, want it taken", err)
	}
	i.rotate("two")
	if _, err := p.Verify(t.Context(), i.token(nil)); fault.CodeOf(err) == fault.Unauthenticated {
		soon(p, i.token(nil), fault.Unavailable) // until what was fetched last no longer holds
	}
	i.server.Close()
	soon(p, i.token(nil), fault.Unavailable)
	if _, err := NewProvider(ProviderConfig{Issuer: i.server.URL, Audience: "cm"}).Verify(t.Context(), token); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a provider that is gone: %v, want UNAVAILABLE", err)
	}
}
