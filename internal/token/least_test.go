package token

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

var encodings = []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase, tokenizer.P50kBase, tokenizer.P50kEdit, tokenizer.R50kBase}

// The longest tokens are those of the vocabularies.
func TestLongest(t *testing.T) {
	t.Parallel()
	for _, encoding := range encodings {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		longest, word, tokens := 0, 0, 0
		for id := uint(0); id < 210_000; id++ {
			text, err := codec.Decode([]uint{id})
			if err != nil {
				continue // of the numbers, some are of no token
			}
			words := 0
			for i := range len(text) {
				if inWord(text[i]) {
					words++
				}
			}
			tokens, longest, word = tokens+1, max(longest, len(text)), max(word, words)
		}
		want := longestWord[string(encoding)]
		if want == 0 {
			want = Longest
		}
		if tokens < 50_000 || longest != Longest || word != want {
			t.Errorf("%s: of %d tokens the longest has %d bytes, and %d of words; want %d and %d", encoding, tokens, longest, word, Longest, want)
		}
	}
}

func TestLeast(t *testing.T) {
	t.Parallel()
	texts := []string{"", "x", strings.Repeat(" ", 129), strings.Repeat("\x7f", 129), strings.Repeat("ÃÂ", 100), strings.Repeat(" สำนักเลขานุการองค์กร", 9)}
	for _, control := range "\x00\t\n\v\f\r\x1b\u0085\u00a0\u2028\ufeff" {
		texts = append(texts, strings.Repeat(string(control), 400))
	}
	for _, encoding := range encodings {
		count, err := Named(string(encoding))
		if err != nil {
			t.Fatal(err)
		}
		check := func(t interface {
			Helper()
			Fatalf(format string, args ...any)
		}, text string) {
			t.Helper()
			n, err := count(text)
			if least := Least(string(encoding), text); err != nil || least > n || least == 0 && text != "" {
				t.Fatalf("Least(%s, %q) = %d, and it has %d (%v)", encoding, text, least, n, err)
			}
		}
		for _, text := range texts {
			check(t, text)
		}
		rapid.Check(t, func(t *rapid.T) {
			check(t, strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(1, 200).Draw(t, "times")))
		})
	}
}
