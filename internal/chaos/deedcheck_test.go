package chaos

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// A deed that was acknowledged and is not done, is done by half, or is done twice, is seen; and what nobody has done.
func TestJudgeDeeds(t *testing.T) {
	t.Parallel()
	deeds := []deed{{Kind: deedQuarantine, Hash: "q"}, {Kind: deedErasure, Hash: "e"}, {Kind: deedRevocation, Hash: "r"}}
	var said []string
	for n := range 7 {
		u, a := fmt.Sprint("u", n), fmt.Sprint("a", n)
		deeds, said = append(deeds, deed{Kind: deedExchange, Hash: fmt.Sprint(n), Content: u + "\n" + a}), append(said, u, a)
	}
	for name, test := range map[string]struct {
		change func(k *kept)
		want   string // none: nothing is wrong
	}{
		"all is kept":                       {func(*kept) {}, ""},
		"an exchange is forgotten":          {func(k *kept) { k.history = strings.Join(said[2:12], "\n") }, "working memory"},
		"half of an exchange is remembered": {func(k *kept) { k.history = strings.Join(said[3:13], "\n") }, "working memory"},
		"an exchange is remembered twice":   {func(k *kept) { k.history += "\nu6\na6" }, "working memory"},
		"what was confirmed is forgotten":   {func(k *kept) { k.last = "5" }, "working memory"},
		"a quarantine is lost":              {func(k *kept) { delete(k.quarantines, "q") }, "quarantine of q is there 0 times"},
		"a quarantine is not on record":     {func(k *kept) { delete(k.audits, "quarantine q") }, "on record 0 times"},
		"an erasure is done twice":          {func(k *kept) { k.erasures["e"] = 2 }, "erasure of e is there 2 times"},
		"an erasure is on record twice":     {func(k *kept) { k.audits["erasure e"] = 2 }, "on record 2 times"},
		"an erasure nobody has done":        {func(k *kept) { k.erasures["x"] = 1 }, "2 of the kind erasure are done, and 1"},
		"a token is not revoked":            {func(k *kept) { delete(k.revoked, "r") }, "token r is revoked 0 times"},
		"a record of what was not done":     {func(k *kept) { k.audits["quarantine x"] = 1 }, "4 deeds are on record"},
	} {
		k := kept{
			history: strings.Join(said[4:], "\n"), last: "6", quarantines: map[string]int{"q": 1}, erasures: map[string]int{"e": 1}, revoked: map[string]int{"r": 1},
			audits: maps.Clone(map[string]int{"quarantine q": 1, "erasure e": 1, "token.revoked r": 1}),
		}
		test.change(&k)
		problems := strings.Join(judgeDeeds(deeds, k), "; ")
		if !strings.Contains(problems, test.want) || (problems == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}
