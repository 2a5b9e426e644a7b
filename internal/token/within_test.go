package token

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// Cut wherever it may be, a text has as many tokens as whole.
func TestCut(t *testing.T) {
	t.Parallel()
	words := []string{"'", "!", ",", "(", "~", "\u00a0", "\u3000", "A", "Ab", "'S", "12345", "a", "B", "the", "Tower", "don't", "it's", "'s", "x1", "42", "…", "é", "ñandú", "日本", "🙂", "_", "/", "\n", "\n- ", "\t", "  ", " ", " ", " ", ".", "\x7f", "\r\n"}
	for _, encoding := range encodings {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		count := func(text string) (int, error) { return codec.Count(readable(text)) } // nothing remembered
		cuts := 0
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 60).Draw(t, "words"), "")
			whole, err := count(text)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for rest := text; rest != ""; {
				end := cut(rest, 1)
				if end < len(rest) {
					cuts++
				}
				n, err := count(rest[:end])
				if err != nil {
					t.Fatal(err)
				}
				sum, rest = sum+n, rest[end:]
			}
			if sum != whole {
				t.Fatalf("%s: %q has %d tokens in pieces, and %d whole", encoding, text, sum, whole)
			}
		})
		if cuts == 0 {
			t.Errorf("%s: no text was cut", encoding)
		}
	}
}

// ending ends after it was looked at so many times.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A long text is not counted to its end for nobody; for somebody it is, as if at once.
func TestWithin(t *testing.T) {
	t.Parallel()
	count, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("So it goes on and on. ", 10_000)
	counted := 0
	watched := Counter(func(text string) (int, error) { counted += len(text); return count(text) })
	if _, err := watched.Within(&ending{t.Context(), 3})(text); !errors.Is(err, context.Canceled) || counted < 3*piece || counted > 4*piece {
		t.Errorf("of %d bytes %d were counted: %v", len(text), counted, err)
	}
	whole, err := count(text)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := watched.Within(t.Context())(text); n != whole || err != nil {
		t.Errorf("%d tokens, %v; want %d", n, err, whole)
	}
	if n, err := watched.UpTo(t.Context(), text, whole); n != whole || err != nil {
		t.Errorf("up to all there are, %d tokens, %v; want %d", n, err, whole)
	}
	counted = 0
	if n, err := watched.UpTo(t.Context(), text, 1000); n <= 1000 || n >= whole || err != nil || counted > 8000 {
		t.Errorf("beyond 1000 there are %d tokens, %v, of %d bytes; want no more counted", n, err, counted)
	}
	if _, err := watched.UpTo(&ending{t.Context(), 3}, text, whole); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	if n, err := watched.Within(t.Context())(""); n != 0 || err != nil {
		t.Errorf("nothing has %d tokens, %v", n, err)
	}
}
