package ranking

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// said makes one session of messages, a day old, with these shares.
func said(session string, shares ...float64) []Candidate {
	var messages []Candidate
	for i, share := range shares {
		messages = append(messages, Candidate{
			Hash: fmt.Sprintf("%s-%02d", session, i), Kind: Message, Session: session, Sequence: int64(i + 1),
			CreatedAt: noon.Add(-24 * time.Hour), Share: share,
		})
	}
	return messages
}

func find(t *testing.T, scored []Scored, hash string) Scored {
	t.Helper()
	i := slices.IndexFunc(scored, func(s Scored) bool { return s.Hash == hash })
	if i < 0 {
		t.Fatalf("%s is not ranked", hash)
	}
	return scored[i]
}

// only is a policy in which nothing but what change sets counts.
func only(change func(*Policy)) Policy {
	p := Policy{Version: "test", Middle: 0.24}
	change(&p)
	return p
}

func TestSum(t *testing.T) {
	t.Parallel()
	ask := func(candidates []Candidate, at int, text string) []Candidate {
		candidates[at].Text = text
		return candidates
	}
	own := func(candidates []Candidate, at int, names ...string) []Candidate {
		candidates[at].OwnerNames = names
		return candidates
	}
	for _, test := range []struct {
		name       string
		candidates []Candidate
		query      string
		policy     Policy
		hash       string
		want       float64 // the sum that Calibrate gets
	}{
		{"its own share", said("a", 0.3, 0.1), "", only(func(*Policy) {}), "a-00", 0.3},
		{"before", said("a", 0.3, 0.2, 0.1), "", only(func(p *Policy) { p.Before = []float64{0.5, 0.2} }), "a-02", 0.1 + 0.5*0.2 + 0.2*0.3},
		{"after", said("a", 0.3, 0.2, 0.1), "", only(func(p *Policy) { p.After = []float64{0.4, 0.2} }), "a-00", 0.3 + 0.4*0.2 + 0.2*0.1},
		{"not from another session", append(said("a", 0.3), said("b", 0.2, 0.2)...), "", only(func(p *Policy) { p.Before, p.After = []float64{1}, []float64{1} }), "a-00", 0.3},
		{"not across a gap", append(said("a", 0.3), said("a", 0, 0, 0.4)[2]), "", only(func(p *Policy) { p.After = []float64{1} }), "a-00", 0.3},
		{"an answer", ask(said("a", 0.3, 0.1), 0, "Which valve?"), "", only(func(p *Policy) { p.Before, p.Answer = []float64{0.5}, 0.4 }), "a-01", 0.1 + 0.9*0.3},
		{"no answer without a question", ask(said("a", 0.3, 0.1), 0, "That valve."), "", only(func(p *Policy) { p.Before, p.Answer = []float64{0.5}, 0.4 }), "a-01", 0.1 + 0.5*0.3},
		{"the best of its session", said("a", 0.1, 0, 0.3, 0.4), "", only(func(p *Policy) { p.Session, p.SessionTop = 0.2, 2 }), "a-00", 0.1 + 0.2*0.5},
		{"its session", append(said("a", 0.3, 0.4), said("b", 0.9)...), "", only(func(p *Policy) { p.Session = 0.2 }), "a-00", 0.3 + 0.2*0.5},
		{"owner", own(said("a", 0.1, 0.3), 0, "Ursula Pike", "ursu"), "what does ÚRSU want", only(func(p *Policy) { p.Owner = 0.2 }), "a-00", 0.1 + 0.2*0.3},
		{"half an owner's name", own(said("a", 0.1, 0.3), 0, "Ursula Pike", ""), "what does Ursula want", only(func(p *Policy) { p.Owner = 0.2 }), "a-00", 0.1},
		{"owner whose name has a symbol", own(said("a", 0.1, 0.3), 0, "Ursu 🌻"), "what does Ursu want", only(func(p *Policy) { p.Owner = 0.2 }), "a-00", 0.1 + 0.2*0.3},
		{"owner whose name is a symbol", own(said("a", 0.1, 0.3), 0, "🌻"), "what does 🌻 want", only(func(p *Policy) { p.Owner = 0.2 }), "a-00", 0.1 + 0.2*0.3},
		{"time", ask(said("a", 0.1, 0.3), 0, "El próximo lunes."), "¿Cuándo?", only(func(p *Policy) { p.Time = 0.2 }), "a-00", 0.1 + 0.2*0.3},
		{"span of time", ask(said("a", 0.1, 0.3), 0, "Two years."), "how long", only(func(p *Policy) { p.Time = 0.2 }), "a-00", 0.1 + 0.2*0.3},
		{"date", said("a", 0.1, 0.3), "what happened on 3 May 2031?", only(func(p *Policy) { p.Date = 0.4 }), "a-00", 0.1 + 0.4*0.3},
		{"date a week before", said("a", 0.1, 0.3), "on 28 April", only(func(p *Policy) { p.Date, p.DateTold = 0.4, 7 }), "a-00", 0.1 + 0.4*0.3},
		{"another date", said("a", 0.1, 0.3), "in June", only(func(p *Policy) { p.Date = 0.4 }), "a-00", 0.1},
		{"opening", said("a", 0.1, 0.3), "", only(func(p *Policy) { p.Opening = 0.1 }), "a-00", 0.1 + 0.1*0.3},
		{"opening without a share", said("a", 0, 0.3), "", only(func(p *Policy) { p.Opening = 0.1 }), "a-00", 0},
		{"no opening", said("a", 0.1, 0.3), "", only(func(p *Policy) { p.Opening = 0.1 }), "a-01", 0.3},
		{"no span of time", ask(said("a", 0.1, 0.3), 0, "Two years."), "how tall", only(func(p *Policy) { p.Time = 0.2 }), "a-00", 0.1},
		{"date in Spanish", ask(said("a", 0.1, 0.3), 0, "En mayo."), "¿en qué año?", only(func(p *Policy) { p.Time = 0.2 }), "a-00", 0.1 + 0.2*0.3},
		{"time not asked for", ask(said("a", 0.1, 0.3), 0, "Next monday."), "where", only(func(p *Policy) { p.Time = 0.2 }), "a-00", 0.1},
		{"time not told", ask(said("a", 0.1, 0.3), 0, "Over there."), "when", only(func(p *Policy) { p.Time = 0.2 }), "a-00", 0.1},
		{"a question", ask(said("a", 0.1, 0.3), 0, "Where?"), "", only(func(p *Policy) { p.Question = 0.1 }), "a-00", 0.1 - 0.1*0.3},
		{"a question is never below nothing", ask(said("a", 0, 0.3), 0, "Where?"), "", only(func(p *Policy) { p.Question = 0.1 }), "a-00", 0},
		{"a record", []Candidate{{Hash: "r", Kind: Record, Share: 0.2}, {Hash: "s", Kind: Record, Share: 0.3}}, "", Default(), "r", 1.6 * 0.2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := find(t, Rank(test.candidates, Request{Query: test.query, At: noon}, test.policy), test.hash).Relevance
			if want := test.policy.Calibrate(test.want); math.Abs(got-want) > 1e-12 {
				t.Errorf("relevance of %s = %v, want %v", test.hash, got, want)
			}
		})
	}
}

func TestBonuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		age                 time.Duration
		text                string
		labels, preferences []string
		recency, preference float64
	}{
		{"neither", 2 * time.Hour, "A room.", nil, nil, 0, 0},
		{"new", 59 * time.Minute, "", nil, nil, 0.1, 0},
		{"at this very moment", 0, "", nil, nil, 0.1, 0},
		{"an hour old", time.Hour, "", nil, nil, 0, 0},
		{"of the future", -time.Microsecond, "", nil, nil, 0, 0},
		{"preferred by its text", 2 * time.Hour, "Hotels with sea VIEWS", nil, []string{"a boat", "hotel with view"}, 0, 0.15},
		{"preferred by a label", 2 * time.Hour, "", []string{"Cocina vegetariana"}, []string{"cocina vegetariana"}, 0, 0.15},
		{"preferred but for a symbol", 2 * time.Hour, "A green hotel", nil, []string{"green hotels 🌿"}, 0, 0.15},
		{"half a preference", 2 * time.Hour, "Hotels", []string{"view"}, []string{"hotel with view"}, 0, 0},
		{"empty preference", 2 * time.Hour, "Hotels", nil, []string{"", " "}, 0, 0},
		{"both", time.Minute, "Hotel.", nil, []string{"hotel"}, 0.1, 0.15},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := Candidate{Hash: "m", Kind: Message, Session: "s", Sequence: 1, Share: 0.1, CreatedAt: noon.Add(-test.age), Text: test.text, Labels: test.labels}
			got := Rank([]Candidate{c}, Request{Preferences: test.preferences, At: noon}, Default())[0]
			if got.Recency != test.recency || got.Preference != test.preference {
				t.Errorf("recency, preference = %v, %v, want %v, %v", got.Recency, got.Preference, test.recency, test.preference)
			}
		})
	}
}

