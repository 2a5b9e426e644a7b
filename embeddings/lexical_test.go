package embeddings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// product is what the database computes: the inner product of a query and a passage.
func product(v QueryVector, p Passage) float64 {
	sum := 0.0
	for i, term := range v.Terms {
		if k, found := slices.BinarySearch(p.Terms, term); found {
			sum += float64(v.Values[i]) * float64(p.Values[k])
		}
	}
	return sum
}

// search gives, for each text, the share that the best of its passages reaches.
func search(query string, texts, names []string) []float64 {
	var lexical Lexical
	stats := Stats{Frequency: map[int32]int{}, Names: names}
	passages := make([][]Passage, len(texts))
	for i, text := range texts {
		passages[i] = lexical.Document(text)
		for _, p := range passages[i] {
			stats.Passages++
			for _, term := range p.Terms {
				stats.Frequency[term]++
			}
		}
	}
	vector := lexical.Parse(query).Weigh(stats)
	shares := make([]float64, len(texts))
	for i := range texts {
		for _, p := range passages[i] {
			shares[i] = max(shares[i], vector.Share(product(vector, p)))
		}
	}
	return shares
}

func best(shares []float64) int {
	at := 0
	for i, share := range shares {
		if share > shares[at] {
			at = i
		}
	}
	return at
}

var log = []string{
	"The boiler in the north tower was serviced by Aldous, who replaced two valves.",
	"We moved the budget review to Thursday because the figures for March are late.",
	"Hemos pintado las habitaciones del segundo piso de color azul.",
	"El proveedor de cafés especiales subió los precios un diez por ciento.",
	"I went to the harbour yesterday and bought three crates of oranges.",
	"東京の会議は来週です。",
	"Order 40817 shipped to Valparaíso; the tracking number follows.",
	"🎉🎉🎉",
	"La presentación salió bien, aunque los micrófonos fallaron dos veces.",
}

func TestSearchFindsTheText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, query string
		want        int
	}{
		{"other inflection", "who services boilers?", 0},
		{"irregular verb", "what did she buy at the harbours", 4},
		{"plural and accent in Spanish", "¿qué habitación pintaron?", 2},
		{"accent left out", "presentacion y microfono", 8},
		{"accent and case", "VALPARAISO", 6},
		{"number", "40817", 6},
		{"misspelt", "budgett reviews", 1},
		{"one language's words, the other's text", "the price of café", 3},
		{"script without spaces", "会議", 5},
		{"emoji", "🎉", 7},
		{"compatibility forms", "ｂｏｉｌｅｒ", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			shares := search(test.query, log, nil)
			if got := best(shares); got != test.want || shares[got] == 0 {
				t.Errorf("best for %q = %d (%.3f), want %d (%.3f)", test.query, got, shares[got], test.want, shares[test.want])
			}
		})
	}
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "???", "🎈", "\xff\xfe", "xylophone"} {
		if shares := search(query, log, nil); slices.Max(shares) != 0 {
			t.Errorf("search(%q) = %v, want nothing", query, shares)
		}
	}
}

func TestFunctionWordsCountOnlyAlone(t *testing.T) {
	t.Parallel()
	var lexical Lexical
	if got, want := lexical.Parse("where is the boiler").Terms(), lexical.Parse("boiler").Terms(); !slices.Equal(got, want) {
		t.Errorf("Terms with function words = %v, want %v", got, want)
	}
	if shares := search("who", log, nil); best(shares) != 0 || shares[0] == 0 {
		t.Errorf("search of a function word alone = %v, want the first text", shares)
	}
}

