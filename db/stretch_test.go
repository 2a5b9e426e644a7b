package db_test

import (
	"slices"
	"strings"
	"testing"
)

// A stretch ends where it is told to, or has as many bytes as are read at once, and says whether there is more; each message has the
// leaf that is its own, also where others were deleted between them.
func TestStretch(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	s := newSealed(t, url)
	large := strings.Repeat("x", 1<<20)
	first := mustAppend(t, store, draft("other", "before"), draft("s", "1"), draft("s", large), draft("s", "3"))[1]
	mustAppend(t, store, draft("other", "between"), draft("s", large), draft("s", large), draft("s", large), draft("s", "7"))
	_, sealer, _ := s.start(t, s.config())
	s.untilSealed(t, sealer)
	leaf := map[int64]int64{1: 1, 2: 2, 3: 3, 4: 5, 5: 6, 6: 7, 7: 8}
	check := func(name string, after, upto int64, want []int64, more bool) {
		t.Helper()
		got, err := store.Stretch(t.Context(), first.SessionHash, after, upto)
		if err != nil {
			t.Errorf("%s: Stretch(%d, %d): %v", name, after, upto, err)
			return
		}
		var sequences, leaves, wantLeaves []int64
		for i, m := range got.Messages {
			sequences, leaves, wantLeaves = append(sequences, m.Sequence), append(leaves, got.Leaves[i]), append(wantLeaves, leaf[m.Sequence])
		}
		if !slices.Equal(sequences, want) || !slices.Equal(leaves, wantLeaves) || got.More != more {
			t.Errorf("%s: Stretch(%d, %d) = %d with leaves %d, more %t; want %d with %d, more %t", name, after, upto, sequences, leaves, got.More, want, wantLeaves, more)
		}
	}
	const end = 1 << 53
	check("from the first", 0, end, []int64{1, 2, 3, 4, 5}, true) // the sixth is one too many for 4 MiB
	check("behind them", 5, end, []int64{6, 7}, false)
	check("up to one", 0, 3, []int64{1, 2, 3}, true)
	check("behind the last", 7, end, nil, false)
	check("of nothing", 3, 3, nil, false)
	mustExec(t, s.admin, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, s.admin, "DELETE FROM log.messages WHERE session_hash = "+session("s")+" AND sequence IN (2, 4)")
	check("with some deleted", 0, end, []int64{1, 3, 5, 6, 7}, false)
	check("up to one that was deleted", 0, 4, []int64{1, 3}, true)
}
