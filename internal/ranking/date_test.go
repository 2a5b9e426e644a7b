package ranking

import (
	"slices"
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 14, 12, 0, 0, 0, time.UTC) // a Wednesday
	for _, test := range []struct {
		query   string
		in, out []string // days
	}{
		{"what did Ursula paint in June?", []string{"2030-06-01", "2028-06-30", "2028-07-07"}, []string{"2030-05-31", "2030-07-08"}},
		{"the trip of last June", []string{"2030-06-01", "2030-06-30"}, []string{"2029-06-15", "2031-06-02"}},
		{"el viaje del pasado junio", []string{"2030-06-15"}, []string{"2029-06-15"}},
		{"the trip of last April", []string{"2031-04-15"}, []string{"2030-04-15"}},
		{"in December", []string{"2030-12-31", "2031-01-07"}, []string{"2031-01-08", "2030-11-30"}},
		{"on 10 July 2030", []string{"2030-07-10", "2030-07-17"}, []string{"2030-07-09", "2030-07-18", "2029-07-10"}},
		{"on July 10th, 2030", []string{"2030-07-10"}, []string{"2030-07-20", "2029-07-10"}},
		{"el 10 de julio de 2030", []string{"2030-07-10"}, []string{"2030-07-20", "2029-07-10"}},
		{"on the 29th of February", []string{"2028-02-29", "2028-03-05"}, []string{"2028-02-28"}},
		{"during May 2030", []string{"2030-05-01", "2030-05-31"}, []string{"2031-05-01"}},
		{"in 2029", []string{"2029-01-01", "2029-12-31"}, []string{"2028-12-31", "2030-01-08"}},
		{"yesterday", []string{"2031-05-13", "2031-05-14"}, []string{"2031-05-12"}},
		{"hoy", []string{"2031-05-14"}, []string{"2031-05-13"}},
		{"last week", []string{"2031-05-05", "2031-05-11"}, []string{"2031-05-04"}},
		{"la semana pasada", []string{"2031-05-05"}, []string{"2031-05-04"}},
		{"el mes pasado", []string{"2031-04-01", "2031-04-30"}, []string{"2031-03-31"}},
		{"el año pasado", []string{"2030-01-01", "2030-12-31"}, []string{"2029-12-31", "2031-01-08"}},
		{"may she march?", nil, []string{"2031-05-14", "2031-03-14"}},
		{"order 40817 of week 7", nil, []string{"2031-05-14"}},
	} {
		t.Run(test.query, func(t *testing.T) {
			t.Parallel()
			found := spans(plainWords(test.query), now, 7)
			holds := func(text string) bool {
				at, err := time.Parse(time.DateOnly, text)
				if err != nil {
					t.Fatal(err)
				}
				return slices.ContainsFunc(found, func(s span) bool { return s.holds(at) })
			}
			for _, text := range test.in {
				if !holds(text) {
					t.Errorf("%s is not among the times of %q: %v", text, test.query, found)
				}
			}
			for _, text := range test.out {
				if holds(text) {
					t.Errorf("%s is among the times of %q: %v", text, test.query, found)
				}
			}
		})
	}
}
