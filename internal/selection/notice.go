package selection

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// What a search may have had to do without, in words that are kept.
const (
	unindexedNotice = "%d messages and records had no search vectors yet and were not looked at"
	awaitsNotice    = "not everything was embedded yet: what has no dense vector was ranked by words alone"
	longNotice      = "the query is long: its beginning and its end were looked for, what is between them was not"
	wordsNotice     = ": ranked by words alone."
)

// UnindexedNotice says that so many could not be looked at.
func UnindexedNotice(n int) string { return fmt.Sprintf(unindexedNotice, n) }

// AwaitsNotice says that not everything had a dense vector.
func AwaitsNotice() string { return awaitsNotice }

// LongNotice says that not all of the query counted.
func LongNotice() string { return longNotice }

// WordsNotice says, in one sentence, for which reason no dense vectors took part.
func WordsNotice(reason string) string { return reason + wordsNotice }

// NoticeCode says what a notice tells.
type NoticeCode string

// The codes.
const (
	NoticeUnindexed   NoticeCode = "unindexed"
	NoticeAwaits      NoticeCode = "not_embedded"
	NoticeWords       NoticeCode = "words_alone"
	NoticeLong        NoticeCode = "long_query"
	NoticeNothing     NoticeCode = "nothing_reaches"
	NoticeBestIsBelow NoticeCode = "best_is_below"
	NoticeNothingFits NoticeCode = "nothing_fits"
	NoticeOther       NoticeCode = "other"
)

// Notice is something that there is to know of a selection, told in words and as data.
type Notice struct {
	Code    NoticeCode
	Message string
	Count   *int     // of NoticeUnindexed
	Best    *float64 // of NoticeBestIsBelow, cut to two digits
}

// NoticeDetails gives the notices as data. What is kept of them is their words, which the receipt covers.
func (s *Selection) NoticeDetails() []Notice {
	told := make([]Notice, len(s.Notices))
	why, code, best := s.emptiness()
	for i, words := range s.Notices {
		n := 0
		told[i] = Notice{Code: NoticeOther, Message: words}
		switch _, err := fmt.Sscanf(words, unindexedNotice, &n); {
		case why != "" && words == why:
			told[i].Code, told[i].Best = code, best
		case err == nil && words == UnindexedNotice(n):
			told[i].Code, told[i].Count = NoticeUnindexed, &n
		case words == awaitsNotice:
			told[i].Code = NoticeAwaits
		case words == longNotice:
			told[i].Code = NoticeLong
		case strings.HasSuffix(words, wordsNotice):
			told[i].Code = NoticeWords
		}
	}
	return told
}

// Emptiness says why a selection is empty; it is "" for one that is not.
func (s *Selection) Emptiness() string {
	why, _, _ := s.emptiness()
	return why
}

func (s *Selection) emptiness() (why string, code NoticeCode, told *float64) {
	if len(s.Items) > 0 {
		return "", "", nil
	}
	best := 0.0
	for _, d := range s.Dropped {
		best = max(best, d.Score)
	}
	switch {
	case len(s.Dropped) == 0:
		return fmt.Sprintf("Nothing in the log or the records reaches the threshold of %v.", s.Request.Threshold), NoticeNothing, nil
	case best < s.Request.Threshold:
		below := math.Floor(best*100) / 100 // so that it shows to be below
		return fmt.Sprintf("Nothing in the log or the records reaches the threshold of %v; the best has %v.", s.Request.Threshold, below), NoticeBestIsBelow, &below
	case s.Request.TokenBudget != nil:
		return fmt.Sprintf("Nothing that reaches the threshold of %v fits into the budget of %d tokens.", s.Request.Threshold, *s.Request.TokenBudget), NoticeNothingFits, nil
	}
	return "", "", nil
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
