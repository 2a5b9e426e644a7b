package summary

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// coreShare is how much of what a part says its core holds at least, if it is not too long.
	coreShare = 0.6
	// coreBudget is the share of the room for all that the core of one part takes at most.
	coreBudget = 0.25
	// unitCost is what a choice costs beside its tokens, so that the shortest are not the best for being short.
	unitCost = 8
	// newness is what a key counts when it is chosen again.
	newness = 0.5

	// leastGain is what is added by what says nothing.
	leastGain = 1e-9

	questionWeight = 0.3
	answerWeight   = 1.5
	shortWeight    = 0.3 // of what is short and has no number: greetings, thanks, assent
	shortWords     = 4   // at most, and
	shortBytes     = 40
	mostNames      = 3 // that count in a sentence
)

// core is the sentences that stand for a part, or one of the others.
type core struct {
	part   int
	units  []int
	tokens int
	answer float64
	ratio  float64 // gain a token, as it was when it was last computed
	at     int     // how many had been chosen then
}

// choice is the state of the greedy choice.
type choice struct {
	units  []unit
	weight []float64 // of each unit: √centrality · factor
	idf    map[int32]float64
	chosen map[int32]int // how often each key is
}

func (d *draft) choice(units []unit) (*choice, error) {
	c := &choice{units: units, idf: map[int32]float64{}, chosen: map[int32]int{}}
	df, last := map[int32]int{}, map[int32]int{}
	names, lastName := map[string]int{}, map[string]int{}
	unitNames := make([][]string, len(units))
	for i, u := range units {
		if err := d.over(); err != nil {
			return nil, err
		}
		for _, key := range u.vector.Keys {
			if last[key] != u.part+1 {
				last[key] = u.part + 1
				df[key]++
			}
		}
		unitNames[i] = namesIn(u.text)
		for _, n := range unitNames[i] {
			if lastName[n] != u.part+1 {
				lastName[n] = u.part + 1
				names[n]++
			}
		}
	}
	for key, n := range df {
		c.idf[key] = idf(n, len(d.parts))
	}
	g, err := newGraph(units, len(d.parts), d.over)
	if err != nil {
		return nil, err
	}
	central, err := g.centrality(d.over)
	if err != nil {
		return nil, err
	}
	c.weight = make([]float64, len(units))
	for i, u := range units {
		if err := d.over(); err != nil {
			return nil, err
		}
		c.weight[i] = math.Sqrt(central[i]) * factor(u.text, unitNames[i], func(n string) float64 {
			return idf(names[n], len(d.parts)) / idf(1, len(d.parts))
		})
	}
	return c, nil
}

// factor is what a sentence counts for what it is: 1, and 1 more for a number or a date, and up to 1 for each name, the rarer
// the more: who is spoken to is named all the time. Questions and what is short count less.
func factor(text string, names []string, rarity func(name string) float64) float64 {
	f := 1.0
	if numbered(text) {
		f++
	} else if short(text) {
		return shortWeight
	}
	for _, n := range names[:min(len(names), mostNames)] {
		f += rarity(n)
	}
	if asks(text) {
		f *= questionWeight
	}
	return f
}

// short says whether a text of single white space has few words, and those are not long.
func short(text string) bool { return strings.Count(text, " ") < shortWords && len(text) <= shortBytes }

// namesIn gives the names of a sentence, in lower case.
func namesIn(text string) []string {
	var names []string
	first := true
	for word := range strings.FieldsSeq(text) {
		if w := bare(word); w != "" {
			if factOf(w, first) == name {
				names = append(names, strings.ToLower(w))
			}
			first = false
		}
	}
	return names
}

// numbered says whether a sentence has a number or a date.
func numbered(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if w := bare(word); factOf(w, false) == number && kindOf(w) != vagueWords {
			return true
		}
	}
	return false
}

func asks(text string) bool { return strings.ContainsAny(text, "?？؟") }

// gain is what a core adds to what is chosen, per token.
func (c *choice) gain(k *core) float64 {
	sum := leastGain
	for _, i := range k.units {
		for _, key := range c.units[i].vector.Keys {
			sum += c.weight[i] * c.idf[key] * math.Pow(newness, float64(c.chosen[key]))
		}
	}
	return k.answer * sum / float64(k.tokens+unitCost)
}

// cores gives a core for each part, and the rest of its units one by one.
func (d *draft) cores(c *choice) (first, rest []*core) {
	most := coreBudget * float64(d.budget-d.used)
	for from := 0; from < len(c.units); {
		to := from
		for to < len(c.units) && c.units[to].part == c.units[from].part {
			to++
		}
		part, answer := c.units[from].part, 1.0
		if part > 0 && d.parts[part-1].Speaker != d.parts[part].Speaker && asks(lastLine(d.parts[part-1].Content)) {
			answer = answerWeight
		}
		information := make([]float64, to-from)
		total := 0.0
		order := make([]int, to-from)
		for k := range order {
			order[k] = from + k
			for _, key := range c.units[from+k].vector.Keys {
				information[k] += c.idf[key]
			}
			total += information[k]
		}
		ratio := func(i int) float64 { return information[i-from] * c.weight[i] / float64(c.units[i].tokens+unitCost) }
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ratio(b), ratio(a)) })
		one, has := &core{part: part, answer: answer}, 0.0
		for _, i := range order {
			tokens := c.units[i].tokens
			if len(one.units) == 0 || has < coreShare*total && float64(one.tokens+tokens) <= most {
				one.units, one.tokens = append(one.units, i), one.tokens+tokens
				has += information[i-from]
			} else if !short(c.units[i].text) {
				rest = append(rest, &core{part: part, units: []int{i}, tokens: tokens, answer: answer})
			}
		}
		first = append(first, one)
		from = to
	}
	return first, rest
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexAny(text, "\n.!")+1:]
}

