package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/token"
)

const minutes = `The meeting of the parents' council on Thursday agreed that the school garden will be dug over in March, that every class ` +
	`gets a bed of its own, and that the water is paid for by the town.`

func TestLike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, older, newer string
		others             bool // different owners
		want               likeness
	}{
		{"the same", "Room 31 costs 90.", "Room 31 costs 90.", true, same},
		{"case and marks", "Water the plants, please!", "water the plants please", true, same},
		{"one word of a long text", minutes, strings.Replace(minutes, "March", "April", 1), false, near},
		{"one word of another's long text", minutes, strings.Replace(minutes, "March", "April", 1), true, different},
		{"another quotes and adds", minutes, "For your information: " + minutes, true, near},
		{"another quotes less", minutes, strings.Replace(minutes, ", and that the water is paid for by the town", "", 1), true, different},
		{"a value", "Room 31 costs 90 euros a night with breakfast and tax.", "Room 31 costs 95 euros a night with breakfast and tax.", false, different},
		{"a number of a long text", minutes + " It costs 90 euros.", minutes + " It costs 95 euros.", false, different},
		{"numbers in another order", minutes + " From 9 to 10.", minutes + " From 10 to 9.", false, different},
		{"a sign", "The balance is -5", "The balance is 5", false, different},
		{"a fraction", "It is 1.40 euros", "It is 140 euros", false, different},
		{"asked and said", "The backup ran?", "The backup ran.", false, different},
		{"short", "Yes, we can do it then.", "Yes, we can do it now.", false, different},
		{"a list again", "The hotel is booked for us.", "The hotel is booked for them, and the flight as well.", false, different},
		{"no letters", "!!!", "...", false, different},
		{"emoji", "👍", "👎", false, different},
		{"one character of a long Chinese text", "会议决定学校的花园将在三月翻土每个班级都有自己的花坛水费由镇上支付孩子们负责浇水老师负责工具", "会议决定学校的花园将在四月翻土每个班级都有自己的花坛水费由镇上支付孩子们负责浇水老师负责工具", false, near},
		{"another Chinese text", "会议决定学校的花园将在三月翻土每个班级都有自己的花坛", "昨天的火车晚点了两个小时所以我们没有赶上去里斯本的飞机", false, different},
		{"very long", long("word%d and", 3000), long("word%d and", 3000) + " more", false, near},
		{"very long, half of it another", long("word%da and", 1500) + long("left%da and", 1500), long("word%da and", 1500) + long("right%da and", 1500), false, different},
	} {
		older, newer := printOf(c.older), printOf(c.newer)
		if got := older.like(&newer, !c.others); got != c.want {
			t.Errorf("%s: like() = %d, want %d", c.name, got, c.want)
		}
	}
}

// long repeats a form with letters for numbers, so that the runs of words differ and the numbers do not.
func long(form string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j").
			Replace(fmt.Sprintf(form, i)) + " ")
	}
	return b.String()
}

func said(text string, score float64, minute int) Candidate {
	c := candidate(text, score)
	c.Hash, c.CreatedAt = chain.Sum(fmt.Append(nil, text, minute)), time.Unix(int64(minute)*60, 0)
	return c
}

func at(place int64, c Candidate) Candidate {
	c.Place = place
	return c
}

func reasons(t *testing.T, r Request, candidates ...Candidate) string {
	t.Helper()
	packed, err := Pack(r, candidates, nil, words)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(candidates))
	for i, c := range candidates {
		for _, item := range packed.Items {
			if item.Hash == c.Hash {
				out[i] = fmt.Sprint(item.Position)
			}
		}
		for _, d := range packed.Dropped {
			if d.Hash == c.Hash {
				out[i] = string(d.Reason)
			}
		}
	}
	return strings.Join(out, " ")
}

