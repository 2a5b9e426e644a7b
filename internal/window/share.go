package window

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// sharedPace is how exactly it may be seen when others wrote.
const sharedPace = 10 * time.Millisecond

// Shared is what came of a write to a segment.
type Shared struct {
	Outcome
	Windows []Outcome // what it did to each of the windows that see it, in their order
}

// Share decides what comes of a write to a segment that windows see, all of them in full; through is the number of the one that
// it is written through, whose task it has to be relevant to. Each window needs room for it.
//
// Faults: those of Write.
func Share(ctx context.Context, e *Env, segment Segment, windows []Window, through int, d Draft) (Shared, error) {
	for i := range windows {
		if err := windows[i].Refuse(d.Content); err != nil {
			return Shared{}, othersRoom(err, i == through, "it")
		}
	}
	p, err := newPlan(ctx, e, Window{Capacity: MaxCapacity, Items: segment.Items, Overruled: windows[through].Overruled})
	if err != nil {
		return Shared{}, err
	}
	p.about = &windows[through]
	now := p.now
	for i := range windows {
		now = windows[i].since(now)
	}
	if now.After(p.now) { // to when somebody else has written into another window, which is not for whoever writes to know
		p.now = now.Truncate(sharedPace).Add(sharedPace)
	}
	if e.Forced && slices.ContainsFunc(windows, func(w Window) bool { return w.taken(d.Key) }) {
		d.Key = "" // which what stays there has
	}
	item, err := p.newItem(d)
	if err != nil {
		return Shared{}, err
	}
	plans, all := make([]*plan, len(windows)), []asked{p.asks(item)}
	for i, w := range windows {
		if plans[i], err = newPlan(ctx, e, w); err != nil {
			return Shared{}, err
		}
		all = append(all, plans[i].without(segment.ID).asks(item))
	}
	if err := e.ask(ctx, all); err != nil {
		return Shared{}, err
	}
	var out Shared
	if err := p.assess(&out.Outcome, item, all[0]); err != nil {
		return Shared{}, err
	}
	if out.Rejected == "" {
		p.add(*item)
		out.Item = item
	}
	out.Change = p.change()
	outcomes := make([]Outcome, len(windows))
	for i := range windows {
		outcomes[i] = Outcome{Before: plans[i].before, Quality: out.Quality}
		if out.Item == nil || e.Forced {
			continue
		}
		stays, err := plans[i].makeWay(&outcomes[i], item, segment.ID, all[i+1])
		if err != nil {
			return Shared{}, err
		}
		if stays { // which one, is for those who see that window
			return refuseShare(out, windows), nil
		}
	}
	for i := range windows {
		each, o := plans[i], outcomes[i]
		if out.Item != nil {
			without := slices.DeleteFunc(slices.Clone(p.w.Items), func(one Item) bool { return one.ID == item.ID })
			each.share(segment.ID, without)
			o.Compression, err = each.makeRoom(item.Tokens)
			if err != nil {
				return Shared{}, othersRoom(err, i == through, fmt.Sprintf("%d tokens more", item.Tokens))
			}
			each.share(segment.ID, p.w.Items)
		}
		o.Change = each.change()
		out.Windows = append(out.Windows, o)
	}
	own := &out.Windows[through] // whoever writes sees what it did to the window that they write through
	out.Before, out.Compression = own.Before, own.Compression
	out.Mitigations, out.Judgements = append(out.Mitigations, own.Mitigations...), append(out.Judgements, own.Judgements...)
	return out, nil
}

// share has a segment of a window hold other items.
func (p *plan) share(segment string, items []Item) {
	p.w.Segments = slices.Clone(p.w.Segments)
	for i := range p.w.Segments {
		if s := &p.w.Segments[i]; s.ID == segment {
			s.Items = items
		}
	}
}

// othersRoom gives a fault that is not of one's own window without how full the other is, which is not for whoever writes.
func othersRoom(err error, own bool, what string) error {
	if own || fault.CodeOf(err) != fault.ContextWindowExceeded {
		return err
	}
	return fault.New(fault.ContextWindowExceeded, "another window that sees the segment has no room for %s; nothing was changed", what)
}

