package selection

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	Owner       string          // whose words they are: a message's owner, a record's book
	CreatedAt   time.Time       // of two that say the same, the newer counts
	Place       int64           // among messages, or records: of one time, the later one is the newer
	Salt        []byte          // a message's
	Provenance  *Provenance     // a message's
	Matched     func() []string // the words of the query that the text holds; asked of what is selected
}

// Packed is what was chosen from candidates.
type Packed struct {
	Items           []Item
	Dropped         []Dropped
	Rendered        string
	Tokens          int
	UnchangedTokens int
	Salts           [][]byte // of the items that are messages, in order
}

// Pack chooses from candidates, best first, and gives the items, what was dropped, and the rendered block with its
// cost. Candidates are taken in their order while they reach the threshold, the limit allows, no newer one that is taken
// says the same or nearly the same, and they fit into what is left of the budget; one that does not fit leaves its room to
// the next. The cost is that of the block as a whole, so it never exceeds the budget.
//
// What the request excepts is neither taken nor dropped: what older ones say that it says as well is not taken either.
//
// The items of an earlier selection come first, in their order, as long as they are taken on the same terms and each
// renders the line that it had: the first that does not ends them. Those may be among the candidates beyond reach.
func Pack(r Request, candidates []Candidate, earlier *Selection, count token.Counter) (Packed, error) {
	p := packer{request: r, count: count, failed: map[*offer]DropReason{}}
	var err error
	if p.heading, err = count(Heading); err != nil {
		return Packed{}, err
	}
	if err := p.prepare(candidates, earlier); err != nil {
		return Packed{}, err
	}
	for again := true; again; {
		if err := p.choose(); err != nil {
			return Packed{}, err
		}
		again = p.fail()
	}
	return p.outcome()
}

// offer is a candidate on its way.
type offer struct {
	*Candidate
	line    string
	cost    int // of the line by itself
	print   print
	newer   []rival // of those that reach the threshold
	beyond  bool    // beyond reach: taken only where the earlier selection had it
	except  bool    // never taken: whoever asks has it
	stands  bool    // no newer one that counts says the same
	matched []string
}

type packer struct {
	request Request
	count   token.Counter
	heading int // what it costs

	offers  []*offer // best first
	byAge   []*offer // those that reach the threshold, newest first
	earlier []*offer // what the earlier selection begins with, as far as it could stay
	failed  map[*offer]DropReason

	// Of one try.
	taken    []*offer
	lines    []string
	kept     int // how many are kept from the earlier selection
	reasons  map[*offer]DropReason
	used     int // the sum of what heading and lines cost by themselves
	rendered string
	tokens   int
}

// prepare makes offers of the candidates.
func (p *packer) prepare(candidates []Candidate, earlier *Selection) error {
	before := map[chain.Hash]string{}
	if earlier != nil {
		before = earlier.Lines()
	}
	byHash := make(map[chain.Hash]*offer, len(before))
	within := p.request.Limit + Reach
	for i := range candidates {
		o := &offer{Candidate: &candidates[i], except: slices.Contains(p.request.Except, candidates[i].Hash)}
		if o.except {
			p.offers = append(p.offers, o)
			continue
		}
		o.beyond = within <= 0
		within--
		line, wanted := before[o.Hash]
		if o.beyond && !wanted {
			continue
		}
		o.line = Line(o.Lead, o.Text)
		if wanted && line == o.line {
			byHash[o.Hash] = o
		}
		p.offers = append(p.offers, o)
	}
	if err := p.measure(); err != nil {
		return err
	}
	for _, o := range p.offers {
		if o.Score >= p.request.Threshold {
			p.byAge = append(p.byAge, o)
		}
	}
	giveWay(p.byAge)
	slices.SortStableFunc(p.byAge, func(a, b *offer) int { return b.age(a) })
	if earlier != nil {
		for _, item := range earlier.Items {
			o := byHash[item.Hash]
			if o == nil || o.Score < p.request.Threshold {
				break
			}
			p.earlier = append(p.earlier, o)
		}
	}
	return nil
}

// measure counts what each line costs, and prepares for comparing those texts that reach the threshold: on all
// processors, since somebody waits.
func (p *packer) measure() error {
	var next atomic.Int64
	var failure error
	var once sync.Once
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(p.offers)) {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(p.offers)); i = next.Add(1) - 1 {
				o := p.offers[i]
				var err error
				if o.cost, err = p.count(o.line + "\n"); err != nil {
					once.Do(func() { failure = err })
					return
				}
				if o.Score >= p.request.Threshold {
					o.print = printOf(o.Text)
				}
			}
		})
	}
	done.Wait()
	return failure
}

// Lines gives the line of each item; none if the block is not of the form that it should have.
func (s *Selection) Lines() map[chain.Hash]string {
	lines := strings.Split(s.Rendered, "\n- ")
	if len(lines) != len(s.Items)+1 {
		return nil
	}
	byHash := make(map[chain.Hash]string, len(s.Items))
	for i, item := range s.Items {
		byHash[item.Hash] = "- " + lines[i+1]
	}
	return byHash
}

