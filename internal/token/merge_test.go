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
	for _, encoding := range encodings {
		t.Run(string(encoding), func(t *testing.T) {
			t.Parallel()
			testFast(t, encoding)
		})
	}
}

func testFast(t *testing.T, encoding tokenizer.Encoding) {
	codec, err := tokenizer.Get(encoding)
	if err != nil {
		t.Fatal(err)
	}
	f := newFast(encoding, codec)
	check := func(t interface {
		Helper()
		Errorf(format string, args ...any)
	}, text string) {
		t.Helper()
		want, err := codec.Count(text)
		if got := f.count(text); err != nil || got != want {
			t.Errorf("%.60q has %d tokens, want %d (%v)", text, got, want, err)
		}
	}
	texts := []string{"", "\n \n", "\n\n a", " \r\n\t\n  b", "'", "''s", "it'S 'LL", "a'ſchen 'ſchen", strings.Repeat("a", 5000) + "'LL", strings.Repeat("ab\u0301É", 900)}
	for n := range 300 { // as many as tokens of blanks and the like have, and more
		for _, one := range []string{" ", "\t", "\n", "\r\n", "-", "=", ".", "*", "_", "#", "/", "0", "a", "A", "\u00a0", "é", "Ã"} {
			texts = append(texts, strings.Repeat(one, n), "a"+strings.Repeat(one, n)+"b", " "+strings.Repeat(one, n)+" ")
		}
	}
	for _, n := range []int{1000, 1023, 2050} {
		for _, one := range []string{" ", "-", "a", "aab", "é", "0"} {
			texts = append(texts, strings.Repeat(one, n), strings.Repeat(one, n)+one[:1]+"b"+strings.Repeat(one, n), "x"+strings.Repeat(one, n)+"=")
		}
	}
	for _, text := range texts {
		check(t, text)
	}
	for id := range uint(mostTokens) {
		if text, err := codec.Decode([]uint{id}); err == nil && readable(text) == text && utf8.ValidString(text) {
			check(t, text)
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
		check(t, s)
	})
}
