package window

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mostCompared bounds how many texts one is compared with, those with the most words in common first, since each may cost a
// model's judge a while: so many of what does not give way, records and what is shared, and so many of the window's own, which
// cannot crowd the others out.
const mostCompared = 24

// known is a text that content is compared with.
type known struct {
	text   string
	words  []int32 // nil: to be asked for
	item   *Item
	shared bool // in a segment
	record *Record
	common float64
}

// nearest are texts that have the most words in common with one, the most first.
type nearest struct {
	p     *plan
	words []int32
	found []known
}

func (n *nearest) add(k known) {
	if k.words == nil {
		k.words = n.p.e.Words(k.text)
	}
	k.common = Overlap(n.words, k.words)
	if k.common == 0 || len(n.found) == mostCompared && k.common <= n.found[mostCompared-1].common {
		return
	}
	at, _ := slices.BinarySearchFunc(n.found, k.common, func(f known, common float64) int {
		if f.common < common {
			return 1
		}
		return -1 // of equals, who came first stays before
	})
	n.found = slices.Insert(n.found[:min(len(n.found), mostCompared-1)], at, k)
}

// against gives what an item may contradict: records and what is shared, and then what is in the window.
func (p *plan) against(item *Item) []known {
	words := item.words
	if words == nil {
		words = p.e.Words(item.Content)
	}
	room := make([]known, 2*mostCompared)
	firm := nearest{p: p, words: words, found: room[:0:mostCompared]}
	own := nearest{p: p, words: words, found: room[mostCompared:mostCompared]}
	for i := range p.e.Records {
		firm.add(known{text: p.e.Records[i].Content, record: &p.e.Records[i]})
	}
	for s := range p.w.Segments {
		for i := range p.w.Segments[s].Items {
			one := &p.w.Segments[s].Items[i]
			firm.add(known{text: one.Content, item: one, shared: true})
		}
	}
	for i := range p.w.Items {
		switch one := &p.w.Items[i]; {
		case item.Key != "" && one.Key == item.Key:
		case one.IsSummary():
			for _, sentence := range sentences(one.Content) {
				own.add(known{text: strings.TrimSpace(sentence), item: one})
			}
		default:
			own.add(known{text: one.Content, words: one.words, item: one})
		}
	}
	return append(firm.found, own.found...)
}

// asked is what a judge is asked of a text, and what it says.
type asked struct {
	found    []known
	pairs    []Pair
	verdicts []Verdict
}

// asks gives what a judge is to be asked of an item: nothing if an administrator wants it in, or if it says nothing.
func (p *plan) asks(item *Item) asked {
	if p.e.Forced || wordless(item.Content) {
		return asked{}
	}
	a := asked{found: p.against(item)}
	for _, k := range a.found {
		a.pairs = append(a.pairs, Pair{Known: k.text, New: item.Content})
	}
	return a
}

// ask has a judge asked all at once, since a model takes a while, and each pair once: what is nearest to each text first, since a model
// has a limit for what it is asked at once.
func (e *Env) ask(ctx context.Context, all []asked) error {
	var pairs []Pair
	at := map[Pair]int{}
	for rank := range 2 * mostCompared {
		for i := range all {
			if rank >= len(all[i].pairs) {
				continue
			}
			pair := all[i].pairs[rank]
			if _, known := at[pair]; !known {
				at[pair], pairs = len(pairs), append(pairs, pair)
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	verdicts, err := e.Judge.Judge(ctx, pairs)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].verdicts = make([]Verdict, len(all[i].pairs))
		for j, pair := range all[i].pairs {
			all[i].verdicts[j] = verdicts[at[pair]]
		}
	}
	return nil
}

// judge compares an item with what is known.
func (p *plan) judge(item *Item) (asked, error) {
	all := []asked{p.asks(item)}
	err := p.e.ask(p.ctx, all)
	return all[0], err
}

// weigh decides by what was judged of an item what comes of it, and gives the ids of what it supersedes.
func (p *plan) weigh(out *Outcome, item *Item, a asked) (superseded []string) {
	for i, v := range a.verdicts {
		k := &a.found[i]
		if v.Relation == Unrelated || v.Relation == Contradicts && p.w.Overruled[PairKey(a.pairs[i])] {
			continue
		}
		j := Judgement{Verdict: v, Pair: a.pairs[i]}
		if k.record != nil {
			j.Record = &k.record.Hash
		} else {
			j.Item = k.item.ID
		}
		switch {
		case v.Relation == Agrees && k.record != nil:
			if item.Quality.Accuracy >= MinAccuracy { // what another record contradicts stays contradicted
				item.Quality.Accuracy, item.VerifiedBy = confirmed, &k.record.Hash
			}
		case v.Relation == Agrees:
			continue
		case k.record != nil:
			item.Quality.Accuracy = contradicted
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Poisoning, Action: ActionRejected, Record: &k.record.Hash, Items: []string{},
				Reason: fmt.Sprintf("contradicts the verified record %q (%s): %s", k.record.Title, k.record.Hash, v.Reason),
			})
		case k.shared:
			item.Quality.Accuracy = contradicted
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Poisoning, Action: ActionRejected, Items: []string{k.item.ID}, Reason: "contradicts what the window shares: " + v.Reason,
			})
		case k.item.Type.IsMessage() && !item.Type.IsMessage() && !item.Type.Persistent(), p.isQuery(k.item) && item.Type != UserMessage:
			// What was said was said: it stays, and so may what contradicts it.
		case stands(k.item, item) != "":
			item.Quality.Consistency = 0
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionRejected, Items: []string{k.item.ID}, Reason: fmt.Sprintf("contradicts %s: %s", stands(k.item, item), v.Reason),
			})
		default:
			if k.item.IsSummary() {
				p.cuts[k.item.ID] = append(p.cuts[k.item.ID], k.text)
			} else {
				superseded = append(superseded, k.item.ID)
			}
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionSuperseded, Items: []string{k.item.ID}, Reason: "the more recent wins: " + v.Reason,
			})
		}
		out.Judgements = append(out.Judgements, j)
	}
	if item.Quality.Accuracy < MinAccuracy {
		item.VerifiedBy = nil
	}
	return superseded
}

// stands says what an item is that does not give way to another, which contradicts it or wants its slot; empty: it does.
func stands(there, item *Item) string {
	switch {
	case there.Type == SystemInstruction && item.Type != SystemInstruction:
		return "an instruction"
	case there.Type.Persistent() && !item.Type.Persistent() && item.Type != UserMessage:
		return "what only the user, or a preference, a goal or a decision, may change"
	case there.ObservedAt.After(item.ObservedAt):
		return "what was observed later, at " + there.ObservedAt.Format(time.RFC3339)
	}
	return ""
}

func (p *plan) isQuery(item *Item) bool {
	query := p.w.query()
	return query != nil && query.ID == item.ID
}

// sentences cuts a text where a sentence or a line ends; put together, they are the text.
func sentences(text string) []string {
	var out []string
	for text != "" {
		end := sentenceEnd.FindStringIndex(text)
		if end == nil {
			return append(out, text)
		}
		out, text = append(out, text[:end[1]]), text[end[1]:]
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[.!?…。！？]["'”’»)\]]*\s+|[。！？]|\n+`)
