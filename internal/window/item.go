package window

// newItem gives what is to be judged, unless it does not fit anyway: see count.
func (p *plan) newItem(d Draft) (*Item, error) {
	n, err := p.count(d.Content)
	if err != nil {
		return nil, err
	}
	return p.itemOf(d, n), nil
}

func (p *plan) itemOf(d Draft, tokens int) *Item {
	observed := d.ObservedAt
	if observed.IsZero() {
		observed = p.e.Now
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
		ObservedAt: observed, AddedAt: p.e.Now, SummaryOf: nil, words: words,
	}
}

// count gives how many tokens content has that is to enter: none if it has no words, which does not enter.
//
// Faults: CONTEXT_WINDOW_EXCEEDED as soon as it is known that it does not fit whatever is compressed; it is not judged then.
func (p *plan) count(content string) (int, error) {
	switch {
	case wordless(content) && !p.e.Forced:
		return 0, nil
	case p.e.CountUpTo == nil:
		return p.e.Count(content)
	}
	n, err := p.e.CountUpTo(content, p.w.Capacity)
	if err == nil && n > p.w.Capacity {
		err = p.w.never(n)
	}
	return n, err
}
