package selection

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/chain"
)

// Two texts are nearly the same when each has at least nearWords words, the same numbers in the same order, and
//
//	|A ∩ B| / |A ∪ B| ≥ nearShare
//
// of the sets of their runs of three words; and, if they are of different owners, the newer holds all that the older has,
// as a quotation does. Of a long text the set is its maxRuns least, by a digest, as in Broder's sketches.
//
// Numbers count because they are what tells sentences of one form apart: "invoice 4711 is paid" is not the same as
// "invoice 4712 is paid", and nothing shows which number names a thing and which is a value that has changed.
const (
	nearWords = 8
	nearShare = 0.8
	maxRuns   = 256
)

// print is what two texts are compared by.
type print struct {
	folded  string
	words   int
	numbers uint64   // digest of the numbers, in order
	runs    []uint64 // digests of the runs of three words, the maxRuns least, ascending
	all     bool     // whether runs holds all of them
}

// likeness says how far two texts are the same.
type likeness int

const (
	different likeness = iota
	near
	same
)

func printOf(text string) print {
	folded := fold(text)
	p := print{folded: folded}
	p.numbers = digestBasis
	words := make([]string, 0, strings.Count(folded, " ")+1)
	for word := range strings.SplitSeq(folded, " ") {
		if strings.ContainsFunc(word, unicode.IsNumber) {
			p.numbers = digest(digest(p.numbers, word), " ")
		}
		if strings.ContainsFunc(word, spaceless) {
			words = append(words, strings.Split(word, "")...)
		} else {
			words = append(words, word)
		}
	}
	p.words = len(words)
	p.runs = make([]uint64, 0, max(0, len(words)-2))
	for i := 0; i+2 < len(words); i++ {
		run := digest(digest(digestBasis, words[i]), " ")
		run = digest(digest(run, words[i+1]), " ")
		p.runs = append(p.runs, mix(digest(run, words[i+2])))
	}
	slices.Sort(p.runs)
	p.runs = slices.Compact(p.runs)
	p.all = len(p.runs) <= maxRuns
	p.runs = slices.Clip(p.runs[:min(len(p.runs), maxRuns)])
	return p
}

// mix spreads a digest's bits, so that the least digests are a fair sample of all.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// digestBasis is the digest of nothing.
const digestBasis = 14695981039346656037

// digest goes on with a digest, FNV-1a of 64 bits. Written out because a great many short runs are digested, and hash/fnv
// would take memory for each.
func digest(of uint64, text string) uint64 {
	for i := range len(text) {
		of = (of ^ uint64(text[i])) * 1099511628211
	}
	return of
}

// spaceless says whether a character is of a script that sets no spaces, whose words are compared character by character.
func spaceless(r rune) bool {
	const first = 0x0e01 // of Thai, the lowest of them
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// like compares an older text with a newer one.
func (p *print) like(newer *print, sameOwner bool) likeness {
	switch {
	case p.folded == newer.folded:
		return same
	case p.numbers != newer.numbers || min(p.words, newer.words) < nearWords:
		return different
	}
	both, either := overlap(p.runs, newer.runs)
	if float64(both) < nearShare*float64(either) {
		return different
	}
	if !sameOwner && !newer.holds(p) {
		return different
	}
	return near
}

// overlap counts the digests that are in both lists, and in either, of the maxRuns least of all of them.
func overlap(a, b []uint64) (both, either int) {
	for len(a) > 0 && len(b) > 0 && either < maxRuns {
		order := cmp.Compare(a[0], b[0])
		if order == 0 {
			both++
		}
		if order <= 0 {
			a = a[1:]
		}
		if order >= 0 {
			b = b[1:]
		}
		either++
	}
	return both, min(maxRuns, either+len(a)+len(b))
}

// holds says whether all runs of the other text are among these, as far as both lists reach.
func (p *print) holds(other *print) bool {
	for _, run := range other.runs {
		if _, found := slices.BinarySearch(p.runs, run); !found && (p.all || run < p.runs[len(p.runs)-1]) {
			return false
		}
	}
	return true
}

// fold gives what two texts share that say the same: letters, digits and symbols in lower case, single spaces. That a
// number is negative and that a sentence asks stays. A text without any of these is as it is.
func fold(text string) string {
	lower := strings.ToLower(text)
	var b strings.Builder
	b.Grow(len(lower))
	before, last, gap := ' ', ' ', false // of the text, of what was written, and whether something was left out since
	for i, r := range lower {
		asks := strings.ContainsRune("?？؟", r)
		keep := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.IsSymbol(r)
		if r == '-' && unicode.IsSpace(before) {
			next, _ := utf8.DecodeRuneInString(lower[i+1:])
			keep = unicode.IsNumber(next)
		}
		before = r
		switch {
		case asks && last == '?', !asks && !keep:
			gap = true
			continue
		case asks:
			r, gap = '?', true
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last, gap = r, asks
	}
	if b.Len() == 0 {
		return text
	}
	return b.String()
}

// giveWay finds, for each of the offers, the newer ones that it would give way to if they are selected. Offers that share
// none of their least runs are not compared: with shares as great as nearShare, what is in only one of two lists is at most
// a fifth of both, so the least run that they share stands within the first quarter of each.
func giveWay(offers []*offer) {
	folded, runs := map[string][]*offer{}, map[uint64][]*offer{}
	for _, o := range offers {
		compared := map[*offer]bool{}
		compare := func(others []*offer) {
			for _, other := range others {
				if !compared[other] {
					compared[other] = true
					o.meet(other)
				}
			}
		}
		compare(folded[o.print.folded])
		folded[o.print.folded] = append(folded[o.print.folded], o)
		for _, run := range o.print.runs[:min(len(o.print.runs), len(o.print.runs)/4+2)] {
			compare(runs[run])
			runs[run] = append(runs[run], o)
		}
	}
}

// age is less than 0 if an offer is older than another, and 0 if neither is.
func (o *offer) age(other *offer) int {
	return cmp.Or(o.CreatedAt.Compare(other.CreatedAt), cmp.Compare(o.Type, other.Type), cmp.Compare(o.Place, other.Place))
}

// meet notes which of two offers gives way to the other: the older one, or, of the same age, the one that ranks lower.
func (o *offer) meet(better *offer) {
	older, newer := o, better
	if o.age(better) > 0 {
		older, newer = better, o
	}
	if l := older.print.like(&newer.print, older.Owner == newer.Owner); l != different {
		older.newer = append(older.newer, rival{newer, l})
	}
}

// GivesWayTo finds, among the items of a selection, the one for which a candidate was dropped as a near-duplicate; nil if
// there is none.
func (c *Candidate) GivesWayTo(items []Candidate, reason DropReason) *chain.Hash {
	wanted := near
	if reason == Duplicate {
		wanted = same
	}
	o := offer{Candidate: c, print: printOf(c.Text)}
	for i := range items {
		item := offer{Candidate: &items[i], print: printOf(items[i].Text)}
		if o.age(&item) <= 0 && o.print.like(&item.print, o.Owner == item.Owner) == wanted {
			return &items[i].Hash
		}
	}
	return nil
}

// rival is a newer offer of the same or nearly the same text.
type rival struct {
	*offer
	likeness likeness
}
