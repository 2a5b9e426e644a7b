package window

import (
	"context"
	"slices"
)

// Chosen is something that ranked context has selected.
type Chosen struct {
	Draft
	Said      string // the content without what stands before it in a list, which is what is judged
	Relevance float64
}

// Left gives how many tokens a window has left once it is compressed, if it has to be; see Select.
func Left(ctx context.Context, e *Env, w Window) (int, error) {
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return 0, err
	}
	_, err = p.makeRoom(0)
	return p.w.Capacity - p.w.Used(), err
}

// Select decides what of ranked context enters a window: in its order, what is not there yet, no verified record contradicts,
// and fits.
func Select(ctx context.Context, e *Env, w Window, chosen []Chosen) (Outcome, []Item, error) {
	p, err := newPlan(ctx, e, w)
	if err != nil {
		return Outcome{}, nil, err
	}
	out := Outcome{Before: p.before}
	if out.Compression, err = p.makeRoom(0); err != nil {
		return Outcome{}, nil, err
	}
	all, err := p.poison(chosen)
	if err != nil {
		return Outcome{}, nil, err
	}
	var entered []Item
	for i, c := range chosen {
		if c.Source != nil && p.w.holds(*c.Source) {
			continue
		}
		n, err := p.e.Count(c.Content)
		if err != nil {
			return Outcome{}, nil, err
		}
		item := p.itemOf(c.Draft, n)
		item.Quality = Quality{Relevance: c.Relevance, Freshness: freshness(p.now.Sub(item.ObservedAt)), Accuracy: unverified, Completeness: 1, Consistency: 1}
		before := len(out.Mitigations)
		p.weigh(&out, item, all[i])
		if len(out.Mitigations) > before || p.w.Used()+item.Tokens > p.w.Capacity {
			continue
		}
		p.add(*item)
		entered = append(entered, *item)
	}
	out.Change = p.change()
	return out, entered, nil
}

// poison asks whether what was selected contradicts verified records, or what is shared: only these are asked.
func (p *plan) poison(chosen []Chosen) ([]asked, error) {
	of := *p
	of.w.Items = nil
	all := make([]asked, len(chosen))
	for i, c := range chosen {
		if c.Source == nil || !p.w.holds(*c.Source) {
			all[i] = of.asks(&Item{Type: c.Type, Key: c.Key, Content: c.Said})
		}
	}
	return all, p.e.ask(p.ctx, all)
}

// holds tells whether something that came from a source is in a window, or in what it shares.
func (w *Window) holds(source Source) bool {
	from := func(item Item) bool { return item.Source != nil && *item.Source == source }
	return slices.ContainsFunc(w.Items, from) || slices.ContainsFunc(w.Segments, func(s Segment) bool { return slices.ContainsFunc(s.Items, from) })
}
