package window_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

func TestClash(t *testing.T) {
	t.Parallel()
	const old, new = "prefers budget hotels", "prefers luxury hotels"
	day := func(days int) time.Time { return noon.AddDate(0, 0, days) }
	for _, test := range []struct {
		name   string
		there  window.Draft
		shared string // in a segment
		write  window.Draft
		judge  window.Judge
		forced bool
		left   []string // in the window afterwards
		clash  window.Failure
	}{
		{"nobody says they clash", window.Draft{Content: old}, "", window.Draft{Content: new}, said{}, false, []string{old, new}, ""},
		{"they agree", window.Draft{Content: old}, "", window.Draft{Content: new}, said{{old, new}: window.Agrees}, false, []string{old, new}, ""},
		{"the more recent wins", window.Draft{Content: old, ObservedAt: day(-2)}, "", window.Draft{Content: new}, contradict(old, new), false, []string{new}, window.Clash},
		{"of the same moment, what is written later", window.Draft{Content: old}, "", window.Draft{Content: new}, contradict(old, new), false, []string{new}, window.Clash},
		{"what was observed earlier does not enter", window.Draft{Content: old, ObservedAt: day(-1)}, "", window.Draft{Content: new, ObservedAt: day(-2)}, contradict(old, new), false, []string{old}, window.Clash},
		{"an administrator wants it", window.Draft{Content: old}, "", window.Draft{Content: new}, contradict(old, new), true, []string{old, new}, ""},
		{"an instruction stays", window.Draft{Type: window.SystemInstruction, Content: old, ObservedAt: day(-2)}, "", window.Draft{Content: new}, contradict(old, new), false, []string{old}, window.Clash},
		{"a newer instruction wins", window.Draft{Type: window.SystemInstruction, Content: old}, "", window.Draft{Type: window.SystemInstruction, Content: new}, contradict(old, new), false, []string{new}, window.Clash},
		{"what is shared stays", window.Draft{Content: "of hotels elsewhere"}, old, window.Draft{Content: new}, contradict(old, new), false, []string{"of hotels elsewhere"}, window.Poisoning},
		{"the same slot", window.Draft{Content: "high floor", Key: "floor"}, "", window.Draft{Content: "near garden", Key: "floor"}, said{}, false, []string{"near garden"}, window.Clash},
		{"the same slot needs no judge", window.Draft{Content: "high floor", Key: "floor"}, "", window.Draft{Content: "near garden", Key: "floor"}, broken{}, false, []string{"near garden"}, window.Clash},
		{"the same slot, said again", window.Draft{Content: "high floor", Key: "floor"}, "", window.Draft{Content: "high floor", Key: "floor"}, said{}, false, []string{"high floor"}, ""},
		{"the same slot, observed earlier", window.Draft{Content: "high floor", Key: "floor"}, "", window.Draft{Content: "near garden", Key: "floor", ObservedAt: day(-1)}, said{}, false, []string{"high floor"}, window.Clash},
		{"the same slot, observed earlier, and an administrator wants it", window.Draft{Content: "high floor", Key: "floor"}, "", window.Draft{Content: "near garden", Key: "floor", ObservedAt: day(-1)}, said{}, true, []string{"high floor", "near garden"}, ""},
		{"another slot", window.Draft{Content: "high floor", Key: "floor"}, "", window.Draft{Content: "near garden", Key: "side"}, said{}, false, []string{"high floor", "near garden"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, d := range []*window.Draft{&test.there, &test.write} {
				if d.Type == "" {
					d.Type = window.UserPreference
				}
			}
			e := newEnv()
			e.Judge, e.Forced = test.judge, test.forced
			w := holding(t, 100, test.there)
			if test.shared != "" {
				w.Segments = []window.Segment{{ID: "s", Items: []window.Item{{ID: "shared", Type: window.UserPreference, Content: test.shared, Tokens: 3, ObservedAt: day(-2)}}}}
			}
			out, w := write(t, e, w, test.write)
			got := texts(w.Items)
			slices.Sort(got)
			if !slices.Equal(got, test.left) {
				t.Fatalf("the window has %q, want %q; %q", got, test.left, out.Rejected)
			}
			if len(out.Mitigations) != min(len(test.clash), 1) || test.clash != "" && out.Mitigations[0].Failure != test.clash {
				t.Fatalf("mitigations %+v, want %q", out.Mitigations, test.clash)
			}
			slots := map[string]int{}
			for _, item := range w.Items {
				if slots[item.Key]++; item.Key != "" && slots[item.Key] > 1 {
					t.Errorf("the slot %q is taken twice", item.Key)
				}
			}
			if test.clash == "" {
				return
			}
			m, in := out.Mitigations[0], slices.Contains(got, test.write.Content)
			if want := map[bool]string{true: window.ActionSuperseded, false: window.ActionRejected}[in]; m.Action != want || len(m.Items) != 1 || m.Reason == "" {
				t.Errorf("%+v, want %s of one item", m, want)
			}
			if in != (out.Rejected == "") || in != (out.Quality.Consistency == 1 && out.Quality.Accuracy >= window.MinAccuracy) {
				t.Errorf("rejected %q, %+v", out.Rejected, out.Quality)
			}
		})
	}
}

