package window_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// part is so many tokens of a type.
func part(kind window.ContentType, name string, n int) window.Draft {
	return window.Draft{Type: kind, Content: words(name, n)}
}

func talk(n, tokens int) (out []window.Draft) {
	for i := range n {
		out = append(out, part([]window.ContentType{window.UserMessage, window.AssistantMessage}[i%2], string(rune('a'+i)), tokens))
	}
	return out
}

// left gives the names of what is there, in the order of writing; a summary is "sum".
func left(w window.Window) string {
	var names []string
	for _, item := range w.Items {
		name, _, _ := strings.Cut(item.Content, " ")
		if item.IsSummary() {
			name = "sum"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestCompress(t *testing.T) {
	t.Parallel()
	const trim, sum, archive = window.TrimStep, window.SummariseStep, window.ArchiveStep
	for _, test := range []struct {
		name   string
		there  []window.Draft
		target float64
		left   string
		most   int // tokens
		steps  []window.Strategy
	}{
		{"there is room", talk(4, 100), 0.6, "a b c d", 400, nil},
		{"an empty window", nil, 0, "", 0, nil},
		{"the oldest leave, a summary comes", talk(12, 70), 0.75, "c d e f g h i j k l sum", 750, []window.Strategy{trim, sum}},
		{"no more than has to", talk(19, 50), 0.8, "e f g h i j k l m n o p q r s sum", 800, []window.Strategy{trim, sum}},
		{"even of the newest ten", talk(10, 90), 0.6, "e f g h i j sum", 600, []window.Strategy{trim, sum}},
		{"down to two", talk(10, 90), 0.2, "i j sum", 200, []window.Strategy{trim, sum}},
		{"the newest two stay", talk(10, 90), 0.1, "i j sum", 280, []window.Strategy{trim, sum}},
		{"a summary even where what stays is too much", append([]window.Draft{part(window.Goal, "g", 700)}, talk(4, 50)...), 0.6, "g c d sum", 899, []window.Strategy{trim, sum}},
		{"tools rather than the newest messages", append([]window.Draft{part(window.ToolResult, "t", 600)}, talk(8, 30)...), 0.6, "a b c d e f g h", 600, []window.Strategy{archive}},
		{"tools before the newest messages, knowledge after tools", append([]window.Draft{part(window.Knowledge, "k", 100), part(window.ToolResult, "t", 100), part(window.ToolResult, "u", 100)}, talk(5, 50)...), 0.4, "k a b c d e", 400, []window.Strategy{archive}},
		{"knowledge rather than the newest messages, if that is enough", append([]window.Draft{part(window.Knowledge, "k", 600)}, talk(8, 30)...), 0.6, "a b c d e f g h", 600, []window.Strategy{archive}},
		{"not a little knowledge, where that is not enough", append([]window.Draft{part(window.Knowledge, "k", 20)}, talk(10, 90)...), 0.6, "k e f g h i j sum", 660, []window.Strategy{trim, sum}},
		{"knowledge, too", append([]window.Draft{part(window.Knowledge, "k", 100), part(window.ToolResult, "t", 100)}, talk(2, 50)...), 0.1, "a b", 100, []window.Strategy{archive}},
		{"the oldest tool result first", []window.Draft{part(window.ToolResult, "t", 100), part(window.ToolResult, "u", 100)}, 0.1, "u", 100, []window.Strategy{archive}},
		{"what is persistent stays", []window.Draft{part(window.Goal, "g", 100), part(window.SystemInstruction, "i", 100), part(window.UserPreference, "p", 100), part(window.Decision, "d", 100), part(window.Knowledge, "k", 100)}, 0, "g i p d", 400, []window.Strategy{archive}},
		{"what the user asked last stays", append([]window.Draft{part(window.UserMessage, "q", 50)}, slices.Repeat([]window.Draft{part(window.AssistantMessage, "s", 50)}, 14)...), 0.3, "q s s s s sum", 300, []window.Strategy{trim, sum}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, 1000, test.there...)
			out, err := window.Compress(t.Context(), newEnv(), w, test.target)
			if err != nil {
				t.Fatal(err)
			}
			got := after(w, out.Change)
			names := strings.Fields(left(got))
			want := strings.Fields(test.left)
			slices.Sort(names)
			slices.Sort(want)
			if !slices.Equal(names, want) {
				t.Errorf("left is %q, want %q", left(got), test.left)
			}
			c := out.Compression
			if used := got.Used(); used > test.most || used != out.After || c.After != used || c.Before != w.Used() || !slices.Equal(c.Strategies(), test.steps) {
				t.Errorf("%d tokens, at most %d; %+v", used, test.most, c)
			}
			freed, gone := 0, 0
			for _, s := range c.Steps {
				freed += s.Freed
				if s.Summary != "" && (!has(got.Items, s.Summary) || s.By != "short") {
					t.Errorf("a step wrote %+v, which is not there", s)
				}
				if s.Strategy != sum {
					gone += len(s.Items)
				}
			}
			if freed != c.Before-c.After || gone != len(out.Kept) || len(out.Gone) != 0 {
				t.Errorf("the steps freed %d of %d items, all together %d of %d", freed, gone, c.Before-c.After, len(out.Kept))
			}
		})
	}
}

func TestRatio(t *testing.T) {
	t.Parallel()
	for c, want := range map[[2]int]float64{{500, 100}: 5, {0, 0}: 1, {300, 0}: 300, {100, 100}: 1} {
		if got := (window.Compression{Before: c[0], After: c[1]}).Ratio(); got != want {
			t.Errorf("from %d to %d is %v, want %v", c[0], c[1], got, want)
		}
	}
}

// What writes do to windows that fill up: the thresholds, one by one.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	goal := func(n int) window.Draft { return part(window.Goal, "goal", n) }
	for _, test := range []struct {
		name     string
		there    []window.Draft
		write    window.Draft
		left     string // nothing: it is exceeded
		most     int
		strategy window.Strategy // the last one
	}{
		{"below 80 %, and it fits", talk(1, 799), part(window.Goal, "new", 200), "a new", 999, ""},
		{"from 80 %", talk(10, 80), part(window.Goal, "new", 10), "d e f g h i j new sum", 610, window.SummariseStep},
		{"below 80 %, and it does not fit", talk(10, 79), part(window.Goal, "new", 300), "d e f g h i j new sum", 900, window.SummariseStep},
		{"normal compression is not enough", []window.Draft{goal(500), part(window.AssistantMessage, "a", 210), part(window.UserMessage, "q", 200)}, goal(10), "goal q sum goal", 900, window.SummariseAllStep},
		{"a summary of what was archived, too", []window.Draft{goal(650), part(window.ToolResult, "t", 20), part(window.AssistantMessage, "a", 130), part(window.UserMessage, "q", 130)}, goal(10), "goal q sum goal", 900, window.SummariseAllStep},
		{"a summary takes no room that is needed", []window.Draft{goal(500), part(window.AssistantMessage, "a", 390)}, goal(490), "goal sum goal", 1000, window.SummariseAllStep},
		{"not even of a token", []window.Draft{goal(500), part(window.AssistantMessage, "a", 390)}, goal(500), "goal goal", 1000, window.RemoveStep},
		{"the last question makes way for the next", talk(1, 700), part(window.UserMessage, "q", 600), "sum q", 900, window.SummariseAllStep},
		{"and for nothing else", talk(1, 700), part(window.ToolResult, "t", 600), "", 0, ""},
		{"from 95 %, though it would fit", []window.Draft{goal(950)}, goal(10), "", 0, ""},
		{"just below 95 %", []window.Draft{goal(949)}, goal(10), "goal goal", 959, ""},
		{"it does not fit", []window.Draft{goal(500)}, goal(501), "", 0, ""},
		{"to the last token", []window.Draft{goal(500)}, goal(500), "goal goal", 1000, ""},
		{"it is too large for any window of this size", nil, goal(1001), "", 0, ""},
		{"all of it", talk(1, 300), part(window.UserMessage, "q", 1000), "q", 1000, window.RemoveStep},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, 1000, test.there...)
			out, err := window.Write(t.Context(), newEnv(), w, test.write)
			if (fault.CodeOf(err) == fault.ContextWindowExceeded) != (test.left == "") || err != nil && test.left != "" {
				t.Fatalf("Write gave %v", err)
			}
			if err != nil {
				for _, way := range []string{"removeFromWindow", "offload", "split"} {
					if !strings.Contains(err.Error(), way) {
						t.Errorf("%q does not name %s", err, way)
					}
				}
				return
			}
			got := after(w, out.Change)
			names, want := strings.Fields(left(got)), strings.Fields(test.left)
			slices.Sort(names)
			slices.Sort(want)
			if !slices.Equal(names, want) || got.Used() > test.most || got.Used() != out.After {
				t.Errorf("left is %q of %d tokens, want %q of at most %d; %+v", left(got), got.Used(), test.left, test.most, out.Compression)
			}
			if out.Compression == nil || len(out.Compression.Steps) == 0 {
				if test.strategy != "" {
					t.Errorf("it was not compressed, want %s", test.strategy)
				}
				return
			}
			if s := out.Compression.Strategies(); s[len(s)-1] != test.strategy {
				t.Errorf("compressed by %v, want %q at the end", s, test.strategy)
			}
			freed := 0
			for _, s := range out.Compression.Steps {
				freed += s.Freed
			}
			if freed != out.Compression.Before-out.Compression.After {
				t.Errorf("the steps freed %d: %+v", freed, out.Compression)
			}
		})
	}
}