func TestPackSupersedes(t *testing.T) {
	t.Parallel()
	april := strings.Replace(minutes, "March", "April", 1)
	may := strings.Replace(minutes, "March", "May", 1)
	budget := 20
	for _, c := range []struct {
		name       string
		request    Request
		candidates []Candidate
		want       string
	}{
		{"the newer counts, though it ranks lower", Request{Limit: 5}, []Candidate{said("tea", 0.9, 1), said("Tea!", 0.8, 2)}, "duplicate 1"},
		{"nearly", Request{Limit: 5}, []Candidate{said(minutes, 0.9, 1), said(april, 0.8, 2), said("tea", 0.7, 1)}, "superseded 1 2"},
		{"the best of the same age", Request{Limit: 5}, []Candidate{said("tea", 0.9, 1), said("Tea", 0.8, 1)}, "1 duplicate"},
		{"the later of one time", Request{Limit: 5}, []Candidate{at(1, said("tea", 0.9, 1)), at(2, said("Tea", 0.8, 1))}, "duplicate 1"},
		{"the newest of three", Request{Limit: 5}, []Candidate{said(minutes, 0.9, 2), said(april, 0.8, 3), said(may, 0.7, 1)}, "superseded 1 superseded"},
		{"the newer is below the threshold", Request{Limit: 5, Threshold: 0.85}, []Candidate{said("tea", 0.9, 1), said("Tea", 0.8, 2)}, "1 below_threshold"},
		{"the newer is over the limit", Request{Limit: 2}, []Candidate{said("tea", 0.9, 1), said("milk", 0.8, 1), said("honey", 0.8, 1), said("Tea", 0.7, 2)}, "1 2 over_limit over_limit"},
		{"the newer has its place", Request{Limit: 2}, []Candidate{said("tea", 0.9, 1), said("milk", 0.8, 1), said("Tea", 0.7, 2)}, "duplicate 1 2"},
		{"the newer is over the budget", Request{Limit: 5, TokenBudget: &budget},
			[]Candidate{said("tea tea", 0.9, 1), said("Tea "+strings.Repeat("! ", 30)+"tea", 0.8, 2)}, "1 over_budget"},
	} {
		if got := reasons(t, c.request, c.candidates...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// However two texts that are nearly the same differ, they are compared.
func TestGiveWayFindsAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		older := rapid.SliceOfN(rapid.StringMatching(`[a-z]{2,6}`), 8, 120).Draw(t, "words")
		newer := slices.Clone(older)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			newer[rapid.IntRange(0, len(newer)-1).Draw(t, "at")] = rapid.StringMatching(`[a-z]{2,6}`).Draw(t, "word")
		}
		offers := make([]*offer, 2)
		for i, text := range [][]string{older, newer} {
			c := said(strings.Join(text, " "), 0.5, i)
			offers[i] = &offer{Candidate: &c, print: printOf(c.Text)}
		}
		want := offers[0].print.like(&offers[1].print, true) != different
		if giveWay(offers); (len(offers[0].newer) > 0) != want {
			t.Fatalf("found: %t, want %t", !want, want)
		}
	})
}