// choose takes what it can, unless it has failed before.
func (p *packer) choose() error {
	for _, o := range p.byAge { // newest first, so that what a rival has come to is known
		o.stands = p.failed[o] == "" && !slices.ContainsFunc(o.newer, func(r rival) bool { return r.stands })
	}
	p.taken, p.lines, p.reasons, p.used = nil, nil, map[*offer]DropReason{}, p.heading
	for _, o := range p.earlier {
		if reason, err := p.offer(o); err != nil || reason != "" {
			if err != nil {
				return err
			}
			break
		}
	}
	p.kept = len(p.taken)
	for _, o := range p.offers {
		if o.beyond || o.except || slices.Contains(p.taken[:p.kept], o) {
			continue
		}
		reason, err := p.offer(o)
		if err != nil {
			return err
		}
		if reason != "" {
			p.reasons[o] = reason
		}
	}
	var explained sync.WaitGroup // beside counting, which takes as long
	taken := slices.Clone(p.taken)
	explained.Go(func() { explain(taken) })
	err := p.fit()
	explained.Wait()
	return err
}

// offer takes a candidate, or says why not.
func (p *packer) offer(o *offer) (DropReason, error) {
	switch {
	case o.Score < p.request.Threshold:
		return BelowThreshold, nil
	case p.failed[o] != "":
		return p.failed[o], nil
	case !o.stands:
		return o.superseded(), nil
	case len(p.taken) >= p.request.Limit:
		return OverLimit, nil
	}
	fits, err := p.fits(o.line, o.cost)
	if err != nil {
		return "", err
	}
	if !fits {
		return OverBudget, nil
	}
	p.used += o.cost
	p.taken, p.lines = append(p.taken, o), append(p.lines, o.line)
	return "", nil
}

// superseded says what an offer is to the newer one that stands.
func (o *offer) superseded() DropReason {
	if slices.ContainsFunc(o.newer, func(r rival) bool { return r.stands && r.likeness == same }) {
		return Duplicate
	}
	return Superseded
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

// explain adds the matched words to what was taken.
func explain(taken []*offer) {
	for _, o := range taken {
		if o.matched == nil {
			o.matched = o.Matched()
		}
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
		last := len(p.lines) - 1
		p.reasons[p.taken[last]] = OverBudget
		p.taken, p.lines = p.taken[:last], p.lines[:last]
	}
	p.rendered, p.tokens = "", 0
	return nil
}

// fail notes what was not taken though older ones had to give way to it, which come back then: what both say is not to be
// lost. It says whether there is anything new.
func (p *packer) fail() bool {
	again := false
	for _, o := range p.byAge {
		if o.stands {
			continue
		}
		for _, r := range o.newer {
			if r.stands && !r.except && p.failed[r.offer] == "" && !slices.Contains(p.taken, r.offer) {
				reason := p.reasons[r.offer]
				if reason == "" {
					reason = OverLimit // beyond reach
				}
				p.failed[r.offer], again = reason, true
			}
		}
	}
	return again
}

func (p *packer) outcome() (Packed, error) {
	out := Packed{Items: []Item{}, Dropped: []Dropped{}, Rendered: p.rendered, Tokens: p.tokens}
	for i, o := range p.taken {
		item := Item{Position: i + 1, Hash: o.Hash, Type: o.Type, Score: o.Score, Explanation: o.Explanation, Tokens: o.cost, Provenance: o.Provenance}
		item.Explanation.MatchedTerms = o.matched
		out.Items = append(out.Items, item)
		if o.Type == chain.RefContext {
			out.Salts = append(out.Salts, o.Salt)
		}
	}
	for _, o := range p.offers {
		if reason := p.reasons[o]; reason != "" && !o.beyond {
			out.Dropped = append(out.Dropped, Dropped{Hash: o.Hash, Type: o.Type, Score: o.Score, Tokens: o.cost, Reason: reason})
		}
	}
	kept := min(p.kept, len(p.lines))
	switch kept {
	case 0:
		return out, nil
	case len(p.lines):
		out.UnchangedTokens = out.Tokens
		return out, nil
	}
	var err error
	out.UnchangedTokens, err = p.count(block(p.lines[:kept]))
	return out, err
}

func block(lines []string) string { return Heading + "\n" + strings.Join(lines, "\n") }

var setIn = strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ", "\r", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")

// Line renders one item. Further lines of its text are set in, so that no text can pass for another item.
func Line(lead, text string) string {
	if lead = strings.Join(strings.Fields(lead), " "); lead != "" {
		lead += ": "
	}
	return "- " + lead + set(text)
}

func set(text string) string {
	text = strings.TrimSpace(text)
	if !strings.ContainsAny(text, "\r\n") && !strings.Contains(text, "\xe2\x80") { // one line, as most: so U+2028 and U+2029 begin
		return text
	}
	return setIn.Replace(text)
}

// Foresee counts what the line of a text will hold behind its lead, so that a counter that remembers knows it when Pack asks.
func Foresee(text string, count token.Counter) { _, _ = count(" " + set(text) + "\n") }