// without gives a plan without a segment, and without records: of these others are asked.
func (p *plan) without(segment string) *plan {
	e, of := *p.e, *p
	e.Records = nil
	of.e, of.w.Segments = &e, slices.DeleteFunc(slices.Clone(p.w.Segments), func(s Segment) bool { return s.ID == segment })
	return &of
}

// makeWay takes out of a window what contradicts something more recent that it is to share by a segment, and tells whether anything of
// that kind stays all the same, as what it shares by other segments does.
func (p *plan) makeWay(out *Outcome, item *Item, segment string, a asked) (stays bool, err error) {
	of, shared := p.without(segment), *item
	for _, s := range of.w.Segments {
		if other := keyed(s.Items, item.Key); other != nil && other.Content != item.Content {
			return true, nil
		}
	}
	superseded := of.weigh(out, &shared, a)
	if own := keyed(p.w.Items, item.Key); own != nil && !slices.Contains(superseded, own.ID) {
		if stands(own, item) != "" {
			return true, nil
		}
		superseded = append(superseded, own.ID)
		out.Mitigations = append(out.Mitigations, Mitigation{
			Failure: Clash, Action: ActionSuperseded, Items: []string{own.ID}, Reason: fmt.Sprintf("the slot %q is shared now", item.Key),
		})
	}
	if slices.ContainsFunc(out.Mitigations, func(m Mitigation) bool { return m.Action == ActionRejected }) {
		return true, nil
	}
	p.leave(superseded, false)
	return false, p.cut()
}

// refuseShare gives what comes of a write to a segment that something in a window that sees it stands against.
func refuseShare(s Shared, windows []Window) Shared {
	m := Mitigation{Failure: Clash, Action: ActionRejected, Items: []string{}, Reason: "contradicts, or wants the slot of, what a window that sees the segment holds and does not give up"}
	out := Shared{Outcome: Outcome{Before: s.Before, Quality: s.Quality, Mitigations: []Mitigation{m}, Judgements: s.Judgements}}
	out.Quality.Consistency = 0
	out.reject(string(m.Failure) + ": " + m.Reason)
	for i := range windows {
		used := windows[i].Used()
		out.Windows = append(out.Windows, Outcome{Before: used, Quality: out.Quality, Change: Change{After: used}})
	}
	return out
}

// Inject decides whether something from the scratchpad, under its id there, enters a window, which may have to be compressed. It
// is judged as what is written, but need not be relevant: somebody has asked for it.
func Inject(ctx context.Context, e *Env, w Window, entry Item) (Outcome, error) {
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Before: p.before}
	if there := p.w.item(entry.ID); there != nil {
		out.Item, out.Change = there, p.change()
		return out, nil
	}
	p.place++
	entry.Place, entry.AddedAt, entry.Injected = p.place, p.now, true
	entry.Quality = Quality{Relevance: 1, Freshness: freshness(p.now.Sub(entry.ObservedAt)), Accuracy: unverified, Completeness: 1, Consistency: 1}
	if !e.Forced {
		said, err := p.judge(&entry)
		if err != nil {
			return Outcome{}, err
		}
		superseded := p.weigh(&out, &entry, said)
		if out.settle(); out.Rejected == "" {
			p.leave(superseded, false)
			if err := p.cut(); err != nil {
				return Outcome{}, err
			}
		}
	}
	if out.Quality = entry.Quality; out.Rejected != "" {
		out.Change = p.change()
		return out, nil
	}
	if out.Compression, err = p.makeRoom(entry.Tokens); err != nil {
		return out, err
	}
	p.add(entry)
	out.Item, out.Change = &entry, p.change()
	return out, nil
}

