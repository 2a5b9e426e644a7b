package db

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
)

// sampleOf makes a sample out of "1 2:7", seven passages that hold the words 1 and 2.
func sampleOf(scale, passages int, groups ...string) sample {
	m := sample{scale: scale, passages: passages}
	for _, text := range groups {
		var g sampleGroup
		words, count, _ := strings.Cut(text, ":")
		_, _ = fmt.Sscan(count, &g.count)
		for word := range strings.FieldsSeq(words) {
			var term int32
			_, _ = fmt.Sscan(word, &term)
			g.terms = append(g.terms, term)
		}
		m.groups = append(m.groups, g)
	}
	return m
}

// wordsOf makes words 1, 2 and so on, of which passages of the sample hold as many as it says, and whose weights are by
// how rare they are.
func wordsOf(m sample, words int) []*planWord {
	var list []*planWord
	for i := range words {
		w := &planWord{keys: []int32{int32(i + 1)}}
		w.seen = m.holding(w.keys)
		w.inAll = w.seen * m.scale
		w.inScope = w.inAll
		w.weight = float32(math.Log(1 + float64(m.passages)/(float64(w.seen)+0.5)))
		list = append(list, w)
	}
	return list
}

func TestPlan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		sample sample
		words  int
		want   plan
	}{
		{"no word", sampleOf(128, 8000), 0, plan{newest: wantedRoom}},
		{"a rare word", sampleOf(128, 8000, "1:2"), 1, plan{expression: "1"}},
		{"a word that nobody has", sampleOf(128, 8000), 1, plan{expression: "1"}},
		{"rare words, as many as there is room for", sampleOf(128, 8000, "1:10", "2:20", "3:100"), 3, plan{expression: "1|2"}},
		{"one common word", sampleOf(128, 8000, "1:200"), 1, plan{expression: "1"}},
		{"one very common word", sampleOf(128, 8000, "1:2000"), 1, plan{newest: 16384}},
		{"a rare and a very common word", sampleOf(128, 8000, "1:2", "2:2000"), 2, plan{expression: "1"}},
		{"an unseen and a very common word", sampleOf(128, 8000, "2:2000"), 2, plan{expression: "1", newest: 16384}},
		{"two common words, now and then together", sampleOf(128, 8000, "1:1000", "2:2000", "1 2:30"), 2, plan{expression: "(1)&(2)"}},
		{"two that are always together", sampleOf(128, 8000, "1 2:1000"), 2, plan{newest: 32768}},
		{"three, of which two suffice", sampleOf(128, 8000, "1:400", "2:800", "3:900", "1 2:10", "1 3:12", "2 3:14", "1 2 3:2"), 3,
			plan{expression: "(1)&(2|3)|(2)&(3)"}},
		{"three, of which all must be", sampleOf(128, 8000, "1:400", "2:800", "3:900", "1 2:90", "1 3:92", "2 3:94", "1 2 3:2"), 3,
			plan{expression: "(1)&((2)&(3))"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := newPlan(wordsOf(tt.sample, tt.words), tt.sample, tt.sample); got != tt.want {
				t.Errorf("plan = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// What a plan looks for together is what weighs most: no passage is left out that weighs more than one that is taken, and
// there is room for those that are.
func TestPlanTakesWhatWeighsMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, maxJoined).Draw(t, "words")
		m := sample{scale: 128, passages: 8000}
		for set := 1; set < 1<<n; set++ {
			g := sampleGroup{count: rapid.IntRange(0, 300>>len(m.groups)%9).Draw(t, "count")}
			for i := range n {
				if set&(1<<i) != 0 {
					g.terms = append(g.terms, int32(i+1))
				}
			}
			m.groups = append(m.groups, g)
		}
		words := wordsOf(m, n)
		room := rapid.IntRange(0, 50_000).Draw(t, "room")
		expression := together(words, m, room)
		least, most, taken := math.MaxInt, 0, 0
		for _, g := range m.groups {
			weight := 0
			for i, w := range words {
				if g.holds(w.keys) {
					weight += 1 + int(words[i].weight*weightUnit)
				}
			}
			if satisfies(expression, g.terms) {
				least, taken = min(least, weight), taken+g.count*m.scale
			} else {
				most = max(most, weight)
			}
		}
		if taken > room || most >= least {
			t.Fatalf("%q takes %d passages for %d, the least weighs %d, and leaves out one of %d", expression, taken, room, least, most)
		}
	})
}

// satisfies evaluates an expression as intarray does: & before |.
func satisfies(expression string, terms []int32) bool {
	p := expressionParser{rest: expression, terms: terms}
	return expression != "" && p.or()
}

type expressionParser struct {
	rest  string
	terms []int32
}

func (p *expressionParser) or() bool {
	value := p.and()
	for strings.HasPrefix(p.rest, "|") {
		p.rest = p.rest[1:]
		value = p.and() || value
	}
	return value
}

func (p *expressionParser) and() bool {
	value := p.operand()
	for strings.HasPrefix(p.rest, "&") {
		p.rest = p.rest[1:]
		value = p.operand() && value
	}
	return value
}

func (p *expressionParser) operand() bool {
	if strings.HasPrefix(p.rest, "(") {
		p.rest = p.rest[1:]
		value := p.or()
		p.rest = strings.TrimPrefix(p.rest, ")")
		return value
	}
	digits := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(p.rest)
	}
	var term int32
	_, _ = fmt.Sscan(p.rest[:digits], &term)
	p.rest = p.rest[digits:]
	return sampleGroup{terms: p.terms}.holds([]int32{term})
}

// One message in 2^n has a draw of n, and records are drawn apart from messages of the same ids.
func TestDraw(t *testing.T) {
	t.Parallel()
	const ids = 1 << 17
	for _, kind := range []chain.RefType{chain.RefContext, chain.RefSecretary} {
		counts := map[int]int{}
		for id := range int64(ids) {
			for n := range draw(kind, id+1) + 1 {
				counts[n]++
			}
		}
		for n := range 9 {
			if want := float64(ids) / float64(int(1)<<n); math.Abs(float64(counts[n])-want) > 5*math.Sqrt(want) {
				t.Errorf("%s: %d have a draw of %d or more, want about %.0f", kind, counts[n], n, want)
			}
		}
	}
	if draw(chain.RefContext, 4) == draw(chain.RefSecretary, 4) && draw(chain.RefContext, 5) == draw(chain.RefSecretary, 5) &&
		draw(chain.RefContext, 6) == draw(chain.RefSecretary, 6) {
		t.Error("records are drawn as messages are")
	}
}
