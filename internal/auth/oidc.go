package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/sync/singleflight"

	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// ProviderConfig names an OpenID provider.
type ProviderConfig struct {
	Issuer   string
	Audience string           // what its tokens must be for
	Claim    string           // what names the player; empty: DefaultPlayerClaim
	Now      func() time.Time // the clock that tokens end by; nil: the machine's
}

// DefaultPlayerClaim is what names the player unless another claim is set: whom a token is about, as the provider knows
// them.
const DefaultPlayerClaim = "sub"

// maxClaimBytes is how long the claim may be that names the player.
const maxClaimBytes = 256

// Provider verifies the tokens of an OpenID provider: JSON Web Tokens that it signed, for the audience. Whoever has one
// is a client. It asks the provider for its keys when it sees the first token, and again when a key is new. Make it with
// NewProvider; it is safe for concurrent use.
type Provider struct {
	cfg  ProviderConfig
	http *http.Client

	flight singleflight.Group // of discovery
	found  atomic.Pointer[discovered]
}

// discovered is what the provider says of itself.
type discovered struct {
	keys       *oidc.RemoteKeySet
	algorithms []string
}

// NewProvider makes the verifier of a provider's tokens. It asks nothing: a server starts whether the provider answers
// or not.
func NewProvider(cfg ProviderConfig) *Provider {
	if cfg.Claim == "" {
		cfg.Claim = DefaultPlayerClaim
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Provider{cfg: cfg, http: &http.Client{Transport: newFetcher(http.DefaultTransport), Timeout: fetchLimit}}
}

// IsJWT tells whether a token has the form of a signed JSON Web Token: three parts, with dots between them.
func IsJWT(token string) bool { return strings.Count(token, ".") == 2 }

// Verify gives the caller that a token stands for. UNAVAILABLE if the provider is needed to tell, and does not answer.
func (p *Provider) Verify(ctx context.Context, token string) (Caller, error) {
	if !IsJWT(token) || len(token) > maxSignIn {
		return Caller{}, errJWT("it has not the form of one")
	}
	of, err := p.discover(ctx)
	if err != nil {
		return Caller{}, unreachable(err)
	}
	keys := &keySet{keys: of.keys}
	verifier := oidc.NewVerifier(p.cfg.Issuer, keys, &oidc.Config{
		ClientID: p.cfg.Audience, SupportedSigningAlgs: of.algorithms, Now: p.cfg.Now,
	})
	verified, err := verifier.Verify(ctx, token)
	switch {
	case keys.failed != nil:
		return Caller{}, unreachable(keys.failed)
	case err != nil:
		return Caller{}, errJWT(whatIsWrong(err))
	}
	return p.caller(verified)
}

func errJWT(format string) error {
	return fault.New(fault.Unauthenticated, "the provider's token is not taken: %s", format)
}

func unreachable(err error) error {
	return fault.Wrap(err, fault.Unavailable, "the OpenID provider, which is needed to check the token, does not answer")
}

// whatIsWrong tells a client what they can act on, and nothing that they wrote.
func whatIsWrong(err error) string {
	text := err.Error()
	switch {
	case errors.As(err, new(*oidc.TokenExpiredError)):
		return "it has expired"
	case strings.Contains(text, "expected audience"):
		return "it is for another audience"
	case strings.Contains(text, "issued by a different provider"):
		return "another provider has issued it"
	case strings.Contains(text, "before the nbf"):
		return "it does not hold yet"
	}
	return "no key of the provider has signed it"
}

// discover asks the provider where its keys are, until it has said so once. One question at a time does for all.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	if found := p.found.Load(); found != nil {
		return found, nil
	}
	asked := p.flight.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
		defer cancel()
		return p.ask(oidc.ClientContext(ctx, p.http))
	})
	select {
	case result := <-asked:
		found, _ := result.Val.(*discovered)
		return found, result.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	provider, err := oidc.NewProvider(ctx, p.cfg.Issuer)
	if err != nil {
		return nil, err
	}
	var said struct {
		Keys       string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := provider.Claims(&said); err != nil {
		return nil, err
	}
	found := &discovered{keys: oidc.NewRemoteKeySet(context.WithoutCancel(ctx), said.Keys)}
	for _, name := range said.Algorithms {
		if slices.Contains(asymmetric, name) {
			found.algorithms = append(found.algorithms, name)
		}
	}
	if len(found.algorithms) == 0 {
		found.algorithms = []string{oidc.RS256} // which every provider has
	}
	p.found.Store(found)
	return found, nil
}

// asymmetric are the algorithms by which a provider may sign: with those that share a secret, or none, anybody could.
var asymmetric = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// keySet remembers that keys could not be fetched, which go-oidc does not tell from a wrong signature. It is for one
// token.
type keySet struct {
	keys   *oidc.RemoteKeySet
	failed error
}

// VerifySignature gives what was signed.
func (k *keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.keys.VerifySignature(ctx, jwt)
	if err != nil && strings.HasPrefix(err.Error(), "fetching keys") {
		k.failed = err
	}
	return payload, err
}

// caller makes a client of a token: of the player that the claim names, with the scopes that the token states.
func (p *Provider) caller(token *oidc.IDToken) (Caller, error) {
	var claims map[string]json.RawMessage
	if err := token.Claims(&claims); err != nil {
		return Caller{}, errJWT("its claims are no JSON object")
	}
	var name string
	if err := json.Unmarshal(claims[p.cfg.Claim], &name); err != nil || name == "" || len(name) > maxClaimBytes {
		return Caller{}, errJWT("its claim " + p.cfg.Claim + " names no player")
	}
	player := component.DefaultHash("ply", name) // never a hash as it stands there: whoever may choose it could be anybody
	if player == Administrator().Player {
		return Caller{}, errJWT("its claim " + p.cfg.Claim + " names the administrator's player")
	}
	return Caller{Player: player, Role: Client, Scopes: statedScopes(claims["scope"]), Expires: token.Expiry}, nil
}

// statedScopes gives those of the scopes in the claim that are ours and that clients usually have. Where the claim has
// none of ours, a client has the usual ones.
func statedScopes(claim json.RawMessage) Scopes {
	var names []string
	var text string
	if json.Unmarshal(claim, &text) == nil {
		names = strings.Fields(text)
	} else {
		_ = json.Unmarshal(claim, &names) // as some providers have it
	}
	usual := DefaultScopes(Client)
	if ours := ScopesOf(names); ours != 0 {
		return ours & usual
	}
	return usual
}
