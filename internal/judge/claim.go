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
	negated  bool
	words    []string // the meanings of what is said, sorted, each once
	values   [kinds][]value
	at       bool     // it begins with where: "at the office in Madrid"
	over     []string // to what the words are preferred
}

// What is read of a text and of a sentence at most. Nothing beyond is compared.
const (
	maxBytes     = 64 << 10
	maxSentences = 200
	maxWords     = 50
	maxSubject   = 8
	maxClaims    = 4 // of a sentence
)

// read gives the claims of a text that pass a filter, and how many sentences it has.
func (l *lexicon) read(text string, f *filter) (claims []claim, sentences int) {
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	alone := !strings.ContainsAny(strings.TrimSpace(text), "\n\r")
	var before []string // sentences that may name what "the hotel" in a later one stands for
	named := false
	eachSentence(text, func(sentence string) bool {
		sentences++
		if f.pass(sentence) {
			for _, c := range l.readSentence(sentence, alone) {
				for ; !c.unique && !named && len(before) > 0; before = before[1:] {
					named = l.names(before[0])
				}
				if c.unique || !named {
					claims = append(claims, c)
				}
			}
		}
		if !named {
			before = append(before, sentence)
		}
		return sentences < maxSentences
	})
	return claims, sentences
}

// names says whether a sentence names what later ones may be of: it has a name or a number, or is a title.
func (l *lexicon) names(sentence string) bool {
	list := l.scan(sentence, maxWords)
	for i, w := range list {
		if i > 0 && w.upper && !l.is("first", w.norm) || w.digit {
			return true
		}
	}
	return len(list) > 0 && !l.is("interjection", list[0].norm) && l.findVerb(list) < 0
}

// readSentence gives the claims of a sentence. Alone says that it is the only line of its text: of many lines, each of the
// form "price: 200", nothing tells what they are of.
func (l *lexicon) readSentence(sentence string, alone bool) []claim {
	if strings.HasSuffix(sentence, "?") || strings.ContainsAny(sentence, "\"“”«»¿<>{}[]|=`*_\\") || strings.Contains(sentence, "://") {
		return nil
	}
	sentence = strings.TrimSpace(strings.TrimLeft(sentence, "-•·"))
	list := l.scan(sentence, maxWords)
	if len(list) < 2 || len(list) > maxWords {
		return nil
	}
	list, ok := l.withoutSource(list)
	if !ok || l.guesses(list) {
		return nil
	}
	if i := slices.IndexFunc(list, func(w word) bool { return w.norm == ":" }); i >= 0 {
		if i == 1 && l.is("interjection", list[0].norm) {
			list = list[2:]
		} else if alone {
			return l.readField(sentence, list[:i], list[i+1:])
		} else {
			return nil
		}
	}
	return l.readClauses(sentence, list)
}

// guesses says whether a sentence holds a condition, a guess, or what somebody says or thinks.
func (l *lexicon) guesses(list []word) bool {
	for i, w := range list {
		if l.is("hedge", w.norm) || l.verbs[w.norm].verb != nil && l.verbs[w.norm].opinion {
			return true
		}
		if w.norm == "may" && !w.upper && !(i+1 < len(list) && list[i+1].digit) && !(i > 0 && list[i-1].digit) {
			return true
		}
	}
	return false
}

// withoutSource takes out where something was read: "according to its website, …". What a person says is no claim: false.
func (l *lexicon) withoutSource(list []word) ([]word, bool) {
	for i, w := range list {
		from := i + 1
		switch {
		case w.norm == "segun":
		case w.norm == "according" && i+1 < len(list) && list[i+1].norm == "to":
			from++
		default:
			continue
		}
		if from >= len(list) || !l.is("drop", list[from].norm) && !l.is("possessive", list[from].norm) {
			return nil, false
		}
		end := from + slices.IndexFunc(list[from:], func(w word) bool { return w.norm == "," })
		if end < from {
			return list[:i], true
		}
		return slices.Concat(list[:i], list[end+1:]), true
	}
	return list, true
}

