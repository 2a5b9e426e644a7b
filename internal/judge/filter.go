package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// filter tells which sentences can hold a claim of the subjects that are looked for, without reading them: what a text is
// compared with is mostly about something else. A sentence that it lets through need not hold one; one that it does not
// cannot.
type filter struct {
	*lexicon
	places map[string]int // the bit of a meaning that a subject needs
	needs  []uint64       // of each subject, what it needs
	all    bool           // one of them needs nothing
}

// maxNeeds is how many meanings a filter tells apart.
const maxNeeds = 64

// filterOf makes a filter of claims. Without any, nothing passes.
func (l *lexicon) filterOf(claims []claim) *filter {
	f := &filter{lexicon: l, places: map[string]int{}}
	seen := map[string]bool{}
	for i := range claims {
		subject := claims[i].subject
		if seen[subject] {
			continue
		}
		seen[subject] = true
		var need uint64
		for part := range strings.SplitSeq(subject, " ") {
			if !l.plainForm(part) {
				continue
			}
			bit, known := f.places[part]
			if !known && len(f.places) < maxNeeds {
				bit, known = len(f.places), true
				f.places[part] = bit
			}
			if known {
				need |= 1 << bit
			}
		}
		f.needs = append(f.needs, need)
		f.all = f.all || need == 0
	}
	return f
}

// plainForm says whether a meaning is only ever written as one word of letters, so that its absence can be told.
func (l *lexicon) plainForm(meaning string) bool {
	for i := range len(meaning) {
		if meaning[i] < 'a' || meaning[i] > 'z' {
			return false
		}
	}
	return len(meaning) > 1 && meaning != "there" && !l.phrased[meaning] && l.concept(meaning) == meaning
}

// pass says whether a sentence may hold a claim of one of the subjects.
func (f *filter) pass(sentence string) bool {
	if f == nil || f.all {
		return true
	}
	if len(f.needs) == 0 {
		return false
	}
	var has uint64
	for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool {
		return r < utf8.RuneSelf && !letter(r) || r >= utf8.RuneSelf && !unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark)
	}) {
		if bit, ok := f.places[f.concept(plain(word))]; ok {
			has |= 1 << bit
			for _, need := range f.needs {
				if need&^has == 0 {
					return true
				}
			}
		}
	}
	return false
}

func letter(r rune) bool {
	return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
}
