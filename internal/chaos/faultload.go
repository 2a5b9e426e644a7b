package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Limits of the overload: how long an answer is of use to whoever asked, how much of the peak must be left, and how soon
// a refusal has to come.
const (
	useful       = time.Second
	goodputLeft  = 0.8
	refusalLimit = 100 * time.Millisecond
)

// peak is how many messages a second are acknowledged at most, for as long as it takes that checkpoints of Postgres, and
// what they cost, are part of it: of 32, 64 and 128 clients those who do best for a moment go on.
func (a *arrivals) peak(ctx context.Context, s *stage) (peak float64, err error) {
	var best int
	for _, clients := range []int{32, 64, 128} {
		rate, err := a.closed(ctx, clients, size(s, time.Second, 10*time.Second))
		if err != nil {
			return 0, err
		}
		s.say("%d clients: %.0f messages/s", clients, rate)
		if rate > peak {
			peak, best = rate, clients
		}
	}
	if peak, err = a.closed(ctx, best, size(s, time.Second, 90*time.Second)); err != nil {
		return 0, err
	}
	s.say("%d clients, for longer: %.0f messages/s", best, peak)
	return peak, nil
}

// refusals adds the rows about what was refused: something must be, and soon.
func (s *stage) refusals(done string, refused []time.Duration) {
	late, latest := percentile(refused, 0.99), percentile(refused, 1)
	s.found(done, len(refused), fmt.Sprintf("some are refused, 99 of 100 in time (%s)", refusalLimit),
		fmt.Sprintf("%d refused: p99 %s, %s at most", len(refused), short(late), short(latest)), len(refused) > 0 && late <= s.limit(refusalLimit),
		map[string]float64{"refused": float64(len(refused)), "p99_ms": milliseconds(late), "max_ms": milliseconds(latest)})
	s.rows[len(s.rows)-1].Timed = true
}

// overload brings twice of what the server can take, with the Postgres that it starts by itself.
func overload(ctx context.Context, s *stage) error {
	v, err := s.serve(ctx, "")
	if err != nil {
		return err
	}
	o, err := s.observe(ctx, v)
	if err != nil {
		return err
	}
	journal, err := openJournal(filepath.Join(s.dir, "arrivals"))
	if err != nil {
		return err
	}
	s.later(journal.close)
	a, err := newArrivals(ctx, v, journal)
	if err != nil {
		return err
	}
	s.later(a.close)
	// An empty log takes a third more than once search vectors have to keep up, and Postgres has made its first checkpoints.
	if _, err := a.closed(ctx, 128, size(s, 100*time.Millisecond, 2*time.Minute)); err != nil {
		return err
	}
	before, err := a.peak(ctx, s)
	if err != nil {
		return err
	}
	span := size(s, 4*time.Second, 5*time.Minute)
	list, unsent, err := a.open(ctx, 2*before, span)
	if err != nil {
		return err
	}
	after, err := a.peak(ctx, s)
	if err != nil {
		return err
	}
	peak := max(before, after) // a larger log takes longer to append to
	done := fmt.Sprintf("twice the peak of %.0f messages/s for %s; then the peak is %.0f", before, span, after)
	var good int
	var refused []time.Duration
	for _, x := range list {
		switch {
		case x.code == answered && x.took <= useful:
			good++
		case x.code != answered:
			refused = append(refused, x.took)
		}
	}
	goodput := float64(good) / span.Seconds()
	s.found(done, len(list), "goodput (acknowledged within 1 s) ≥ 80 % of the greater peak",
		fmt.Sprintf("%.0f messages/s, %.0f %%; %s; p99 of the acknowledged %s", goodput, 100*goodput/peak, tally(list),
			short(percentile(durations(list, answered), 0.99))),
		goodput >= goodputLeft*peak/s.cfg.Patience, map[string]float64{"before": before, "after": after, "goodput": goodput})
	s.rows[len(s.rows)-1].Timed = true
	s.found(done, len(list), "all could be sent", fmt.Sprintf("%d of %d could not", unsent, len(list)+unsent), unsent == 0 && len(list) > 0,
		map[string]float64{"unsent": float64(unsent)})
	s.rows[len(s.rows)-1].Timed = true
	s.refusals(done, refused)
	s.found(done, len(list), "refused with UNAVAILABLE or RATE_LIMITED and nothing else", tally(list),
		count(list, answered, unavailable, limited) == len(list) && len(list) > 0, nil)
	var sum verdict
	at, err := v.databaseURL()
	if err != nil {
		return err
	}
	crew := &crew{s: s, client: v.client(1), journal: journal, open: true}
	if err := crew.check(ctx, o, at, &sum); err != nil {
		return err
	}
	s.nothingLost(done, 1, &sum, o)
	return nil
}