// readField reads "Budget: $200 a night".
func (l *lexicon) readField(sentence string, key, content []word) []claim {
	if len(key) > 5 || len(content) == 0 || len(content) > 10 {
		return nil
	}
	if l.findVerb(content) >= 0 || slices.ContainsFunc(slices.Concat(key, content), func(w word) bool { return l.is("deictic", w.norm) || w.norm == ":" }) {
		return nil
	}
	c := claim{text: sentence, verb: l.verbs["is"].verb}
	_, subject := l.extract(key)
	if !slices.ContainsFunc(subject, func(s string) bool { return !l.is("generic", s) }) && (len(subject) < 2 || subject[0] != "user") {
		return nil
	}
	for i, s := range subject {
		if s == "preference" || s == "preferencia" || s == "prefers" {
			subject = slices.Delete(subject, i, i+1)
			c.verb = l.verbs["prefers"].verb
			break
		}
	}
	if slices.ContainsFunc(key, func(w word) bool { return w.digit }) {
		return nil // "Document 15: …" names what is said, and is not what it is said of
	}
	claims := l.finish(c, subject, content)
	if len(claims) > 0 && len(key) == 1 && len(claims[0].words) == 0 && slices.ContainsFunc(claims[0].values[number], func(v value) bool { return v.measure == "" }) {
		return nil // "period: 8"
	}
	return claims
}

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
					return append(found, l.readRest(sentence, next, len(found))...)
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

// readRest reads what a sentence goes on with after a comma or "and", if that has a subject of its own.
func (l *lexicon) readRest(sentence string, list []word, already int) []claim {
	if already >= maxClaims {
		return nil
	}
	return l.readClauses(sentence, list)
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
		if before := at(list, i-1).norm; before != "" && (l.is("article", before) || l.is("possessive", before)) {
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

// readSubject reads what stands before the verb. It is false if nothing can be compared with it.
func (l *lexicon) readSubject(c *claim, list []word, form verbForm) ([]string, bool) {
	for len(list) > 0 { // "does not", "no se", "never"
		last := list[len(list)-1].norm
		if l.is("negation", last) {
			c.negated = true
		} else if !l.is("clitic", last) && (!l.is("drop", last) || l.is("article", last)) {
			break
		} else if form.object && (last == "me" || last == "nos") {
			list = append(list[:len(list)-1:len(list)-1], word{norm: "yo"})
			break
		}
		list = list[:len(list)-1]
	}
	if form.object && len(list) > 0 && list[len(list)-1].norm == "yo" {
		if n := len(list) - 1; n > 0 && l.is("negation", list[n-1].norm) {
			c.negated = true
			list = slices.Delete(slices.Clone(list), n-1, n)
		}
	}
	for i, w := range list { // "yes, the museum …"
		if w.norm == "," && i == 1 && l.is("interjection", list[0].norm) {
			list = list[2:]
			break
		}
	}
	if len(list) == 0 && form.name == "exist" || len(list) == 1 && list[0].norm == "there" && form.name == "be" {
		return []string{"there"}, true
	}
	if form.first && len(list) == 0 {
		c.unique = true
		return []string{"i"}, form.verb.first || form.name == "be"
	}
	if form.object && len(list) > 0 && list[0].norm != "a" && list[0].norm != "al" && list[0].norm != "yo" {
		return nil, false
	}
	if len(list) == 0 || len(list) > maxSubject || l.is("indefinite", list[0].norm) {
		return nil, false
	}
	for _, w := range list {
		if l.is("deictic", w.norm) || l.is("relative", w.norm) || l.is("cut", w.norm) || l.is("negation", w.norm) || l.is("interjection", w.norm) {
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
	c.unique = l.unique(list, subject)
	c.definite = l.is("article", list[0].norm) && !slices.ContainsFunc(subject, func(s string) bool { return l.is("person", s) })
	return subject, len(subject) > 0
}

// unique says whether a subject holds a name, or is of somebody whom all texts are about.
func (l *lexicon) unique(list []word, subject []string) bool {
	for i, w := range list {
		_, common := l.concepts[l.concept(w.norm)]
		if w.upper && (i > 0 || !common && !l.is("drop", w.norm)) || l.is("possessive", w.norm) {
			return true
		}
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
		c.verb, c.past = next.verb, c.past || next.past && !perfect
	}
	if c.verb.name == "have" && at(list, i).norm == "to" || c.verb.opinion || c.verb.name == "do" || c.verb.name == "will" {
		return nil, false
	}
	if c.negated && slices.ContainsFunc(list[i:], func(w word) bool { return w.norm == "yet" || w.norm == "todavia" || w.norm == "aun" }) {
		return nil, false
	}
	return list[i:], true
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
