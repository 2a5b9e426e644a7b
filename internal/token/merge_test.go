package token

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// Merged from the left, texts have as many tokens as merged pair by pair.
func TestFast(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	f := newFast(codec)
	for _, text := range []string{"", "\n \n", "\n\n a", " \r\n\t\n  b", strings.Repeat(" ", 5000), strings.Repeat("a", 5000) + "'LL", strings.Repeat("ab\u0301É", 900)} {
		want, err := codec.Count(text)
		if got := f.count(text); err != nil || got != want {
			t.Errorf("%.40q has %d tokens, want %d (%v)", text, got, want, err)
		}
	}
	for id := range uint(mostTokens) {
		if text, err := codec.Decode([]uint{id}); err == nil && readable(text) == text && utf8.ValidString(text) {
			want, err := codec.Count(text)
			if got := f.count(text); err != nil || got != want {
				t.Fatalf("the token %q is counted as %d, want %d (%v)", text, got, want, err)
			}
		}
	}
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.RuneFrom([]rune("abcdefghijklmnopqrstuvwxyz"))),
		rapid.StringOf(rapid.RuneFrom([]rune("ABCDEFGHIJKLMNOPQRSTUVWXYZ'sStTlLrRvVeEdDmM"))),
		rapid.StringOf(rapid.RuneFrom([]rune(" \n\r\t-'¿¡ñáüÑ.a1\u00a0\u200d\u2028\u0301東🙂🫎👩ʰǅ٣½Ⅷſ\x02\u0085\u180e\ufeff/"))),
		rapid.StringOf(rapid.RuneFrom([]rune("!@#$%^*()-=[];:,./?"))),
		rapid.StringOf(rapid.RuneFrom([]rune("éèñüßøåæçðþžÉ漢字仮名的一是不了人我在有他แลนа я"))),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"a", " ", "\n", "-", "=", ".", "aa", "é", "The", "tower", "don't", "IT'S", "12345", "  "})), func(s []string) string { return strings.Join(s, "") }),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.StringN(1, 3, -1).Draw(t, "unit"), rapid.IntRange(1, 700).Draw(t, "times"))
		}))
	rapid.Check(t, func(t *rapid.T) {
		s := readable(strings.Join(rapid.SliceOfN(text, 1, 4).Draw(t, "texts"), ""))
		want, err := codec.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.count(s); got != want {
			t.Fatalf("%q has %d tokens, want %d", s, got, want)
		}
	})
}