func TestOverruledPairsAreNotHeldToClash(t *testing.T) {
	t.Parallel()
	const a, b = "prefers budget hotels", "prefers luxury hotels"
	e := newEnv()
	e.Judge = contradict(a, b)
	out, _ := write(t, e, holding(t, 100, window.Draft{Type: window.UserPreference, Content: a}), window.Draft{Type: window.UserPreference, Content: b})
	if len(out.Judgements) != 1 || out.Judgements[0].By != "test" || out.Judgements[0].Item != "item0" || out.Judgements[0].Known != a || out.Judgements[0].New != b {
		t.Fatalf("what the judge said is not kept: %+v", out.Judgements)
	}
	overruled := map[string]bool{window.PairKey(out.Judgements[0].Pair): true}
	for _, order := range [][2]string{{a, b}, {b, a}} { // whichever comes first
		there, draft := holding(t, 100, window.Draft{Type: window.UserPreference, Content: order[0]}), window.Draft{Type: window.UserPreference, Content: order[1]}
		there.Overruled = overruled
		out, w := write(t, e, there, draft)
		if len(w.Items) != 2 || len(out.Mitigations) != 0 || len(out.Judgements) != 0 {
			t.Errorf("overruled, %q after %q: %+v", order[1], order[0], out)
		}
		// By what is shared as well: in each window what was overruled there, whichever it is written through.
		there.Segments = []window.Segment{{ID: "s"}}
		other := there
		other.Overruled = nil
		for through := range 2 {
			shared, err := window.Share(t.Context(), e, there.Segments[0], []window.Window{there, other}, through, draft)
			if err != nil || shared.Item == nil || len(shared.Windows[0].Gone) != 0 || len(shared.Windows[1].Gone) != 1 || len(shared.Judgements) != through {
				t.Errorf("overruled in the first of two, shared through %d: %+v, %v", through, shared, err)
			}
		}
	}
}

// Of a summary only the line leaves that is contradicted, and all of it comes back.
func TestClashWithALineOfASummary(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Judge = contradict("prefers budget hotels", "prefers luxury hotels")
	w := holding(t, 100, window.Draft{Type: window.Knowledge, Content: "likes the river\nprefers budget hotels\ntravels in May"})
	w.Items[0].SummaryOf = []string{"x", "y"}
	out, cut := write(t, e, w, window.Draft{Type: window.UserPreference, Content: "prefers luxury hotels"})
	if got := texts(cut.Items); !slices.Equal(got, []string{"prefers luxury hotels", "likes the river\ntravels in May"}) {
		t.Fatalf("the window has %q", got)
	}
	if rest := cut.Items[0]; !slices.Equal(rest.SummaryOf, []string{"x", "y"}) || rest.ID == "item0" || rest.Tokens != 6 || out.Mitigations[0].Items[0] != "item0" {
		t.Errorf("what is left: %+v; %+v", rest, out.Mitigations)
	}
	back, err := window.Restore(t.Context(), e, cut, out.Gone)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(after(cut, back.Change).Items); !slices.Equal(got, []string{"prefers luxury hotels", w.Items[0].Content}) {
		t.Errorf("restored, the window has %q", got)
	}
	// A summary of nothing else is no more.
	w.Items[0].Content = "prefers budget hotels"
	if _, cut = write(t, e, w, window.Draft{Type: window.UserPreference, Content: "prefers luxury hotels"}); len(cut.Items) != 1 {
		t.Errorf("the window has %q", texts(cut.Items))
	}
	// A summary is as old as the latest that it stands for, not as the moment of summarising.
	w.Items[0].ObservedAt = noon.Add(-3 * time.Hour)
	if out, _ = write(t, e, w, window.Draft{Type: window.UserPreference, Content: "prefers luxury hotels", ObservedAt: noon.Add(-2 * time.Hour)}); out.Item == nil {
		t.Errorf("what was observed after what a summary stands for: %q", out.Rejected)
	}
}

