package endpoint

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	cases := []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "", 0}, {"Retry-After", "7", 7 * time.Second}, {"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "0", 0}, {"Retry-After", "-7", 0}, {"Retry-After", "NaN", 0}, {"Retry-After", "soon", 0},
		{"Retry-After", "86400", MaxRetryAfter}, {"Retry-After", "1e999", MaxRetryAfter}, {"Retry-After", "Inf", MaxRetryAfter},
		{"Retry-After", now.Add(9 * time.Second).Format(http.TimeFormat), 9 * time.Second},
		{"Retry-After", now.Add(-9 * time.Second).Format(http.TimeFormat), 0},
		{"Retry-After", now.AddDate(1, 0, 0).Format(http.TimeFormat), MaxRetryAfter},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	}
	for _, c := range cases {
		if got := retryAfter(http.Header{c.name: {c.value}}, now); got != c.want {
			t.Errorf("%s: %s means %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	within := func(attempt int, retryAfter time.Duration, low, high time.Duration) {
		t.Helper()
		for range 100 {
			if got := Backoff(attempt, retryAfter); got < low || got > high {
				t.Fatalf("Backoff(%d, %v) = %v, want %v to %v", attempt, retryAfter, got, low, high)
			}
		}
	}
	within(-1, 0, FirstWait/2, FirstWait)
	within(0, 0, FirstWait/2, FirstWait)
	within(3, 0, 4*FirstWait, 8*FirstWait)
	within(7, 0, MaxWait/2, MaxWait)
	within(1<<40, 0, MaxWait/2, MaxWait)
	within(9, 20*time.Second, 20*time.Second, 22*time.Second)
	within(0, time.Hour, MaxRetryAfter, MaxRetryAfter+MaxRetryAfter/10)
}
