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
		var got memory.Conversation
		err = fillConversation(&got, string(kept), `{"city": "Lisbon"}`)
		if diff := cmp.Diff(append([]memory.Turn{}, want...), got.History); err != nil || diff != "" || string(got.State["city"]) != `"Lisbon"` {
			t.Fatalf("fillConversation(%s): %v, %s\n%s", kept, err, got.State, diff)
		}
	})
}
