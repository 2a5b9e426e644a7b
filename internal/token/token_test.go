package token

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
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

// Counted item by item, a list costs what it costs as a whole.
func TestByItems(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(
		rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune(" \n\r\t/-:'!.a1\u00a0\u3000\u2028東🙂")), 0, 12, -1),
		rapid.SampledFrom([]string{"!", " \n", "\n\n", "//", "- ", "-", "it's", "…", ".  ", ": ", " : ", ":"}))
	for _, encoding := range encodings {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			list := rapid.SampledFrom([]string{"", "- "}).Draw(t, "begins") + strings.Join(rapid.SliceOfN(text, 0, 6).Draw(t, "items"), "\n- ")
			want, err := codec.Count(list)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := byItems(list, codec.Count); err != nil || got != want {
				t.Fatalf("%s: byItems(%q) = %d, %v, want %d", encoding, list, got, err, want)
			}
		})
	}
}

// What stands behind the lead of an item is remembered by itself, so that the same text is counted once under any lead.
func TestPartsAreRemembered(t *testing.T) {
	t.Parallel()
	var counted []string
	count, err := remembering(func(text string) (int, error) { counted = append(counted, text); return len(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{" the ferry: at nine\n", "- 2026-03-04 Anna: the ferry: at nine\n- 2026-03-05 Bert: the ferry: at nine\n"} {
		if n, err := count(text); err != nil || n != len(text) {
			t.Fatalf("count(%q) = %d, %v", text, n, err)
		}
	}
	if want := []string{" the ferry: at nine\n", "- 2026-03-04 Anna:", "- 2026-03-05 Bert:"}; !slices.Equal(counted, want) {
		t.Errorf("counted were %q, want %q", counted, want)
	}
}
