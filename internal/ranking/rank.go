package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// place is where a message stands in the log.
type place struct {
	session  string
	sequence int64
}

// Rank scores the candidates and orders them, best first; equal scores put the newer first, then the lesser hash.
//
// A candidate's sum is its own share, plus Near times the shares of the messages directly before and after it in
// its session, plus Far times those two away, plus Session times the mean share of its session's candidates, plus
// Owner if the query names its owner. A message that is not among the candidates counts as 0. Calibrate turns the
// sum into the relevance, and each part gets its proportion of it.
func Rank(candidates []Candidate, request Request, policy Policy) []Scored {
	shares := make(map[place]float64, len(candidates))
	sessions := map[string][2]float64{}
	for _, c := range candidates {
		if c.Kind == Message {
			shares[place{c.Session, c.Sequence}] = c.Lexical
			s := sessions[c.Session]
			sessions[c.Session] = [2]float64{s[0] + c.Lexical, s[1] + 1}
		}
	}
	asked := Words(request.Query)
	scored := make([]Scored, len(candidates))
	for i, c := range candidates {
		own, around := c.Lexical, 0.0
		if c.Kind == Message {
			at := func(d int64) float64 { return shares[place{c.Session, c.Sequence + d}] }
			around = policy.Near*(at(-1)+at(1)) + policy.Far*(at(-2)+at(2))
			if s := sessions[c.Session]; s[1] > 0 {
				around += policy.Session * s[0] / s[1]
			}
			if named(asked, c.OwnerNames) {
				own += policy.Owner
			}
		}
		scored[i] = policy.score(c, own, around, request)
	}
	slices.SortFunc(scored, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Candidate.CreatedAt.Compare(a.Candidate.CreatedAt),
			cmp.Compare(a.Candidate.Hash, b.Candidate.Hash))
	})
	return scored
}

func (p Policy) score(c Candidate, own, around float64, request Request) Scored {
	s := Scored{Candidate: c}
	relevance, weight := p.Calibrate(own+around), 1.0
	if c.Semantic != nil {
		weight = 1 - p.Semantic
		part := p.Semantic * min(1, max(0, (*c.Semantic-p.SemanticFloor)/(1-p.SemanticFloor)))
		s.Semantic = &part
	}
	if own+around > 0 {
		s.Lexical = weight * relevance * own / (own + around)
		s.Neighbours = weight * relevance * around / (own + around)
	}
	s.Relevance = s.Lexical + s.Neighbours
	if s.Semantic != nil {
		s.Relevance += *s.Semantic
	}
	s.Relevance = min(1, s.Relevance)
	age := request.At.Sub(c.CreatedAt)
	if age >= 0 && age < time.Duration(p.RecencyWindow)*time.Second {
		s.Recency = p.Recency
	}
	if preferred(c, request.Preferences) {
		s.Preference = p.Preference
	}
	s.Score = min(1, s.Relevance+s.Recency+s.Preference)
	return s
}

// Calibrate turns a sum of shares into a relevance in [0, 1): 1 − 0.3^(sum/Middle), so that 0 gives 0 and Middle
// gives 0.7. It rises strictly, so it never changes an order.
func (p Policy) Calibrate(sum float64) float64 {
	return 1 - math.Pow(0.3, max(0, sum)/p.Middle)
}

// named says whether all words of one of the names stand among the words.
func named(words, names []string) bool {
	for _, name := range names {
		parts := Words(name)
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(words, part) }) {
			return true
		}
	}
	return false
}

// preferred says whether a candidate matches a preference: its text or one of its labels contains it, as whole
// words in their order.
func preferred(c Candidate, preferences []string) bool {
	for _, preference := range preferences {
		wanted := strings.Join(Words(preference), " ")
		if wanted == "" {
			continue
		}
		for _, text := range append(slices.Clone(c.Labels), c.Text) {
			if strings.Contains(" "+strings.Join(Words(text), " ")+" ", " "+wanted+" ") {
				return true
			}
		}
	}
	return false
}
