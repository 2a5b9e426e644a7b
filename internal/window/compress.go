package window

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
)

// Strategy is a step of a compression.
type Strategy string

// The steps, in their order; the last two are of an aggressive compression.
const (
	TrimStep         Strategy = "trim_oldest"          // messages leave for the scratchpad, those older than an hour first
	SummariseStep    Strategy = "summarize"            // a summary takes the place of the conversation's older messages
	ArchiveStep      Strategy = "archive"              // tool results, then knowledge, leave for the scratchpad
	RemoveStep       Strategy = "remove_non_essential" // all that is not essential leaves for the scratchpad
	SummariseAllStep Strategy = "summarize_all"        // a summary takes its place
)

// Step is what a strategy did.
type Step struct {
	Strategy Strategy `json:"strategy"`
	Freed    int      `json:"freed"`             // tokens; less than 0 where a summary was written of what had left before
	Items    []string `json:"items"`             // that left
	Summary  string   `json:"summary,omitempty"` // the item that was written
	By       string   `json:"by,omitempty"`      // who summarised
	Fallback string   `json:"fallback,omitempty"`
}

// Compression is what a compression did.
type Compression struct {
	Before int           `json:"before"` // tokens used
	After  int           `json:"after"`
	Steps  []Step        `json:"steps"` // those that did something
	Took   time.Duration `json:"took"`
}

// Ratio is how many times smaller the window has become.
func (c Compression) Ratio() float64 {
	if c.After == 0 {
		return float64(max(c.Before, 1))
	}
	return float64(c.Before) / float64(c.After)
}

// Strategies gives the steps that did something, each once.
func (c Compression) Strategies() []Strategy {
	var out []Strategy
	for _, s := range c.Steps {
		if len(out) == 0 || out[len(out)-1] != s.Strategy {
			out = append(out, s.Strategy)
		}
	}
	return out
}

// Compress brings a window down to a share of its capacity, as far as what may leave reaches.
func Compress(ctx context.Context, e *Env, w Window, target float64) (Outcome, error) {
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Before: p.before, Compression: &Compression{Before: p.before}}
	began := time.Now()
	if err := p.compress(out.Compression, int(target*float64(w.Capacity)), p.below(AggressiveAt)); err != nil {
		return Outcome{}, err
	}
	out.Compression.After, out.Compression.Took = p.w.Used(), time.Since(began)
	out.Change = p.change()
	return out, nil
}

// makeRoom compresses a window that is too full for so many tokens more, and says what that did; nil: there was room.
func (p *plan) makeRoom(tokens int) (*Compression, error) {
	before := p.w.Used()
	if len(p.w.Items) >= MaxItems {
		return nil, fault.New(fault.ContextWindowExceeded, "the window holds %d items, which is the most; remove items that are no longer needed (removeFromWindow), or compress it", MaxItems)
	}
	if p.w.Usage() < CompressAt && before+tokens <= p.w.Capacity {
		return nil, nil
	}
	if tokens > p.w.Capacity { // nothing would help
		return nil, fault.New(fault.ContextWindowExceeded, "has %d tokens, and the window holds at most %d; nothing was changed. %s", tokens, p.w.Capacity, waysOut)
	}
	began := time.Now()
	c := &Compression{Before: before}
	goal := min(int(Target*float64(p.w.Capacity)), p.w.Capacity-tokens)
	if err := p.compress(c, goal, min(p.below(AggressiveAt), p.w.Capacity-tokens)); err != nil {
		return nil, err
	}
	if p.w.Usage() >= AggressiveAt || p.w.Used()+tokens > p.w.Capacity {
		if err := p.compressAll(c, min(int(AggressiveAt*float64(p.w.Capacity)), p.w.Capacity-tokens)); err != nil {
			return nil, err
		}
	}
	c.After, c.Took = p.w.Used(), time.Since(began)
	if p.w.Usage() >= CriticalAt || c.After+tokens > p.w.Capacity {
		return nil, p.exceeded(tokens)
	}
	if len(c.Steps) == 0 { // all of it stays
		return nil, nil
	}
	return c, nil
}

// Refuse is CONTEXT_WINDOW_EXCEEDED for a content that does not fit whatever is compressed, and whatever its words are. It is
// asked before anything is looked for, counted or judged, all of which takes longer the longer a content is.
func (w *Window) Refuse(content string) error {
	if least := token.Least(w.Encoding, content); least > w.Capacity {
		return w.never(least)
	}
	return nil
}

