package window_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// What a window shares by two segments does not contradict itself either, nor stands in one slot twice.
func TestClashBetweenSegments(t *testing.T) {
	t.Parallel()
	const luxury, budget, garden = "User prefers luxury hotels.", "User prefers budget hotels.", "A room near the garden."
	for _, test := range []struct {
		name, content, key string
		enters             bool
	}{
		{"contradicts", luxury, "", false},
		{"wants the slot", garden, "preference.hotel", false},
		{"says the same", budget, "preference.hotel", true},
		{"says something else", garden, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			there := item("there", window.UserPreference, budget)
			there.Key = "preference.hotel"
			first, second := window.Segment{ID: "first", Items: []window.Item{there}}, window.Segment{ID: "second"}
			alone := window.Window{ID: "alone", Capacity: 1000, Segments: []window.Segment{second}}
			both := window.Window{ID: "both", Capacity: 1000, Segments: []window.Segment{first, second}}
			draft := window.Draft{Type: window.UserPreference, Content: test.content, Key: test.key}
			out, err := window.Share(t.Context(), ruled(), second, []window.Window{alone, both}, 0, draft)
			if err != nil || (out.Item != nil) != test.enters || (out.Rejected == "") != test.enters {
				t.Fatalf("%+v, %v", out, err)
			}
			if after := out.Windows[1].After; !test.enters && after != both.Used() || test.enters && after != both.Used()+out.Item.Tokens {
				t.Errorf("the window holds %d of %+v", after, out)
			}
			if strings.Contains(out.Rejected, "budget") || len(out.Judgements) != 0 {
				t.Errorf("who does not see the other segment reads %+v", out)
			}
		})
	}
}

// What another server wrote, whose clock is a moment ahead, was still observed before what is written behind it; a time that was
// given counts as it is.
func TestClashOfClocks(t *testing.T) {
	t.Parallel()
	there := item("there", window.Knowledge, "The hotel is in Lisbon.")
	there.ObservedAt, there.AddedAt = noon.Add(time.Millisecond), noon.Add(time.Millisecond)
	draft := window.Draft{Type: window.Knowledge, Content: "The hotel is in Madrid."}
	given := draft
	given.ObservedAt = noon
	segment := window.Segment{ID: "s"}
	own := window.Window{ID: "w", Capacity: 1000, Items: []window.Item{there}, Segments: []window.Segment{segment}}
	other := window.Window{ID: "other", Capacity: 1000, Segments: []window.Segment{segment}}
	filled := window.Segment{ID: "s", Items: []window.Item{there}}
	sees := window.Window{ID: "sees", Capacity: 1000, Segments: []window.Segment{filled}}
	env := func() *window.Env {
		e := newEnv()
		e.Judge = contradict(there.Content, draft.Content)
		return e
	}
	for _, test := range []struct {
		name  string
		write func(d window.Draft) (window.Outcome, error)
	}{
		{"in the window", func(d window.Draft) (window.Outcome, error) { return window.Write(t.Context(), env(), own, d) }},
		{"in a window that shares", func(d window.Draft) (window.Outcome, error) {
			out, err := window.Share(t.Context(), env(), segment, []window.Window{other, own}, 0, d)
			return out.Outcome, err
		}},
		{"in the segment", func(d window.Draft) (window.Outcome, error) {
			out, err := window.Share(t.Context(), env(), filled, []window.Window{sees}, 0, d)
			return out.Outcome, err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if out, err := test.write(draft); err != nil || out.Item == nil || out.Item.ObservedAt.Before(there.ObservedAt) || out.Item.AddedAt.Before(there.AddedAt) {
				t.Errorf("now: %+v, %v", out, err)
			}
			if out, err := test.write(draft); err != nil || out.Item.AddedAt.After(noon.Add(20*time.Millisecond)) {
				t.Errorf("now is %v, want about %v: %v", out.Item.AddedAt, noon, err)
			}
			if out, err := test.write(given); err != nil || out.Item != nil {
				t.Errorf("observed before: %+v, %v", out, err)
			}
		})
	}
}

// One clock that is wrong moves no other, and nobody learns from times of their own to the microsecond when others wrote.
func TestClocksOfOthers(t *testing.T) {
	t.Parallel()
	there := item("there", window.Knowledge, "A room on a high floor.")
	draft := window.Draft{Type: window.Knowledge, Content: "The weather is fine."}
	segment := window.Segment{ID: "s"}
	for ahead, want := range map[time.Duration]time.Duration{0: 0, 3*time.Millisecond + time.Microsecond: 10 * time.Millisecond, time.Hour: 0} {
		there.AddedAt = noon.Add(ahead)
		own := window.Window{ID: "own", Capacity: 1000, Segments: []window.Segment{segment}}
		other := window.Window{ID: "other", Capacity: 1000, Items: []window.Item{there}, Segments: []window.Segment{segment}}
		shared, err := window.Share(t.Context(), newEnv(), segment, []window.Window{own, other}, 0, draft)
		if err != nil || shared.Item == nil || !shared.Item.AddedAt.Equal(noon.Add(want)) {
			t.Errorf("%v ahead: %+v, %v, want %v behind noon", ahead, shared.Item, err, want)
		}
	}
}