// addCores chooses of the parts that are not vital what the budget has room for.
func (d *draft) addCores() error {
	if d.used >= d.budget {
		return nil
	}
	units, err := d.units()
	if err != nil || len(units) == 0 {
		return err
	}
	if d.addAll(units) {
		return nil
	}
	c, err := d.choice(units)
	if err != nil {
		return err
	}
	first, rest := d.cores(c)
	said := slices.DeleteFunc(slices.Clone(first), c.brief)
	if len(said) == 0 {
		said = first
	}
	if err := d.greedy(c, said); err != nil {
		return err
	}
	if _, d.used, err = d.text(); err != nil {
		return err
	}
	// Of parts that are there already, more costs no label and reads on.
	there := func(k *core) bool { _, found := slices.BinarySearch(d.order, k.part); return found }
	if err := d.greedy(c, slices.DeleteFunc(slices.Clone(rest), func(k *core) bool { return !there(k) })); err != nil {
		return err
	}
	if err := d.greedy(c, slices.DeleteFunc(rest, there)); err != nil {
		return err
	}
	if len(d.kept) == 0 {
		return d.addWords(c)
	}
	return nil
}

// brief says whether a core is nothing but greetings, thanks, assent and the like.
func (c *choice) brief(k *core) bool {
	return !slices.ContainsFunc(k.units, func(i int) bool { return !short(c.units[i].text) || numbered(c.units[i].text) })
}

// addAll keeps everything if it fits.
func (d *draft) addAll(units []unit) bool {
	tokens := 0
	for _, u := range units {
		tokens += u.tokens
	}
	if d.labelled {
		tokens += len(d.parts) * labelTokens
	}
	if d.used+tokens > d.budget {
		return false
	}
	for _, u := range units {
		d.keepUnit(u)
	}
	return true
}

func (d *draft) keepUnit(u unit) {
	d.add(extract{part: u.part, unit: u.number, text: u.text, joined: u.joined})
}

// addWords keeps some of the words of the sentence that counts most, where nothing whole fits.
func (d *draft) addWords(c *choice) error {
	best, most := 0, 0.0
	for i, u := range c.units {
		sum := 0.0
		for _, key := range u.vector.Keys {
			sum += c.weight[i] * c.idf[key]
		}
		if sum > most {
			best, most = i, sum
		}
	}
	u := c.units[best]
	d.labelled = false
	text, _, err := d.beginning(d.telling(u.text, words), " ")
	if text == "" && err == nil && strings.ContainsFunc(u.text, unspaced) {
		text, _, err = d.beginning(strings.Split(u.text, ""), "")
	}
	if text != "" {
		d.add(extract{part: u.part, unit: u.number, text: text})
	}
	return err
}

// unspaced says whether a character is of a script that puts no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// units gives the units of all parts that are not vital, each with its vector and its tokens.
func (d *draft) units() ([]unit, error) {
	units, err := cut(d.parts, d.budget-d.used, d.over)
	if err != nil {
		return nil, err
	}
	units = slices.DeleteFunc(units, func(u unit) bool { return d.parts[u.part].Vital })
	for i := range units {
		tokens, err := d.count(" " + units[i].text)
		if err != nil {
			return nil, err
		}
		units[i].tokens, units[i].vector = tokens, d.vector(units[i].text)
	}
	return units, nil
}

// greedy adds the core with the best gain a token until none fits. A gain only falls, so the best of those as they were is
// the best, once it is computed anew.
func (d *draft) greedy(c *choice, cores []*core) error {
	queue := &byRatio{}
	for _, k := range cores {
		k.ratio = c.gain(k)
		*queue = append(*queue, k)
	}
	heap.Init(queue)
	chosen := 0
	for queue.Len() > 0 {
		if err := d.over(); err != nil {
			return err
		}
		best := (*queue)[0]
		if best.at != chosen {
			best.ratio, best.at = c.gain(best), chosen
			heap.Fix(queue, 0)
			continue
		}
		heap.Pop(queue)
		tokens := best.tokens + d.labels(best.part)
		if d.used+tokens > d.budget {
			continue
		}
		chosen++
		d.used += tokens
		slices.Sort(best.units)
		for _, i := range best.units {
			u := c.units[i]
			d.keepUnit(u)
			for _, key := range u.vector.Keys {
				c.chosen[key]++
			}
		}
	}
	return nil
}

// byRatio is a heap with the best core first, and of equal ones the earliest.
type byRatio []*core

func (h byRatio) Len() int { return len(h) }
func (h byRatio) Less(i, k int) bool {
	if h[i].ratio != h[k].ratio {
		return h[i].ratio > h[k].ratio
	}
	return h[i].units[0] < h[k].units[0]
}
func (h byRatio) Swap(i, k int) { h[i], h[k] = h[k], h[i] }

// Push is heap.Interface's.
func (h *byRatio) Push(x any) { *h = append(*h, x.(*core)) }

// Pop is heap.Interface's.
func (h *byRatio) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