func (w *Window) never(least int) error {
	return fault.New(fault.ContextWindowExceeded, "has at least %d tokens, and the window holds at most %d; nothing was changed. %s", least, w.Capacity, waysOut)
}

// below is how many tokens are less than a share of the capacity.
func (p *plan) below(share float64) int { return int(share*float64(p.w.Capacity)) - 1 }

// waysOut are what the specification leaves to the agent (UC-SYS-003, 1B.4).
const waysOut = "Remove items that are no longer needed (removeFromWindow), move content to the scratchpad (offload), or split the work into several calls, each with a window of its own"

func (p *plan) exceeded(tokens int) error {
	return fault.New(fault.ContextWindowExceeded,
		"the window holds %d of %d tokens (%.0f%%) after compression, and %d more do not fit; nothing was changed. %s", p.w.Used(), p.w.Capacity, 100*p.w.Usage(), tokens, waysOut)
}

// compress goes through the steps until at most so many tokens are used. Where what stays leaves no room for a summary, that may
// take a tenth of the capacity more, but no more than most in all: better that than nothing of what has left.
func (p *plan) compress(c *Compression, goal, most int) error {
	var trimmed, archived []Item
	trim := func(keep int) {
		old := p.oldest(goal, keep, sum(trimmed))
		p.leave(ids(old), true)
		trimmed = append(trimmed, old...)
	}
	archive := func(t ContentType) {
		var moved []Item
		used := p.w.Used() + digestBudget(sum(trimmed))
		for _, item := range p.w.Items {
			if used > goal && item.Type == t && !item.IsSummary() {
				moved, used = append(moved, item), used-item.Tokens
			}
		}
		p.leave(ids(moved), true)
		archived = append(archived, moved...)
	}
	trim(KeptHistory)
	archive(ToolResult)
	if p.w.Used()+digestBudget(sum(trimmed))-p.known() <= goal { // what is known makes room enough by itself
		archive(Knowledge)
	}
	// Where even the newest messages are too much, fewer of them stay word for word.
	for keep := KeptHistory / 2; keep >= 2; keep /= 2 {
		trim(keep)
	}
	archive(Knowledge)
	c.note(Step{Strategy: TrimStep, Freed: sum(trimmed), Items: ids(trimmed)})
	if len(trimmed) > 0 {
		room := goal
		if goal-p.w.Used() < minDigest/2 {
			room = min(p.w.Used()+p.w.Capacity/10, most)
		}
		step, err := p.summarise(trimmed, digestBudget(sum(trimmed)), room, SummariseStep)
		if err != nil {
			return err
		}
		c.note(step)
	}
	c.note(Step{Strategy: ArchiveStep, Freed: sum(archived), Items: ids(archived)})
	return nil
}

// known is how many tokens of knowledge may leave.
func (p *plan) known() (n int) {
	for i := range p.w.Items {
		if one := &p.w.Items[i]; one.Type == Knowledge && !one.IsSummary() {
			n += one.Tokens
		}
	}
	return n
}

// note adds a step that did something, or what it did more of.
func (c *Compression) note(s Step) {
	if s.Freed == 0 && s.Summary == "" {
		return
	}
	if n := len(c.Steps); n > 0 && c.Steps[n-1].Strategy == s.Strategy && s.Summary == "" {
		c.Steps[n-1].Freed += s.Freed
		c.Steps[n-1].Items = append(c.Steps[n-1].Items, s.Items...)
		return
	}
	c.Steps = append(c.Steps, s)
}

// oldest gives the oldest messages whose leaving brings the window to a goal, with room for a summary of them and of so many
// tokens that have left before; but for the newest. What is older than an hour comes first, being the oldest.
func (p *plan) oldest(goal, keep, before int) []Item {
	history := p.messages()
	spare := p.spare(history[:max(len(history)-keep, 0)])
	used, n, tokens := p.w.Used(), 0, 0
	for ; n < len(spare) && used-tokens+digestBudget(before+tokens) > goal; n++ {
		tokens += spare[n].Tokens
	}
	return spare[:n]
}

// Sizes of summaries: a tenth of what they stand for, within these.
const (
	minDigest = 40
	maxDigest = 400
)

func digestBudget(tokens int) int { return min(max(tokens/10, minDigest), maxDigest, tokens) }