// A slot is taken as what contradicts is: nothing is lost by wanting its key, in a window or by what it is to share.
func TestClashForASlot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		there, by window.ContentType
		late      bool // what is there was observed later
		enters    bool
	}{
		{window.SystemInstruction, window.SystemInstruction, false, true},
		{window.SystemInstruction, window.UserMessage, false, false},
		{window.SystemInstruction, window.Decision, false, false},
		{window.SystemInstruction, window.ToolResult, false, false},
		{window.UserPreference, window.UserPreference, false, true},
		{window.UserPreference, window.UserMessage, false, true},
		{window.UserPreference, window.AssistantMessage, false, false},
		{window.Goal, window.Knowledge, false, false},
		{window.Decision, window.ToolResult, false, false},
		{window.Knowledge, window.ToolResult, false, true},
		{window.ToolResult, window.UserPreference, false, true},
		{window.UserPreference, window.UserPreference, true, false},
		{window.Knowledge, window.Knowledge, true, false},
	} {
		t.Run(string(test.there)+" by "+string(test.by), func(t *testing.T) {
			t.Parallel()
			there := item("there", test.there, "A room on a high floor.")
			there.Key, there.ObservedAt = "slot", noon.Add(-time.Hour)
			draft := window.Draft{Type: test.by, Content: "The weather is fine.", Key: there.Key, ObservedAt: noon}
			if test.late {
				draft.ObservedAt = noon.Add(-2 * time.Hour)
			}
			w := window.Window{ID: "w", Capacity: 1000, Items: []window.Item{there}, Segments: []window.Segment{{ID: "s"}}}
			want := window.ActionRejected
			if test.enters {
				want = window.ActionSuperseded
			}
			out, err := window.Write(t.Context(), newEnv(), w, draft)
			if err != nil || (out.Item != nil) != test.enters || has(out.Gone, "there") != test.enters || len(out.Mitigations) != 1 || out.Mitigations[0].Action != want {
				t.Errorf("written: %+v, %v", out, err)
			}
			other := window.Window{ID: "other", Capacity: 1000, Segments: w.Segments}
			shared, err := window.Share(t.Context(), newEnv(), w.Segments[0], []window.Window{other, w}, 0, draft)
			if err != nil || (shared.Item != nil) != test.enters || has(shared.Windows[1].Gone, "there") != test.enters || !test.enters && shared.Mitigations[0].Failure != window.Clash {
				t.Errorf("shared: %+v, %v", shared, err)
			}
			segment := window.Segment{ID: "s", Items: w.Items}
			other.Segments = []window.Segment{segment}
			shared, err = window.Share(t.Context(), newEnv(), segment, []window.Window{other}, 0, draft)
			if err != nil || (shared.Item != nil) != test.enters || has(shared.Gone, "there") != test.enters {
				t.Errorf("in the segment: %+v, %v", shared, err)
			}
			e := newEnv()
			e.Forced = true
			out, err = window.Write(t.Context(), e, w, draft)
			if err != nil || out.Item == nil || len(out.Gone) != 0 || len(out.Mitigations) != 0 || out.Item.Key != "" {
				t.Errorf("forced: %+v, %v", out, err)
			}
		})
	}
}

// What an administrator wants in takes the place of nothing, which nobody could bring back: it has its slot where that is free.
func TestForcedIntoASlot(t *testing.T) {
	t.Parallel()
	there := item("there", window.UserPreference, "A room on a high floor.")
	there.Key = "taken"
	with, without := window.Segment{ID: "s", Items: []window.Item{there}}, window.Segment{ID: "s"}
	other := window.Segment{ID: "other", Items: []window.Item{there}}
	for _, test := range []struct {
		name    string
		segment window.Segment
		second  window.Window
	}{
		{"of a window", without, window.Window{Items: []window.Item{there}, Segments: []window.Segment{without}}},
		{"of the segment", with, window.Window{Segments: []window.Segment{with}}},
		{"of another segment", without, window.Window{Segments: []window.Segment{other, without}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv()
			e.Forced = true
			windows := []window.Window{{Capacity: 1000, Segments: []window.Segment{test.segment}}, test.second}
			windows[1].Capacity = 1000
			for key, want := range map[string]string{"taken": "", "free": "free"} {
				draft := window.Draft{Type: window.UserPreference, Content: "A room near the garden.", Key: key}
				shared, err := window.Share(t.Context(), e, test.segment, windows, 0, draft)
				if err != nil || shared.Item == nil || shared.Item.Key != want || len(shared.Gone)+len(shared.Windows[1].Gone) != 0 {
					t.Errorf("shared, %s: %+v, %v", key, shared, err)
				}
				out, err := window.Write(t.Context(), e, windows[1], draft)
				if err != nil || out.Item == nil || out.Item.Key != want || len(out.Gone) != 0 {
					t.Errorf("written, %s: %+v, %v", key, out, err)
				}
			}
		})
	}
}