func TestTies(t *testing.T) {
	t.Parallel()
	c := []Candidate{
		{Hash: "b", Kind: Record, Share: 0.1, CreatedAt: noon.Add(-3 * time.Hour)},
		{Hash: "c", Kind: Record, Share: 0.1, CreatedAt: noon.Add(-2 * time.Hour)},
		{Hash: "a", Kind: Record, Share: 0.1, CreatedAt: noon.Add(-3 * time.Hour)},
		{Hash: "d", Kind: Record, Share: 0.2, CreatedAt: noon.Add(-9 * time.Hour)},
		{Hash: "f", Kind: Record, Share: 0.9, CreatedAt: noon},
		{Hash: "e", Kind: Record, Share: 1, CreatedAt: noon.Add(-time.Minute)}, // both reach the cap of 1
	}
	var got []string
	for _, s := range Rank(c, Request{At: noon}, Default()) {
		got = append(got, s.Hash)
	}
	if want := []string{"e", "f", "d", "c", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("order = %q, want %q", got, want)
	}
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	p := Default()
	if got := p.Calibrate(p.Middle); math.Abs(got-0.7) > 1e-12 {
		t.Errorf("Calibrate(Middle) = %v, want 0.7", got)
	}
	if got := p.Calibrate(0); got != 0 {
		t.Errorf("Calibrate(0) = %v, want 0", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 4).Draw(t, "a"), rapid.Float64Range(0, 4).Draw(t, "b")
		if b-a > 1e-6 && p.Calibrate(a) >= p.Calibrate(b) || p.Calibrate(a) < 0 || p.Calibrate(a) > 1 {
			t.Fatalf("Calibrate(%v) = %v, Calibrate(%v) = %v", a, p.Calibrate(a), b, p.Calibrate(b))
		}
	})
}

// drawn makes candidates of a few sessions in which all that Rank looks at occurs.
func drawn(t *rapid.T) []Candidate {
	text := rapid.SampledFrom([]string{"", "Where?", "Yesterday, in the hotel.", "A view.", "\xff"})
	share := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(0, 1))
	n := rapid.IntRange(0, 25).Draw(t, "n")
	candidates := make([]Candidate, n)
	for i := range candidates {
		candidates[i] = Candidate{
			Hash: fmt.Sprintf("%03d", i), Kind: Message, Session: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"),
			Sequence: int64(i), OwnerNames: []string{rapid.SampledFrom([]string{"Ursula", "Aldous"}).Draw(t, "owner")},
			CreatedAt: noon.Add(time.Duration(rapid.IntRange(-90, 30).Draw(t, "minutes")) * time.Minute),
			Text:      text.Draw(t, "text"), Share: share.Draw(t, "share"),
		}
		if rapid.Bool().Draw(t, "record") {
			candidates[i].Kind = Record
		}
		if rapid.Bool().Draw(t, "dense") {
			cosine := rapid.Float64Range(-1, 1).Draw(t, "cosine")
			candidates[i].Cosine = &cosine
		}
	}
	return candidates
}

var asked = Request{Query: "When did Ursula see the hotel?", Preferences: []string{"view"}, At: noon}

func TestScoresAreExplained(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := Default()
		p.Unrelated = drawnUnrelated(t)
		for i, s := range Rank(drawn(t), asked, p) {
			relevance := s.Lexical + s.Neighbours
			for _, part := range []float64{s.Lexical, s.Neighbours, s.Relevance, s.Score} {
				if !(part >= 0 && part <= 1) {
					t.Fatalf("a part of %d = %v, want in [0, 1]: %+v", i, part, s)
				}
			}
			if s.Semantic != nil {
				relevance += *s.Semantic
			}
			if s.Relevance != min(1, relevance) || s.Score != min(1, s.Relevance+s.Recency+s.Preference) {
				t.Fatalf("parts of %d do not add up: %+v", i, s)
			}
		}
	})
}

func TestOrderOfCandidatesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		candidates := drawn(t)
		shuffled := rapid.Permutation(candidates).Draw(t, "shuffled")
		before := fmt.Sprint(candidates)
		want := Rank(candidates, asked, Default())
		if diff := cmp.Diff(want, Rank(shuffled, asked, Default())); diff != "" {
			t.Fatalf("ranking of the same in another order differs:\n%s", diff)
		}
		if fmt.Sprint(candidates) != before {
			t.Fatal("Rank changed its candidates")
		}
	})
}

