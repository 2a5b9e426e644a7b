package window

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mostCompared bounds how many texts one is compared with, those with the most words in common first, since each may cost a
// model's judge a while.
const mostCompared = 24

// known is a text that content is compared with.
type known struct {
	text   string
	item   *Item
	shared bool // in a segment
	record *Record
	common float64
}

// against gives what an item may contradict: records, what is shared, and what is in the window.
func (p *plan) against(item *Item) []known {
	words := p.e.Words(item.Content)
	var found []known
	add := func(k known) {
		k.common = Overlap(words, p.e.Words(k.text))
		if k.common == 0 || len(found) == mostCompared && k.common <= found[mostCompared-1].common {
			return
		}
		at, _ := slices.BinarySearchFunc(found, k.common, func(f known, common float64) int {
			if f.common < common {
				return 1
			}
			return -1 // of equals, who came first stays before
		})
		found = slices.Insert(found[:min(len(found), mostCompared-1)], at, k)
	}
	for i := range p.e.Records {
		add(known{text: p.e.Records[i].Content, record: &p.e.Records[i]})
	}
	for s := range p.w.Segments {
		for i := range p.w.Segments[s].Items {
			one := &p.w.Segments[s].Items[i]
			add(known{text: one.Content, item: one, shared: true})
		}
	}
	for i := range p.w.Items {
		switch one := &p.w.Items[i]; {
		case one.Injected || item.Key != "" && one.Key == item.Key:
		case one.IsSummary():
			for _, sentence := range sentences(one.Content) {
				add(known{text: strings.TrimSpace(sentence), item: one})
			}
		default:
			add(known{text: one.Content, item: one})
		}
	}
	return found
}

// judge compares an item with what is known, and gives the ids of what it supersedes.
func (p *plan) judge(out *Outcome, item *Item) (superseded []string, err error) {
	found := p.against(item)
	pairs := make([]Pair, len(found))
	for i, k := range found {
		pairs[i] = Pair{Known: k.text, New: item.Content}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	verdicts, err := p.e.Judge.Judge(p.ctx, pairs)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		k := &found[i]
		if v.Relation == Unrelated || v.Relation == Contradicts && p.e.Overruled[PairKey(pairs[i])] {
			continue
		}
		j := Judgement{Verdict: v, Pair: pairs[i]}
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
		case k.item.Type == SystemInstruction && item.Type != SystemInstruction:
			item.Quality.Consistency = 0
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionRejected, Items: []string{k.item.ID}, Reason: "contradicts an instruction: " + v.Reason,
			})
		case k.item.Type.Persistent() && !item.Type.Persistent() && item.Type != UserMessage:
			item.Quality.Consistency = 0
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionRejected, Items: []string{k.item.ID},
				Reason: "contradicts what only the user, or a preference, a goal or a decision, may change: " + v.Reason,
			})
		case k.item.Type.IsMessage() && !item.Type.IsMessage() && !item.Type.Persistent(), p.isQuery(k.item) && item.Type != UserMessage:
			// What was said was said: it stays, and so may what contradicts it.
		case k.item.ObservedAt.After(item.ObservedAt):
			item.Quality.Consistency = 0
			out.Mitigations = append(out.Mitigations, Mitigation{
				Failure: Clash, Action: ActionRejected, Items: []string{k.item.ID}, Reason: "contradicts what was observed later: " + v.Reason,
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
	return superseded, nil
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
