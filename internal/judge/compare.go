package judge

import (
	"slices"
	"strings"

	"github.com/tzzr/context-manager/internal/window"
)

// compare says how a claim stands to another of the same subject, and by what.
func (l *lexicon) compare(a, b *claim) (window.Relation, string) {
	if a.past != b.past {
		return window.Unrelated, "" // what was, and what is
	}
	values := compareValues(a, b)
	same := slices.Equal(a.words, b.words)
	opposed := a.negated != b.negated
	related := a.verb == b.verb || a.verb.name == b.verb.name
	if !related {
		opposed = !opposed
		exclude := l.opposites[a.verb.name][b.verb.name] && !a.negated && !b.negated
		if related = a.verb.like && b.verb.hate || a.verb.hate && b.verb.like || exclude; !related {
			return window.Unrelated, ""
		}
	}
	switch {
	case a.verb.name == "prefer" && !opposed:
		if by := l.preferences(a, b); by != "" {
			return window.Contradicts, by
		}
	case opposed && same && values.equal && slices.Equal(a.over, b.over) && a.deniable() && b.deniable():
		return window.Contradicts, "one denies the other"
	case opposed && same && (none(a, b) || none(b, a)):
		return window.Contradicts, "one counts what the other denies"
	}
	if opposed || a.negated {
		return agree(!opposed && same && values.equal), ""
	}
	if by := l.differ(a, b, same, values); by != "" {
		return window.Contradicts, by
	}
	return agree(same && values.equal && slices.Equal(a.over, b.over) && slices.Equal(a.agents, b.agents)), ""
}

func agree(same bool) window.Relation {
	if same {
		return window.Agrees
	}
	return window.Unrelated
}

// deniable says whether a claim can be denied by another: what happened may have happened one day, and not on another.
func (c *claim) deniable() bool {
	return (!c.past || c.verb.name == "be" || c.definite) && !((c.verb.like || c.verb.hate) && len(c.words) == 0)
}

// none says whether a denies that there is any of what b counts: "has no children", "has two children".
func none(a, b *claim) bool {
	if !a.negated || a.verb != b.verb || a.past || len(a.words) == 0 || len(b.values[number]) != 1 || b.values[number][0].amount <= 0 {
		return false
	}
	for k := range kinds {
		if len(a.values[k]) > 0 || k != number && len(b.values[k]) > 0 {
			return false
		}
	}
	return a.verb.name == "have" || a.verb.name == "exist" || a.verb.name == "contain" || a.verb.name == "offer"
}

// differ says in which one thing two claims differ that cannot be both.
func (l *lexicon) differ(a, b *claim, same bool, values comparison) string {
	k, differs := values.one()
	switch {
	case same && differs && l.tells(a, k) && l.tells(b, k):
		return "the " + kindNames[k] + "s differ"
	case same && values.equal && len(a.agents) > 0 && len(b.agents) > 0 && a.verb.name == "be" && len(without(a.agents, b.agents)) == len(a.agents):
		return "it was done by one of them"
	case same || !values.equal:
		return ""
	}
	onlyA, onlyB := without(a.words, b.words), without(b.words, a.words)
	if a.verb.equates && len(onlyA) == 1 && len(onlyB) == 1 && l.opposites[onlyA[0]][onlyB[0]] {
		return onlyA[0] + " and " + onlyB[0] + " exclude each other"
	}
	if a.verb.name == "be" && len(onlyA) == len(a.words) && len(onlyB) == len(b.words) && l.single(a, b) {
		return "there is one of them"
	}
	return ""
}

// maxValue is of how many words what there is one of may be: more describe it.
const maxValue = 3

// single says whether what the subject of two claims names has one value, such as a name or a favourite colour, and both
// claims tell it: by a name or a number where there is one, and not by what it is like.
func (l *lexicon) single(a, b *claim) bool {
	parts := strings.Split(a.subject, " ")
	has := func(section string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return l.is(section, s) })
	}
	demonym := func(c *claim) bool {
		return slices.ContainsFunc(c.words, func(s string) bool { return l.is("demonym", s) })
	}
	describes := func(c *claim) bool {
		return c.placed || len(c.words) == 0 || len(c.words) > maxValue || slices.ContainsFunc(c.words, func(s string) bool { return len(l.opposites[s]) > 0 })
	}
	numbered := slices.ContainsFunc(parts, func(s string) bool { return s[0] >= '0' && s[0] <= '9' }) // "field number 1" is none
	if len(parts) < 2 || numbered || demonym(a) != demonym(b) {
		return false
	}
	free := has("favourite") || has("secret")
	if colour := slices.Contains(parts, "color"); free && !colour && (describes(a) || describes(b)) || colour && (a.placed || b.placed) {
		return false
	}
	return free || has("attribute") && a.named && b.named && !describes(a) && !describes(b)
}

// tells says whether what a claim's verb says has one value of a kind.
func (l *lexicon) tells(c *claim, k kind) bool {
	v := c.verb
	if c.perfect && v.name != "be" {
		return false
	}
	bare := !slices.ContainsFunc(c.words, func(w string) bool { return !l.is("once", w) })
	switch k {
	case number:
		return v.number && (!c.past || v.name == "be" || v.name == "cost" || v.name == "last")
	case clock, date:
		if k == date && (v.name == "open" || v.name == "close") && c.values[date][0].day.month == 0 {
			return false // on each of several days
		}
		return v.time && (v.name != "be" || bare) && (!c.past || v.name == "be" || v.name == "start" || v.name == "end")
	default:
		return v.place && (v.name != "be" || bare || c.at) && (!c.past || v.name == "be") && !slices.ContainsFunc(c.words, func(w string) bool {
			return w == "near" || w == "far" || w == "outside"
		})
	}
}

// preferences says by what two preferences exclude each other.
func (l *lexicon) preferences(a, b *claim) string {
	if reverses(a, b) || reverses(b, a) {
		return "one prefers what the other puts behind"
	}
	onlyA, onlyB := without(a.words, b.words), without(b.words, a.words)
	if !a.negated && len(onlyA) == 1 && len(onlyB) == 1 && l.opposites[onlyA[0]][onlyB[0]] {
		return onlyA[0] + " and " + onlyB[0] + " exclude each other"
	}
	return ""
}

// reverses says whether b prefers what a puts behind something else.
func reverses(a, b *claim) bool {
	if len(a.over) == 0 || a.negated || b.negated || len(without(a.over, b.words)) > 0 {
		return false
	}
	return len(without(without(b.words, a.over), a.words)) == 0 && len(without(a.words, b.words)) > 0
}

// comparison is how the values of two claims stand to each other, by kind.
type comparison struct {
	equal, unsure bool
	conflicts     int
	kind          kind // of the last conflict
}

// compareValues compares the values of two claims pairwise, in their order. What only one of them has is unsure.
func compareValues(a, b *claim) comparison {
	c := comparison{equal: true}
	for k := range kinds {
		x, y := a.values[k], b.values[k]
		if len(x) != len(y) {
			c.equal, c.unsure = false, true
			continue
		}
		for i := range x {
			switch x[i].compare(y[i], k) {
			case conflict:
				c.equal, c.kind = false, k
				c.conflicts++
			case unsure:
				c.equal, c.unsure = false, true
			}
		}
	}
	return c
}

// one gives the kind of the one value that differs, if there is just one.
func (c comparison) one() (kind, bool) { return c.kind, c.conflicts == 1 && !c.unsure }

// without gives what is in a and not in b.
func without(a, b []string) []string {
	var only []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			only = append(only, s)
		}
	}
	return only
}
