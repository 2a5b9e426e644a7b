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
	}{
		"items":       {Selection{Items: make([]Item, 1)}, ""},
		"nothing":     {Selection{Request: Request{Threshold: 0.7}}, "Nothing in the log or the records reaches the threshold of 0.7."},
		"below":       {Selection{Request: Request{Threshold: 0.7}, Dropped: []Dropped{{Score: 0.6999}, {Score: 0.1}}}, "Nothing in the log or the records reaches the threshold of 0.7; the best has 0.69."},
		"over budget": {Selection{Request: Request{Threshold: 0.7, TokenBudget: &budget}, Dropped: []Dropped{{Score: 0.8}}}, "Nothing that reaches the threshold of 0.7 fits into the budget of 3 tokens."},
	} {
		c.s.Notify(search)
		want := slices.DeleteFunc([]string{"slow", c.want}, func(n string) bool { return n == "" })
		if !slices.Equal(c.s.Notices, want) {
			t.Errorf("%s: notices = %q, want %q", name, c.s.Notices, want)
		}
		if got := c.s.SearchNotices(); !slices.Equal(got, search) {
			t.Errorf("%s: notices of the search = %q, want %q", name, got, search)
		}
	}
}
