package window

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Env is what deciding needs from outside.
type Env struct {
	Judge      Judge
	Summariser Summariser
	Count      func(text string) (int, error)           // tokens, in the window's encoding
	CountUpTo  func(text string, most int) (int, error) // Count that ends beyond most; nil: Count
	Words      func(text string) []int32                // an ascending set of what stands for the words of a text, without function words
	NewID      func() string
	Now        time.Time
	Records    []Record // verified, those that speak of the content
	Forced     bool     // an administrator wants it in: nothing is judged, and nothing makes way, so that it has its slot if that is free
}

// PairKey names a pair of texts, whichever of them came first.
func PairKey(p Pair) string {
	return chain.Sum([]byte(min(p.Known, p.New) + "\x00" + max(p.Known, p.New))).String()
}

// Draft is what somebody wants to write into a window.
type Draft struct {
	Type       ContentType
	Content    string
	Key        string
	Source     *Source
	ObservedAt time.Time // zero: now
}

// Validate checks all that can be checked without the window; the fault names the field below field.
func (d *Draft) Validate(field string, now time.Time) error {
	if strings.TrimSpace(d.Content) == "" {
		return fault.Input(field+".content", "is empty")
	}
	if err := chain.CheckText(field+".content", &d.Content, MaxContent); err != nil {
		return err
	}
	if err := chain.CheckText(field+".key", &d.Key, MaxName); err != nil {
		return err
	}
	if d.ObservedAt.After(now.Add(time.Minute)) {
		return fault.Input(field+".observedAt", "is in the future")
	}
	return nil
}

// Failure is one of the four ways in which contexts fail.
type Failure string

// The failures.
const (
	Poisoning   Failure = "poisoning"
	Distraction Failure = "distraction"
	Confusion   Failure = "confusion"
	Clash       Failure = "clash"
)

// What was done about a failure.
const (
	ActionRejected   = "REJECTED"    // the content did not enter
	ActionSuperseded = "SUPERSEDED"  // the older item left
	ActionSummarised = "SUMMARISED"  // the older messages did
	ActionToolsAside = "TOOLS_ASIDE" // descriptions of tools did: they are searched for
)

// Mitigation is a failure that was detected, and what was done about it.
type Mitigation struct {
	Failure Failure     `json:"failure"`
	Action  string      `json:"action"`
	Reason  string      `json:"reason"`
	Items   []string    `json:"items"`            // of the window, that it was about
	Record  *chain.Hash `json:"record,omitempty"` // that was contradicted
}

// Judgement is what a judge said of a pair that it found to contradict, or to agree.
type Judgement struct {
	Verdict
	Pair
	Item   string      // of the window, that the known text is; empty: a record
	Record *chain.Hash // that it is
}

// Outcome is what came of a write.
type Outcome struct {
	Item        *Item // what entered; nil: nothing did
	Quality     Quality
	Rejected    string // why nothing entered; empty: it did
	Mitigations []Mitigation
	Judgements  []Judgement
	Compression *Compression
	Before      int // tokens used
	Change
}

// Change is what is to be done to a window, all or nothing.
type Change struct {
	Added []Item
	Kept  []Item // that left for the scratchpad, whole
	Gone  []Item // that left for good
	After int    // tokens used
}

// Write decides what comes of a write to a window, which it leaves as it is.
//
// Faults: CONTEXT_WINDOW_EXCEEDED if there is no room for it, whatever is compressed; what the judge or the counter says.
// Content that is refused for what it says is no fault: see Outcome.Rejected.
func Write(ctx context.Context, e *Env, w Window, d Draft) (Outcome, error) {
	if err := w.Refuse(d.Content); err != nil {
		return Outcome{}, err
	}
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return Outcome{}, err
	}
	item, err := p.newItem(d)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Before: p.before}
	said, err := p.judge(item)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.assess(&out, item, said); err != nil {
		return Outcome{}, err
	}
	if out.Rejected == "" {
		p.asked = item.Type == UserMessage
		if out.Compression, err = p.makeRoom(item.Tokens); err != nil {
			return out, err // which says what came of the check
		}
		p.add(*item)
		out.Item = item
		if err := p.calm(&out); err != nil {
			return Outcome{}, err
		}
	}
	out.Change = p.change()
	return out, nil
}

// plan is a window on its way.
type plan struct {
	Change
	ctx    context.Context
	e      *Env
	w      Window    // with items of its own
	about  *Window   // whose task and goals count; nil: its own
	now    time.Time // e.Now, or when the newest item was added
	before int
	place  int64
	asked  bool                // what is about to enter is the user's last message
	cuts   map[string][]string // sentences of summaries that are superseded, by the summary's id
}

func newPlan(ctx context.Context, e *Env, w Window) (*plan, error) {
	w.Items = slices.Clone(w.Items)
	p := &plan{ctx: ctx, e: e, w: w, now: w.since(e.Now), before: w.Used(), cuts: map[string][]string{}}
	for i := range w.Items {
		p.place = max(p.place, w.Items[i].Place)
	}
	return p, ctx.Err()
}

func (p *plan) add(item Item) {
	p.w.Items = append(p.w.Items, item)
	p.Added = append(p.Added, item)
}

