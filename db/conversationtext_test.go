package db_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/memory"
)

// Whatever can be said comes back from Postgres as it was said, in whichever way Postgres writes it.
func TestHistoriesComeBackFromPostgres(t *testing.T) {
	t.Parallel()
	_, at := open(t)
	conn := superuser(t, at)
	said := []string{"", `"`, `\`, `\"`, `\\"}, {"role": "user"`, `", "content": "`, `\u0041`, `\u0000`, `\ud83d`, "}]", "[{", strings.Repeat(`\`, 1001) + `"`}
	for c := rune(1); c < 0x3000; c++ {
		said = append(said, "a"+string(c)+"b")
	}
	for c := rune(0x3000); c <= 0x10FFFF; c += 0xFD { // surrogates are none: Go has U+FFFD in their place
		said = append(said, string(c))
	}
	for start := 0; start < len(said); start += memory.MaxTurns {
		var want []memory.Turn
		for i, content := range said[start:min(start+memory.MaxTurns, len(said))] {
			want = append(want, memory.Turn{
				Role: []memory.Speaker{memory.User, memory.Assistant}[i%2], Content: content, At: time.UnixMicro(int64(start * 1e9)).UTC(),
				Message: hashOf("%d", start+i), Tokens: i % 3,
			})
		}
		kept, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		written := value[string](t, conn, "SELECT $1::TEXT::JSONB::TEXT", string(kept))
		if got, err := db.Turns(written); err != nil || !cmp.Equal(want, got) {
			t.Fatalf("%s is read as: %v\n%s", written, err, cmp.Diff(want, got))
		}
	}
}
