package auth

import (
	"slices"
	"testing"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	for role, want := range map[Role][]string{
		Admin:  {"log:read", "log:append", "context:select", "memory:write", "events:ingest", "verify", "tokens:manage", "erase"},
		Agent:  {"log:read", "log:append", "context:select", "memory:write", "verify"},
		Client: {"log:read", "log:append", "context:select", "verify"},
		Hook:   {"events:ingest"},
		"":     {},
	} {
		got := DefaultScopes(role)
		if !slices.Equal(got.Names(), want) || ScopesOf(want) != got {
			t.Errorf("DefaultScopes(%q) = %q, read back as %q, want %q", role, got, ScopesOf(want), want)
		}
	}
	if got := ScopesOf([]string{"erase", "profile", "", "log:read", "erase"}); got != Erase|LogRead || got.String() != "log:read erase" {
		t.Errorf("ScopesOf(…) = %q, want log:read erase", got)
	}
	if set := LogRead | Verify; !set.Has(Verify) || set.Has(Verify|Erase) || !set.Has(0) {
		t.Error("Has() does not tell subsets")
	}
	if _, ok := ParseScope("log"); ok {
		t.Error("ParseScope(log) is a scope")
	}
}
