package db

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// Whatever was said is read as it was kept.
func TestHistoriesAreReadAsTheyWereKept(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\"\\{}[]:, \u0001\né🙂\u2028"))))
	turn := rapid.Custom(func(t *rapid.T) memory.Turn {
		content := text.Draw(t, "content")
		return memory.Turn{
			Role: rapid.SampledFrom([]memory.Speaker{memory.User, memory.Assistant}).Draw(t, "role"), Content: content,
			At: time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")).UTC(), Message: chain.Hash{0: byte(len(content)), 31: 7},
			Tokens: rapid.IntRange(0, 1_000_000).Draw(t, "tokens"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(turn, 0, memory.MaxTurns).Draw(t, "turns")
		kept, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			kept = []byte("[]")
		}
		if rapid.Bool().Draw(t, "as Postgres writes it") {
			kept = spaced(kept)
		}
		var got memory.Conversation
		err = fillConversation(&got, string(kept), `{"city": "Lisbon"}`)
		if diff := cmp.Diff(append([]memory.Turn{}, want...), got.History); err != nil || diff != "" || string(got.State["city"]) != `"Lisbon"` {
			t.Fatalf("fillConversation(%s): %v, %s\n%s", kept, err, got.State, diff)
		}
	})
}

// spaced puts a blank behind each colon and comma outside of strings.
func spaced(text []byte) (out []byte) {
	in := false
	for i, c := range text {
		out = append(out, c)
		slashes := 0
		for i-slashes > 0 && text[i-slashes-1] == '\\' {
			slashes++
		}
		if c == '"' && slashes%2 == 0 {
			in = !in
		}
		if !in && (c == ':' || c == ',') {
			out = append(out, ' ')
		}
	}
	return out
}

// What is no history is told, however it begins.
func TestWhatIsNoHistoryIsTold(t *testing.T) {
	t.Parallel()
	turn, err := json.Marshal([]memory.Turn{{Role: memory.User, Content: `a "word"`, At: time.Unix(0, 0).UTC(), Tokens: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for end := range turn {
		if cut := string(turn[:end]); fillConversation(&memory.Conversation{}, cut, "{}") == nil {
			t.Errorf("%s is read", cut)
		}
	}
	for _, history := range []string{`["turn"]`, `[{"at": 1}]`, `[{"at": "yesterday"}]`, `[{"tokens": "many"}]`, `[{"message": "none"}]`, `[{"role"`, `[{"role": "user]`,
		`[{}]`, `[{}, {"role": "user"}]`, `[{"role": "user"}, {}]`, `[{"role": "user"}, null]`, `[{"tokens": null}]`, `[{"tokens": 1.5}]`, `{"role": "user"}`, `"role"`, `[["role"]]`,
		`[{"role": "user", "more": {"content": "not said"}}]`, `[{"role": "user", "more": {"n": 1, "content": "not said"}}]`, `[{"more": [1, "content", "not said"]}]`, `[{"role" "user"}]`,
	} {
		if err := fillConversation(&memory.Conversation{}, history, "{}"); err == nil {
			t.Errorf("%s is read", history)
		}
	}
}
