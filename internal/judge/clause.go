package judge

import (
	"slices"
	"strings"
)

// readClauses reads the claims of a sentence, one after the other: "the hotel has 48 rooms and a pool, and opens in May".
func (l *lexicon) readClauses(sentence string, list []word) []claim {
	v := l.findVerb(list)
	if v < 0 {
		return nil
	}
	base := claim{text: sentence}
	subject, ok := l.readSubject(&base, list[:v], l.verbs[list[v].norm])
	if !ok {
		return nil
	}
	var found []claim
	rest := list[v:]
	for len(rest) > 0 && len(found) < maxClaims {
		c := base
		after, ok := l.readVerb(&c, rest)
		if !ok {
			return found
		}
		if c.verb.name == "can" || c.verb.name == "must" {
			return found
		}
		for len(found) < maxClaims {
			end := l.pieceEnd(after)
			c.agents = nil
			if end < len(after) && l.is("agent", after[end].norm) {
				c.agents, after = l.readAgents(after, end)
			}
			found = append(found, l.finish(c, subject, after[:end])...)
			if end >= len(after) || !(l.is("and", after[end].norm) || after[end].norm == ",") {
				return found
			}
			next := after[end+1:]
			if len(next) > 0 && l.is("and", next[0].norm) {
				next = next[1:]
			}
			if len(next) == 0 {
				return found
			}
			if i := l.findVerb(next); i >= 0 {
				if i > 1 || i == 1 && !l.is("negation", next[0].norm) { // another subject: only what follows a full stop is read on
					return append(found, l.readClauses(sentence, next)...)
				}
				rest = next
				base.negated = i == 1
				break
			}
			if c.negated || c.verb.equates && c.verb.name != "be" || !l.is("drop", next[0].norm) && !next[0].digit && after[end].norm == "," {
				return found
			}
			after = next
		}
	}
	return found
}

// readAgents reads by whom something was done, and gives the words without it. Of several, none is given: each is one of them.
func (l *lexicon) readAgents(list []word, from int) (agents []string, rest []word) {
	end := from + 1 + l.pieceEnd(list[from+1:])
	if !l.is("and", at(list, end).norm) {
		_, agents = l.extract(list[from+1 : end])
	}
	return distinct(agents), slices.Concat(list[:from], list[end:])
}

// pieceEnd gives where the part of a sentence ends that says one thing.
func (l *lexicon) pieceEnd(list []word) int {
	for i, w := range list {
		if i == 0 {
			continue
		}
		switch {
		case w.norm == ",":
			if before, after := list[i-1], at(list, i+1); after.year() > 0 && before.small(31) > 0 ||
				indexOf(weekdays[:], before.norm) > 0 && (after.digit || after.month() > 0) {
				continue // "Friday, May 3, 2026"
			}
			return i
		case w.norm == "(" || w.norm == ")" || w.norm == "—" || w.norm == "–" || w.norm == ":":
			return i
		case l.is("and", w.norm) || l.is("cut", w.norm) || l.is("agent", w.norm) && slices.ContainsFunc(list[:i], func(w word) bool { return l.is("once", l.concept(w.norm)) }):
			return i
		case l.is("relative", w.norm) && !l.is("over", list[i-1].norm):
			return i
		}
	}
	return len(list)
}

func at(list []word, i int) word {
	if i < 0 || i >= len(list) {
		return word{}
	}
	return list[i]
}

// findVerb gives the index of a sentence's main verb, or -1.
func (l *lexicon) findVerb(list []word) int {
	for i, w := range list {
		form, ok := l.verbs[w.norm]
		if !ok || w.upper && i > 0 && !form.first {
			continue
		}
		if before := at(list, i-1).norm; before == "'s" || l.is("article", before) || l.is("possessive", before) {
			continue
		}
		if next, ok := l.verbs[at(list, i+1).norm]; ok && !auxiliary(form.name) && auxiliary(next.name) {
			continue // "the travel costs are"
		}
		return i
	}
	return -1
}

func auxiliary(name string) bool {
	switch name {
	case "be", "have", "do", "will", "can", "must":
		return true
	}
	return false
}

// trimSubject takes off what stands between a subject and its verb ("does not", "no se", "never", "no me"), and "yes," before
// it. Of "me gusta" the subject is who likes.
func (l *lexicon) trimSubject(c *claim, list []word, form verbForm) []word {
	first := false
	for len(list) > 0 {
		last := list[len(list)-1].norm
		switch {
		case l.is("negation", last):
			c.negated = true
		case form.object && (last == "me" || last == "nos"):
			first = true
		case !l.is("clitic", last) && (!l.is("drop", last) || l.is("article", last)):
			if len(list) > 2 && list[1].norm == "," && l.is("interjection", list[0].norm) {
				list = list[2:]
			}
			if first {
				return append(list[:len(list):len(list)], word{norm: "yo"})
			}
			return list
		}
		list = list[:len(list)-1]
	}
	if first {
		return []word{{norm: "yo"}}
	}
	return nil
}

