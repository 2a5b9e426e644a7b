package summary_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/summary"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

func lexical() func(text string) summary.Vector {
	documents := embeddings.NewDocuments()
	return func(text string) summary.Vector {
		p := documents.Document(text)[0]
		return summary.Vector{Terms: p.Terms, Values: p.Values, Keys: p.Keys}
	}
}

func counter(t testing.TB) token.Counter {
	t.Helper()
	count, err := token.Default()
	if err != nil {
		t.Fatal(err)
	}
	return count
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// summarise makes a summary twice, and checks what holds of any.
func summarise(t fataler, count token.Counter, parts []window.Part, budget int) string {
	t.Helper()
	s := summary.New(lexical, count)
	got, err := s.Summarise(context.Background(), parts, budget)
	if err != nil {
		t.Fatalf("Summarise = %v", err)
	}
	again, err := s.Summarise(context.Background(), parts, budget)
	if err != nil || got != again {
		t.Fatalf("Summarise = %+v, then %+v (%v), want the same", got, again, err)
	}
	tokens, err := count(got.Text)
	switch {
	case err != nil:
		t.Fatalf("count = %v", err)
	case tokens != got.Tokens || tokens > max(budget, 0):
		t.Fatalf("Summarise = %q of %d tokens, said to be %d, want at most %d", got.Text, tokens, got.Tokens, budget)
	case !utf8.ValidString(got.Text):
		t.Fatalf("Summarise = %q, want valid UTF-8", got.Text)
	case got.By != window.ExtractiveName || got.Fallback != "":
		t.Fatalf("Summarise is by %q, %q, want the built-in one's", got.By, got.Fallback)
	}
	return got.Text
}

var speakers = []string{"user", "assistant", "tool", ""}

var plain = strings.Fields("we talked about the garden, and then walked to a lake near town because it was warm but not sunny; " +
	"sabemos que el proveedor llegó tarde y compramos pan. Great! Really? yes: boats - sails")

// anything is a text of words, of sentences or of what nobody says.
func anything() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := rapid.OneOf(
			rapid.String(),
			rapid.Custom(func(t *rapid.T) string {
				return strings.Join(rapid.SliceOfN(rapid.SampledFrom(plain), 0, 60).Draw(t, "words"), " ")
			}),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }),
			rapid.SampledFrom([]string{
				"a", "-", "\n", "\n- ", ". ", "…", "漢字", "会議は3月5日です。", "🎉", "\x00", "\x7f", "\u200d", "�", "12", "Ann ",
				"a.b", "{\"a\":1},", "<|endoftext|>", "ﷺ", "user: ", "ЖЁ", "مرحبا ",
			}),
		).Draw(t, "text")
		return strings.Repeat(text, rapid.SampledFrom([]int{1, 1, 1, 2, 30, 400}).Draw(t, "times"))
	})
}

func anyPart() *rapid.Generator[window.Part] {
	return rapid.Custom(func(t *rapid.T) window.Part {
		return window.Part{
			Speaker: rapid.OneOf(rapid.SampledFrom(speakers), rapid.String()).Draw(t, "speaker"),
			Content: anything().Draw(t, "content"),
			Vital:   rapid.IntRange(0, 3).Draw(t, "vital") == 0,
		}
	})
}

func TestBudgetIsNeverExceeded(t *testing.T) {
	t.Parallel()
	count := counter(t)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(anyPart(), 0, 12).Draw(t, "parts")
		summarise(t, count, parts, rapid.OneOf(rapid.IntRange(-1, 12), rapid.IntRange(0, 500)).Draw(t, "budget"))
	})
}

func TestAMebibyte(t *testing.T) {
	t.Parallel()
	count := counter(t)
	for _, test := range []struct {
		text  string
		vital bool
	}{
		{"a", false}, {"漢", true}, {"a. ", false}, {"9 ", true}, {"\xff", true}, {"{\"key\":\"value\"},", false},
		{"Anna paid 300 dollars on Friday, and left. ", true}, {"Anna paid 300 dollars on Friday, and left. ", false},
	} {
		t.Run(fmt.Sprintf("%q, vital %v", test.text, test.vital), func(t *testing.T) {
			t.Parallel()
			content := strings.Repeat(test.text, 1<<20/len(test.text))
			summarise(t, count, []window.Part{{Content: content, Vital: test.vital}, {Speaker: "user", Content: "The harbour is closed."}}, 200)
		})
	}
}

// The facts of these are known without looking for them.
var (
	names   = []string{"Anna", "Sagrada", "Familia", "Lisbon", "Kovač", "Óscar", "NASA", "eBay", "Zürich", "O'Neill", "Ibarra-Paz"}
	numbers = []string{"42", "$1,200.50", "3.5%", "12:30", "A-17", "90", "31st", "7", "€80", "+34", "two", "quince", "million"}
	dates   = []string{"2026-05-08", "5/6/2027", "Monday", "octubre", "tomorrow", "mañana", "8th", "1999"}
	around  = strings.Fields("we agreed that the whole party would rather stay near those old streets because of a very long and quite " +
		"tiring journey with everything they brought along from home and because it seemed sensible to all that were there")
)

