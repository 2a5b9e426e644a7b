package judge

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/window"
)

// FuzzJudge holds, of any two texts, that who speaks first does not matter, that reading only what a filter passes changes
// nothing, and that a reason stands where there is something to say.
func FuzzJudge(f *testing.F) {
	for _, seed := range [][2]string{
		{"The museum opens at 9", "The museum opens at 10:30 pm, or so."},
		{"Prefiero el té antes que el café.", "A Juan no le gusta el café."},
		{"The user’s budget is $1,500.50", "Budget: 1.500 € / noche"},
		{"Yes, the flight (IB 12) leaves on Friday, May 3, 2026.", "El vuelo sale el 3 de mayo de 2026; llega a las 15h."},
		{"According to its website, the hotel has no pool and is far from Paris.", "El hotel, según Ana, está en París"},
		{"It isn't. They can't. I'd. 's 's.", "no no nunca ya no hay hay"},
		{"10/06/2026 99/99/9999 1,2,3,4 -5 00:00 24:60", "is is is be at the"},
		{"prefers over than to prefers", "Ana prefers to over than, and, prefers"},
		{"\xff\xfe The shop is\x00 open", "The shop is clo\u0301sed 🇪🇸"},
		{"Hotel Ritz\nThe hotel has 48 rooms.", "- The hotel has 52 rooms"},
	} {
		f.Add(seed[0], seed[1])
	}
	rules := New()
	f.Fuzz(func(t *testing.T, known, given string) {
		verdicts, err := rules.Judge(context.Background(), []window.Pair{{Known: known, New: given}, {Known: given, New: known}})
		if err != nil || len(verdicts) != 2 {
			t.Fatalf("Judge = %v, %v", verdicts, err)
		}
		one, other := rules.read(known, nil), rules.read(given, nil)
		if len(one.claims) <= maxSame && len(other.claims) <= maxSame && (verdicts[0].Relation == window.Contradicts) != (verdicts[1].Relation == window.Contradicts) {
			t.Errorf("%q and %q contradict each other one way only: %v", known, given, verdicts)
		}
		single, err := rules.Judge(context.Background(), []window.Pair{{Known: known, New: given}})
		if full := rules.judge(one, other); err != nil || full != verdicts[0] || full != single[0] {
			t.Errorf("%q and %q: %v and %v with a filter, %v without", known, given, verdicts[0], single[0], full)
		}
		for _, v := range verdicts {
			if (v.Reason != "") != (v.Relation != window.Unrelated) || v.By != window.RulesName || utf8.ValidString(known+given) && !utf8.ValidString(v.Reason) {
				t.Errorf("%q and %q: %+v", known, given, v)
			}
		}
	})
}

// TestHostile judges texts as long as the server takes them, of forms that slow rules would need minutes for.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"a", "a ", ". ", "A. ", ",", "\n", "x is y. ", "The shop is open. ", "The shop is open and ", "the user prefers tea over ", "1", "1,", "é", "’", "not ",
		"May 3, ", "according to the ", "Budget: ", "(", "Paris, ", "at 9 ", "swimming ", "\xff", "The shop is closed; the user likes tea. ",
	} {
		text := strings.Repeat(part, maxBytes/len(part)+1)
		var pairs []window.Pair
		for n := range 20 {
			pairs = append(pairs, window.Pair{Known: text[n:], New: text})
		}
		begin := time.Now()
		if _, err := New().Judge(context.Background(), pairs); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%q, again and again: %s for 20 pairs", part, took)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if verdicts, err := New().Judge(ctx, []window.Pair{{}}); err == nil {
		t.Errorf("Judge, cancelled = %v, want an error", verdicts)
	}
}
