package window_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

func TestLevelOf(t *testing.T) {
	t.Parallel()
	for used, want := range map[int]window.Level{
		0: window.LevelOK, 699: window.LevelOK, 700: window.LevelWarning, 799: window.LevelWarning, 800: window.LevelCompress, 899: window.LevelCompress,
		900: window.LevelAggressive, 949: window.LevelAggressive, 950: window.LevelCritical, 1000: window.LevelCritical,
	} {
		w := window.Window{Capacity: 1000, Items: []window.Item{{Tokens: used}}}
		if got := w.Level(); got != want {
			t.Errorf("%d of 1000 is %s, want %s", used, got, want)
		}
	}
}

func TestUsed(t *testing.T) {
	t.Parallel()
	w := window.Window{
		Capacity: 100, Items: []window.Item{{Tokens: 1}, {Tokens: 2}}, Segments: []window.Segment{{Items: []window.Item{{Tokens: 4}}}, {Items: []window.Item{{Tokens: 8}}}},
		Tools: []window.Tool{{Tokens: 16, Shown: true}, {Tokens: 32}},
	}
	if got := w.Used(); got != 31 {
		t.Errorf("Used() = %d, want 31: items, what is shared, and the tools that are shown", got)
	}
	if got := w.Usage(); got != 0.31 {
		t.Errorf("Usage() = %v, want 0.31", got)
	}
}

func TestPromptOrder(t *testing.T) {
	t.Parallel()
	var items []window.Item
	for i, kind := range []window.ContentType{
		window.UserMessage, window.ToolResult, window.AssistantMessage, window.Knowledge, window.Decision, window.UserPreference, window.Goal, window.SystemInstruction, window.Knowledge,
	} {
		items = append(items, window.Item{Type: kind, Content: fmt.Sprint(i), Place: int64(i)})
	}
	slices.Reverse(items)
	before := slices.Clone(items)
	if got, want := strings.Join(texts(items), ""), "765438012"; got != want {
		t.Errorf("PromptOrder is %s, want %s", got, want)
	}
	for i := range items {
		if items[i].Content != before[i].Content {
			t.Fatal("PromptOrder has changed what it was given")
		}
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b []int32
		want float64
	}{
		{nil, nil, 0},
		{[]int32{1}, nil, 0},
		{[]int32{1, 3, 5}, []int32{2, 4, 6}, 0},
		{[]int32{1, 2, 3, 4, 5}, []int32{5, 6, 7, 8, 9}, 0.7}, // one word of five is just enough
		{[]int32{1, 2, 3, 4, 5, 6}, []int32{6, 7, 8, 9, 10, 11}, 1 - math.Pow(0.3, 5.0/6)},
		{[]int32{1, 2, 3}, []int32{1, 2, 3}, 1 - math.Pow(0.3, 5)},
		{[]int32{2}, []int32{1, 2, 3, 4, 5, 6, 7, 8}, 1 - math.Pow(0.3, 5)}, // of the shorter one
	} {
		if got := window.Overlap(test.a, test.b); got != test.want {
			t.Errorf("Overlap(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
		if got := window.Overlap(test.b, test.a); got != test.want {
			t.Errorf("Overlap(%v, %v) = %v, want %v", test.b, test.a, got, test.want)
		}
	}
	if window.Overlap([]int32{1, 2, 3, 4, 5}, []int32{5, 6, 7, 8, 9}) < window.MinRelevance || window.Overlap([]int32{1, 2, 3, 4, 5, 6}, []int32{6, 7, 8, 9, 10, 11}) >= window.MinRelevance {
		t.Error("one word of five is relevant, one of six is not")
	}
}

func TestRelevance(t *testing.T) {
	t.Parallel()
	goal := window.Draft{Type: window.Goal, Content: "book trains to Lisbon"}
	asked := window.Draft{Type: window.UserMessage, Content: "which museums are open"}
	for _, test := range []struct {
		name    string
		task    string
		there   []window.Draft
		shared  []window.Item
		kind    window.ContentType
		content string
		enters  bool
	}{
		{"nothing says what it is about", "", nil, nil, window.Knowledge, "photosynthesis makes sugar", true},
		{"of the task", "find hotels", nil, nil, window.Knowledge, "hotels are dear", true},
		{"not of the task", "find hotels", nil, nil, window.Knowledge, "photosynthesis makes sugar", false},
		{"a tool's is what it was asked for", "find hotels", nil, nil, window.ToolResult, "photosynthesis makes sugar", true},
		{"of a goal", "find hotels", []window.Draft{goal}, nil, window.Knowledge, "trains leave hourly", true},
		{"of a goal that is shared", "find hotels", nil, []window.Item{{Type: window.Goal, Content: "book trains"}}, window.Knowledge, "trains leave hourly", true},
		{"of what the user asked last", "find hotels", []window.Draft{asked}, nil, window.Knowledge, "museums open at nine", true},
		{"a question alone says nothing of the task", "", []window.Draft{asked}, nil, window.Knowledge, "photosynthesis makes sugar", true},
		{"a preference is what it is about", "find hotels", nil, nil, window.UserPreference, "no nuts please", true},
		{"a message is", "find hotels", nil, nil, window.AssistantMessage, "hello there", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, 1000, test.there...)
			w.Task, w.Segments = test.task, []window.Segment{{Items: test.shared}}
			out, _ := write(t, newEnv(), w, window.Draft{Type: test.kind, Content: test.content})
			if (out.Item != nil) != test.enters || test.enters != (out.Quality.Relevance >= window.MinRelevance) || !test.enters && !strings.HasPrefix(out.Rejected, "irrelevant: ") {
				t.Errorf("relevance %v, rejected %q; enters: %v", out.Quality.Relevance, out.Rejected, test.enters)
			}
		})
	}
}