func TestNamesOfOwnersWeighLess(t *testing.T) {
	t.Parallel()
	texts := []string{"Aldous, how are you? Aldous, tell me.", "The valves leak.", "Nothing new.", "Well then."}
	if got := best(search("Aldous valves", texts, nil)); got != 0 {
		t.Errorf("without names best = %d, want 0", got)
	}
	if got := best(search("Aldous valves", texts, []string{"Áldous Pike"})); got != 1 {
		t.Errorf("with names best = %d, want 1", got)
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()
	query := Lexical{}.Parse("wry ox Ann")
	wry, ox, ann := wordTerm("wri"), wordTerm("ox"), wordTerm("ann")
	vector := query.Weigh(Stats{Passages: 100, Frequency: map[int32]int{wry: 50, ox: 2, ann: 50}, Names: []string{"Ann Lee"}})
	rare, common, missing := math.Log(1+98.5/2.5), math.Log(2), math.Log(1+99.5/1.5)
	want := map[int32]float64{
		wry: common, ox: rare, ann: 0.3 * common,
		pairTerm("wri", "ox"): 0.5 * missing, pairTerm("ox", "ann"): 0.5 * missing,
		gramTerm("_wry"): 0.15 * missing, gramTerm("wry_"): 0.15 * missing, gramTerm("_ox_"): 0.15 * missing,
	}
	sum := 0.0
	for term, weight := range want {
		if i, found := slices.BinarySearch(vector.Terms, term); !found || math.Abs(float64(vector.Values[i])-weight) > 1e-5 {
			t.Errorf("weight of %d = %v, %v, want %v", term, vector.Values[i], found, weight)
		}
		sum += weight
	}
	// The other stems of a word weigh as much, and its sum counts once.
	if i, found := slices.BinarySearch(vector.Terms, wordTerm("wry")); !found || math.Abs(float64(vector.Values[i])-common) > 1e-5 {
		t.Errorf("weight of another stem = %v, %v, want %v", vector.Values[i], found, common)
	}
	if math.Abs(float64(vector.Max)-sum*(saturation+1)) > 1e-3 {
		t.Errorf("max = %v, want %v", vector.Max, sum*(saturation+1))
	}
}

// Max is that of all terms, divided by the information of the words that are not empty.
func TestInformation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, query        string
		passages, frequent int // so many of the passages have each word
		want               float64
	}{
		{"function words", "the of and a", 50, 1, 0.001},
		{"function words in Spanish", "de la que el", 50, 1, 0.001},
		{"of both languages", "the que", 50, 1, 0.001},
		{"empty words", "what did she say?", 50, 1, 0.001},
		{"empty words in Spanish, an accent left out", "¿qué le dijo también ella mas?", 50, 1, 0.001},
		{"nothing", "", 50, 1, 0.001},
		{"a rare word", "ox", 2_000, 3, 1},
		{"in a small log every word is rare", "ox", 3, 3, 1},
		{"a common word", "ox", 2_000, 500, math.Pow(math.Log(1+1500.5/500.5)/math.Log(100), 2)},
		{"common words together", "old ox", 2_000, 500, 2 * math.Pow(math.Log(1+1500.5/500.5)/math.Log(100), 2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			query, stats := Lexical{}.Parse(test.query), Stats{Passages: test.passages, Frequency: map[int32]int{}}
			sum := 0.0
			for _, term := range query.terms {
				stats.Frequency[term.dims[0]] = test.frequent
				sum += float64(term.weight(false)) * idf(test.frequent, test.passages)
			}
			want := 1.0
			if sum > 0 {
				want = sum * (saturation + 1) / test.want
			}
			if got := float64(query.Weigh(stats).Max); math.Abs(got/want-1) > 1e-4 {
				t.Errorf("Max = %v, want %v", got, want)
			}
		})
	}
}

func TestWeighedIsCapped(t *testing.T) {
	t.Parallel()
	var terms []int32
	for i := range int32(MaxNonZero + 100) {
		terms = append(terms, MaxNonZero+100-i)
	}
	checkPassage(t, 0, weighed(terms, 100))
}

func TestMatched(t *testing.T) {
	t.Parallel()
	var lexical Lexical
	vector := lexical.Parse("Valves and boilers and harbours").Weigh(Stats{Passages: 9})
	got := vector.Matched(lexical.Document(log[0])[0].Terms)
	if want := []string{"boilers", "valves"}; !slices.Equal(got, want) {
		t.Errorf("Matched = %q, want %q", got, want)
	}
}

// A vector is stored, so it may not change by accident: a change takes a new Model.
func TestDocumentIsPinned(t *testing.T) {
	t.Parallel()
	p := Lexical{}.Document("The cat sat.")[0]
	const want = "{43261030:1.3253012,151495743:1.3253012,245636967:1.3253012}/536870912"
	words := Passage{Terms: p.Words(), Values: p.Values[:len(p.Words())]}
	if got := words.String(); got != want || len(p.Terms) != 11 {
		t.Errorf("words = %s of %d terms, want %s of 11", got, len(p.Terms), want)
	}
}

func TestLongDocument(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("lorem ipsum dolor ", 30_000) + "needle " + strings.Repeat("ﷺ", 20_000) + strings.Repeat("x", 100_000)
	passages := Lexical{}.Document(text)
	for i, p := range passages {
		checkPassage(t, i, p)
	}
	found := 0
	for _, p := range passages {
		if slices.Contains(p.Terms, wordTerm("needl")) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("passages with the needle = %d, want 1", found)
	}
}

func checkPassage(t interface{ Errorf(string, ...any) }, i int, p Passage) {
	if len(p.Terms) != len(p.Values) || len(p.Terms) > MaxNonZero {
		t.Errorf("passage %d has %d terms and %d values, want as many and at most %d", i, len(p.Terms), len(p.Values), MaxNonZero)
	}
	for k, term := range p.Terms {
		if term < 1 || term > Dimensions || k > 0 && term <= p.Terms[k-1] {
			t.Errorf("passage %d term %d = %d, want ascending in 1 … %d", i, k, term, Dimensions)
		}
		if v := p.Values[k]; !(v > 0 && v < saturation+1) {
			t.Errorf("passage %d value %d = %v, want in (0, %v)", i, k, v, saturation+1)
		}
	}
}

func TestSplitKeepsTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(0, 2_000).Draw(t, "times"))
		parts := split(text)
		if strings.Join(parts, "") != text {
			t.Fatalf("joined parts differ from the text")
		}
		for i, part := range parts {
			if len(part) > passageBytes || utf8.ValidString(text) && !utf8.ValidString(part) || len(parts) > 1 && part == "" {
				t.Fatalf("part %d of %d has %d bytes, valid %v", i, len(parts), len(part), utf8.ValidString(part))
			}
		}
	})
}

