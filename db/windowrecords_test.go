package db_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/window"
)

func addRecords(t testing.TB, store *db.DB, n int, verified bool, content func(i int) string) {
	t.Helper()
	for first := 0; first < n; first += 1000 {
		var drafts []knowledge.Draft
		for i := first; i < min(n, first+1000); i++ {
			drafts = append(drafts, knowledge.Draft{Kind: chain.RefSecretary, Book: "b", Title: fmt.Sprint("Note ", i), Content: content(i), Verified: verified})
		}
		if _, err := store.AddRecords(t.Context(), drafts); err != nil {
			t.Fatal(err)
		}
	}
}

// wantPoisoned writes what a record contradicts.
func wantPoisoned(t testing.TB, store *db.DB, id, what, content string) {
	t.Helper()
	written, err := store.WriteContext(t.Context(), id, window.Draft{Type: window.Knowledge, Content: content}, nil, agent)
	if err != nil || !strings.Contains(written.Rejected, "poisoning") {
		t.Errorf("%s: rejected is %q, %v", what, written.Rejected, err)
	}
}

const (
	inParis  = "The Eiffel Tower is in Paris."
	inLondon = "The Eiffel Tower is in London."
)

// Whatever else speaks of the same things, or is said beside it, what a verified record contradicts does not enter.
func TestWindowFindsTheRecord(t *testing.T) {
	t.Parallel()
	t.Run("among unverified ones", func(t *testing.T) {
		store, _ := open(t)
		w := newWindow(t, store, 8192, "")
		addRecord(t, store, "Eiffel", inParis)
		addRecords(t, store, 200, false, func(i int) string {
			return fmt.Sprintf("Somebody said that the Eiffel Tower could be seen from London in year %d.", 1900+i)
		})
		wantPoisoned(t, store, w.ID, "200 unverified records", inLondon)
	})
	t.Run("among verified ones", func(t *testing.T) {
		store, _ := open(t)
		w := newWindow(t, store, 8192, "")
		addRecord(t, store, "Eiffel", inParis)
		addRecords(t, store, 14, true, func(i int) string {
			return fmt.Sprintf("The Tower of London and the Eiffel Tower were compared by visitor number %d.", 1900+i)
		})
		wantPoisoned(t, store, w.ID, "14 verified records", inLondon)
		var long strings.Builder
		for i := range 400 {
			fmt.Fprintf(&long, "Subject%dword walked near place%dname. ", i*37%1000, i*91%1000)
		}
		wantPoisoned(t, store, w.ID, "first of 401 sentences", inLondon+" "+long.String())
		neutral := func(n int) string { // of some 130 bytes each
			return strings.Repeat("Somebody walked along a river for a while and looked at the boats that lay there, as people do on such days in spring or summer. ", n)
		}
		wantPoisoned(t, store, w.ID, "in the middle of 21 kB", neutral(60)+inLondon+" "+neutral(100))
	})
	t.Run("by its title", func(t *testing.T) {
		store, _ := open(t)
		w := newWindow(t, store, 8192, "")
		for title, content := range map[string]string{
			"Eiffel Tower": "Located in Paris, France", "Colosseum": "It is in Rome.", "Hotel Ritz": "Costs 200 euros per night.", "Torre de Hércules": "Está en La Coruña.",
		} {
			addRecord(t, store, title, content)
		}
		for _, content := range []string{inLondon, "The Colosseum is in Madrid.", "The Hotel Ritz costs 300 euros per night.", "La Torre de Hércules está en Barcelona."} {
			wantPoisoned(t, store, w.ID, fmt.Sprintf("%q", content), content)
		}
	})
}

// Of words that thousands have, the record that has two is found.
func TestWindowFindsTheRecordAmongMany(t *testing.T) {
	store, _ := open(t)
	addRecords(t, store, 5000, true, func(i int) string {
		return fmt.Sprintf("The hotel number %d of the city has a garden and a price of %d euros.", i, i%1000)
	})
	addRecords(t, store, 1000, true, func(i int) string { return fmt.Sprintf("Marta walked past the museum in note %d.", i) })
	addRecords(t, store, 1000, true, func(i int) string { return fmt.Sprintf("Somebody called Ferrer went to the museum in note %d.", i) })
	addRecord(t, store, "Person", "Marta Ferrer is in Madrid.")
	addRecords(t, store, 1000, true, func(i int) string {
		return fmt.Sprintf("Ferrer asked for a hotel with a garden, a letter of %d says.", i)
	})
	w := newWindow(t, store, 8192, "")
	wantPoisoned(t, store, w.ID, "two common names", "Marta Ferrer is in Lisbon.")
}

// What is found is what scores best, however many have each word.
func TestFindRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		passages := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.Int32Range(1, 12), 0, 6, rapid.ID), 1, 60).Draw(t, "passages")
		words := rapid.SliceOfNDistinct(rapid.Int32Range(1, 14), 0, 8, rapid.ID).Draw(t, "words")
		frequency := map[int32]int{}
		for _, p := range passages {
			for _, key := range p {
				frequency[key]++
			}
		}
		score := func(id int64) (sum float64) {
			for _, key := range passages[id-1] {
				if slices.Contains(words, key) {
					sum += math.Log1p(float64(len(passages)) / float64(frequency[key]))
				}
			}
			return sum
		}
		var want []int64
		for i := range passages {
			if score(int64(i+1)) > 0 {
				want = append(want, int64(i+1))
			}
		}
		found := db.FindRecords(passages, words, 5)
		if len(found) != min(len(want), 5) {
			t.Fatalf("found %d, want %d", len(found), min(len(want), 5))
		}
		for i, id := range found {
			better := 0
			for _, other := range want {
				if score(other) > score(id)+1e-5 {
					better++
				}
			}
			if better > i {
				t.Errorf("place %d of %v has %d that score better", i, found, better)
			}
		}
	})
	var passages [][]int32 // two words that a hundred thousand have each, and one passage both, in the middle
	for i := range 200_000 {
		passages = append(passages, []int32{int32(i%2 + 1)})
	}
	passages[77_777] = []int32{1, 2}
	if found := db.FindRecords(passages, []int32{1, 2}, 3); len(found) != 3 || found[0] != 77_778 {
		t.Errorf("found %v, want 77778 first", found)
	}
}