// A summary that there was makes way where even it is too much.
func TestASummaryMakesWay(t *testing.T) {
	t.Parallel()
	w := holding(t, 1000, part(window.Knowledge, "sum", 300), part(window.Goal, "goal", 500))
	w.Items[0].SummaryOf = []string{"x"}
	for tokens, want := range map[int]string{150: "sum goal goal", 300: "goal goal sum", 500: "goal goal"} {
		out, err := window.Write(t.Context(), newEnv(), w, part(window.Goal, "goal", tokens))
		if err != nil {
			t.Fatal(err)
		}
		got := after(w, out.Change)
		names, wanted := strings.Fields(left(got)), strings.Fields(want)
		slices.Sort(names)
		slices.Sort(wanted)
		if !slices.Equal(names, wanted) || got.Used() > 1000 {
			t.Errorf("%d more: left is %q of %d, want %q", tokens, left(got), got.Used(), want)
		}
	}
}

// One summary stands for all that the ones before it stood for, within its bound.
func TestSummariesBecomeOne(t *testing.T) {
	t.Parallel()
	w, e := holding(t, 20_000, talk(20, 300)...), newEnv()
	of := 0
	for range 30 {
		out, err := window.Compress(t.Context(), e, w, 0.2)
		if err != nil {
			t.Fatal(err)
		}
		w = after(w, out.Change)
		of += len(out.Kept)
		summaries := 0
		for _, item := range w.Items {
			if item.IsSummary() {
				if summaries++; len(item.SummaryOf) != of || item.Tokens > 400 {
					t.Fatalf("a summary of %d tokens stands for %d, want at most 400 for %d", item.Tokens, len(item.SummaryOf), of)
				}
			}
		}
		if summaries != 1 {
			t.Fatalf("there are %d summaries", summaries)
		}
		for i := range 6 {
			var out window.Outcome
			out, w = write(t, e, w, part(window.AssistantMessage, string(rune('A'+i)), 200))
			of += len(out.Kept)
		}
	}
}

