package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// level is how much of a vital part is kept.
type level int

const (
	whole   level = iota
	clauses       // those with names, numbers, dates or a negation; without any, the one that says the most
	words         // without those that say little
	facts         // names, numbers, dates and negations alone
)

// vitalPart is a part that is vital, as it is kept.
type vitalPart struct {
	part     int
	level    level
	extracts []extract
	tokens   int // about
}

// keepVital keeps what is vital: as much of each part as fits, the longest shortened first.
func (d *draft) keepVital() error {
	var vital []*vitalPart
	for i, p := range d.parts {
		if p.Vital {
			v := &vitalPart{part: i}
			if err := d.keep(v, whole); err != nil {
				return err
			}
			vital = append(vital, v)
		}
	}
	for len(vital) > 0 {
		d.kept, d.order = nil, nil
		for _, v := range vital {
			d.add(v.extracts...)
		}
		tokens, err := d.tokens(d.render(d.kept))
		if err != nil {
			return err
		}
		if d.used = tokens; tokens <= d.budget {
			if slices.ContainsFunc(vital, func(v *vitalPart) bool { return v.level > clauses }) {
				d.used = d.budget // what is left is nobody else's
			}
			return nil
		}
		shortened, err := d.shorten(vital, tokens-d.budget)
		switch {
		case err != nil:
			return err
		case shortened:
		case d.labelled:
			d.labelled = false
		default:
			return d.keepFacts()
		}
	}
	return nil
}

// keep keeps a part as a level says.
func (d *draft) keep(v *vitalPart, as level) error {
	v.level, v.extracts, v.tokens = as, nil, 0
	switch as {
	case whole:
		v.extracts = d.extract(v.part, single(strings.ToValidUTF8(d.parts[v.part].Content, "\uFFFD")))
	case clauses:
		var err error
		if v.extracts, err = d.clauses(v.part); err != nil {
			return err
		}
	case words, facts:
		v.extracts = d.extract(v.part, strings.Join(d.telling(d.parts[v.part].Content, as), " "))
	}
	for _, e := range v.extracts {
		tokens, err := d.about(e.text)
		if err != nil {
			return err
		}
		v.tokens += tokens
	}
	return nil
}

func (d *draft) extract(part int, text string) []extract {
	if text == "" {
		return nil
	}
	return []extract{{part: part, text: text, vital: true}}
}

// shorten takes parts down a level, those at the highest first and of these the longest, until about so many tokens are
// saved. It is false if there is none that can be.
func (d *draft) shorten(vital []*vitalPart, tokens int) (bool, error) {
	order := slices.Clone(vital)
	slices.SortStableFunc(order, func(a, b *vitalPart) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.tokens, a.tokens))
	})
	last, shortened := facts, false
	if d.labelled {
		last = words // who spoke tells less than the words below
	}
	for _, v := range order {
		if v.level == last || tokens <= 0 {
			break
		}
		before := v.tokens
		if err := d.keep(v, v.level+1); err != nil {
			return false, err
		}
		tokens -= before - v.tokens
		shortened = true
	}
	return shortened, nil
}

// clauses gives the clauses of a part that hold a fact or a negation, or else the one with the most keys.
func (d *draft) clauses(part int) ([]extract, error) {
	units, err := cut(d.parts[part:part+1], d.budget, d.over)
	if err != nil {
		return nil, err
	}
	var kept []extract
	var most extract
	keys := -1
	for _, u := range units {
		e := extract{part: part, unit: u.number, text: u.text, joined: u.joined, vital: true}
		if len(d.telling(u.text, facts)) > 0 {
			kept = append(kept, e)
		} else if n := len(d.vector(u.text).Keys); n > keys {
			most, keys = e, n
		}
	}
	if len(kept) == 0 && keys >= 0 {
		kept = append(kept, most)
	}
	return kept, nil
}

// telling gives the words of a text that are kept at a level, in their order: facts and negations, and at words those that
// tell what it is about.
func (d *draft) telling(text string, at level) []string {
	var kept []string
	first := true
	for word := range strings.FieldsSeq(strings.ToValidUTF8(text, "\uFFFD")) {
		w := bare(word)
		if w == "" {
			continue
		}
		fact := factOf(w, false)
		switch {
		case fact == name && first && len(w) <= longFact && len(d.vector(w).Keys) == 0: // capital as any word that begins a sentence
			fact = noFact
		case fact == number && len(w) > longFact:
			kept, fact = append(kept, digits(w)...), noFact
		}
		if fact != noFact || kindOf(w) == negationWords || at == words && len(w) <= longFact && len(d.vector(w).Keys) > 0 {
			kept = append(kept, w)
		}
		first = strings.ContainsAny(word[strings.LastIndex(word, w)+len(w):], ".!?:…\"”»")
	}
	return kept
}

// digits gives the numbers in a long word.
func digits(word string) []string {
	return strings.FieldsFunc(word, func(r rune) bool { return factOf(string(r), false) != number })
}

// keepFacts keeps the facts of what is vital, each once, as many as fit from the first on.
func (d *draft) keepFacts() error {
	var list []string
	seen := map[string]bool{}
	for _, p := range d.parts {
		if !p.Vital {
			continue
		}
		if err := d.over(); err != nil {
			return err
		}
		for _, w := range d.telling(p.Content, facts) {
			if kindOf(w) != negationWords && !seen[w] {
				seen[w] = true
				list = append(list, w)
			}
		}
	}
	first := slices.IndexFunc(d.parts, func(p window.Part) bool { return p.Vital })
	text, tokens, err := d.beginning(list, " ")
	d.kept, d.order, d.used = nil, nil, tokens
	d.add(d.extract(first, text)...)
	return err
}

// beginning joins as many words as the budget has room for, from the first on.
func (d *draft) beginning(words []string, between string) (text string, tokens int, err error) {
	low, high := 0, min(len(words), d.budget*token.Longest)
	for low < high {
		middle := (low + high + 1) / 2
		n, err := d.tokens(strings.Join(words[:middle], between))
		if err != nil {
			return "", 0, err
		}
		if n <= d.budget {
			low, tokens = middle, n
		} else {
			high = middle - 1
		}
	}
	return strings.Join(words[:low], between), tokens, nil
}