// summarise writes a summary of items, which leave if they have not, into one item with the summary that there was before: of so
// many tokens more than that one, as long as the window holds no more than most. Where no room is for it, or nothing is said,
// that one stays, and what the new one would stand for is in the scratchpad all the same.
func (p *plan) summarise(items []Item, digest, most int, as Strategy) (Step, error) {
	step := Step{Strategy: as, Items: ids(items)}
	room := p.w.Used()
	var before []Item
	var parts []Part
	var of []string
	stand := map[string]bool{}
	var observed time.Time
	add := func(item *Item, stands ...string) {
		parts = append(parts, item.part())
		for _, id := range stands {
			if !stand[id] {
				stand[id] = true
				of = append(of, id)
			}
		}
		if item.ObservedAt.After(observed) {
			observed = item.ObservedAt
		}
	}
	for i := range p.w.Items {
		if one := &p.w.Items[i]; one.IsSummary() {
			before = append(before, *one)
			add(one, one.SummaryOf...)
		}
	}
	for i := range items {
		add(&items[i], items[i].ID)
	}
	p.leave(ids(items), true)
	text, n, err := p.digest(parts, min(digest+sum(before), maxDigest, most-p.w.Used()+sum(before)), &step)
	if err != nil {
		return step, err
	}
	if text != "" {
		p.leave(ids(before), false)
		p.place++
		summary := Item{
			ID: p.e.NewID(), Place: p.place, Type: Knowledge, Content: text, Tokens: n, SummaryOf: of, ObservedAt: observed, AddedAt: p.now,
			Quality: Quality{Relevance: 1, Freshness: freshness(p.now.Sub(observed)), Accuracy: unverified, Completeness: 1, Consistency: 1},
		}
		step.Summary = summary.ID
		p.add(summary)
	}
	step.Freed = room - p.w.Used()
	return step, nil
}

// digestTries is how often a summariser is asked for less.
const digestTries = 3

// digest asks for a text of at most so many tokens of the window's encoding, and counts them. Summarisers count in the default
// one: where that makes more in the window's, they are asked for less. Empty: none fits.
func (p *plan) digest(parts []Part, budget int, step *Step) (string, int, error) {
	ask := budget
	for try := 0; try < digestTries && ask > 0; try++ {
		s, err := p.e.Summariser.Summarise(p.ctx, parts, ask)
		if err != nil {
			return "", 0, err
		}
		n, err := p.e.Count(s.Text)
		if err != nil {
			return "", 0, err
		}
		if step.By, step.Fallback = s.By, s.Fallback; n <= budget {
			return s.Text, n, nil
		}
		ask = min(ask-1, ask*budget/n)
	}
	return "", 0, nil
}

// compressAll keeps the user's last message and what is persistent, and a summary of all that this compression has put aside and
// no summary stands for, as long as the window then holds no more than most.
func (p *plan) compressAll(c *Compression, most int) error {
	var rest, said []Item
	stands := map[string]bool{}
	query := p.query()
	for _, item := range p.w.Items {
		for _, id := range item.SummaryOf {
			stands[id] = true
		}
		if !item.Type.Persistent() && !item.IsSummary() && (query == nil || item.ID != query.ID) {
			rest = append(rest, item)
		}
	}
	c.note(Step{Strategy: RemoveStep, Freed: sum(rest), Items: ids(rest)})
	p.leave(ids(rest), true)
	for _, item := range p.Kept {
		if !stands[item.ID] {
			said = append(said, item)
		}
	}
	slices.SortFunc(said, func(a, b Item) int { return cmp.Compare(a.Place, b.Place) })
	if len(said) > 0 || p.w.Used() > most {
		step, err := p.summarise(said, digestBudget(sum(said))/2, most, SummariseAllStep)
		if err != nil {
			return err
		}
		c.note(step)
	}
	if p.w.Used() > most { // not even for the summary that there was
		var before []Item
		for _, item := range p.w.Items {
			if item.IsSummary() {
				before = append(before, item)
			}
		}
		p.leave(ids(before), false)
		c.note(Step{Strategy: RemoveStep, Freed: sum(before), Items: []string{}})
	}
	return nil
}

func confusion(tools int) string {
	return fmt.Sprintf("%d tools are more than %d: their descriptions are left out of the window, and searchTools finds those that are needed", tools, ToolsShown)
}
