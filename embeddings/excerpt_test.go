package embeddings

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"all of it", 9, "all of it"},
		{"one two three four five six seven eight", 30, "one two\n…\n seven eight"},
		{strings.Repeat("x", 100), 25, strings.Repeat("x", 8) + "\n…\n" + strings.Repeat("x", 12)},
		{strings.Repeat("é", 50), 25, strings.Repeat("é", 4) + "\n…\n" + strings.Repeat("é", 6)},
		{strings.Repeat("é", 50), 26, strings.Repeat("é", 4) + "\n…\n" + strings.Repeat("é", 6)},
		{"too long for any", 3, "\n…\n"},
	} {
		if got := Excerpt(test.text, test.most); got != test.want {
			t.Errorf("Excerpt(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(5, 60).Draw(t, "most")
		got := Excerpt(text, most)
		first, last, cut := strings.Cut(got, "\n…\n")
		if !utf8.ValidString(got) || len(got) > most || len(text) <= most && got != text ||
			cut && len(text) > most && (!strings.HasPrefix(text, first) || !strings.HasSuffix(text, last)) {
			t.Fatalf("Excerpt(%q, %d) = %q", text, most, got)
		}
	})
}

// prompt gives so many bytes of what an agent may be told, then a question.
func prompt(bytes int, question string) string {
	var b strings.Builder
	b.WriteString("You are a careful assistant. Follow these rules.\n")
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "Rule %d: module gamma%d forwards parameter delta%d unless validation epsilon%d rejects it.\n", i, i, 3*i, 7*i)
	}
	return b.String() + question
}

// Of a long prompt the beginning and the end count, by its bytes or by its words.
func TestLongQueries(t *testing.T) {
	t.Parallel()
	const question = "Which boiler valves did Aldous replace in the tower?"
	for bytes, cut := range map[int]bool{0: false, 1_000: false, 3_900: true, 60_000: true} {
		query := prompt(bytes, question)
		if got := (Lexical{}).Parse(query).Cut(); got != cut {
			t.Errorf("Parse of %d bytes has Cut() = %v, want %v", len(query), got, cut)
		}
		if got := best(search(query, log, nil)); got != 0 {
			t.Errorf("the best for %d bytes that end with %q is %q", len(query), question, log[got])
		}
		turned := question + "\n" + prompt(bytes, "")
		if got := best(search(turned, log, nil)); got != 0 {
			t.Errorf("the best for %d bytes that begin with %q is %q", len(turned), question, log[got])
		}
	}
	if n := len((Lexical{}).Parse(strings.Repeat("gamma delta ", 5_000)).Terms()); n > 50 {
		t.Errorf("two words, again and again, give %d terms", n)
	}
}