func TestDistraction(t *testing.T) {
	t.Parallel()
	e, w := newEnv(), window.Window{Capacity: 100_000}
	speakers := []window.ContentType{window.UserMessage, window.AssistantMessage}
	for i := range window.MaxHistory {
		var out window.Outcome
		if out, w = write(t, e, w, window.Draft{Type: speakers[i%2], Content: words(fmt.Sprint("m", i), 20)}); len(out.Mitigations) != 0 || len(w.Items) != i+1 {
			t.Fatalf("message %d: %+v", i, out)
		}
	}
	out, w := write(t, e, w, window.Draft{Type: window.UserMessage, Content: words("last", 20)})
	m := out.Mitigations[0]
	if m.Failure != window.Distraction || m.Action != window.ActionSummarised || len(m.Items) != 11 || !strings.Contains(m.Reason, "by short") || len(out.Kept) != 11 || out.Compression != nil {
		t.Fatalf("%+v", out)
	}
	history := texts(w.Items)
	if len(history) != 11 || history[10] != words("last", 20) || history[1] != words("m11", 20) {
		t.Errorf("the window has %q, want a summary, and the newest ten word for word", history)
	}
	summary := w.Items[slices.IndexFunc(w.Items, func(i window.Item) bool { return i.IsSummary() })]
	if !slices.Equal(summary.SummaryOf, m.Items) || summary.Type != window.Knowledge || summary.Tokens > 11*20/5 || summary.ObservedAt != noon {
		t.Errorf("the summary is %+v", summary)
	}
	// What the user asked last stays, however much the assistant said since.
	w = window.Window{Capacity: 100_000}
	_, w = write(t, e, w, window.Draft{Type: window.UserMessage, Content: "where is the hotel"})
	for i := range 40 {
		_, w = write(t, e, w, window.Draft{Type: window.AssistantMessage, Content: words(fmt.Sprint("step", i), 20)})
	}
	summaries := 0
	for _, item := range w.Items {
		if item.IsSummary() {
			if summaries++; slices.ContainsFunc(item.SummaryOf, func(id string) bool { return has(w.Items, id) }) {
				t.Error("a summary stands for what is there")
			}
		}
	}
	if !slices.Contains(texts(w.Items), "where is the hotel") || summaries != 1 || len(w.Items) > window.MaxHistory+1 {
		t.Errorf("the window has %d summaries and %q", summaries, texts(w.Items))
	}
}

func TestWhatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	w := holding(t, 100, window.Draft{Type: window.UserMessage, Content: words("a", 30)}, window.Draft{Type: window.AssistantMessage, Content: words("a", 29)},
		window.Draft{Type: window.UserMessage, Content: words("b", 30)})
	before := fmt.Sprint(w)
	e := newEnv()
	e.Judge = broken{}
	if _, err := window.Write(t.Context(), e, w, window.Draft{Type: window.UserMessage, Content: "a b c"}); !errors.Is(err, errBroken) {
		t.Errorf("the judge failed: %v", err)
	}
	e = newEnv()
	e.Summariser = broken{}
	if _, err := window.Write(t.Context(), e, w, window.Draft{Type: window.UserMessage, Content: "x y"}); !errors.Is(err, errBroken) {
		t.Errorf("the summariser failed: %v", err)
	}
	e = newEnv()
	e.Count = func(string) (int, error) { return 0, errBroken }
	if _, err := window.Write(t.Context(), e, w, window.Draft{Type: window.UserMessage, Content: "x y"}); !errors.Is(err, errBroken) {
		t.Errorf("the counter failed: %v", err)
	}
	if _, err := window.Write(t.Context(), newEnv(), w, window.Draft{Type: window.Goal, Content: words("b", 101)}); fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Errorf("more than the capacity: %v", err)
	}
	if _, err := window.Write(t.Context(), newEnv(), w, window.Draft{Type: window.UserMessage, Content: "x y"}); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(w); got != before {
		t.Errorf("the window has changed from %s to %s", before, got)
	}
}

// What says nothing is rejected without being counted, looked through or judged.
func TestWordlessContent(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Judge = broken{}
	e.Count = func(string) (int, error) { return 0, errBroken }
	words := e.Words
	e.Words = func(text string) []int32 {
		if strings.HasPrefix(text, "?!") {
			t.Error("words were looked for")
		}
		return words(text)
	}
	w := holding(t, 10_000)
	w.Task = "to book a hotel in Rome"
	out, err := window.Write(t.Context(), e, w, window.Draft{Type: window.Knowledge, Content: strings.Repeat("?!", 9000)})
	if err != nil || out.Item != nil || !strings.Contains(out.Rejected, "it has no words") || !strings.Contains(out.Rejected, "irrelevant") {
		t.Errorf("%q, %v; want it rejected", out.Rejected, err)
	}
}

