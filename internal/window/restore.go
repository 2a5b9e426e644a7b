package window

import (
	"context"
	"fmt"
	"slices"
)

// Restore brings items back that had left, in the place where they were, as far as they are not there. They come without their slot
// if something else has it.
//
// Faults: those of Write.
func Restore(ctx context.Context, e *Env, w Window, items []Item) (Outcome, error) {
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Before: p.before}
	if out.Compression, err = p.restore(items, 0); err != nil {
		return out, err
	}
	out.Change = p.change()
	return out, nil
}

// restore brings items back, and leaves room for so many tokens more.
func (p *plan) restore(items []Item, more int) (*Compression, error) {
	items = slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return p.w.item(item.ID) != nil })
	for _, item := range items {
		for _, one := range slices.Clone(p.w.Items) { // what is left of a summary makes way for the whole
			if item.IsSummary() && slices.Equal(one.SummaryOf, item.SummaryOf) {
				p.leave([]string{one.ID}, false)
			}
		}
	}
	if len(items) == 0 && more == 0 { // a mere judgement is overruled, however full the window is
		return nil, nil
	}
	c, err := p.makeRoom(sum(items) + more)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if p.w.taken(item.Key) {
			item.Key = ""
		}
		p.add(item)
	}
	return c, nil
}

// RestoreShared brings items back that had left a segment, and own ones that had left the window through which it was written to, as
// Restore does. Each window that sees the segment, all of them in full, needs room for them.
//
// Faults: those of Write.
func RestoreShared(ctx context.Context, e *Env, segment Segment, windows []Window, through int, items, own []Item) (Shared, error) {
	p, err := newPlan(ctx, e, Window{Capacity: MaxCapacity, Items: segment.Items})
	if err != nil {
		return Shared{}, err
	}
	for _, item := range items {
		if p.w.item(item.ID) != nil {
			continue
		}
		if slices.ContainsFunc(windows, func(w Window) bool { return w.taken(item.Key) }) {
			item.Key = ""
		}
		p.add(item)
	}
	var out Shared
	out.Change = p.change()
	tokens := sum(p.Added)
	for i, w := range windows {
		each, err := newPlan(ctx, e, w)
		if err != nil {
			return Shared{}, err
		}
		o, back := Outcome{Before: each.before}, []Item(nil)
		if i == through {
			back = own
		}
		if o.Compression, err = each.restore(back, tokens); err != nil {
			return Shared{}, othersRoom(err, i == through, fmt.Sprintf("%d tokens more", tokens))
		}
		each.share(segment.ID, p.w.Items)
		o.Change = each.change()
		out.Windows = append(out.Windows, o)
	}
	out.Before, out.Compression = out.Windows[through].Before, out.Windows[through].Compression
	return out, nil
}

// taken tells whether something of a window, or of what it shares, has a slot.
func (w *Window) taken(key string) bool {
	return keyed(w.Items, key) != nil || slices.ContainsFunc(w.Segments, func(s Segment) bool { return keyed(s.Items, key) != nil })
}
