package window_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/judge"
	"github.com/tzzr/context-manager/internal/window"
)

// ruled is an Env with the judge that is built in, to which texts have words in common that have any.
func ruled() *window.Env {
	e := newEnv()
	e.Judge = judge.New()
	e.Words = func(text string) []int32 {
		var out []int32
		for _, word := range strings.Fields(strings.ToLower(strings.Trim(text, "."))) {
			if len(word) > 3 {
				n := int32(0)
				for _, r := range word {
					n = n*31 + r
				}
				out = append(out, n&0xffffff)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return e
}

func item(id string, kind window.ContentType, content string) window.Item {
	return window.Item{ID: id, Type: kind, Content: content, Tokens: len(strings.Fields(content))}
}

// Of a summary only the sentence leaves that something contradicts.
func TestClashWithASentenceOfASummary(t *testing.T) {
	t.Parallel()
	summary := item("sum", window.Knowledge, "The hotel costs 100 euros. I am allergic to peanuts. My passport number is X1234567.")
	summary.SummaryOf = []string{"a", "b"}
	out, err := window.Write(t.Context(), ruled(), window.Window{Capacity: 1000, Items: []window.Item{summary}}, window.Draft{Type: window.UserMessage, Content: "The hotel costs 120 euros."})
	if err != nil || out.Item == nil || len(out.Mitigations) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	rest := out.Added[slices.IndexFunc(out.Added, func(i window.Item) bool { return i.IsSummary() })]
	if rest.Content != "I am allergic to peanuts. My passport number is X1234567." || !slices.Equal(rest.SummaryOf, summary.SummaryOf) {
		t.Errorf("the rest is %+v", rest)
	}
}

// What the user wants changes by the user's word, or by another of its kind, and what the user asked last stays.
func TestClashByWhom(t *testing.T) {
	t.Parallel()
	const luxury, budget = "User prefers luxury hotels.", "User prefers budget hotels."
	for _, test := range []struct {
		known, by window.ContentType
		enters    bool
		stays     bool
	}{
		{window.UserPreference, window.UserPreference, true, false},
		{window.UserPreference, window.UserMessage, true, false},
		{window.UserPreference, window.ToolResult, false, true},
		{window.UserPreference, window.AssistantMessage, false, true},
		{window.UserPreference, window.Knowledge, false, true},
		{window.Decision, window.ToolResult, false, true},
		{window.Goal, window.Knowledge, false, true},
		{window.SystemInstruction, window.UserPreference, false, true},
		{window.AssistantMessage, window.AssistantMessage, true, false},
		{window.AssistantMessage, window.Knowledge, true, true},
		{window.UserMessage, window.AssistantMessage, true, true}, // it is what the user said last
		{window.Knowledge, window.ToolResult, true, false},
	} {
		t.Run(string(test.known)+" by "+string(test.by), func(t *testing.T) {
			t.Parallel()
			out, err := window.Write(t.Context(), ruled(), window.Window{Capacity: 1000, Items: []window.Item{item("known", test.known, luxury)}}, window.Draft{Type: test.by, Content: budget})
			if err != nil || (out.Item != nil) != test.enters || (len(out.Gone) == 0) != test.stays || len(out.Judgements) == 0 {
				t.Errorf("%+v, %v", out, err)
			}
			if !test.enters && (out.Quality.Consistency != 0 || out.Mitigations[0].Action != window.ActionRejected) {
				t.Errorf("%+v", out)
			}
		})
	}
}

// What is shared and what is a window's own do not contradict each other.
func TestClashAcrossSegments(t *testing.T) {
	t.Parallel()
	slot := item("shared", window.UserPreference, "A room on a high floor.")
	slot.Key = "preference.floor"
	w := window.Window{ID: "w", Capacity: 1000, Segments: []window.Segment{{ID: "s", Items: []window.Item{slot}}}}
	out, err := window.Write(t.Context(), ruled(), w, window.Draft{Type: window.UserPreference, Content: "A room near the garden.", Key: slot.Key})
	if err != nil || out.Item != nil || !strings.Contains(out.Rejected, "shared") {
		t.Errorf("a slot that is shared: %+v, %v", out, err)
	}
	own := window.Window{ID: "w", Capacity: 1000, Items: []window.Item{item("own", window.UserPreference, "User prefers luxury hotels.")}, Segments: []window.Segment{{ID: "s"}}}
	shared, err := window.Share(t.Context(), ruled(), own.Segments[0], []window.Window{own}, 0, window.Draft{Type: window.UserPreference, Content: "User prefers budget hotels."})
	if err != nil || shared.Item == nil || len(shared.Windows[0].Gone) != 1 || shared.Windows[0].After != shared.Item.Tokens {
		t.Errorf("something own, and older: %+v, %v", shared, err)
	}
	own.Items[0].Type = window.SystemInstruction
	shared, err = window.Share(t.Context(), ruled(), own.Segments[0], []window.Window{own}, 0, window.Draft{Type: window.UserPreference, Content: "User prefers budget hotels."})
	if err != nil || shared.Item != nil || shared.Rejected == "" || len(shared.Windows[0].Gone) != 0 || shared.Windows[0].After != own.Used() {
		t.Errorf("an instruction: %+v, %v", shared, err)
	}
}