// Remove decides what comes of taking items out of a window or of what it shares.
//
// Faults: NOT_FOUND, and BAD_USER_INPUT for none.
func Remove(w Window, ids []string) (Outcome, error) {
	p, err := newPlan(context.Background(), &Env{}, w)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Before: p.before}
	p.w.Segments = slices.Clone(w.Segments)
	for i, id := range ids {
		if p.w.item(id) != nil {
			p.leave([]string{id}, false)
			continue
		}
		if !p.unshare(id) {
			if slices.Contains(ids[:i], id) {
				continue
			}
			return Outcome{}, &fault.Error{Code: fault.NotFound, Field: fmt.Sprintf("items[%d]", i), Message: "the window has no such item"}
		}
	}
	out.Change = p.change()
	return out, nil
}

func (p *plan) unshare(id string) bool {
	for i := range p.w.Segments {
		s := &p.w.Segments[i]
		at := slices.IndexFunc(s.Items, func(item Item) bool { return item.ID == id })
		if at < 0 {
			continue
		}
		p.Gone = append(p.Gone, s.Items[at])
		s.Items = slices.Delete(slices.Clone(s.Items), at, at+1)
		return true
	}
	return false
}

// Register decides what comes of tools that a window is to have, those of the same name in their new form. Of more than
// ToolsShown none is described: they are searched for. They are all that it is to have if they replace what it has. What takes no
// more room than the tools did is done however full the window is.
//
// Faults: those of Write.
func Register(ctx context.Context, e *Env, w Window, tools []Tool, replace bool) (Outcome, []Tool, error) {
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return Outcome{}, nil, err
	}
	out := Outcome{Before: p.before}
	all, err := AllTools(w, tools, replace)
	if err != nil {
		return Outcome{}, nil, err
	}
	shown, tokens := len(all) <= ToolsShown, 0
	for i := range all {
		if all[i].Shown = shown; shown {
			tokens += all[i].Tokens
		}
	}
	p.w.Tools = nil
	if described := p.before - p.w.Used(); shown && tokens > described {
		if out.Compression, err = p.makeRoom(tokens); err != nil {
			return out, nil, err
		}
	} else if !shown {
		out.Mitigations = []Mitigation{{Failure: Confusion, Action: ActionToolsAside, Items: []string{}, Reason: confusion(len(all))}}
	}
	p.w.Tools = all
	out.Change = p.change()
	return out, all, nil
}

// AllTools gives what tools a window has once some are registered. Nothing is counted: what it refuses is too many, or too long.
//
// Faults: BAD_USER_INPUT names the field tools.
func AllTools(w Window, tools []Tool, replace bool) ([]Tool, error) {
	all := slices.DeleteFunc(slices.Clone(w.Tools), func(t Tool) bool {
		return replace || slices.ContainsFunc(tools, func(n Tool) bool { return n.Name == t.Name })
	})
	if all = append(all, tools...); len(all) > MaxTools {
		return nil, fault.Input("tools", "would be %d with those that the window has; at most %d are allowed", len(all), MaxTools)
	}
	n, most := 0, MaxToolBytes
	for _, t := range all {
		n += len(t.Description) + len(t.Schema)
	}
	if len(all) <= ToolsShown {
		most = MaxShownToolBytes
	}
	if n > most {
		return nil, fault.Input("tools", "the window's %d tools would have descriptions and schemas of %d bytes together; at most %d are allowed of so many", len(all), n, most)
	}
	return all, nil
}

// Describe decides which of the tools that a search has found, the best first, the window describes: those that fit. The others
// are given all the same, and not shown. A window of few tools describes them all anyway.
func Describe(w Window, found []Tool) (Outcome, []Tool) {
	out := Outcome{Before: w.Used()}
	if len(w.Tools) <= ToolsShown {
		out.After = out.Before
		return out, found
	}
	w.Tools = slices.Clone(w.Tools)
	for i := range w.Tools {
		w.Tools[i].Shown = false
	}
	fit := make([]Tool, 0, len(found))
	left := w.Capacity - w.Used()
	for _, t := range found {
		if t.Shown = t.Tokens <= left; !t.Shown {
			fit = append(fit, t)
			continue
		}
		left -= t.Tokens
		fit = append(fit, t)
		for i := range w.Tools {
			if w.Tools[i].Name == t.Name {
				w.Tools[i].Shown = true
			}
		}
	}
	out.After = w.Used()
	return out, fit
}
