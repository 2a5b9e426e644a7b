package ranking

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Rank scores the candidates and orders them, best first. Equal scores put the greater relevance first, then the
// newer, then the lesser hash.
//
// A message's sum is own + around, where
//
//	own    = share + best·(Owner if the query names its owner + Time if it tells a time that was asked for
//	         + Date if it is of a time that the query names + Opening if it opens its session with a share of its own
//	         − Question if it asks), at least 0
//	around = Σ Before[d]·share(d+1 before) + Σ After[d]·share(d+1 after) + Answer·share(1 before) if that asks
//	         + Session·√(Σ share² over the SessionTop greatest shares of its session)
//
// and best is the greatest share of all. A record's is own = Record·share. A message that is not among the
// candidates counts as 0. The sum gives the relevance by Policy.Calibrate, and each part its proportion of it.
func Rank(candidates []Candidate, request Request, policy Policy) []Scored {
	field := survey(candidates, request, policy)
	scored := make([]Scored, len(candidates))
	for i, c := range candidates {
		own, around := field.sum(c, policy)
		scored[i] = policy.score(c, own, around)
		if age := request.At.Sub(c.CreatedAt); age >= 0 && age < time.Duration(policy.RecencyWindow)*time.Second {
			scored[i].Recency = policy.Recency
		}
		if field.preferences.match(c) {
			scored[i].Preference = policy.Preference
		}
		scored[i].Score = min(1, scored[i].Relevance+scored[i].Recency+scored[i].Preference)
	}
	slices.SortFunc(scored, func(a, b Scored) int {
		return cmp.Or(
			cmp.Compare(b.Score, a.Score), cmp.Compare(b.Relevance, a.Relevance),
			b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Hash, b.Hash),
		)
	})
	return scored
}

// score splits the relevance of a sum into its parts. A dense vector adds to what words alone give, and takes nothing away:
//
//	relevance = words + Semantic·meaning·(1 − words)
//
// where words is the calibrated sum, so with Semantic 1 it is the likelihood of at least one of two that are independent.
func (p Policy) score(c Candidate, own, around float64) Scored {
	s := Scored{Candidate: c}
	weight := 1.0
	if p.blends() && c.Cosine != nil {
		weight = 1 - p.Semantic
	}
	if sum := own + around; sum > 0 {
		relevance := float64(weight * p.Calibrate(sum))
		s.Lexical, s.Neighbours = float64(relevance*own)/sum, float64(relevance*around)/sum
	}
	s.Relevance = s.Lexical + s.Neighbours
	if c.Cosine != nil {
		part := float64(float64(p.Semantic*p.meaning(*c.Cosine)) * max(0, 1-s.Relevance))
		if p.blends() {
			part = float64(p.Semantic * min(1, max(0, (*c.Cosine-p.SemanticFloor)/(1-p.SemanticFloor))))
		}
		s.Semantic = &part
		s.Relevance += part
	}
	s.Relevance = min(1, s.Relevance)
	return s
}

// blends tells a policy before lexical-v4, which took a mean of words and cosine, weighed by Semantic.
func (p Policy) blends() bool { return p.SemanticMiddle == 0 }

// place is where a message stands in the log.
type place struct {
	session  string
	sequence int64
}

// neighbour is what a message gives to those around it.
type neighbour struct {
	share float64
	asks  bool
}

// field is what the candidates together tell of each.
type field struct {
	places      map[place]neighbour
	sessions    map[string]float64 // √(Σ share²) over the greatest, by session
	best        float64
	named       map[string]bool // names of owners that the query has
	wantsTime   bool
	spans       []span // times that the query names
	preferences preferences
}

func survey(candidates []Candidate, request Request, policy Policy) field {
	f := field{
		places: make(map[place]neighbour, len(candidates)), sessions: map[string]float64{},
		named: map[string]bool{}, preferences: newPreferences(request.Preferences),
	}
	query := plainWords(request.Query)
	f.wantsTime = asksTime(query)
	f.spans = spans(query, request.At, policy.DateTold)
	shares := map[string][]float64{}
	for _, c := range candidates {
		f.best = max(f.best, c.Share)
		if c.Kind != Message {
			continue
		}
		f.places[place{c.Session, c.Sequence}] = neighbour{c.Share, asks(c.Text)}
		shares[c.Session] = append(shares[c.Session], c.Share)
		for _, name := range c.OwnerNames {
			if _, known := f.named[name]; !known {
				f.named[name] = named(query, name)
			}
		}
	}
	for session, all := range shares {
		f.sessions[session] = length(all, policy.SessionTop)
	}
	return f
}

// length gives √(Σ x²) over the greatest of the numbers, or over all if top is 0, the same to the last digit for any
// order of the numbers, which it sorts.
func length(numbers []float64, top int) float64 {
	slices.Sort(numbers)
	if top > 0 && len(numbers) > top {
		numbers = numbers[len(numbers)-top:]
	}
	sum := 0.0
	for _, x := range numbers {
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}

func (f field) sum(c Candidate, p Policy) (own, around float64) {
	if c.Kind != Message {
		return float64(p.Record * c.Share), 0
	}
	bonus := 0.0
	if slices.ContainsFunc(c.OwnerNames, func(name string) bool { return f.named[name] }) {
		bonus += p.Owner
	}
	if f.wantsTime && tellsTime(c.Text) {
		bonus += p.Time
	}
	if slices.ContainsFunc(f.spans, func(s span) bool { return s.holds(c.CreatedAt) }) {
		bonus += p.Date
	}
	if c.Sequence == 1 && c.Share > 0 {
		bonus += p.Opening
	}
	if f.places[place{c.Session, c.Sequence}].asks {
		bonus -= p.Question
	}
	return max(0, c.Share+float64(bonus*f.best)), f.around(c, p)
}

func (f field) around(c Candidate, p Policy) float64 {
	sum := float64(p.Session * f.sessions[c.Session])
	for i, part := range p.Before {
		before := f.places[place{c.Session, c.Sequence - int64(i) - 1}]
		if i == 0 && before.asks {
			part += p.Answer
		}
		sum += float64(part * before.share)
	}
	for i, part := range p.After {
		sum += float64(part * f.places[place{c.Session, c.Sequence + int64(i) + 1}].share)
	}
	return sum
}
