package selection

import (
	"slices"
	"testing"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	budget := 3
	search := []string{"slow"}
	for name, c := range map[string]struct {
		s    Selection
		want string // after what the search did without
		code NoticeCode
	}{
		"items":       {Selection{Items: make([]Item, 1)}, "", ""},
		"nothing":     {Selection{Request: Request{Threshold: 0.7}}, "Nothing in the log or the records reaches the threshold of 0.7.", NoticeNothing},
		"below":       {Selection{Request: Request{Threshold: 0.7}, Dropped: []Dropped{{Score: 0.6999}, {Score: 0.1}}}, "Nothing in the log or the records reaches the threshold of 0.7; the best has 0.69.", NoticeBestIsBelow},
		"over budget": {Selection{Request: Request{Threshold: 0.7, TokenBudget: &budget}, Dropped: []Dropped{{Score: 0.8}}}, "Nothing that reaches the threshold of 0.7 fits into the budget of 3 tokens.", NoticeNothingFits},
	} {
		c.s.Notify(search)
		want := slices.DeleteFunc([]string{"slow", c.want}, func(n string) bool { return n == "" })
		if !slices.Equal(c.s.Notices, want) {
			t.Errorf("%s: notices = %q, want %q", name, c.s.Notices, want)
		}
		if got := c.s.SearchNotices(); !slices.Equal(got, search) {
			t.Errorf("%s: notices of the search = %q, want %q", name, got, search)
		}
		details := c.s.NoticeDetails()
		if len(details) != len(want) || details[0] != (Notice{Code: NoticeOther, Message: "slow"}) {
			t.Fatalf("%s: %+v", name, details)
		}
		if last := details[len(details)-1]; c.want != "" && (last.Code != c.code || last.Message != c.want) {
			t.Errorf("%s: the last is %+v, want %s", name, last, c.code)
		} else if (c.code == NoticeBestIsBelow) != (last.Best != nil) || last.Best != nil && *last.Best != 0.69 {
			t.Errorf("%s: the best is %v", name, last.Best)
		}
	}
}

// What the search says is told by its words, as they were kept.
func TestNoticesOfTheSearch(t *testing.T) {
	t.Parallel()
	s := Selection{Items: make([]Item, 1), Notices: []string{UnindexedNotice(12), AwaitsNotice(), LongNotice(), WordsNotice("The provider is away"), UnindexedNotice(12) + "!"}}
	got := s.NoticeDetails()
	for i, want := range []NoticeCode{NoticeUnindexed, NoticeAwaits, NoticeLong, NoticeWords, NoticeOther} {
		if got[i].Code != want || got[i].Message != s.Notices[i] || (got[i].Count != nil) != (want == NoticeUnindexed) {
			t.Errorf("%q is %+v, want %s", s.Notices[i], got[i], want)
		}
	}
	if *got[0].Count != 12 {
		t.Errorf("counted %d, want 12", *got[0].Count)
	}
}
