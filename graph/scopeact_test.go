package graph_test

import (
	"testing"

	"github.com/tzzr/context-manager/internal/component"
)

// Whoever is no administrator writes the component of their own player, and by no detour another's.
func TestOwnComponents(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	upsert := func(token string, draft object) string {
		t.Helper()
		_, got := g.as(token, `mutation($c: [ComponentInput!]!) { upsertComponents(components: $c) { hash name } }`, object{"c": []object{draft}})
		if c := code(got); c != "" {
			return c
		}
		return string(got.Data)
	}
	own := func(key string) (token, hash string) {
		hash = component.DefaultHash("plu", key).String()
		return g.create(g.token, object{"kind": "AGENT", "player": hash}).Secret, hash
	}
	lena, lenas := own("lena")
	mallory, mallorys := own("mallory")
	want := `{"upsertComponents":[{"hash":"` + lenas + `","name":"Lena"}]}`
	if got := upsert(lena, object{"namespace": "PLU", "key": "lena", "name": "Lena"}); got != want {
		t.Errorf("the own player, new: %s, want %s", got, want)
	}
	if got := upsert(lena, object{"namespace": "PLU", "key": "lena", "hash": lenas, "name": "Lena"}); got != want {
		t.Errorf("the own player, stated: %s, want %s", got, want)
	}
	// Somebody else has the key from which mallory's hash follows, under a hash of their own.
	if got := upsert(g.token, object{"namespace": "PLU", "key": "mallory", "hash": hashOf("victim"), "name": "Victim"}); !contains(got, hashOf("victim")) {
		t.Fatalf("an administrator's: %s", got)
	}
	for name, test := range map[string]struct {
		draft object
		want  string
	}{
		"another's key":               {object{"namespace": "PLU", "key": "lena", "name": "x"}, "FORBIDDEN"},
		"another's hash":              {object{"namespace": "PLU", "key": "x", "hash": lenas, "name": "x"}, "FORBIDDEN"},
		"a free key with the own":     {object{"namespace": "PLY", "key": "admin", "hash": mallorys, "name": "x"}, "FORBIDDEN"},
		"a tag with the own":          {object{"namespace": "HST", "key": "x", "hash": mallorys, "name": "x"}, "FORBIDDEN"},
		"a key that is another's now": {object{"namespace": "PLU", "key": "mallory", "name": "x"}, "CONFLICT"},
		"the same, stated":            {object{"namespace": "PLU", "key": "mallory", "hash": mallorys, "name": "x"}, "CONFLICT"},
	} {
		if got := upsert(mallory, test.draft); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	// A player whom an administrator has given another key than the one that the hash follows from.
	ben := hashOf("ben")
	token := g.create(g.token, object{"kind": "CLIENT", "player": ben, "scopes": []string{"memory:write"}}).Secret
	if got := upsert(token, object{"namespace": "PLX", "key": "ben", "hash": ben, "name": "Ben"}); got != "FORBIDDEN" {
		t.Errorf("a player without a row, under a key of their choice: %s, want FORBIDDEN", got)
	}
	upsert(g.token, object{"namespace": "PLX", "key": "ben", "hash": ben})
	if got := upsert(token, object{"namespace": "PLX", "key": "ben", "hash": ben, "name": "Ben"}); !contains(got, "Ben") {
		t.Errorf("the same with a row: %s, want it changed", got)
	}
	if _, got := g.as(g.token, `query($h: Hash!) { component(hash: $h) { name } }`, object{"h": hashOf("victim")}); !contains(string(got.Data), "Victim") {
		t.Errorf("the victim is %s, want it as it was", got.Data)
	}
}
