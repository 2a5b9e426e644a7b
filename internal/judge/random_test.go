package judge

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/window"
)

// TestRandomSentences holds, of sentences made of words that the rules know, what FuzzJudge holds of any: it comes to claims
// far more often.
func TestRandomSentences(t *testing.T) {
	t.Parallel()
	rules := New()
	fields := func(parts string) *rapid.Generator[string] { return rapid.SampledFrom(strings.Split(parts, "|")) }
	subject := fields("The hotel|El hotel|Ana|The user|User|I|the user's favourite colour|The price of the room|Yes, the museum|A Juan|There|The hotel, in May,|a hotel|She|No")
	verb := fields("is|is not|was|has|hasn't|has no|opens|costs|lives|prefers|likes|doesn't like|hates|wants|es|no es|está|tiene|no tiene|cuesta|prefiere|le gusta|no le gusta|will be|can't be|never likes|:")
	said := fields("open|closed|cheap|expensive hotels|cheap hotels|tea|coffee|over coffee|antes que tea|blue|red|in Paris|in London|en Francia|at 9|at 9:30 pm|a las 10|on May 3|on Monday|in 2026|" +
		"200 euros|$300|two pools|3 pools|12 years old|and|,|with|(new)|only|because it is|by Ana|by Pedro|built|born|yet|if|not|room 12|on the second floor|every day|vegetarian|any")
	contradictions, agreements := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		known := append([]string{subject.Draw(t, "subject"), verb.Draw(t, "verb")}, rapid.SliceOfN(said, 1, 4).Draw(t, "said")...)
		given := slices.Clone(known)
		if rapid.Bool().Draw(t, "deny") {
			given[1] = verb.Draw(t, "verb")
		} else {
			given[rapid.IntRange(2, len(given)-1).Draw(t, "at")] = said.Draw(t, "other")
		}
		a, b := strings.Join(known, " "), strings.Join(given, " ")
		verdicts, err := rules.Judge(t.Context(), []window.Pair{{Known: a, New: b}, {Known: b, New: a}})
		if err != nil {
			t.Fatal(err)
		}
		one, other := rules.read(a, nil), rules.read(b, nil)
		if full := rules.judge(one, other); full != verdicts[0] || (verdicts[0].Relation == window.Contradicts) != (verdicts[1].Relation == window.Contradicts) {
			t.Fatalf("%q and %q: %v; without a filter %v", a, b, verdicts, full)
		}
		switch verdicts[0].Relation {
		case window.Contradicts:
			contradictions++
		case window.Agrees:
			agreements++
		}
	})
	t.Logf("contradictions %d, agreements %d", contradictions, agreements)
}