func TestFreshness(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]float64{-time.Minute: 1, 0: 1, time.Hour: 1, 25 * time.Hour: 0.5, 49 * time.Hour: 0.25, 13 * time.Hour: math.Sqrt2 / 2} {
		out, _ := write(t, newEnv(), window.Window{Capacity: 100}, window.Draft{Type: window.Knowledge, Content: "two words", ObservedAt: noon.Add(-age)})
		if got := out.Quality.Freshness; math.Abs(got-want) > 1e-9 || out.Item == nil {
			t.Errorf("after %v freshness is %v, want %v", age, got, want)
		}
	}
}

func TestCompleteness(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind     window.ContentType
		content  string
		complete bool
	}{
		{window.Knowledge, "hotel", false}, {window.Knowledge, "hotel Lutetia", true}, {window.UserPreference, "quality", false}, {window.Decision, "yes", false},
		{window.Goal, "Lisbon", true}, {window.UserMessage, "yes", true}, {window.UserMessage, "?!", false}, {window.AssistantMessage, "👍", true}, {window.Knowledge, "… — !", false},
		{window.Knowledge, "会议在三月举行", true}, {window.Knowledge, "พรุ่งนี้ฝนตก", true}, {window.Decision, "42", false},
		{window.ToolResult, `{"price": 200}`, true}, {window.ToolResult, `{"price": 20`, false}, {window.ToolResult, `[{"a": 1}, {"a"`, false}, {window.ToolResult, `["a", "b`, false},
		{window.ToolResult, "[1] a footnote", true}, {window.ToolResult, "{curly} prose", true}, {window.ToolResult, "ok", true}, {window.Knowledge, `{"price": 20 and more`, true},
	} {
		out, _ := write(t, newEnv(), window.Window{Capacity: 100}, window.Draft{Type: test.kind, Content: test.content})
		if got := out.Quality.Completeness == 1; got != test.complete || got != (out.Item != nil) || !got && !strings.HasPrefix(out.Rejected, "incomplete: ") {
			t.Errorf("%s %q is complete: %v, %q; want %v", test.kind, test.content, got, out.Rejected, test.complete)
		}
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	if got := (window.Quality{Relevance: 1, Freshness: 0.5, Accuracy: 0.9, Completeness: 1, Consistency: 0}).Score(); math.Abs(got-0.68) > 1e-9 {
		t.Errorf("Score() = %v, want the mean, 0.68", got)
	}
}

func TestAccuracy(t *testing.T) {
	t.Parallel()
	const content = "The tower is in London"
	yes, no := window.Record{Hash: chain.Sum([]byte("yes")), Title: "Guide", Content: "London has the tower"}, window.Record{Hash: chain.Sum([]byte("no")), Title: "Atlas", Content: "Paris has the tower"}
	verdicts := said{{yes.Content, content}: window.Agrees, {no.Content, content}: window.Contradicts}
	for _, test := range []struct {
		name    string
		records []window.Record
		want    float64
	}{
		{"nothing speaks to it", nil, 0.9},
		{"a record agrees", []window.Record{yes}, 1},
		{"a record contradicts", []window.Record{no}, 0.1},
		{"both, the one that agrees first", []window.Record{yes, no}, 0.1},
		{"both, the one that contradicts first", []window.Record{no, yes}, 0.1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv()
			e.Judge, e.Records = verdicts, test.records
			out, w := write(t, e, window.Window{Capacity: 100}, window.Draft{Type: window.Knowledge, Content: content})
			if out.Quality.Accuracy != test.want || (out.Item != nil) != (test.want >= window.MinAccuracy) {
				t.Fatalf("accuracy %v, want %v; %q", out.Quality.Accuracy, test.want, out.Rejected)
			}
			switch {
			case test.want < 0.9:
				m := out.Mitigations[0]
				if len(w.Items) != 0 || m.Failure != window.Poisoning || m.Action != window.ActionRejected || *m.Record != no.Hash || !strings.Contains(out.Rejected, "Atlas") || !strings.Contains(out.Rejected, no.Hash.String()) {
					t.Errorf("poison is not rejected with its record: %+v", out)
				}
			case test.want == 1 && *out.Item.VerifiedBy != yes.Hash, test.want == 0.9 && out.Item.VerifiedBy != nil:
				t.Errorf("verified by %v", out.Item.VerifiedBy)
			}
		})
	}
}

func TestDraftValidate(t *testing.T) {
	t.Parallel()
	for field, d := range map[string]window.Draft{
		"input.content":    {Content: " \n"},
		"input.key":        {Content: "x", Key: strings.Repeat("k", window.MaxName+1)},
		"input.observedAt": {Content: "x", ObservedAt: noon.Add(2 * time.Minute)},
		"":                 {Content: "x", Key: strings.Repeat("k", window.MaxName), ObservedAt: noon.Add(time.Minute)},
	} {
		err := d.Validate("input", noon)
		if f, _ := err.(*fault.Error); (f == nil) != (field == "") || f != nil && (f.Field != field || f.Code != fault.BadUserInput) {
			t.Errorf("Validate of a bad %q: %v", field, err)
		}
	}
	long := window.Draft{Content: strings.Repeat("x", window.MaxContent+1)}
	if fault.CodeOf(long.Validate("input", noon)) != fault.BadUserInput {
		t.Error("content of more than MaxContent is valid")
	}
}