func TestLengthOfAnyOrder(t *testing.T) {
	t.Parallel()
	small := slices.Repeat([]float64{1}, 100)
	a, b := length(append([]float64{1e8}, small...), 0), length(append(small, 1e8), 0)
	if a != b || a == 1e8 {
		t.Errorf("length = %v, in another order %v, want the same, over 1e8", a, b)
	}
}

func TestMoreShareNeverRanksLower(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		candidates := drawn(t)
		if len(candidates) == 0 {
			return
		}
		i := rapid.IntRange(0, len(candidates)-1).Draw(t, "i")
		score := func() float64 {
			scored := Rank(candidates, asked, Default())
			return scored[slices.IndexFunc(scored, func(s Scored) bool { return s.Hash == candidates[i].Hash })].Score
		}
		before := score()
		// Its own question mark costs a part of the best share, which may be its own: less than it gains.
		candidates[i].Share = rapid.Float64Range(candidates[i].Share, 1).Draw(t, "more")
		if after := score(); after < before-1e-12 {
			t.Fatalf("score with a greater share = %v, want at least %v", after, before)
		}
	})
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	const want = `{"version":"lexical-v4","before":[0.5,0.2,0.1,0.1],"after":[0.4,0.2,0.1,0.1],"answer":0.4,"session":0.2,"sessionTop":12,` +
		`"owner":0.2,"time":0.2,"date":0.4,"dateTold":7,"opening":0.05,"question":0.1,"record":1.6,"middle":0.26,` +
		`"semantic":1,"semanticFloor":2.5,"semanticMiddle":2.5,"recency":0.1,"recencyWindow":3600,"preference":0.15}`
	if got := Default().Canonical(); !bytes.Equal(got, []byte(want)) {
		t.Errorf("Canonical of lexical-v4 = %s, want %s: a change takes a new version", got, want)
	}
}

// A receipt of an earlier version can still be checked: its policy is written as it was.
func TestCanonicalOfEarlierVersion(t *testing.T) {
	t.Parallel()
	for _, want := range []string{
		`{"version":"lexical-v1","before":[0.5,0.2,0.1,0.1],"after":[0.4,0.2,0.1,0.1],"answer":0.4,"session":0.2,` +
			`"owner":0.2,"time":0.2,"question":0.1,"record":1.6,"middle":0.24,"semantic":0.5,"semanticFloor":0.2,` +
			`"recency":0.1,"recencyWindow":3600,"preference":0.15}`,
		`{"version":"lexical-v2","before":[0.5,0.2,0.1,0.1],"after":[0.4,0.2,0.1,0.1],"answer":0.4,"session":0.2,` +
			`"owner":0.2,"time":0.2,"date":0.4,"dateTold":7,"opening":0.05,"question":0.1,"record":1.6,"middle":0.26,` +
			`"semantic":0.5,"semanticFloor":0.2,"recency":0.1,"recencyWindow":3600,"preference":0.15}`,
	} {
		var p Policy
		if err := json.Unmarshal([]byte(want), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.Canonical(); !bytes.Equal(got, []byte(want)) {
			t.Errorf("Canonical of an earlier policy, read back = %s, want %s", got, want)
		}
	}
}

// A session does not win by its length: ten thousand dull messages are not above the one that has what was asked for.
func TestLongSessionsAreNoBetter(t *testing.T) {
	t.Parallel()
	dull := slices.Repeat([]float64{0.05}, 10_000)
	scored := Rank(append(said("long", dull...), said("short", 0, 0.35, 0)...), Request{At: noon}, Default())
	if scored[0].Hash != "short-01" {
		t.Errorf("the best is %s at %v, want short-01, which has %v", scored[0].Hash, scored[0].Score, find(t, scored, "short-01").Score)
	}
	short := Rank(said("a", dull[:100]...), Request{At: noon}, Default())
	if long := find(t, scored, "long-50"); long.Score != find(t, short, "a-50").Score || long.Score >= 0.7 {
		t.Errorf("a dull message in the middle of 10,000 has %v, of 100 %v; want the same, below 0.7", long.Score, find(t, short, "a-50").Score)
	}
}

func BenchmarkRank(b *testing.B) {
	var candidates []Candidate
	for i := range 2_000 {
		candidates = append(candidates, Candidate{
			Hash: fmt.Sprintf("%064d", i), Kind: Message, Session: fmt.Sprintf("%064d", i/25), Sequence: int64(i % 25),
			OwnerNames: []string{"Ursula Pike"}, CreatedAt: noon, Share: float64(i*7919%1000) / 1000,
			Text: "We walked along the old canal and talked with the lock keeper about the flood, then had tea.",
		})
	}
	for b.Loop() {
		Rank(candidates, asked, Default())
	}
}
