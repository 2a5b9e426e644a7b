package selection

import (
	"fmt"
	"math"
	"slices"
)

// Emptiness says why a selection is empty; it is "" for one that is not.
func (s *Selection) Emptiness() string {
	if len(s.Items) > 0 {
		return ""
	}
	best := 0.0
	for _, d := range s.Dropped {
		best = max(best, d.Score)
	}
	switch {
	case len(s.Dropped) == 0:
		return fmt.Sprintf("Nothing in the log or the records reaches the threshold of %v.", s.Request.Threshold)
	case best < s.Request.Threshold:
		below := math.Floor(best*100) / 100 // so that it shows to be below
		return fmt.Sprintf("Nothing in the log or the records reaches the threshold of %v; the best has %v.", s.Request.Threshold, below)
	case s.Request.TokenBudget != nil:
		return fmt.Sprintf("Nothing that reaches the threshold of %v fits into the budget of %d tokens.", s.Request.Threshold, *s.Request.TokenBudget)
	}
	return ""
}

// Notify adds the notice that a selection is empty to those of the search.
func (s *Selection) Notify(search []string) {
	s.Notices = append([]string{}, search...)
	if why := s.Emptiness(); why != "" {
		s.Notices = append(s.Notices, why)
	}
}

// SearchNotices gives the notices that Notify was given.
func (s *Selection) SearchNotices() []string {
	why := s.Emptiness()
	return slices.DeleteFunc(slices.Clone(s.Notices), func(n string) bool { return n == why })
}