// leave takes items out of the window: to the scratchpad, or for good. What has entered by the same change was never there.
func (p *plan) leave(ids []string, kept bool) {
	leaving := make(map[string]bool, len(ids))
	for _, id := range ids {
		leaving[id] = true
	}
	p.w.Items = slices.DeleteFunc(p.w.Items, func(item Item) bool {
		if !leaving[item.ID] {
			return false
		}
		fresh := slices.ContainsFunc(p.Added, func(a Item) bool { return a.ID == item.ID })
		if fresh {
			p.Added = slices.DeleteFunc(p.Added, func(a Item) bool { return a.ID == item.ID })
		}
		if kept {
			p.Kept = append(p.Kept, item)
		} else if !fresh {
			p.Gone = append(p.Gone, item)
		}
		return true
	})
}

func (p *plan) change() Change {
	p.After = p.w.Used()
	return p.Change
}

// assess measures an item, of which a judge was asked, and takes out of the window what it supersedes.
func (p *plan) assess(out *Outcome, item *Item, said asked) error {
	q := &item.Quality
	*q = Quality{
		Relevance: p.e.relevance(cmp.Or(p.about, &p.w), item.Type, item.Content), Freshness: freshness(p.now.Sub(item.ObservedAt)),
		Accuracy: unverified, Completeness: 1, Consistency: 1,
	}
	superseded := p.weigh(out, item, said)
	for _, segment := range p.w.Segments {
		if shared := keyed(segment.Items, item.Key); shared != nil && shared.Content != item.Content {
			q.Consistency = 0
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionRejected, Items: []string{shared.ID}, Reason: fmt.Sprintf("the slot %q is shared with other windows", item.Key),
			})
		}
	}
	if older := keyed(p.w.Items, item.Key); older != nil && !slices.Contains(superseded, older.ID) {
		if why := stands(older, item); why != "" {
			q.Consistency = 0
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionRejected, Items: []string{older.ID}, Reason: fmt.Sprintf("the slot %q holds %s", item.Key, why),
			})
		} else {
			superseded = append(superseded, older.ID)
			if older.Content != item.Content {
				out.Mitigations = append(out.Mitigations, Mitigation{
					Failure: Clash, Action: ActionSuperseded, Items: []string{older.ID},
					Reason: fmt.Sprintf("the slot %q is taken by what was observed later", item.Key),
				})
			}
		}
	}
	if why := incomplete(item.Type, item.Content); why != "" {
		q.Completeness = 0
		out.reject("incomplete: " + why)
	}
	if q.Relevance < MinRelevance {
		out.reject(fmt.Sprintf("irrelevant: its relevance to the window's task and goals is %.2f, and %.1f is needed", q.Relevance, MinRelevance))
	}
	out.Quality = *q
	if out.settle(); p.e.Forced {
		out.Rejected = ""
	}
	if out.Rejected == "" {
		p.leave(superseded, false)
		return p.cut()
	}
	return nil
}

// cut takes sentences out of summaries that what entered has superseded.
func (p *plan) cut() error {
	for id, lines := range p.cuts {
		summary := p.w.item(id)
		if summary == nil {
			continue
		}
		rest := *summary
		rest.words = nil
		rest.Content = strings.TrimSpace(strings.Join(slices.DeleteFunc(sentences(rest.Content), func(s string) bool { return slices.Contains(lines, strings.TrimSpace(s)) }), ""))
		n, err := p.e.Count(rest.Content)
		if err != nil {
			return err
		}
		p.leave([]string{id}, false)
		if rest.ID, rest.Tokens = p.e.NewID(), n; rest.Content != "" {
			p.add(rest)
		}
	}
	return nil
}

// settle notes what content is rejected for; then nothing was superseded after all.
func (o *Outcome) settle() {
	for _, m := range o.Mitigations {
		if m.Action == ActionRejected {
			o.reject(string(m.Failure) + ": " + m.Reason)
		}
	}
	if o.Rejected != "" {
		o.Mitigations = slices.DeleteFunc(o.Mitigations, func(m Mitigation) bool { return m.Action != ActionRejected })
	}
}

// reject notes why content does not enter, all reasons together.
func (o *Outcome) reject(why string) {
	if o.Rejected != "" {
		o.Rejected += "; "
	}
	o.Rejected += why
}

// calm summarises the oldest messages of a history that has become too long.
func (p *plan) calm(out *Outcome) error {
	history := p.messages()
	if len(history) <= MaxHistory {
		return nil
	}
	oldest := p.spare(history[:len(history)-KeptHistory])
	n := sum(oldest)
	step, err := p.summarise(oldest, digestBudget(n), p.w.Capacity, SummariseStep)
	if err != nil {
		return err
	}
	by := ""
	if step.By != "" {
		by = " by " + step.By
	}
	if step.Fallback != "" {
		by += " (" + step.Fallback + ")"
	}
	out.Mitigations = append(out.Mitigations, Mitigation{
		Failure: Distraction, Action: ActionSummarised, Items: ids(oldest),
		Reason: fmt.Sprintf("%d messages are more than %d: the oldest %d, of %d tokens, are summarised%s, and the newest %d stay word for word; %d tokens are freed",
			len(history), MaxHistory, len(oldest), n, by, KeptHistory, step.Freed),
	})
	return nil
}

// spare gives those of messages that may leave: not what the user has asked last, however much was said since.
func (p *plan) spare(messages []Item) []Item {
	query := p.query()
	return slices.DeleteFunc(slices.Clone(messages), func(item Item) bool { return query != nil && item.ID == query.ID })
}

// query gives the user's last message, nil if it is none of the window's.
func (p *plan) query() *Item {
	if p.asked {
		return nil
	}
	return p.w.query()
}

// messages gives the history, oldest first.
func (p *plan) messages() []Item {
	var out []Item
	for _, item := range p.w.Items {
		if item.Type.IsMessage() {
			out = append(out, item)
		}
	}
	return out
}

func ids(items []Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}
