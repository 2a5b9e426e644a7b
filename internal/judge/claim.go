package judge

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// claim is what a sentence, or a part of it, says.
type claim struct {
	text     string // the sentence
	subject  string // the meanings of its words, sorted
	unique   bool   // the subject is the same in whatever text: a name, the user, what is somebody's
	definite bool   // the subject is "the" something that is no person
	verb     *verb
	past     bool
	perfect  bool // it has been, perhaps more than once
	negated  bool
	words    []string // the meanings of what is said, sorted, each once
	values   [kinds][]value
	at       bool     // it begins with where: "at the office in Madrid"
	placed   bool     // it begins with a preposition
	named    bool     // a name or a number is in it
	agents   []string // by whom: "built by …"
	over     []string // to what the words are preferred
}

// finish reads what is said, and gives the claim if it can be compared.
func (l *lexicon) finish(c claim, subject []string, said []word) []claim {
	if c.verb.name == "prefer" {
		said = l.readPreference(&c, said)
	}
	for _, w := range said {
		if l.is("deictic", w.norm) {
			return nil
		}
	}
	var rest []string
	c.values, rest = l.extract(said)
	c.at = len(said) > 1 && l.is("at", said[0].norm) && l.is("article", said[1].norm)
	c.words = distinct(rest)
	c.named = slices.ContainsFunc(said, func(w word) bool { return w.upper || strings.ContainsAny(w.norm, "0123456789") })
	c.placed = len(said) > 0 && l.is("preposition", said[0].norm)
	if !slices.ContainsFunc(subject, func(s string) bool { return !l.is("discourse", s) }) {
		return nil // each text has its own
	}
	if subject[0] == "there" && c.verb.name == "be" {
		c.verb = exists
	}
	subject = l.attribute(&c, slices.Clone(subject))
	if len(subject) == 1 && subject[0] == "i" && c.verb.name == "be" && !(len(c.words) == 1 && l.is("enduring", c.words[0])) {
		return nil // how somebody is now
	}
	if len(subject) == 1 && subject[0] == "i" && !c.verb.first && c.verb.name != "be" && c.verb.name != "age" {
		return nil
	}
	c.subject = strings.Join(distinct(subject), " ")
	if c.subject == "" || len(c.words) == 0 && !slices.ContainsFunc(c.values[:], func(v []value) bool { return len(v) > 0 }) && c.verb.name == "be" {
		return nil
	}
	return []claim{c}
}

var exists, costs, ages = &verb{name: "exist"}, &verb{name: "cost", number: true, equates: true}, &verb{name: "age", number: true}

// attribute makes one of the ways to tell a price, or an age: "the price of X is 5 euros", "X costs 5 euros".
func (l *lexicon) attribute(c *claim, subject []string) []string {
	priced := slices.IndexFunc(subject, func(s string) bool { return s == "price" || s == "cost" })
	for _, limit := range [...]string{"maximum", "minimum"} {
		if i := slices.Index(subject, limit); i >= 0 && len(subject) > 1 {
			subject = slices.Delete(subject, i, i+1)
			c.words = distinct(append(c.words, limit))
		}
	}
	numbers := c.values[number]
	if c.verb.name == "be" && len(numbers) == 1 && l.currency(numbers[0].measure) || c.verb.name == "cost" {
		if c.verb = costs; priced >= 0 && len(subject) > 1 {
			subject = slices.Delete(subject, priced, priced+1)
		}
	}
	if (c.verb.name == "be" || c.verb.name == "have") && len(numbers) == 1 && numbers[0].measure == "months" {
		if len(c.words) == 0 || len(c.words) == 1 && c.words[0] == "old" {
			c.verb, c.words = ages, nil
		}
	}
	return subject
}

func (l *lexicon) currency(measure string) bool {
	switch measure {
	case "dollar", "euro", "pound", "peso":
		return true
	}
	return false
}

// readPreference takes out to what something is preferred: "quality hotels over cheap ones", "el té antes que el café".
func (l *lexicon) readPreference(c *claim, said []word) []word {
	for i, w := range said {
		if i == 0 || !l.is("over", w.norm) || w.norm == "to" && at(said, i-1).norm == "" {
			continue
		}
		over := said[i:]
		for len(over) > 0 && (l.is("over", over[0].norm) || over[0].norm == "que" || over[0].norm == "of" || over[0].norm == "de") {
			over = over[1:]
		}
		_, rest := l.extract(over)
		c.over = slices.DeleteFunc(distinct(rest), func(s string) bool { return s == "one" || s == "ones" })
		for i > 0 && (l.is("over", said[i-1].norm) || l.is("drop", said[i-1].norm)) {
			i--
		}
		return said[:i]
	}
	return said
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// short gives a sentence for a reason: its first maxQuote bytes.
func short(text string) string {
	const maxQuote = 200
	if len(text) <= maxQuote {
		return text
	}
	end := maxQuote
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
