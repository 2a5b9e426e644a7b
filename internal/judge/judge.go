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
	text      string
	claims    []claim
	subjects  map[string][]int // the claims of a subject
	sentences int
}

// Judge gives a verdict for each pair. A text that is in several is read once. Of a text, what is beyond 64 KiB or 200
// sentences is not read, nor are sentences of more than 50 words. It fails only if the context ends.
func (r Rules) Judge(ctx context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	given, news, knowns := make([]*text, len(pairs)), map[string]*text{}, make(map[string]*text, len(pairs))
	var claims []claim
	for i, p := range pairs {
		if i > 0 && p.New == pairs[i-1].New { // mostly it is one for all
			given[i] = given[i-1]
			continue
		}
		if given[i] = news[p.New]; given[i] == nil {
			given[i] = r.read(p.New, nil)
			news[p.New], claims = given[i], append(claims, given[i].claims...)
		}
	}
	wanted := r.lexicon.filterOf(claims)
	verdicts := make([]window.Verdict, len(pairs))
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("judge: %w", err)
		}
		known := knowns[p.Known]
		if known == nil {
			known = r.read(p.Known, wanted)
			knowns[p.Known] = known
		}
		verdicts[i] = r.judge(known, given[i])
	}
	return verdicts, nil
}

func (r Rules) read(s string, f *filter) *text {
	t := &text{text: s}
	if f != nil && len(f.needs) == 0 {
		return t
	}
	t.claims, t.sentences = r.lexicon.read(s, f)
	for i, c := range t.claims {
		if t.subjects == nil {
			t.subjects = map[string][]int{}
		}
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
	if agreed > 0 && agreed == len(given.claims) && agreed >= given.sentences && r.lexicon.gistOf(known.text).holds(r.lexicon.gistOf(given.text)) {
		return window.Verdict{
			Relation: window.Agrees, By: window.RulesName,
			Reason: fmt.Sprintf("%q says what %q says.", short(given.claims[0].text), short(said.text)),
		}
	}
	return window.Verdict{By: window.RulesName}
}
