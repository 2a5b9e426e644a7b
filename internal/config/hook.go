package config

import (
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// minHookSecret is how short a secret may be.
const minHookSecret = 16

// Sources gives the secrets that events may be signed with, by source. The settings are valid.
func (s Server) Sources() map[string]string {
	secrets := map[string]string{}
	for pair := range strings.SplitSeq(string(s.HookSecrets), ",") {
		if source, secret, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			secrets[source] = secret
		}
	}
	return secrets
}

// validateHooks refuses what would let nobody in, or anybody. It shows no secret.
func (s Server) validateHooks() error {
	if s.HookSecrets == "" {
		return nil
	}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(string(s.HookSecrets), ",") {
		source, secret, ok := strings.Cut(strings.TrimSpace(pair), "=")
		switch {
		case !ok || source == "":
			return fault.Input("HOOK_SECRETS", "is not a list of sources and their secrets, such as webchat=…,n8n=…")
		case len(secret) < minHookSecret:
			return fault.Input("HOOK_SECRETS", "has a secret of %d bytes for %s; it needs at least %d", len(secret), source, minHookSecret)
		case seen[source]:
			return fault.Input("HOOK_SECRETS", "names %s twice", source)
		}
		if seen[secret] {
			return fault.Input("HOOK_SECRETS", "gives %s the secret of another source", source)
		}
		seen[source], seen[secret] = true, true
	}
	return nil
}