// vitalPart gives a part in a speaker's own words, with the facts among them.
func vitalPart() *rapid.Generator[[2]string] {
	return rapid.Custom(func(t *rapid.T) [2]string {
		text, held := "So it was said", []string{}
		for range rapid.IntRange(0, 4).Draw(t, "facts") {
			fact := rapid.SampledFrom(append(append(append([]string{}, names...), numbers...), dates...)).Draw(t, "fact")
			held = append(held, fact)
			from := rapid.IntRange(0, len(around)-1).Draw(t, "from")
			to := rapid.IntRange(from, len(around)).Draw(t, "to")
			text += " " + strings.Join(around[from:to], " ") + rapid.SampledFrom([]string{" %s", ", %s,", " (%s)", " %s.", ": %s;", " “%s”"}).Draw(t, "in")
			text = strings.Replace(text, "%s", fact, 1)
		}
		return [2]string{text + rapid.SampledFrom([]string{".", "", "!", " and so on."}).Draw(t, "end"), strings.Join(held, " ")}
	})
}

func TestFactsOfVitalPartsSurvive(t *testing.T) {
	t.Parallel()
	count := counter(t)
	rapid.Check(t, func(t *rapid.T) {
		var parts []window.Part
		var held []string
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "other") {
				parts = append(parts, window.Part{Speaker: rapid.SampledFrom(speakers).Draw(t, "speaker"), Content: anything().Draw(t, "content")})
			}
			v := vitalPart().Draw(t, "vital")
			parts = append(parts, window.Part{Speaker: rapid.SampledFrom(speakers).Draw(t, "speaker"), Content: v[0], Vital: true})
			held = append(held, strings.Fields(v[1])...)
		}
		least, err := count(strings.Join(held, " "))
		if err != nil {
			t.Fatalf("count = %v", err)
		}
		budget := least + rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 40), rapid.IntRange(0, 400)).Draw(t, "room")
		got := summarise(t, count, parts, budget)
		for _, fact := range held {
			if !strings.Contains(got, fact) {
				t.Fatalf("summary of %d tokens, %d for the facts alone, lost %q:\n%s", budget, least, fact, got)
			}
		}
	})
}

func TestSummarise(t *testing.T) {
	t.Parallel()
	count := counter(t)
	said := []window.Part{
		{Speaker: "user", Content: "Hi there! How are you doing?"},
		{Speaker: "assistant", Content: "Fine, thanks. What are you planning?"},
		{Speaker: "user", Content: "We're going to Lisbon in May, five of us, to see my sister Cleo. It's going to be great!"},
		{Speaker: "assistant", Content: "Lovely. Lisbon is beautiful in May. The weather is usually nice."},
		{Speaker: "user", Content: "We prefer a hotel near the river. Not above $200 a night, please.", Vital: true},
		{Speaker: "assistant", Content: "Hotel Tejo has rooms for $180. The river is right in front of it, and breakfast is included."},
		{Speaker: "user", Content: "Okay, great, thanks!"},
	}
	for _, test := range []struct {
		name   string
		parts  []window.Part
		budget int
		want   string
	}{
		{"nothing", nil, 100, ""},
		{"no budget", said, 0, ""},
		{"below it", said, -1, ""},
		{"white space", []window.Part{{Content: " \n\t"}}, 10, ""},
		{"less than a clause", []window.Part{{Content: "The locksmith replaces every cylinder of the northern gate."}}, 3, "locksmith replaces"},
		{"less than a word, without spaces", []window.Part{{Content: "会議は来週の月曜日です"}}, 4, "会議は来"},
		{"clauses", []window.Part{{Content: "We went up to the old harbour, and Anna paid 300 dollars there, so that everyone was glad."}}, 12, "and Anna paid 300 dollars there"},
		{"one speaker has no name", []window.Part{{Speaker: "user", Content: "The gate is locked."}}, 20, "The gate is locked."},
		{
			"vital and the rest", said, 45,
			"User: five of us, to see my sister Cleo. We prefer a hotel near the river. Not above $200 a night, please.\n" +
				"Assistant: Hotel Tejo has rooms for $180.",
		},
		{"vital comes down to what it is about", said, 10, "prefer hotel near river Not $200 night please"},
		{"and to facts", said, 3, "$200 night"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := summarise(t, count, test.parts, test.budget); got != test.want {
				t.Errorf("Summarise = %q, want %q", got, test.want)
			}
		})
	}
}

// What a summary says was said, word for word and in that order.
func TestOnlyWhatWasSaid(t *testing.T) {
	t.Parallel()
	count := counter(t)
	words := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n.,;:-!?", r) })
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) window.Part {
			return window.Part{
				Content: strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(plain, "Anna", "42.")), 0, 60).Draw(t, "words"), " "),
				Vital:   rapid.IntRange(0, 5).Draw(t, "vital") == 0,
			}
		}), 0, 10).Draw(t, "parts")
		var said []string
		for _, p := range parts {
			said = append(said, words(p.Content)...)
		}
		got, at := summarise(t, count, parts, rapid.IntRange(0, 200).Draw(t, "budget")), 0
		for _, w := range words(got) {
			for at < len(said) && said[at] != w {
				at++
			}
			if at++; at > len(said) {
				t.Fatalf("summary = %q, where %q was not said, or later", got, w)
			}
		}
	})
}

