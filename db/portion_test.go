package db

import (
	"context"
	"slices"
	"testing"
)

// What is too much for the time there is is asked for in smaller parts, and in whole ones again later.
func TestPortion(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	p := newPortion(100)
	var got []int64
	for _, step := range []struct {
		ctx context.Context
		err error
	}{
		{t.Context(), nil}, {t.Context(), context.Canceled}, {late, late.Err()}, {late, late.Err()}, {late, late.Err()},
		{t.Context(), nil}, {t.Context(), nil}, {late, nil},
	} {
		p.learn(step.ctx, step.err)
		got = append(got, p.now)
	}
	if want := []int64{100, 100, 12, 1, 1, 2, 4, 8}; !slices.Equal(got, want) {
		t.Errorf("portions = %v, want %v", got, want)
	}
}
