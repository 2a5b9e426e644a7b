package db

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// Whatever was said is read as it was kept, with the space that Postgres writes and without.
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
		spaced := &strings.Builder{}
		inside := false
		for i, c := range string(kept) {
			spaced.WriteRune(c)
			if c == '"' && !escaped(kept[:i]) {
				inside = !inside
			}
			if !inside && (c == ',' || c == ':') {
				spaced.WriteByte(' ')
			}
		}
		for _, history := range []string{string(kept), spaced.String()} {
			got, err := readTurns(history)
			if diff := cmp.Diff(append([]memory.Turn{}, want...), got); err != nil || diff != "" {
				t.Fatalf("readTurns(%s): %v\n%s", history, err, diff)
			}
		}
	})
}

// escaped tells whether what stands behind a text is escaped by it.
func escaped(before []byte) bool {
	n := len(before) - len(strings.TrimRight(string(before), `\`))
	return n%2 == 1
}

func TestWhatIsNoHistoryIsNotRead(t *testing.T) {
	t.Parallel()
	const hash = `"message": "0000000000000000000000000000000000000000000000000000000000000000"`
	for _, history := range []string{
		"", "{}", "null", "[", "[{", `[{"`, `[{"role`, `[{"role"`, `[{"role":`, `[{"role": "user"`, `[{"role": "user"}`, `[{"role": "user"},`,
		`[{"role": "user"},]`, `[{"role": "user"}] `, `[{"role": "user\`, `[{"role": "user\"`, `[{"role": null}]`, `[{"role": {}}]`, `[{"role": ["user"]}]`,
		`["user"]`, `[1]`, `[{"tokens": x}]`, `[{"tokens": 1.5}]`, `[{"tokens": }]`, `[{"at": "noon"}]`, `[{"message": "0"}]`, `[{` + hash + `}`, `[{"role" "user"}]`,
	} {
		if got, err := readTurns(history); err == nil {
			t.Errorf("readTurns(%s) = %v, want an error", history, got)
		}
	}
}
