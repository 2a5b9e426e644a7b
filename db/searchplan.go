package db

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
)

// How many passages a search in a large scope takes for candidates.
const (
	minRoom    = 8_192  // of the whole log, for a search in it
	maxRoom    = 16_384 // of the whole log, for a search in a part of it
	wantedRoom = 4_096  // in scope
	maxCommon  = 32_768 // of the whole log, that hold a word which is looked for by itself because there is no other
	maxNewest  = 65_536 // messages of which only the newest are looked at
	enough     = 200    // passages with rare words, beside which a single common one is not looked for
	maxJoined  = 8      // words that are common and looked for together
	weightUnit = 10_000 // weights are compared as whole numbers of 1/weightUnit
)

// planWord is a word of the query.
type planWord struct {
	keys    []int32 // one of which a passage with the word has
	seen    int     // passages with it in the sample of all
	inAll   int     // passages with it in the whole log, estimated
	inScope int     // in the scope
	weight  float32
}

// plan says where the candidates of a large scope are.
type plan struct {
	expression string // of words, as intarray's query_int; "" for none
	newest     int    // so many of the newest messages, and records, are candidates as well
}

// seldom gives the words that the sample has seen few of, those that it has seen least of first.
func seldom(words []*planWord) []*planWord {
	rare := slices.DeleteFunc(slices.Clone(words), func(w *planWord) bool { return w.seen >= seenFew })
	slices.SortStableFunc(rare, func(a, b *planWord) int {
		return cmp.Or(cmp.Compare(a.seen, b.seen), cmp.Compare(a.keys[0], b.keys[0]))
	})
	return rare[:min(len(rare), maxCounted)]
}

// newPlan takes every passage that holds one of the rarest words, as many words as there is room for. Of the other words
// it takes the passages that hold some together: those whose words weigh most, as many as the sample says there is
// room for. A query of one common word, or of none that tell anything, gets the newest messages: nothing else tells
// them apart.
func newPlan(words []*planWord, inScope, inAll sample) plan {
	slices.SortStableFunc(words, func(a, b *planWord) int {
		return cmp.Or(cmp.Compare(a.inAll, b.inAll), cmp.Compare(a.inScope, b.inScope), cmp.Compare(a.keys[0], b.keys[0]))
	})
	part := max(1, inScope.passages*inScope.scale)
	whole := max(part, inAll.passages*inAll.scale)
	room := min(max(minRoom, wantedRoom*whole/part), maxRoom)
	alone, taken, inside := 0, 0, 0
	for alone < len(words) && taken+words[alone].inAll <= room {
		taken += words[alone].inAll
		inside += words[alone].inScope
		alone++
	}
	p := plan{expression: anyOf(words[:alone])}
	common := words[alone:min(len(words), alone+maxJoined)]
	if len(words) == 0 {
		p.newest = wantedRoom
	}
	if len(common) == 0 {
		return p
	}
	joined := together(common, inScope.without(words[:alone]), room*part/whole)
	switch {
	case joined != "":
		p.expression = strings.TrimPrefix(p.expression+"|"+joined, "|")
	case inside >= enough:
	case common[0].inAll <= maxCommon:
		p.expression = strings.TrimPrefix(p.expression+"|"+anyOf(common[:1]), "|")
	default:
		p.newest = min(maxNewest, wantedRoom*part/max(1, common[0].inScope))
	}
	return p
}

// without leaves out the passages that hold one of these words.
func (m sample) without(words []*planWord) sample {
	m.groups = slices.DeleteFunc(slices.Clone(m.groups), func(g sampleGroup) bool {
		return slices.ContainsFunc(words, func(w *planWord) bool { return g.holds(w.keys) })
	})
	return m
}

// level is how many passages have words of one weight together.
type level struct{ weight, passages int }

// together gives the expression of the passages whose words weigh most together, those of whole levels for which there
// is room; "" if there is no room for any.
func together(words []*planWord, from sample, room int) string {
	weights := make([]int, len(words))
	for i, w := range words {
		weights[i] = 1 + int(w.weight*weightUnit)
	}
	levels := map[int]int{}
	for _, g := range from.groups {
		weight := 0
		for i, w := range words {
			if g.holds(w.keys) {
				weight += weights[i]
			}
		}
		if weight > 0 {
			levels[weight] += g.count * from.scale
		}
	}
	sorted := make([]level, 0, len(levels))
	for weight, passages := range levels {
		sorted = append(sorted, level{weight, passages})
	}
	slices.SortFunc(sorted, func(a, b level) int { return cmp.Compare(b.weight, a.weight) })
	least, taken := 1, 0
	for _, l := range sorted {
		if taken += l.passages; taken > room {
			least = l.weight + 1
			break
		}
	}
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	expression, _ := atLeast(words, weights, order, least)
	return expression
}

// atLeast gives the expression of the passages that hold some of the words in order which weigh at least so much
// together; all says that every passage does. "" without all says that none does.
func atLeast(words []*planWord, weights, order []int, least int) (expression string, all bool) {
	if least <= 0 {
		return "", true
	}
	left := 0
	for _, i := range order {
		left += weights[i]
	}
	if left < least {
		return "", false
	}
	first, rest := words[order[0]], order[1:]
	with, every := atLeast(words, weights, rest, least-weights[order[0]])
	without, _ := atLeast(words, weights, rest, least)
	parts := make([]string, 0, 2)
	switch {
	case every:
		parts = append(parts, anyOf([]*planWord{first}))
	case with != "":
		parts = append(parts, "("+anyOf([]*planWord{first})+")&("+with+")")
	}
	if without != "" {
		parts = append(parts, without)
	}
	return strings.Join(parts, "|"), false
}

// anyOf gives the expression of the passages that hold one of these words.
func anyOf(words []*planWord) string {
	var keys []string
	for _, w := range words {
		for _, key := range w.keys {
			keys = append(keys, strconv.Itoa(int(key)))
		}
	}
	return strings.Join(keys, "|")
}

// ordered gives the candidates, those with the greatest products first.
func (s *search) ordered() []*candidate {
	list := make([]*candidate, 0, len(s.found))
	for _, c := range s.found {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.product, a.product), cmp.Compare(kindOrder(a.kind), kindOrder(b.kind)), cmp.Compare(b.id, a.id))
	})
	return list
}

// kindOrder is that of log.ref_type.
func kindOrder(kind chain.RefType) int {
	return slices.Index([]chain.RefType{chain.RefContext, chain.RefAccountant, chain.RefSecretary}, kind)
}
