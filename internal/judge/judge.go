package judge

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/internal/window"
)

// Rules judges by rules. It is safe for concurrent use.
type Rules struct{ lexicon *lexicon }

// New makes a judge.
func New() Rules { return Rules{lexicon: load()} }

var _ window.Judge = Rules{}

// text is one that was read.
type text struct {
	claims    []claim
	subjects  map[string][]int // the claims of a subject
	sentences int
}

// Judge gives a verdict for each pair. A text that is in several is read once. Of a text, what is beyond 64 KiB or 200
// sentences is not read, nor are sentences of more than 50 words. It fails only if the context ends.
func (r Rules) Judge(ctx context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	read := map[string]*text{}
	get := func(s string) *text {
		t, ok := read[s]
		if !ok {
			t = r.read(s)
			read[s] = t
		}
		return t
	}
	verdicts := make([]window.Verdict, len(pairs))
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("judge: %w", err)
		}
		verdicts[i] = r.judge(get(p.Known), get(p.New))
	}
	return verdicts, nil
}

func (r Rules) read(s string) *text {
	t := &text{subjects: map[string][]int{}}
	t.claims, t.sentences = r.lexicon.read(s)
	for i, c := range t.claims {
		t.subjects[c.subject] = append(t.subjects[c.subject], i)
	}
	return t
}

// maxSame is with how many claims of its subject a claim is compared, so that a text that says one thing a thousand times
// costs no more than others.
const maxSame = 32

// judge compares the claims of two texts. One contradiction is enough; a text agrees if all that it says is claimed by the
// other one too.
func (r Rules) judge(known, given *text) window.Verdict {
	agreed := 0
	var said *claim
	for i := range given.claims {
		c := &given.claims[i]
		same := known.subjects[c.subject]
		agrees := false
		for _, j := range same[:min(len(same), maxSame)] {
			k := &known.claims[j]
			relation, by := r.lexicon.compare(k, c)
			if relation == window.Contradicts {
				return window.Verdict{
					Relation: relation, By: window.RulesName,
					Reason: fmt.Sprintf("%q contradicts %q: %s.", short(c.text), short(k.text), by),
				}
			}
			if relation == window.Agrees {
				agrees, said = true, k
			}
		}
		if agrees {
			agreed++
		}
	}
	if agreed > 0 && agreed == len(given.claims) && agreed >= given.sentences {
		return window.Verdict{
			Relation: window.Agrees, By: window.RulesName,
			Reason: fmt.Sprintf("%q says what %q says.", short(given.claims[0].text), short(said.text)),
		}
	}
	return window.Verdict{By: window.RulesName}
}
