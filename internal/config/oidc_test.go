package config

import (
	"strings"
	"testing"
)

func TestProvider(t *testing.T) {
	_, server, err := parse(t, map[string]string{"OIDC_ISSUER": "https://login.example.org/realm", "OIDC_AUDIENCE": "cm"})
	if err != nil || server.OIDCIssuer != "https://login.example.org/realm" || server.OIDCAudience != "cm" || server.OIDCPlayerClaim != "sub" {
		t.Errorf("Server = %+v, %v, want what the environment says, and the claim sub", server, err)
	}
	for _, issuer := range []string{"http://localhost:9000", "http://127.0.0.1:9000/x", "http://[::1]:9000"} {
		if _, _, err := parse(t, map[string]string{"OIDC_ISSUER": issuer, "OIDC_AUDIENCE": "cm"}); err != nil {
			t.Errorf("OIDC_ISSUER=%q: %v, want it taken", issuer, err)
		}
	}
	for name, c := range map[string]struct {
		env   map[string]string
		wants string
	}{
		"no audience":      {map[string]string{"OIDC_ISSUER": "https://login.example.org"}, "OIDC_AUDIENCE: is missing"},
		"no issuer":        {map[string]string{"OIDC_AUDIENCE": "cm"}, "OIDC_ISSUER: is missing"},
		"plain http":       {map[string]string{"OIDC_ISSUER": "http://login.example.org", "OIDC_AUDIENCE": "cm"}, "is no issuer"},
		"no address":       {map[string]string{"OIDC_ISSUER": "login.example.org", "OIDC_AUDIENCE": "cm"}, "is no issuer"},
		"with a query":     {map[string]string{"OIDC_ISSUER": "https://login.example.org?x", "OIDC_AUDIENCE": "cm"}, "is no issuer"},
		"with a password":  {map[string]string{"OIDC_ISSUER": "https://a:b@login.example.org", "OIDC_AUDIENCE": "cm"}, "is no issuer"},
		"like a localhost": {map[string]string{"OIDC_ISSUER": "http://localhost.example.org", "OIDC_AUDIENCE": "cm"}, "is no issuer"},
	} {
		if _, _, err := parse(t, c.env); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: %v, want %q", name, err, c.wants)
		}
	}
}

func TestAllowedHosts(t *testing.T) {
	if _, server, err := parse(t, map[string]string{"ALLOWED_HOSTS": "app.example.org,10.0.0.7,[::1],*"}); err != nil || len(server.AllowedHosts) != 4 {
		t.Errorf("AllowedHosts = %q, %v, want four", server.AllowedHosts, err)
	}
	for _, host := range []string{"https://app.example.org", "app.example.org:443", "app.example.org/", "*.example.org", "a b", "a@b"} {
		if _, _, err := parse(t, map[string]string{"ALLOWED_HOSTS": host}); err == nil || !strings.Contains(err.Error(), "ALLOWED_HOSTS") {
			t.Errorf("ALLOWED_HOSTS=%q: %v, want it refused", host, err)
		}
	}
}
