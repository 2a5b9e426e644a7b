package config

import (
	"maps"
	"strings"
	"testing"
)

func TestHookSecrets(t *testing.T) {
	secret := strings.Repeat("s", minHookSecret)
	_, server, err := parse(t, map[string]string{"HOOK_SECRETS": "webchat=" + secret + "=, n8n=" + secret})
	if want := map[string]string{"webchat": secret + "=", "n8n": secret}; err != nil || !maps.Equal(server.Sources(), want) {
		t.Errorf("Sources() = %v, %v, want %v", server.Sources(), err, want)
	}
	if _, server, err = parse(t, nil); err != nil || len(server.Sources()) != 0 {
		t.Errorf("without a setting: %v, %v", server.Sources(), err)
	}
	for _, value := range []string{"webchat", "=" + secret, "webchat=short-1", "webchat=" + secret + ",", "a=" + secret + ",a=" + secret, "a=" + secret + ",b=" + secret} {
		_, _, err := parse(t, map[string]string{"HOOK_SECRETS": value})
		if err == nil || strings.Contains(err.Error(), "short-1") || strings.Contains(err.Error(), secret) {
			t.Errorf("HOOK_SECRETS=%q: %v, want it refused, and no secret shown", value, err)
		}
	}
}
