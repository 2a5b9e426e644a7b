package endpoint

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxRetryAfter is how long an endpoint can ask to wait; what is longer counts as this.
const MaxRetryAfter = 5 * time.Minute

// Waits between tries.
const (
	FirstWait = 500 * time.Millisecond
	MaxWait   = time.Minute
)

// Backoff gives how long to wait before trying again after a failure, the attempt counted from 0: what the endpoint asks
// for, if it does, and up to a tenth more, else between half and all of 0.5 s × 2^attempt, at most a minute. The parts by
// chance keep several servers from coming back at once.
func Backoff(attempt int, retryAfter time.Duration) time.Duration {
	if retryAfter > 0 {
		wait := min(retryAfter, MaxRetryAfter)
		return wait + rand.N(wait/10+1)
	}
	wait := MaxWait
	if attempt < 7 {
		wait = FirstWait << max(attempt, 0)
	}
	return min(wait, MaxWait)/2 + rand.N(min(wait, MaxWait)/2+1)
}

// Wait returns after d, or when done is closed.
func Wait(done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// retryAfter reads how long an endpoint asks to wait, as seconds or a date, or in milliseconds as OpenAI gives them.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := units(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := header.Get("Retry-After")
	if wait, ok := units(value, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), MaxRetryAfter)
	}
	return 0
}

func units(value string, unit time.Duration) (time.Duration, bool) {
	number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(number) || number < 0 {
		return 0, false
	}
	return time.Duration(min(number, float64(MaxRetryAfter/unit)) * float64(unit)), true
}

// Breaker keeps callers from an endpoint that failed, so that they do not all wait for it. Safe for concurrent use.
type Breaker struct {
	Pause time.Duration // how long it is left alone; set before use

	mu    sync.Mutex
	until time.Time // guarded by mu
	cause *Failure  // guarded by mu; nil: the last caller got through
}

// Enter says whether one may ask: nil, or a failure of kind Paused. After the pause one may, and the others wait for how
// it fares.
func (b *Breaker) Enter(now time.Time) *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil {
		return nil
	}
	if left := b.until.Sub(now); left > 0 {
		return &Failure{Kind: Paused, Status: b.cause.Status, RetryAfter: left, Message: fmt.Sprintf(
			"is not asked for %s, since it %s", left.Round(100*time.Millisecond), b.cause.Message)}
	}
	b.until = now.Add(b.Pause)
	return nil
}

// Leave says how it fared. That something is refused for what it holds is an answer.
func (b *Breaker) Leave(now time.Time, failure *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failure == nil || failure.Kind.OfTexts() {
		b.cause = nil
		return
	}
	b.cause, b.until = failure, now.Add(max(b.Pause, failure.RetryAfter))
}

// PausedUntil gives until when nobody may ask; zero if one may.
func (b *Breaker) PausedUntil(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil || !now.Before(b.until) {
		return time.Time{}
	}
	return b.until
}
