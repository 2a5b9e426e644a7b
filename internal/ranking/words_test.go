package ranking

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "  …—!+$\ufffd\ufffc", nil},
		{"case and punctuation", "Don't PANIC, (re)try: 4.5!", []string{"don", "t", "panic", "re", "try", "4", "5"}},
		{"accents stay", "¿Dónde está el CAFÉ?", []string{"dónde", "está", "el", "café"}},
		{"one form for composed and decomposed", "cafe\u0301 café", []string{"café", "café"}},
		{"compatibility forms", "ｆｕｌｌ ﬁt Ⅳ", []string{"full", "fit", "iv"}},
		{"symbols are words", "Great🦜! 5 € → ok", []string{"great", "🦜", "5", "€", "→", "ok"}},
		{"a symbol repeated at once", "🎉🎉🎉 🦜🎉 ❤️❤️", []string{"🎉", "🦜", "🎉", "❤"}},
		{"forms of one emoji", "👍🏽 👍 ❤️ ❤ ❤︎", []string{"👍", "👍", "❤", "❤", "❤"}},
		{"emoji of several", "👩‍🚀 1️⃣", []string{"👩", "🚀", "1"}},
		{"flags", "🇵🇪🇪🇨🇪", []string{"🇵🇪", "🇪🇨", "🇪"}},
		{"invalid UTF-8 separates", "ab\xffcd\xc3", []string{"ab", "cd"}},
		{"scripts without case", "東京 Токио", []string{"東京", "токио"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := Words(test.text); !slices.Equal(got, test.want) {
				t.Errorf("Words(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"canción": "cancion", "ñandú": "nandu", "cafe": "cafe", "ø": "ø", "й": "и", "東京": "東京"} {
		if got := Plain(word); got != want {
			t.Errorf("Plain(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{"", "İstanbul", "ab\xff", "ﷺ", "a\u0301", "ΑΣ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, word := range Words(text) {
			if word == "" || !utf8.ValidString(word) || !utf8.ValidString(Plain(word)) {
				t.Fatalf("Words(%q) has %q", text, word)
			}
		}
	})
}
