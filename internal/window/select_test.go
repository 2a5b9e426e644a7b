package window_test

import (
	"context"
	"testing"

	"github.com/tzzr/context-manager/internal/window"
)

// counting counts what a judge is asked.
type counting struct {
	judge        window.Judge
	times, pairs int
}

func (c *counting) Judge(ctx context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	c.times, c.pairs = c.times+1, c.pairs+len(pairs)
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
	if judge.times != 1 || judge.pairs != 4 {
		t.Errorf("the judge was asked %d times of %d pairs, want once, of 4", judge.times, judge.pairs)
	}
}