// Whatever the candidates: the budget holds, nothing is there twice or lost, what gives way gives way to something newer
// that is there, and of what an earlier selection rendered the beginning stays to the byte.
func TestPackWithEarlierProperties(t *testing.T) {
	t.Parallel()
	count, err := token.Default()
	if err != nil {
		t.Fatal(err)
	}
	long := minutes + minutes
	texts := []string{"tea", "Tea!", "milk", "honey and milk\n- and tea", "👩‍👩‍👧 家族", strings.Repeat("蜂蜜", 40), minutes, minutes + " Indeed.", strings.Replace(minutes, "March", "May", 1), long, "…"}
	rapid.Check(t, func(t *rapid.T) {
		pool := make([]Candidate, rapid.IntRange(0, 25).Draw(t, "size"))
		for i := range pool {
			text := rapid.OneOf(rapid.SampledFrom(texts), rapid.StringN(1, 30, 90)).Draw(t, "text")
			pool[i] = said(text, rapid.Float64Range(0, 1).Draw(t, "score"), rapid.IntRange(0, 5).Draw(t, "minute"))
			pool[i].Hash, pool[i].Owner = chain.Sum(fmt.Append(nil, i)), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "owner")
		}
		var earlier *Selection
		for round := range 3 {
			r := Request{Limit: rapid.IntRange(1, 8).Draw(t, "limit"), Threshold: rapid.Float64Range(0, 0.6).Draw(t, "threshold")}
			if rapid.Bool().Draw(t, "bounded") {
				r.TokenBudget = new(int)
				*r.TokenBudget = rapid.IntRange(1, 250).Draw(t, "budget")
			}
			if round > 0 { // some have another score, some are gone
				for i := range pool {
					if rapid.IntRange(0, 4).Draw(t, "change") == 0 {
						pool[i].Score = rapid.Float64Range(0, 1).Draw(t, "score")
					}
				}
				if len(pool) > 0 && rapid.Bool().Draw(t, "gone") {
					pool = slices.Delete(pool, 0, 1)
				}
			}
			slices.SortStableFunc(pool, func(a, b Candidate) int {
				if a.Score > b.Score {
					return -1
				} else if a.Score < b.Score {
					return 1
				}
				return 0
			})
			packed, err := Pack(r, pool, earlier, count)
			if err != nil {
				t.Fatal(err)
			}
			checkPacked(t, r, pool, packed, earlier, count)
			earlier = &Selection{Items: packed.Items, Dropped: packed.Dropped, Rendered: packed.Rendered, Tokens: packed.Tokens}
		}
	})
}

func checkPacked(t *rapid.T, r Request, pool []Candidate, packed Packed, earlier *Selection, count token.Counter) {
	byHash := map[chain.Hash]Candidate{}
	for _, c := range pool {
		byHash[c.Hash] = c
	}
	if cost, _ := count(packed.Rendered); cost != packed.Tokens || r.TokenBudget != nil && packed.Tokens > *r.TokenBudget {
		t.Fatalf("says %d tokens, costs %d, budget %v", packed.Tokens, cost, r.TokenBudget)
	}
	if len(packed.Items) > r.Limit || len(packed.Items)+len(packed.Dropped) != len(pool) {
		t.Fatalf("%d items, %d dropped of %d, limit %d", len(packed.Items), len(packed.Dropped), len(pool), r.Limit)
	}
	seen := map[chain.Hash]bool{}
	for _, item := range packed.Items {
		if seen[item.Hash] || item.Score < r.Threshold {
			t.Fatalf("item %+v is there twice or below the threshold of %v", item, r.Threshold)
		}
		seen[item.Hash] = true
	}
	for _, d := range packed.Dropped {
		if seen[d.Hash] {
			t.Fatalf("%+v is there twice", d)
		}
		seen[d.Hash] = true
		if d.Reason != Duplicate && d.Reason != Superseded {
			continue
		}
		older := byHash[d.Hash]
		print := printOf(older.Text)
		if !slices.ContainsFunc(packed.Items, func(item Item) bool {
			newer := byHash[item.Hash]
			other := printOf(newer.Text)
			l := print.like(&other, older.Owner == newer.Owner)
			return !older.CreatedAt.After(newer.CreatedAt) && (d.Reason == Duplicate && l == same || d.Reason == Superseded && l == near)
		}) {
			t.Fatalf("%q was dropped as %s, and nothing newer like it is there: %q", older.Text, d.Reason, packed.Rendered)
		}
	}
	if earlier == nil {
		if packed.UnchangedTokens != 0 {
			t.Fatalf("%d tokens unchanged from nothing", packed.UnchangedTokens)
		}
		return
	}
	kept := 0
	for kept < min(len(earlier.Items), len(packed.Items)) && earlier.Items[kept].Hash == packed.Items[kept].Hash {
		kept++
	}
	if packed.UnchangedTokens == 0 {
		kept = 0
	}
	for ; kept > 0; kept-- { // more may be the same by chance, after the beginning that was kept
		beginning := strings.Join(strings.SplitN(earlier.Rendered, "\n- ", kept+2)[:kept+1], "\n- ")
		if cost, _ := count(beginning); cost == packed.UnchangedTokens {
			if !strings.HasPrefix(packed.Rendered, beginning) {
				t.Fatalf("%q does not begin with %q", packed.Rendered, beginning)
			}
			break
		}
	}
	if packed.UnchangedTokens > 0 && kept == 0 {
		t.Fatalf("%d tokens unchanged, of %q and %q", packed.UnchangedTokens, earlier.Rendered, packed.Rendered)
	}
}

