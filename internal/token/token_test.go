package token

import (
	"strings"
	"sync"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
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
func TestByWords(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	words, err := lru.New[string, int](20) // so few that they are forgotten, too
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	count := func(text string) (int, error) {
		asked++
		return codec.Count(text)
	}
	word := rapid.OneOf(rapid.StringN(0, 40, -1), rapid.SampledFrom([]string{"the", "tower", "it's", "3.5", "  ", "\n", "a\u00a0b", "—"}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
		want, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := byWords(text, words, count); err != nil || got != want {
			t.Fatalf("byWords(%q) = %d, %v, want %d", text, got, err, want)
		}
	})
	for range 2 {
		asked = 0
		if n, err := byWords("the tower sees the sea", words, count); n != 5 || err != nil {
			t.Fatalf("byWords gives %d, %v", n, err)
		}
	}
	if asked != 0 {
		t.Errorf("%d words were counted that are remembered", asked)
	}
}

func TestByItems(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	text := rapid.OneOf(
		rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune(" \n\r\t/-'!.a1\u00a0\u3000\u2028東🙂")), 0, 12, -1),
		rapid.SampledFrom([]string{"!", " \n", "\n\n", "//", "- ", "-", "it's", "…"}))
	rapid.Check(t, func(t *rapid.T) {
		list := strings.Join(rapid.SliceOfN(text, 0, 6).Draw(t, "items"), "\n- ")
		want, err := codec.Count(list)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := byItems(list, codec.Count); err != nil || got != want {
			t.Fatalf("byItems(%q) = %d, %v, want %d", list, got, err, want)
		}
	})
}
