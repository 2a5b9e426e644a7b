package judge

import (
	"slices"
	"strconv"
)

// gist is all that a text says, whether or not the rules understand it, to hold another against it: a text agrees only if
// nothing in it is new.
type gist struct {
	words   []string // meanings, in their order
	names   []string // in their order
	values  [kinds][]value
	compare bool // something is more, or less, than something else
}

func (l *lexicon) gistOf(text string) gist {
	var g gist
	sentences := 0
	eachSentence(text[:min(len(text), maxBytes)], func(sentence string) bool {
		sentences++
		list := l.scan(sentence, maxWords)
		values, rest := l.extract(list)
		for _, name := range rest { // a number that names
			if n, ok := (word{norm: name, digit: name[0] >= '0' && name[0] <= '9'}).amount(); ok {
				name = strconv.FormatFloat(n, 'g', -1, 64)
			}
			if name[0] >= '0' && name[0] <= '9' {
				g.words = append(g.words, name)
			}
		}
		for k := range kinds {
			g.values[k] = append(g.values[k], values[k]...)
		}
		g.names = append(g.names, l.namesIn(list)...)
		for _, w := range list {
			g.compare = g.compare || l.is("comparative", w.norm)
			if meaning := l.meaning(w); meaning != "" {
				g.words = append(g.words, meaning)
			}
		}
		return sentences < maxSentences
	})
	return g
}

// meaning gives what a word adds to a text; empty if it is one that binds others, a number, a name of a place or a date, which
// are compared as values.
func (l *lexicon) meaning(w word) string {
	_, isPlace := l.places[w.norm]
	_, isUnit := l.units[w.norm]
	_, isNumber := w.amount()
	form := l.verbs[w.norm]
	switch link := w.norm; {
	case link == "for" || link == "para":
		return "for"
	case link == "with" || link == "con":
		return "with"
	case link == "by":
		return link
	case l.is("drop", link) || l.is("negation", link) || l.is("interjection", link) || l.is("adverb", link) || l.is("clitic", link) || l.is("any", link):
		return ""
	case w.digit || isPlace && w.upper || isUnit || isNumber || w.month() > 0 || indexOf(weekdays[:], link) > 0:
		return ""
	case link == "am" || link == "pm" || link == "noon" || link == "mediodia" || link == "midnight" || link == "medianoche" || !w.letters():
		return ""
	case form.verb != nil && auxiliary(form.name):
		return ""
	case form.verb != nil:
		return form.name
	}
	return l.concept(w.norm)
}

// holds says whether a text says all that another one does.
func (g gist) holds(other gist) bool {
	for _, w := range other.words {
		if !slices.Contains(g.words, w) {
			return false
		}
	}
	for k, list := range other.values {
		for _, v := range list {
			if !slices.ContainsFunc(g.values[k], func(mine value) bool { return mine.compare(v, kind(k)) == equal }) {
				return false
			}
		}
	}
	return follows(g.names, other.names) && (!other.compare || follows(g.words, other.words))
}

// follows says whether all of some words stand in a list, in their order.
func follows(list, wanted []string) bool {
	for _, w := range list {
		if len(wanted) > 0 && w == wanted[0] {
			wanted = wanted[1:]
		}
	}
	return len(wanted) == 0
}