// readSubject reads what stands before the verb. It is false if nothing can be compared with it.
func (l *lexicon) readSubject(c *claim, list []word, form verbForm) ([]string, bool) {
	list = l.trimSubject(c, list, form)
	if len(list) == 0 && form.name == "exist" || len(list) == 1 && list[0].norm == "there" && form.name == "be" {
		return []string{"there"}, true
	}
	if form.first && len(list) == 0 {
		c.unique = true
		return []string{"i"}, form.verb.first || form.name == "be"
	}
	if form.object && len(list) > 0 && list[0].norm != "yo" { // "a Juan le gusta"
		if list[0].norm != "a" && list[0].norm != "al" {
			return nil, false
		}
		list = list[1:]
	}
	if len(list) == 0 || len(list) > maxSubject || l.is("indefinite", list[0].norm) {
		return nil, false
	}
	for _, w := range list {
		if l.is("deictic", w.norm) || l.is("relative", w.norm) || l.is("cut", w.norm) || l.is("negation", w.norm) {
			return nil, false
		}
	}
	if l.is("first", list[len(list)-1].norm) {
		if len(list) > 1 {
			return nil, false
		}
		c.unique = true
		return []string{"i"}, form.verb.first || auxiliary(form.name)
	}
	var subject []string
	values, rest := l.extract(list)
	for _, list := range values {
		for _, v := range list {
			subject = append(subject, strings.ToLower(v.text))
		}
	}
	subject = append(subject, rest...)
	if slices.ContainsFunc(list[1:], func(w word) bool { return w.norm == "to" || w.norm == "a" || w.norm == "al" }) {
		subject = append(subject, ">") // "the train to", which is not "the train of"
	}
	if names := l.namesIn(list); len(names) > 1 { // "from Paris to London" is not "from London to Paris"
		subject = append(subject, strings.Join(names, ">"))
	}
	c.unique = l.unique(list, subject)
	c.definite = l.is("article", list[0].norm) && !slices.ContainsFunc(subject, func(s string) bool { return l.is("person", s) })
	return subject, len(subject) > 0
}

// namesIn gives the names among words, in their order.
func (l *lexicon) namesIn(list []word) []string {
	var names []string
	for i, w := range list {
		if _, common := l.concepts[l.concept(w.norm)]; w.upper && (i > 0 || !common && !l.is("drop", w.norm)) {
			name := w.norm
			if p, ok := l.places[name]; ok {
				name = p.name
			}
			names = append(names, name)
		}
	}
	return names
}

// unique says whether a subject holds a name, or is of somebody whom all texts are about.
func (l *lexicon) unique(list []word, subject []string) bool {
	if len(l.namesIn(list)) > 0 || slices.ContainsFunc(list, func(w word) bool { return l.is("possessive", w.norm) }) {
		return true
	}
	return slices.ContainsFunc(subject, func(s string) bool { return s == "user" || s == "customer" })
}

// readVerb reads the verb that a list begins with, and gives what follows.
func (l *lexicon) readVerb(c *claim, list []word) ([]word, bool) {
	form := l.verbs[list[0].norm]
	i := 0
	if form.verb == nil { // a negation before it
		i, form = 1, l.verbs[at(list, 1).norm]
	}
	if form.verb == nil {
		return nil, false
	}
	c.verb, c.past = form.verb, form.past
	for i++; i < len(list); i++ {
		w := list[i].norm
		if l.is("negation", w) {
			c.negated = true
			if l.is("blur", at(list, i+1).norm) {
				return nil, false
			}
			continue
		}
		if c.negated && l.is("any", w) {
			continue
		}
		if l.is("adverb", w) {
			continue
		}
		next, ok := l.verbs[w]
		if !ok || !auxiliary(c.verb.name) || c.verb.name == "be" && !strings.HasSuffix(w, "ing") || l.concepts[w] != "" && c.verb.name == "have" {
			break
		}
		perfect := c.verb.name == "have"
		c.verb, c.past, c.perfect = next.verb, c.past || next.past && !perfect, c.perfect || perfect
	}
	if c.verb.name == "have" && at(list, i).norm == "to" || c.verb.opinion || c.verb.name == "do" || c.verb.name == "will" {
		return nil, false
	}
	if c.negated && slices.ContainsFunc(list[i:], func(w word) bool { return l.is("partly", w.norm) }) {
		return nil, false
	}
	return list[i:], true
}
