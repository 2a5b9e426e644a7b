package selection

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/token"
)

// Reach is how many candidates beyond the limit are looked at and accounted for.
const Reach = 50

// Heading is the first line of a rendered selection.
const Heading = "Relevant Context:"

// Candidate is a ranked message or record with its text.
type Candidate struct {
	Hash        chain.Hash
	Type        chain.RefType
	Score       float64
	Explanation Explanation
	Lead        string // who and when, before the text in its line
	Text        string
	Matched     func() []string // the words of the query that the text holds; asked of what is selected
}

// Pack chooses from candidates, best first, and gives the items, what was dropped, and the rendered block with its
// cost. Candidates are taken in their order while they reach the threshold, the limit allows, no better one has the
// same text, and they fit into what is left of the budget; one that does not fit leaves its room to the next.
// The cost is that of the block as a whole, so it never exceeds the budget.
func Pack(r Request, candidates []Candidate, count token.Counter) (items []Item, dropped []Dropped, rendered string, tokens int, err error) {
	p := packer{request: r, count: count, seen: map[string]bool{}, items: []Item{}, dropped: []Dropped{}}
	if p.used, err = count(Heading); err != nil {
		return nil, nil, "", 0, err
	}
	for i := range candidates[:min(len(candidates), r.Limit+Reach)] {
		if err := p.offer(&candidates[i]); err != nil {
			return nil, nil, "", 0, err
		}
	}
	var explained sync.WaitGroup // beside counting, which takes as long
	explained.Go(p.explain)
	err = p.fit()
	explained.Wait()
	if err != nil {
		return nil, nil, "", 0, err
	}
	p.items = p.items[:len(p.lines)]
	return p.items, p.dropped, p.rendered, p.tokens, nil
}

type packer struct {
	request Request
	count   token.Counter
	seen    map[string]bool // texts of the items, folded

	items    []Item
	lines    []string
	matched  []func() []string
	dropped  []Dropped
	used     int // the sum of what heading and lines cost by themselves
	rendered string
	tokens   int
}

func (p *packer) offer(c *Candidate) error {
	line := Line(c.Lead, c.Text)
	cost, err := p.count("\n" + line)
	if err != nil {
		return err
	}
	key := fold(c.Text)
	reason := p.refusal(c, key)
	if reason == "" {
		fits, err := p.fits(line, cost)
		if err != nil {
			return err
		}
		if !fits {
			reason = OverBudget
		}
	}
	if reason != "" {
		p.dropped = append(p.dropped, Dropped{Hash: c.Hash, Type: c.Type, Score: c.Score, Tokens: cost, Reason: reason})
		return nil
	}
	p.seen[key] = true
	p.used += cost
	p.lines = append(p.lines, line)
	p.matched = append(p.matched, c.Matched)
	p.items = append(p.items, Item{
		Position: len(p.items) + 1, Hash: c.Hash, Type: c.Type, Score: c.Score, Explanation: c.Explanation, Tokens: cost,
	})
	return nil
}

// fits says whether the block with one more line is within the budget. Its parts cost at least as much as the whole,
// about a token a joint more at most, so the whole is counted only where that can decide.
func (p *packer) fits(line string, cost int) (bool, error) {
	if p.request.TokenBudget == nil || p.used+cost <= *p.request.TokenBudget {
		return true, nil
	}
	if p.used+cost > *p.request.TokenBudget+len(p.lines)+1 {
		return false, nil
	}
	whole, err := p.count(block(append(slices.Clone(p.lines), line)))
	if err != nil || whole > *p.request.TokenBudget {
		return false, err
	}
	p.used = whole - cost
	return true, nil
}

// refusal says why a candidate is not taken whatever it costs, or gives "".
func (p *packer) refusal(c *Candidate, key string) DropReason {
	switch {
	case c.Score < p.request.Threshold:
		return BelowThreshold
	case p.seen[key]:
		return Duplicate
	case len(p.items) >= p.request.Limit:
		return OverLimit
	}
	return ""
}

// explain adds the matched words to what was taken.
func (p *packer) explain() {
	for i, matched := range p.matched {
		p.items[i].Explanation.MatchedTerms = matched()
	}
}

// fit renders the items. Tokens of a whole can differ from the sum over its parts, so the block itself is counted,
// and the last items give way if it is over the budget.
func (p *packer) fit() error {
	for len(p.lines) > 0 {
		p.rendered = block(p.lines)
		var err error
		if p.tokens, err = p.count(p.rendered); err != nil {
			return err
		}
		if p.request.TokenBudget == nil || p.tokens <= *p.request.TokenBudget {
			return nil
		}
		last := p.items[len(p.lines)-1]
		p.dropped = append([]Dropped{{Hash: last.Hash, Type: last.Type, Score: last.Score, Tokens: last.Tokens, Reason: OverBudget}}, p.dropped...)
		p.lines = p.lines[:len(p.lines)-1]
	}
	p.rendered, p.tokens = "", 0
	return nil
}

func block(lines []string) string { return Heading + "\n" + strings.Join(lines, "\n") }

// Line renders one item. Further lines of its text are set in, so that no text can pass for another item.
func Line(lead, text string) string {
	text = strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ", "\r", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ").Replace(strings.TrimSpace(text))
	if lead = strings.Join(strings.Fields(lead), " "); lead != "" {
		lead += ": "
	}
	return "- " + lead + text
}

// fold gives what two texts share that say the same: letters and digits in lower case, single spaces.
func fold(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsSymbol(r)
	}), " ")
}