// Summarisers count in the default encoding: summaries fit in every other, too.
func TestSummariesFitInOtherEncodings(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("El año que viene, los niños españoles viajarán también a Córdoba y Málaga. ", 6)
	for _, encoding := range []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base"} {
		count := counter(t, encoding)
		e := newEnv()
		e.Count, e.Summariser = count, extractive(t)
		n, err := count(text)
		if err != nil {
			t.Fatal(err)
		}
		w := window.Window{Capacity: 20 * n, Encoding: encoding}
		for i := range 19 {
			w.Items = append(w.Items, window.Item{ID: string(rune('a' + i)), Place: int64(i), Type: window.AssistantMessage, Content: text, Tokens: n, ObservedAt: noon})
		}
		out, err := window.Compress(t.Context(), e, w, 0.6)
		if err != nil {
			t.Fatal(err)
		}
		got := after(w, out.Change)
		i := slices.IndexFunc(got.Items, func(item window.Item) bool { return item.IsSummary() })
		if i < 0 || got.Used() > 12*n {
			t.Fatalf("in %s the window has %d of %d tokens, and a summary at %d", encoding, got.Used(), 20*n, i)
		}
		if tokens, _ := count(got.Items[i].Content); tokens != got.Items[i].Tokens || got.Items[i].Content == "" {
			t.Errorf("in %s a summary of %d tokens says %d", encoding, tokens, got.Items[i].Tokens)
		}
	}
}

// A window holds so many items at most, however small they are.
func TestMostItems(t *testing.T) {
	t.Parallel()
	w := window.Window{Capacity: window.MaxCapacity, Items: make([]window.Item, window.MaxItems)}
	for i := range w.Items {
		w.Items[i] = window.Item{ID: fmt.Sprint(i), Place: int64(i), Type: window.Decision, Content: "so be it", Tokens: 3}
	}
	e := &window.Env{Count: func(string) (int, error) { return 1, nil }, Words: func(string) []int32 { return nil }, NewID: func() string { return "new" }}
	if _, err := window.Write(t.Context(), e, w, window.Draft{Type: window.Decision, Content: "one more"}); fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Errorf("one more than %d items: %v", window.MaxItems, err)
	}
	w.Items = w.Items[1:]
	if out, err := window.Write(t.Context(), e, w, window.Draft{Type: window.Decision, Content: "one more"}); err != nil || out.Item == nil {
		t.Errorf("%d items: %+v, %v", window.MaxItems, out.Rejected, err)
	}
}