// What does not fit by its own tokens is refused once so many are counted, and neither judged nor counted to its end.
func TestContentIsCountedUpToTheCapacity(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Judge = broken{}
	e.Count = func(string) (int, error) { return 0, errBroken }
	e.CountUpTo = func(_ string, most int) (int, error) { return most + 1, nil }
	_, err := window.Write(t.Context(), e, holding(t, 100), window.Draft{Type: window.Goal, Content: "be brief"})
	if fault.CodeOf(err) != fault.ContextWindowExceeded || !strings.Contains(err.Error(), "at least 101 tokens") {
		t.Errorf("%v, want CONTEXT_WINDOW_EXCEEDED", err)
	}
}

// Content is counted up to what may be left for it once all has made way that may: that may not which does not give way to it.
func TestContentIsCountedUpToWhatMayLeave(t *testing.T) {
	t.Parallel()
	w := holding(t, 100, window.Draft{Type: window.SystemInstruction, Content: strings.Repeat("w ", 40)}, window.Draft{Type: window.Goal, Content: strings.Repeat("w ", 20)},
		window.Draft{Type: window.Knowledge, Content: strings.Repeat("w ", 10)}, window.Draft{Type: window.UserMessage, Key: "k", Content: strings.Repeat("w ", 5)})
	shared := holding(t, 100, window.Draft{Type: window.Knowledge, Content: "one two"})
	w.Segments = []window.Segment{{ID: "s", Items: shared.Items}}
	for _, tt := range []struct {
		draft window.Draft
		most  int
	}{
		{window.Draft{Type: window.Knowledge}, 100 - 40 - 20 - 5 - 2},
		{window.Draft{Type: window.Knowledge, Key: "k"}, 100 - 40 - 20 - 2},
		{window.Draft{Type: window.Goal}, 100 - 40 - 5 - 2},
		{window.Draft{Type: window.UserMessage}, 100 - 40 - 2},
		{window.Draft{Type: window.SystemInstruction}, 100 - 5 - 2},
		{window.Draft{Type: window.Goal, ObservedAt: noon.Add(-time.Hour)}, 100 - 40 - 20 - 5 - 2},
	} {
		e := newEnv()
		e.Judge = broken{}
		e.CountUpTo = func(_ string, most int) (int, error) {
			if most != tt.most {
				t.Errorf("%+v is counted up to %d, want %d", tt.draft, most, tt.most)
			}
			return most + 1, nil
		}
		tt.draft.Content = "be brief"
		if _, err := window.Write(t.Context(), e, w, tt.draft); fault.CodeOf(err) != fault.ContextWindowExceeded {
			t.Errorf("%+v: %v, want CONTEXT_WINDOW_EXCEEDED", tt.draft, err)
		}
	}
}

// What cannot fit, whatever its words are, is refused before anything is done about it.
func TestLongContent(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Judge = broken{}
	e.Count = func(string) (int, error) { return 0, errBroken }
	e.Words = func(string) []int32 { t.Error("words were looked for"); return nil }
	const capacity = 100
	large, small := holding(t, 10_000), holding(t, capacity)
	for _, encoding := range []string{token.DefaultEncoding, "cl100k_base", "p50k_base"} {
		small.Encoding = encoding
		d := window.Draft{Type: window.Decision, Content: strings.Repeat(" ", token.Longest*capacity) + "x"}
		for name, write := range map[string]func() error{
			"write": func() error { _, err := window.Write(t.Context(), e, small, d); return err },
			"share": func() error {
				_, err := window.Share(t.Context(), e, window.Segment{}, []window.Window{small}, 0, d)
				return err
			},
			"share with another": func() error {
				_, err := window.Share(t.Context(), e, window.Segment{}, []window.Window{large, small}, 0, d)
				if err != nil && strings.Contains(err.Error(), "100") {
					t.Errorf("%v: says what another window is like", err)
				}
				return err
			},
		} {
			if err := write(); fault.CodeOf(err) != fault.ContextWindowExceeded {
				t.Errorf("%s, %s: %v, want CONTEXT_WINDOW_EXCEEDED", name, encoding, err)
			}
		}
		d.Content = strings.Repeat(" of", capacity)
		if _, err := window.Write(t.Context(), e, small, d); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want it to be counted: it may fit", encoding, err)
		}
	}
}
