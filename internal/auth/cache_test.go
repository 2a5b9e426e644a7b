package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// clock is moved by the test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestCacheBelievesForAWhile(t *testing.T) {
	t.Parallel()
	known := Caller{Role: Agent}
	for name, test := range map[string]struct {
		left time.Duration
		err  error
		keep time.Duration // how long the answer is kept
	}{
		"a token":               {time.Hour, nil, 2 * time.Second},
		"one that ends soon":    {time.Second, nil, time.Second},
		"nobody's":              {0, errUnknown(), 500 * time.Millisecond},
		"the database is down":  {0, fault.New(fault.Unavailable, "down"), 0},
		"the database is upset": {0, errors.New("upset"), 0},
	} {
		clock, asked := newClock(), 0
		c := newCache(clock.now)
		get := func() {
			t.Helper()
			caller, err := c.get(t.Context(), "key", func(context.Context) (Caller, time.Duration, error) {
				asked++
				return known, test.left, test.err
			})
			if test.err == nil && caller != known || fault.CodeOf(err) != fault.CodeOf(test.err) {
				t.Errorf("%s: get = %v, %v, want %v", name, caller, err, test.err)
			}
		}
		get()
		if test.keep > 0 {
			clock.pass(test.keep - 1)
			get()
			if asked != 1 {
				t.Errorf("%s: asked %d times within %v, want once", name, asked, test.keep)
			}
			clock.pass(1)
		}
		get()
		if asked != 2 {
			t.Errorf("%s: asked %d times after %v, want twice", name, asked, test.keep)
		}
	}
}

// What is kept counts from before the question: an answer that took long is not believed for longer.
func TestCacheCountsFromTheQuestion(t *testing.T) {
	t.Parallel()
	clock, asked := newClock(), 0
	c := newCache(clock.now)
	slow := func(context.Context) (Caller, time.Duration, error) {
		asked++
		clock.pass(1500 * time.Millisecond)
		return Caller{Role: Agent}, time.Hour, nil
	}
	_, _ = c.get(t.Context(), "key", slow)
	clock.pass(600 * time.Millisecond)
	if _, _ = c.get(t.Context(), "key", slow); asked != 2 {
		t.Errorf("asked %d times, want a second time 2.1 s after the first question", asked)
	}
}

// A token that is unknown and then known, or known and then unknown, is never both.
func TestCacheReplaces(t *testing.T) {
	t.Parallel()
	clock := newClock()
	c := newCache(clock.now)
	answers := []error{nil, errUnknown(), nil}
	for i, want := range answers {
		_, err := c.get(t.Context(), "key", func(context.Context) (Caller, time.Duration, error) { return Caller{}, time.Hour, want })
		if fault.CodeOf(err) != fault.CodeOf(want) {
			t.Errorf("answer %d = %v, want %v", i, err, want)
		}
		clock.pass(believed)
	}
}

func TestCacheAsksOnce(t *testing.T) {
	t.Parallel()
	c := newCache(time.Now)
	var asked atomic.Int64
	release, began := make(chan struct{}), make(chan struct{})
	question := func(ctx context.Context) (Caller, time.Duration, error) {
		if asked.Add(1) == 1 {
			close(began)
		}
		<-release
		return Caller{Role: Agent}, time.Hour, ctx.Err()
	}
	first, gone := context.WithCancel(t.Context())
	var leaver, group sync.WaitGroup
	leaver.Go(func() {
		if _, err := c.get(first, "key", question); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("who went away gets %v, want UNAVAILABLE", err)
		}
	})
	<-began
	waiting := make(chan struct{}, 20)
	for range 20 {
		group.Go(func() {
			waiting <- struct{}{}
			if caller, err := c.get(t.Context(), "key", question); err != nil || caller.Role != Agent {
				t.Errorf("get = %v, %v, want the agent", caller, err)
			}
		})
	}
	for range 20 {
		<-waiting
	}
	gone() // the question goes on for the others
	leaver.Wait()
	close(release)
	group.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// Guesses push no token out that is known, and are bounded themselves.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	clock, asked := newClock(), 0
	c := newCache(clock.now)
	known := func(context.Context) (Caller, time.Duration, error) {
		asked++
		return Caller{Role: Agent}, time.Hour, nil
	}
	_, _ = c.get(t.Context(), "known", known)
	for i := range cachedTokens + cachedRefusals {
		_, _ = c.get(t.Context(), fmt.Sprint(i), func(context.Context) (Caller, time.Duration, error) { return Caller{}, 0, errUnknown() })
	}
	if _, err := c.get(t.Context(), "known", known); err != nil || asked != 1 {
		t.Errorf("the known token: %v, asked %d times, want it kept", err, asked)
	}
	if n := c.refused.Len(); n != cachedRefusals {
		t.Errorf("%d refusals are kept, want %d", n, cachedRefusals)
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	clock := newClock()
	u := newUses(clock.now)
	take := func(want ...string) {
		t.Helper()
		got := u.take()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("take() = %q, want %q", got, want)
		}
	}
	u.note("a")
	u.note("b")
	u.note("a")
	take("a", "b")
	clock.pass(useOnce - time.Second)
	u.note("a")
	take()
	clock.pass(time.Second)
	u.note("a")
	u.putBack([]string{"b"})
	take("a", "b")
	clock.pass(time.Hour)
	take()
	if len(u.noted) != 0 {
		t.Errorf("%d uses are remembered after an hour, want none", len(u.noted))
	}
	for i := range 2 * maxUses {
		u.note(fmt.Sprint(i))
	}
	if got := u.take(); len(got) != maxUses {
		t.Errorf("%d uses wait, want at most %d", len(got), maxUses)
	}
}
