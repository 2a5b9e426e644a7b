package window

import "github.com/tzzr/context-manager/internal/fault"

// newItem gives what is to be judged, unless it does not fit anyway: see count.
func (p *plan) newItem(d Draft) (*Item, error) {
	n, err := p.count(&d)
	if err != nil {
		return nil, err
	}
	return p.itemOf(d, n), nil
}

func (p *plan) itemOf(d Draft, tokens int) *Item {
	observed := d.ObservedAt
	if observed.IsZero() {
		observed = p.now
	}
	if p.e.Forced && p.w.taken(d.Key) {
		d.Key = "" // which what stays has
	}
	var words []int32
	if !wordless(d.Content) {
		words = p.e.Words(d.Content)
	}
	p.place++
	return &Item{
		ID: p.e.NewID(), Place: p.place, Type: d.Type, Key: d.Key, Content: d.Content, Tokens: tokens, Source: d.Source,
		ObservedAt: observed, AddedAt: p.now, SummaryOf: nil, words: words,
	}
}

// count gives how many tokens content has that is to enter: none if it has no words, which does not enter.
//
// Faults: CONTEXT_WINDOW_EXCEEDED as soon as it is known that it does not fit whatever is compressed; it is not judged then.
func (p *plan) count(d *Draft) (int, error) {
	switch {
	case wordless(d.Content) && !p.e.Forced:
		return 0, nil
	case p.e.CountUpTo == nil:
		return p.e.Count(d.Content)
	}
	firm := p.firm(d)
	most := max(p.w.Capacity-firm, 0)
	n, err := p.e.CountUpTo(d.Content, most)
	switch {
	case err != nil || n <= most:
		return n, err
	case n > p.w.Capacity:
		return n, p.w.never(n)
	}
	return n, fault.New(fault.ContextWindowExceeded, "has at least %d tokens, and of the %d that the window holds %d may not leave; nothing was changed. %s", n, p.w.Capacity, firm, waysOut)
}

// firm gives how many tokens stay in a window whatever is compressed, and whatever a content of this kind supersedes: what is shared,
// tools, what is persistent and does not give way to it, and what the user has asked last.
func (p *plan) firm(d *Draft) int {
	item := Item{Type: d.Type, ObservedAt: d.ObservedAt}
	if item.ObservedAt.IsZero() {
		item.ObservedAt = p.now
	}
	query := p.query()
	n := p.w.Used()
	for i := range p.w.Items {
		one := &p.w.Items[i]
		persists := one.Type.Persistent() && stands(one, &item) != ""
		asked := query != nil && one.ID == query.ID && d.Type != UserMessage && (d.Key == "" || one.Key != d.Key)
		if !persists && !asked {
			n -= one.Tokens
		}
	}
	return n
}
