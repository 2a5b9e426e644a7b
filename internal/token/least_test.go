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
		longest, tokens := 0, 0
		for id := range uint(mostTokens + 10_000) {
			text, err := codec.Decode([]uint{id})
			if err != nil {
				continue // of the numbers, some are of no token
			}
			if tokens, longest = tokens+1, max(longest, len(text)); Least(string(encoding), text) > 1 || id >= mostTokens {
				t.Errorf("%s: Least of the token %d, %q, is %d", encoding, id, text, Least(string(encoding), text))
			}
		}
		if tokens < 50_000 || longest != Longest {
			t.Errorf("%s: of %d tokens the longest has %d bytes, want %d", encoding, tokens, longest, Longest)
		}
	}
}

// It is close to the number of tokens where texts cost the most to count.
func TestLeastIsClose(t *testing.T) {
	t.Parallel()
	letters := make([]byte, 20_000)
	state := uint32(1)
	for i := range letters {
		state = state*1664525 + 1013904223
		letters[i] = 'a' + byte(state>>24)%26
	}
	for name, test := range map[string]struct {
		text  string
		share float64
	}{
		"prose":            {strings.Repeat("The quick brown fox jumps over 13 lazy dogs, doesn't it? ", 300), 0.7},
		"prose in Spanish": {strings.Repeat("¿Cuántas veces habrá cruzado el pingüino la corriente del río? ", 300), 0.4},
		"random letters":   {string(letters), 0.3},
		"one letter":       {strings.Repeat("a", 20_000), 0.5},
		"blanks":           {strings.Repeat(" ", 20_000), 0.9},
		"dots":             {strings.Repeat(".", 20_000), 0.9},
		"digits":           {strings.Repeat("1234567890", 2000), 0.7},
	} {
		count, err := Default()
		if err != nil {
			t.Fatal(err)
		}
		n, err := count(test.text)
		if least := Least("", test.text); err != nil || float64(least) < test.share*float64(n) || least > n {
			t.Errorf("%s: Least = %d of %d tokens, want at least %.0f %% of them (%v)", name, least, n, 100*test.share, err)
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
