package embeddings

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestKeysAreTellingWords(t *testing.T) {
	t.Parallel()
	term := func(stems ...string) []int32 {
		var terms []int32
		for _, stem := range stems {
			terms = append(terms, wordTerm(stem))
		}
		slices.Sort(terms)
		return terms
	}
	for _, test := range []struct {
		name, text string
		want       []int32
	}{
		{"function words", "The boiler is in the north tower", term("boiler", "north", "tower")},
		{"words that any message may have", "she said something about valves, many valves", term("valv")},
		{"numbers", "order 40817", term("order", "40817")},
		{"script without spaces", "会議", term("会", "議", "会議")},
		{"nothing", "what did she say?", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := (Lexical{}).Document(test.text)[0].Keys; !slices.Equal(got, test.want) {
				t.Errorf("Keys(%q) = %v, want %v", test.text, got, test.want)
			}
		})
	}
}

func TestKeysOfQueries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		query string
		want  [][]int32
	}{
		{"who serviced the boilers?", [][]int32{{wordTerm("servic")}, {wordTerm("boiler")}}},
		{"会議", [][]int32{{wordTerm("会議")}}},
		{"猫?", [][]int32{{wordTerm("猫")}}},
		{"the of and a", nil},
		{"", nil},
	} {
		got := (Lexical{}).Parse(test.query).Keys()
		if len(got) != len(test.want) {
			t.Errorf("Keys(%q) = %v, want %d groups", test.query, got, len(test.want))
			continue
		}
		for i, group := range got {
			if !slices.Contains(group, test.want[i][0]) {
				t.Errorf("group %d of Keys(%q) = %v, want %v among them", i, test.query, group, test.want[i][0])
			}
		}
	}
}

// A passage that has one of a query's words has one of its keys.
func TestKeysFindWords(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom(strings.Fields(strings.Join(log, " ")))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 1, 30).Draw(t, "text"), " ")
		passage := Lexical{}.Document(text)[0]
		checkKeys(t, passage)
		for _, group := range (Lexical{}).Parse(text).Keys() {
			if !slices.ContainsFunc(group, func(key int32) bool { return slices.Contains(passage.Keys, key) }) {
				t.Fatalf("none of the keys %v of %q is one of its passage's, %v", group, text, passage.Keys)
			}
		}
	})
}

func checkKeys(t interface{ Errorf(string, ...any) }, p Passage) {
	unique := slices.Compact(slices.Sorted(slices.Values(p.Keys)))
	if diff := cmp.Diff(unique, p.Keys); diff != "" && len(p.Keys) > 0 {
		t.Errorf("keys are not ascending and unique:\n%s", diff)
	}
	for _, key := range p.Keys {
		if _, found := slices.BinarySearch(p.Words(), key); !found {
			t.Errorf("key %d is none of the passage's words", key)
		}
	}
	if len(p.Keys) > MaxKeys {
		t.Errorf("keys = %d, want at most %d", len(p.Keys), MaxKeys)
	}
}
