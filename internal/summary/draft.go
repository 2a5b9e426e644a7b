package summary

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// labelTokens is about what it costs to say who speaks.
const labelTokens = 3

// extract is some of a part's text.
type extract struct {
	part, unit int // unit orders those of a part
	text       string
	joined     bool // to the unit before, without white space
	vital      bool
}

// draft is a summary in the making.
type draft struct {
	parts    []window.Part
	budget   int
	vector   func(text string) Vector
	count    token.Counter // fails once it is over
	over     func() error  // says why nobody waits for it any more; nil: somebody does. Asked wherever much may be done
	labelled bool
	kept     []extract // vital ones first, then in the order in which they were chosen
	used     int       // tokens of kept, about
	order    []int     // the parts of kept, each once, ascending
}

func newDraft(parts []window.Part, budget int, vector func(text string) Vector, count token.Counter, over func() error) *draft {
	watched := func(text string) (int, error) {
		if err := over(); err != nil {
			return 0, err
		}
		return count(text)
	}
	return &draft{parts: parts, budget: budget, vector: vector, count: watched, over: over, labelled: several(parts)}
}

// several says whether there is more than one speaker.
func several(parts []window.Part) bool {
	for _, p := range parts {
		if p.Speaker != parts[0].Speaker {
			return true
		}
	}
	return false
}

// labels is about what it costs in labels to add an extract of a part: one where the speaker changes, at it and after it.
func (d *draft) labels(part int) int {
	if !d.labelled {
		return 0
	}
	at, found := slices.BinarySearch(d.order, part)
	if found {
		return 0
	}
	changes, before, after := 0, "\n", "\n" // no speaker
	if at > 0 {
		before = d.parts[d.order[at-1]].Speaker
	}
	if at < len(d.order) {
		after = d.parts[d.order[at]].Speaker
	}
	speaker := d.parts[part].Speaker
	if before != speaker {
		changes++
	}
	if at < len(d.order) && after != speaker {
		changes++
	}
	if at < len(d.order) && before != after {
		changes--
	}
	return changes * labelTokens
}

// tokens counts a text. Of one that is far too long it gives a number that is over the budget and not more than it has.
func (d *draft) tokens(text string) (int, error) {
	if least := token.Least(token.DefaultEncoding, text); least > d.budget {
		return least, nil
	}
	return d.count(text)
}

// about counts a text, a long one roughly.
func (d *draft) about(text string) (int, error) {
	if len(text) > 2*unitBytes {
		return len(text) / tokenBytes, nil
	}
	return d.count(text)
}

// add keeps extracts.
func (d *draft) add(extracts ...extract) {
	for _, e := range extracts {
		d.kept = append(d.kept, e)
		if at, found := slices.BinarySearch(d.order, e.part); !found {
			d.order = slices.Insert(d.order, at, e.part)
		}
	}
}

// text gives the text of what was kept, and its tokens.
func (d *draft) text() (text string, tokens int, err error) {
	extracts := slices.Clone(d.kept)
	slices.SortFunc(extracts, func(a, b extract) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.unit, b.unit)) })
	text = d.render(extracts)
	tokens, err = d.tokens(text)
	return text, tokens, err
}

// fit takes away what was chosen last, if the text has too many tokens after all, and gives it. What is vital fits: that was
// counted.
func (d *draft) fit() (text string, tokens int, err error) {
	for {
		if text, tokens, err = d.text(); err != nil || tokens <= d.budget {
			return text, tokens, err
		}
		over := tokens - d.budget
		for last := len(d.kept) - 1; over > 0 && last >= 0 && !d.kept[last].vital; last-- {
			n, err := d.about(d.kept[last].text)
			if err != nil {
				return "", 0, err
			}
			d.kept = d.kept[:last]
			over -= max(n, 1)
		}
		if over == tokens-d.budget { // never
			d.kept = nil
		}
	}
}

// render writes extracts, which are in order: a line for each run of one speaker's.
func (d *draft) render(extracts []extract) string {
	var b strings.Builder
	follows := false // the extract before, without anything left out
	for i, e := range extracts {
		text := e.text
		if !follows {
			text = opened(text)
		}
		switch {
		case i == 0 || d.parts[e.part].Speaker != d.parts[extracts[i-1].part].Speaker:
			if i > 0 {
				b.WriteByte('\n')
			}
			if d.labelled {
				b.WriteString(label(d.parts[e.part].Speaker))
			}
		case follows && e.joined:
		case follows || ended(extracts[i-1].text):
			b.WriteByte(' ')
		default:
			b.WriteString("; ")
		}
		follows = i+1 < len(extracts) && extracts[i+1].part == e.part && extracts[i+1].unit == e.unit+1
		if !follows {
			text = closed(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// label says who speaks.
func label(speaker string) string {
	speaker = strings.Join(strings.Fields(strings.ToValidUTF8(speaker, "")), " ")
	if speaker == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(speaker)
	return string(unicode.ToUpper(r)) + speaker[size:] + ": "
}

// opened takes off a clause what joined it to the one before.
func opened(text string) string {
	text = strings.TrimLeft(text, ",;: ")
	if rest := strings.TrimLeft(text, "-–—"); strings.HasPrefix(rest, " ") { // not of "-5"
		return rest[1:]
	}
	return text
}

// closed takes off a text what joined it to what followed.
func closed(text string) string { return strings.TrimRight(text, ",;:-–— ") }

// ended says whether a text closes with a mark, so that another may follow.
func ended(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(closed(text))
	return unicode.IsPunct(r)
}
