package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/window"
)

// counting counts what a judge is asked.
type counting struct {
	judge window.Judge
	times int
	pairs []window.Pair
}

func (c *counting) Judge(ctx context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	c.times, c.pairs = c.times+1, append(c.pairs, pairs...)
	return c.judge.Judge(ctx, pairs)
}

// What is selected is judged at once, however much it is; and what is said of each text is of that one.
func TestSelectAsksOnce(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Records = []window.Record{{Title: "Atlas", Content: "poison a b c"}}
	judge := &counting{judge: contradict("poison a b c", words("poison", 5))}
	e.Judge = judge
	out, entered, err := window.Select(t.Context(), e, holding(t, 100), []window.Chosen{chosen("a", 3), chosen("poison", 5), chosen("b", 4), chosen("other", 2), chosen("c", 5)})
	if err != nil || len(entered) != 4 || len(out.Mitigations) != 1 || len(out.Judgements) != 1 || out.Judgements[0].New != words("poison", 5) {
		t.Fatalf("%d entered; %+v, %v", len(entered), out, err)
	}
	if judge.times != 1 || len(judge.pairs) != 4 {
		t.Errorf("the judge was asked %d times of %d pairs, want once, of 4", judge.times, len(judge.pairs))
	}
}

// So is what is shared, for the segment and for all windows that see it, of each pair once, with what is nearest in any of them first;
// and what is said of each window is of that one.
func TestShareAsksOnce(t *testing.T) {
	t.Parallel()
	const budget, luxury, rooms = "User prefers budget hotels.", "User prefers luxury hotels.", "User prefers garden rooms %d."
	segment := window.Segment{ID: "s", Items: []window.Item{item("shared", window.Knowledge, budget)}}
	var windows []window.Window
	for i := range window.MaxShared {
		own := []window.Item{item("far", window.UserPreference, fmt.Sprintf(rooms, i)), item("near", window.UserPreference, fmt.Sprintf("User prefers large hotels %d.", i))}
		if i%2 == 1 {
			own = append(own, item("other", window.Knowledge, budget))
		}
		windows = append(windows, window.Window{Capacity: 1000, Items: own, Segments: []window.Segment{segment}})
	}
	e := newEnv()
	judge := &counting{judge: contradict(budget, luxury)}
	e.Judge = judge
	out, err := window.Share(t.Context(), e, segment, windows, 0, window.Draft{Type: window.UserPreference, Content: luxury})
	if err != nil || out.Item == nil || !has(out.Gone, "shared") {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, o := range out.Windows {
		if want := i % 2; len(o.Gone) != want || len(o.Judgements) != want || want == 1 && !has(o.Gone, "other") {
			t.Errorf("window %d: %+v", i, o)
		}
	}
	if want := 1 + 2*window.MaxShared; judge.times != 1 || len(judge.pairs) != want {
		t.Fatalf("the judge was asked %d times of %d pairs, want once, of %d", judge.times, len(judge.pairs), want)
	}
	for _, pair := range judge.pairs[:1+window.MaxShared/2] {
		if strings.Contains(pair.Known, "rooms") {
			t.Errorf("it was asked of %q before what is nearer", pair.Known)
		}
	}
	if _, err := window.Share(t.Context(), &window.Env{Judge: broken{}, Count: countWords, Words: wordsOf, NewID: e.NewID, Now: noon}, segment, windows, 0, window.Draft{Type: window.Knowledge, Content: luxury}); !errors.Is(err, errBroken) {
		t.Errorf("where the judge fails: %v", err)
	}
}
