package token

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                        {},
		"hello world":             {"hello", " world"},
		"¿Qué número calzo?":      {"¿Qué", " número", " cal", "zo", "?"},
		"a\x7fb \x7f\x7f":         {"a", "\x7f", "b", " ", "\x7f", "\x7f"},
		"años, pingüino, corazón": {"años", ",", " ping", "ü", "ino", ",", " corazón"},
		"sí 👩‍👩‍👧":                nil, // what it is cut into is not the point: that it is whole is checked below
	} {
		got := checkPieces(t, text)
		if want != nil && !slices.Equal(got, want) {
			t.Errorf("Pieces(%q) = %q, want %q", text, got, want)
		}
	}
	shared := checkPieces(t, "🫎") // a character of several tokens
	if n := len(shared); n < 2 || shared[n-1] != "🫎" || strings.Join(shared[:n-1], "") != "" {
		t.Errorf("Pieces of one character = %q, want it in the last of several", shared)
	}
}

func TestPiecesOfAnything(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.SampledFrom([]rune(" \n\r\t-'¿¡ñáüÑ.a1\u00a0\u200d\u2028\u0301東🙂🫎👩")), 0, 40, -1))
	rapid.Check(t, func(t *rapid.T) { checkPieces(t, text.Draw(t, "text")) })
}

// checkPieces cuts a text, and expects the text in as many pieces as it has tokens, with no character cut.
func checkPieces(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string) []string {
	t.Helper()
	pieces, err := Pieces(text)
	if err != nil {
		t.Fatalf("Pieces(%q): %v", text, err)
	}
	count, err := Default()
	if err != nil {
		t.Fatalf("Default: %v", err)
	}
	n, err := count(text)
	if joined := strings.Join(pieces, ""); err != nil || joined != text || len(pieces) != n {
		t.Fatalf("Pieces(%q) = %q: %d pieces for %d tokens, joined %q (%v)", text, pieces, len(pieces), n, joined, err)
	}
	for _, piece := range pieces {
		if !utf8.ValidString(piece) {
			t.Fatalf("Pieces(%q) = %q: %q is cut", text, pieces, piece)
		}
	}
	return pieces
}
