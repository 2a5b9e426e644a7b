package token

import (
	"strings"
	"sync"
	"testing"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	count, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"": 0, "hello world": 2, "antidisestablishmentarianism": 6} {
		for range 2 { // counted, then remembered
			if got, err := count(text); err != nil || got != want {
				t.Errorf("count(%q) = %d, %v, want %d", text, got, err, want)
			}
		}
	}
}

// A long text is counted as it is, and many may count at once.
func TestCountConcurrently(t *testing.T) {
	t.Parallel()
	count, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 2000)
	want, err := count(long)
	if err != nil || want < 2000 {
		t.Fatalf("count = %d, %v", want, err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				if got, err := count(long[:len(long)/2]); err != nil || got < want/2-1 || got > want/2+1 {
					t.Errorf("count of half = %d, %v, want about %d", got, err, want/2)
				}
			}
		})
	}
	wait.Wait()
}
