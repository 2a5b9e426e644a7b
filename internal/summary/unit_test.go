package summary

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/window"
)

func TestCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*unitBytes)
	for _, test := range []struct {
		name, text string
		budget     int
		want       []string
	}{
		{"sentences", "It rains. Does it? Yes!", 100, []string{"It rains.", "Does it?", "Yes!"}},
		{"lines and white space", "  It\trains\n\nall   day ", 100, []string{"It rains", "all day"}},
		{"points in words", "Dr. Paz paid $3.50 at 8.15 a.m. today. She left.", 100, []string{"Dr. Paz paid $3.50 at 8.15 a.m. today.", "She left."}},
		{"quotes are closed", "She said “no.” Then (yes.) it was.", 100, []string{"She said “no.”", "Then (yes.)", "it was."}},
		{"ellipsis", "Well... maybe.", 100, []string{"Well...", "maybe."}},
		{"items", "1. Book it.\n12. Pay 3. Then go.", 100, []string{"1. Book it.", "12. Pay 3.", "Then go."}},
		{"no spaces", "会議は三月です。東京で会います。", 100, []string{"会議は三月です。", "東京で会います。"}},
		{"nothing said", "--- … \n***\n🎉", 100, []string{"🎉"}},
		{
			"clauses of what is long for the budget", "We went to the old harbour last Friday, and everybody there was glad to see us.", 20,
			[]string{"We went to the old harbour last Friday,", "and everybody there was glad to see us."},
		},
		{"not too short a clause", "Yes, everybody that was there was glad to see us at last", 20, []string{"Yes, everybody that was there was glad to see us at last"}},
		{"no place to cut", long, 1000, []string{long[:unitBytes], long[:unitBytes]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, u := range cutAll([]window.Part{{Content: test.text}}, test.budget) {
				got = append(got, u.text)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("cut(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// Nothing but white space, and lines of marks alone, gets lost between units.
func TestCutKeepsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zé漢.,;:!?-]{0,12}[a-zé漢]`)
		text := strings.Join(rapid.SliceOfN(word, 0, 200).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n", ". ", "  ", ""}).Draw(t, "between"))
		var all strings.Builder
		for i, u := range cutAll([]window.Part{{Content: text}}, rapid.IntRange(0, 200).Draw(t, "budget")) {
			if u.number != i || len(u.text) > unitBytes {
				t.Fatalf("unit %d has number %d and %d bytes", i, u.number, len(u.text))
			}
			all.WriteString(u.text)
		}
		remove := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := remove(all.String()), remove(text); got != want && !strings.HasPrefix(want, got) {
			t.Fatalf("units = %q, want %q", got, want)
		}
	})
}

func TestUnitsAreNotTooMany(t *testing.T) {
	t.Parallel()
	units := cutAll([]window.Part{{Content: strings.Repeat("a\n", 3*maxUnits)}, {Content: "b"}}, 100)
	if n := len(units); n > maxUnits+2 || units[0].text != "a a a a" || units[n-1].text != "b" || units[n-2].number != n-2 {
		t.Errorf("%d units, the first %q, the last %q, want at most %d", n, units[0].text, units[n-1].text, maxUnits)
	}
}

func TestFactOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		word  string
		first bool
		want  fact
	}{
		{"42", false, number},
		{"$1,200.50", false, number},
		{"12th", true, number},
		{"B-17", false, number},
		{"seven", false, number},
		{"Quince", true, number},
		{"mañana", false, number},
		{"manana", false, number},
		{"Monday", false, number},
		{"½", false, number},
		{"Anna", false, name},
		{"Óscar", false, name},
		{"Иван", false, name},
		{"Ibsen", false, name},
		{"The", true, noFact},
		{"NASA", true, name},
		{"iPhone", true, name},
		{"ada@example.org", true, name},
		{"https://example.org/a", false, name},
		{"go.mod", false, name},
		{"I", false, noFact},
		{"I'm", false, noFact},
		{"I’ve", false, noFact},
		{"harbour", false, noFact},
		{"not", false, noFact},
		{"Never", false, noFact},
		{"", false, noFact},
	} {
		if got := factOf(test.word, test.first); got != test.want {
			t.Errorf("factOf(%q, %v) = %v, want %v", test.word, test.first, got, test.want)
		}
	}
	for word, want := range map[string]string{"(Anna),": "Anna", "$200.": "$200", "-5°": "-5°", "“no”": "no", "C++,": "C++", "…": "", "#7!": "#7"} {
		if got := bare(word); got != want {
			t.Errorf("bare(%q) = %q, want %q", word, got, want)
		}
	}
}

// goesOn says that somebody waits.
func goesOn() error { return nil }

func cutAll(parts []window.Part, budget int) []unit {
	units, _ := cut(parts, budget, goesOn) // fails only when it is over
	return units
}
