package db

import (
	"context"
	"time"
)

// How long what was counted is kept: so long that counting takes a twentieth of the time at most, and never longer than a
// minute.
const (
	keptTimes = 20 // as long as counting took
	keptMost  = time.Minute
)

// kept is something that takes long to count in a large log, and is kept for a while; those who ask at once count it once.
// Make it with newKept.
type kept[T any] struct {
	turn  chan struct{} // holds one while what follows is read or written
	value T
	until time.Time
}

func newKept[T any]() *kept[T] { return &kept[T]{turn: make(chan struct{}, 1)} }

// get gives it, counted now if it was kept long enough.
func (k *kept[T]) get(ctx context.Context, count func(context.Context) (T, error)) (T, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		var none T
		return none, mapError(ctx.Err())
	}
	began := time.Now()
	if began.Before(k.until) {
		return k.value, nil
	}
	value, err := count(ctx)
	if err == nil {
		k.value, k.until = value, time.Now().Add(min(keptTimes*time.Since(began), keptMost))
	}
	return value, err
}