// What is kept from the earlier selection, and what ends it.
func TestPackKeepsTheBeginning(t *testing.T) {
	t.Parallel()
	first, err := Pack(Request{Limit: 3}, []Candidate{said("tea", 0.9, 1), said("milk", 0.8, 1), said("honey", 0.7, 1)}, nil, words)
	if err != nil {
		t.Fatal(err)
	}
	earlier := &Selection{Items: first.Items, Rendered: first.Rendered}
	budget := 7
	other := said("milk", 0.6, 1)
	other.Lead = "who"
	for _, c := range []struct {
		name       string
		request    Request
		candidates []Candidate
		want       string
		unchanged  int
	}{
		{"everything, though it ranks otherwise", Request{Limit: 4}, []Candidate{said("salt", 0.9, 1), said("honey", 0.8, 1), said("tea", 0.7, 1), said("milk", 0.6, 1)}, "tea milk honey salt", 8},
		{"one is below the threshold", Request{Limit: 4, Threshold: 0.5}, []Candidate{said("honey", 0.9, 1), said("salt", 0.8, 1), said("tea", 0.7, 1), said("milk", 0.4, 1)}, "tea honey salt", 4},
		{"the first is gone", Request{Limit: 4}, []Candidate{said("milk", 0.9, 1), said("honey", 0.8, 1)}, "milk honey", 0},
		{"one is superseded", Request{Limit: 4}, []Candidate{said("milk", 0.9, 1), said("Milk", 0.8, 2), said("honey", 0.7, 1), said("tea", 0.6, 1)}, "tea Milk honey", 4},
		{"one has another line", Request{Limit: 4}, []Candidate{said("tea", 0.9, 1), said("honey", 0.7, 1), other}, "tea honey who: milk", 4},
		{"the limit", Request{Limit: 2}, []Candidate{said("salt", 1, 1), said("tea", 0.9, 1), said("milk", 0.8, 1), said("honey", 0.7, 1)}, "tea milk", 6},
		{"the budget", Request{Limit: 4, TokenBudget: &budget}, []Candidate{said("salt", 1, 1), said("tea", 0.9, 1), said("milk", 0.8, 1), said("honey", 0.7, 1)}, "tea milk", 6},
	} {
		packed, err := Pack(c.request, c.candidates, earlier, words)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimPrefix(strings.ReplaceAll(packed.Rendered, "\n- ", " "), Heading+" ")
		if got != c.want || packed.UnchangedTokens != c.unchanged {
			t.Errorf("%s: %q with %d unchanged, want %q with %d", c.name, got, packed.UnchangedTokens, c.want, c.unchanged)
		}
	}
	// From beyond reach, only as part of the beginning.
	var many []Candidate
	for i := range 2 + Reach {
		many = append(many, said(fmt.Sprint("word", i), 0.9, 1))
	}
	many = append(many, said("milk", 0.2, 1), said("tea", 0.1, 1))
	packed, err := Pack(Request{Limit: 2}, many, earlier, words)
	if err != nil || packed.Rendered != "Relevant Context:\n- tea\n- milk" || len(packed.Dropped) != 2+Reach {
		t.Errorf("from beyond reach: %q, %d dropped, %v", packed.Rendered, len(packed.Dropped), err)
	}
	packed, err = Pack(Request{Limit: 2}, many[:len(many)-1], earlier, words)
	if err != nil || strings.Contains(packed.Rendered, "milk") || packed.UnchangedTokens != 0 || len(packed.Dropped) != Reach {
		t.Errorf("from beyond reach, after what is gone: %q, %d dropped, %v", packed.Rendered, len(packed.Dropped), err)
	}
}