// However many of a window's items have more words in common with it, what a record or something shared contradicts stays out;
// and the other way round.
func TestManyCrowdNothingOut(t *testing.T) {
	t.Parallel()
	const said, written = "The Eiffel Tower is a sight in Paris.", "The Eiffel Tower is a sight in London."
	var items []window.Item
	var records []window.Record
	for i := range 30 {
		items = append(items, item(fmt.Sprint("near", i), window.ToolResult, written))
		records = append(records, window.Record{Title: "near", Content: written})
	}
	draft := window.Draft{Type: window.ToolResult, Content: written, ObservedAt: noon}
	e := newEnv()
	e.Judge, e.Records = contradict(said, written), []window.Record{{Title: "Atlas", Content: said}}
	out, err := window.Write(t.Context(), e, window.Window{Capacity: 1000, Items: items}, draft)
	if err != nil || out.Item != nil || len(out.Mitigations) != 1 || out.Mitigations[0].Failure != window.Poisoning {
		t.Errorf("a record: %+v, %v", out, err)
	}
	e.Records = nil
	shares := []window.Segment{{ID: "s", Items: []window.Item{item("shared", window.Knowledge, said)}}}
	out, err = window.Write(t.Context(), e, window.Window{Capacity: 1000, Items: items, Segments: shares}, draft)
	if err != nil || out.Item != nil || len(out.Mitigations) != 1 || out.Mitigations[0].Failure != window.Poisoning {
		t.Errorf("something shared: %+v, %v", out, err)
	}
	e.Records = records
	out, err = window.Write(t.Context(), e, window.Window{Capacity: 1000, Items: []window.Item{item("goal", window.Goal, said)}}, draft)
	if err != nil || out.Item != nil || len(out.Mitigations) != 1 || out.Mitigations[0].Failure != window.Clash {
		t.Errorf("an item: %+v, %v", out, err)
	}
}

// What is injected from the scratchpad, where it stays, is judged as what is written, and so is what is written beside it.
func TestClashWithWhatIsInjected(t *testing.T) {
	t.Parallel()
	const here, there = "The hotel is in Lisbon.", "The hotel is in Madrid."
	entry := item("entry", window.Knowledge, there)
	entry.ObservedAt = noon
	for _, test := range []struct {
		own    window.ContentType
		age    time.Duration
		enters bool
		leaves bool
	}{
		{window.Knowledge, time.Hour, true, true},
		{window.Knowledge, -time.Hour, false, false},
		{window.SystemInstruction, time.Hour, false, false},
		{window.Decision, time.Hour, false, false},
		{window.UserMessage, time.Hour, true, false},
	} {
		t.Run(string(test.own), func(t *testing.T) {
			t.Parallel()
			own := item("own", test.own, here)
			own.ObservedAt = noon.Add(-test.age)
			w := window.Window{Capacity: 1000, Items: []window.Item{own}}
			out, err := window.Inject(t.Context(), ruled(), w, entry)
			if err != nil || (out.Item != nil) != test.enters || has(out.Gone, "own") != test.leaves || (out.Rejected == "") != test.enters || len(out.Judgements) != 1 {
				t.Errorf("%+v, %v", out, err)
			}
			if n := len(out.Mitigations); (n == 1) != (test.leaves || !test.enters) || !test.enters && (out.Mitigations[0].Action != window.ActionRejected || out.Quality.Consistency != 0) {
				t.Errorf("%+v", out)
			}
		})
	}
	entry.Injected = true
	out, err := window.Write(t.Context(), ruled(), window.Window{Capacity: 1000, Items: []window.Item{entry}}, window.Draft{Type: window.Knowledge, Content: here, ObservedAt: noon.Add(time.Hour)})
	if err != nil || out.Item == nil || !has(out.Gone, "entry") || len(out.Mitigations) != 1 || out.Mitigations[0].Action != window.ActionSuperseded {
		t.Errorf("what is written later: %+v, %v", out, err)
	}
}