func TestWhatFitsIsKeptWhole(t *testing.T) {
	t.Parallel()
	parts := []window.Part{
		{Speaker: "user", Content: "Hi! Is the pool open?"}, {Speaker: "assistant", Content: "Yes. Until ten."},
		{Speaker: "assistant", Content: "- Bring a towel\n- No glass", Vital: true}, {Speaker: "tool", Content: `{"open": true}`},
	}
	const want = "User: Hi! Is the pool open?\nAssistant: Yes. Until ten. Bring a towel - No glass\nTool: {\"open\": true}"
	if got := summarise(t, counter(t), parts, 60); got != want {
		t.Errorf("Summarise = %q, want %q", got, want)
	}
}

func TestOthersAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, parts := summary.New(lexical, counter(t)), history(2_000, 0)
	want, err := s.Summarise(t.Context(), parts, 200)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got, err := s.Summarise(t.Context(), parts, 200); err != nil || got != want {
				t.Errorf("Summarise = %+v (%v), want %+v", got, err, want)
			}
		})
	}
	group.Wait()
}

func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	var parts []window.Part
	for range 10 {
		parts = append(parts, window.Part{Content: "The harbour of Vigo opens on the ninth."})
	}
	parts = append(parts, window.Part{Content: "Whoever wants to sail needs a licence from the office."})
	got := summarise(t, counter(t), parts, 25)
	if strings.Count(got, "Vigo") != 1 || !strings.Contains(got, "licence") {
		t.Errorf("Summarise = %q, want either once", got)
	}
}

func TestAnEndedContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := summary.New(lexical, counter(t)).Summarise(ctx, []window.Part{{Content: "The gate is locked."}}, 20); err == nil {
		t.Errorf("Summarise = %+v, want an error", got)
	}
}

// watch is a context that counts how often somebody looks whether it has ended, which it has after so many looks, and notes the
// longest time between two.
type watch struct {
	context.Context
	looks, ends int
	last        time.Time
	longest     time.Duration
}

func (w *watch) Err() error {
	now := time.Now()
	w.longest, w.last = max(w.longest, now.Sub(w.last)), now
	if w.looks++; w.looks > w.ends {
		return context.Canceled
	}
	return nil
}

// However much there is to summarise, it is looked at often whether somebody still waits for it, and all ends at whichever look
// says no.
func TestContextIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, vital := range map[string]int{"nothing is vital": 1 << 30, "some is": 25, "half is": 2} {
		parts := history(100_000, 0)
		for i := range parts {
			parts[i].Vital = i%vital == vital-1
		}
		s := summary.New(lexical, counter(t))
		all := &watch{Context: t.Context(), ends: 1 << 30}
		if _, err := s.Summarise(all, parts, 400); err != nil {
			t.Fatal(err)
		}
		if all.looks < len(parts)/10 {
			t.Errorf("%s: the context is looked at %d times for %d parts", name, all.looks, len(parts))
		}
		for _, ends := range []int{0, 1, all.looks / 4, all.looks / 2, all.looks - 1} {
			w := &watch{Context: t.Context(), ends: ends}
			if _, err := s.Summarise(w, parts, 400); !errors.Is(err, context.Canceled) || w.looks > ends+2 {
				t.Errorf("%s: ended at look %d of %d: %v, after %d looks", name, ends+1, all.looks, err, w.looks)
			}
		}
	}
}

// history is about so many tokens of talk that begins with a number.
func history(tokens, first int) []window.Part {
	var parts []window.Part
	for i := first; (i-first)*40 < tokens; i++ {
		parts = append(parts, window.Part{Speaker: speakers[i%2], Vital: i%25 == 0, Content: fmt.Sprintf(
			"Yesterday %s told us %d things about the %s, and none of them was what we had expected. "+
				"We will come back to %s on the %dth because the %s has to be looked at again.",
			names[i*7%len(names)], i, around[i*5%len(around)], names[i*3%len(names)], 1+i%28, around[i*11%len(around)])})
	}
	return parts
}

func BenchmarkSummarise(b *testing.B) {
	count := counter(b)
	for _, tokens := range []int{8_000, 100_000} {
		b.Run(fmt.Sprint(tokens), func(b *testing.B) {
			s, first, longest := summary.New(lexical, count), 0, time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				first += tokens // counts of texts are remembered, and these are new
				parts := history(tokens, first)
				b.StartTimer()
				w := &watch{Context: context.Background(), ends: 1 << 30, last: time.Now()}
				if _, err := s.Summarise(w, parts, tokens/10); err != nil {
					b.Fatal(err)
				}
				longest = max(longest, w.longest)
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-without-a-look(longest)")
		})
	}
}