func TestSharesStayInRange(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom(strings.Fields(strings.Join(log, " ") + " boiler boilers valves café cafés i é"))
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		query, texts := text.Draw(t, "query"), rapid.SliceOfN(text, 1, 8).Draw(t, "texts")
		shares, again := search(query, texts, nil), search(query, texts, nil)
		for i, share := range shares {
			if !(share >= 0 && share <= 1) || math.Float64bits(share) != math.Float64bits(again[i]) {
				t.Fatalf("share %d = %v, then %v, want the same in [0, 1]", i, share, again[i])
			}
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, text := range append(slices.Clone(log), "", "\x00", "\xff\xfe", "a\u0301\u0301\u0301", "İstanbul", "ﷺ", strings.Repeat("a", 5_000)) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		passages := Lexical{}.Document(text)
		if len(passages) == 0 {
			t.Fatal("no passage")
		}
		for i, p := range passages {
			checkPassage(t, i, p)
			checkKeys(t, p)
		}
		query := Lexical{}.Parse(text)
		vector := query.Weigh(Stats{Passages: 3})
		if len(vector.Terms) > MaxNonZero || len(vector.Terms) != len(vector.Values) || !(vector.Max > 0) {
			t.Fatalf("query has %d terms, %d values, max %v", len(vector.Terms), len(vector.Values), vector.Max)
		}
	})
}

const thirtyWords = "Yesterday we walked along the old canal, talked with the lock keeper about the flood of last winter, " +
	"and found out that the northern bridge will stay closed until the repairs are done."

func BenchmarkDocument(b *testing.B) {
	for b.Loop() {
		Lexical{}.Document(thirtyWords)
	}
}

func BenchmarkDocumentSpanish(b *testing.B) {
	for b.Loop() {
		Lexical{}.Document("Ayer paseamos por el viejo canal, hablamos con el guarda de la esclusa sobre la inundación del último " +
			"invierno y nos enteramos de que el puente del norte seguirá cerrado hasta que terminen las obras.")
	}
}

func BenchmarkDocumentLong(b *testing.B) {
	text := strings.Repeat(thirtyWords+" ", 1<<20/len(thirtyWords))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Lexical{}.Document(text)
	}
}

func BenchmarkQuery(b *testing.B) {
	stats := Stats{Passages: 1_000, Frequency: map[int32]int{}}
	for b.Loop() {
		_ = Lexical{}.Parse("When did the northern bridge over the old canal close for repairs?").Weigh(stats).String()
	}
}

func BenchmarkQueryOfKnownWords(b *testing.B) {
	queries := NewQueries()
	for b.Loop() {
		queries.Parse("When did the northern bridge over the old canal close for repairs?")
	}
}

// Queries with words that are remembered are what each is alone, whoever asks at once.
func TestQueriesAsOneByOne(t *testing.T) {
	t.Parallel()
	queries, texts := NewQueries(), []string{
		"", "the room with a view of the sea", "¿La habitación con vistas al mar?", "running ran runs, the runs", "to be or not to be",
		"東京タワー and Tokyo", strings.Repeat("word salad ", 500), "a room, a sea, ran to the mar",
	}
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for range 2 {
				for _, text := range texts {
					if diff := cmp.Diff(Lexical{}.Parse(text), queries.Parse(text), cmp.AllowUnexported(Query{}, queryTerm{})); diff != "" {
						t.Errorf("Queries.Parse(%.20q) differs from Lexical's:\n%s", text, diff)
					}
				}
			}
		})
	}
	asking.Wait()
	for i := range 2 * maxQueryVocabulary {
		queries.Parse(fmt.Sprint("w", i))
	}
	if n := len(queries.known); n > maxQueryVocabulary {
		t.Errorf("%d words are remembered, want at most %d", n, maxQueryVocabulary)
	}
}

// Many texts with one vocabulary give what each gives alone, whatever was seen before.
func TestDocumentsAsOneByOne(t *testing.T) {
	t.Parallel()
	documents := NewDocuments()
	for _, text := range []string{
		"", "The room with a view of the sea", "La habitación con vistas al mar, la de siempre", "no he me has a",
		"The room with a view of the sea", "running ran runs, corriendo corre", "東京タワー and Tokyo", strings.Repeat("word salad ", 2000),
	} {
		if diff := cmp.Diff(Lexical{}.Document(text), documents.Document(text)); diff != "" {
			t.Errorf("Documents.Document(%.20q) differs from Lexical's:\n%s", text, diff)
		}
		var keys []int32
		for _, p := range documents.Document(text) {
			keys = append(keys, p.Keys...)
		}
		slices.Sort(keys)
		if diff := cmp.Diff(slices.Compact(keys), documents.Keys(text)); diff != "" {
			t.Errorf("Documents.Keys(%.20q) are not those of its passages:\n%s", text, diff)
		}
	}
}
