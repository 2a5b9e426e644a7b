package window_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

func TestShare(t *testing.T) {
	t.Parallel()
	preference := func(content string) window.Draft {
		return window.Draft{Type: window.UserPreference, Content: content}
	}
	sharing := func(segment window.Segment, windows ...window.Window) []window.Window {
		for i := range windows {
			windows[i].ID, windows[i].Segments = fmt.Sprint(i), []window.Segment{segment}
		}
		return windows
	}
	t.Run("it counts in each", func(t *testing.T) {
		t.Parallel()
		segment := window.Segment{ID: "s"}
		windows := sharing(segment, holding(t, 1000, talk(10, 80)...), holding(t, 1000, part(window.Goal, "g", 10)))
		out, err := window.Share(t.Context(), newEnv(), segment, windows, 1, preference("no meat at all"))
		if err != nil || out.Item == nil {
			t.Fatalf("%+v, %v", out, err)
		}
		if first, second := out.Windows[0], out.Windows[1]; first.Compression == nil || first.Before != 800 || first.After > 604 || second.Compression != nil || second.Before != 10 || second.After != 14 || out.Compression != nil {
			t.Errorf("%d to %d, %d to %d", first.Before, first.After, second.Before, second.After)
		}
		if len(windows[0].Segments[0].Items) != 0 || len(windows[0].Items) != 10 {
			t.Error("it has changed what it was given")
		}
	})
	t.Run("without room in one of them", func(t *testing.T) {
		t.Parallel()
		segment := window.Segment{ID: "s"}
		windows := sharing(segment, holding(t, 1000), holding(t, 20, part(window.Goal, "g", 17)))
		if _, err := window.Share(t.Context(), newEnv(), segment, windows, 0, preference("no meat at all")); fault.CodeOf(err) != fault.ContextWindowExceeded {
			t.Errorf("Share gave %v", err)
		}
	})
	t.Run("the more recent wins in it", func(t *testing.T) {
		t.Parallel()
		e := newEnv()
		e.Judge = contradict("no meat at all", "meat every day")
		segment := window.Segment{ID: "s", Items: []window.Item{{ID: "old", Type: window.UserPreference, Content: "no meat at all", Tokens: 4, ObservedAt: noon}}}
		out, err := window.Share(t.Context(), e, segment, sharing(segment, holding(t, 100), holding(t, 100)), 0, preference("meat every day"))
		if err != nil || out.Item == nil || len(out.Gone) != 1 || out.Windows[0].Before != 4 || out.Windows[1].After != 3 || out.Mitigations[0].Action != window.ActionSuperseded {
			t.Errorf("%+v, %v", out, err)
		}
	})
	t.Run("it has to be relevant to the window that it is written through", func(t *testing.T) {
		t.Parallel()
		segment := window.Segment{ID: "s"}
		for through, enters := range []bool{true, false} {
			windows := sharing(segment, holding(t, 100), holding(t, 100))
			windows[0].Task, windows[1].Task = "find hotels", "book restaurants"
			out, err := window.Share(t.Context(), newEnv(), segment, windows, through, part(window.Knowledge, "hotels", 3))
			if err != nil || (out.Item != nil) != enters || !enters && (out.Windows[0].After != 0 || !strings.HasPrefix(out.Rejected, "irrelevant")) {
				t.Errorf("through %d: %+v, %v", through, out, err)
			}
		}
	})
}

func chosen(name string, tokens int) window.Chosen {
	hash := chain.Sum([]byte(name))
	return window.Chosen{Draft: window.Draft{Type: window.Knowledge, Content: words(name, tokens), Source: &window.Source{Hash: hash, Type: chain.RefContext}, ObservedAt: noon.Add(-25 * time.Hour)}, Said: words(name, tokens), Relevance: 0.8}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Records = []window.Record{{Title: "Atlas", Content: "poison is poison"}}
	e.Judge = contradict("poison is poison", words("poison", 5))
	w := holding(t, 100, part(window.UserMessage, "q", 30))
	out, entered, err := window.Select(t.Context(), e, w, []window.Chosen{chosen("a", 30), chosen("poison", 5), chosen("b", 50), chosen("c", 20), chosen("a", 30)})
	if err != nil {
		t.Fatal(err)
	}
	w = after(w, out.Change)
	if got := left(w); got != "q a c" || w.Used() != 80 || out.After != 80 || len(entered) != 2 {
		t.Errorf("the window has %q of %d, want what fits, once, and no poison", got, w.Used())
	}
	if got := texts(w.Items); !strings.HasPrefix(got[2], "q") {
		t.Errorf("%q: what was selected stands before what was asked", got)
	}
	if q := w.Items[1].Quality; q.Relevance != 0.8 || q.Freshness != 0.5 || q.Accuracy != 0.9 {
		t.Errorf("%+v", q)
	}
	if len(out.Mitigations) != 1 || out.Mitigations[0].Failure != window.Poisoning {
		t.Errorf("%+v", out.Mitigations)
	}
	// At 80 % there is first made room.
	n, err := window.Left(t.Context(), e, w)
	if err != nil || n < 40 {
		t.Errorf("Left() = %d, %v, want what a compression leaves", n, err)
	}
	out, _, err = window.Select(t.Context(), e, w, []window.Chosen{chosen("d", n)})
	if err != nil || out.Compression == nil || len(out.Added) != 1 || out.After != 100 {
		t.Errorf("what is left is %d: %+v, %v", n, out, err)
	}
	if n, err := window.Left(t.Context(), e, holding(t, 100, part(window.UserMessage, "q", 79))); n != 21 || err != nil {
		t.Errorf("Left() = %d, %v, want 21", n, err)
	}
	if _, err := window.Left(t.Context(), e, holding(t, 100, part(window.Goal, "g", 95))); fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Errorf("Left() of a full window: %v", err)
	}
}

func TestInject(t *testing.T) {
	t.Parallel()
	e := newEnv()
	entry := window.Item{ID: "doc", Type: window.UserMessage, Content: words("doc", 40), Tokens: 40, ObservedAt: noon}
	w := holding(t, 100, part(window.UserMessage, "q", 10))
	out, err := window.Inject(t.Context(), e, w, entry)
	if err != nil {
		t.Fatal(err)
	}
	w = after(w, out.Change)
	if got := w.Items[1]; got.ID != "doc" || !got.Injected || got.Place != 2 || w.Used() != 50 || out.After != 50 {
		t.Fatalf("%+v", w)
	}
	if again, err := window.Inject(t.Context(), e, w, entry); err != nil || len(again.Added) != 0 || again.Item.ID != "doc" || again.After != 50 {
		t.Errorf("again: %+v, %v", again, err)
	}
	// It is no question of now, and leaves by compression for where it is.
	full, err := window.Write(t.Context(), e, w, part(window.Goal, "g", 90))
	if err != nil || left(after(w, full.Change)) != "q g" || len(full.Kept) != 1 || full.Kept[0].ID != "doc" {
		t.Errorf("%+v, %v", full, err)
	}
	gone, err := window.Remove(w, []string{"doc"})
	if err != nil || gone.After != 10 || len(gone.Kept) != 0 {
		t.Errorf("%+v, %v", gone, err)
	}
	// Poison comes by no way.
	e.Records, e.Judge = []window.Record{{Title: "Atlas", Content: "doc is doc"}}, contradict("doc is doc", entry.Content)
	if out, err := window.Inject(t.Context(), e, holding(t, 100), entry); err != nil || out.Item != nil || len(out.Added) != 0 || !strings.Contains(out.Rejected, "Atlas") || out.Quality.Accuracy != 0.1 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := window.Inject(t.Context(), newEnv(), holding(t, 39), entry); fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Errorf("without room: %v", err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	w := holding(t, 100, part(window.Goal, "g", 10), part(window.Knowledge, "k", 20))
	w.Segments = []window.Segment{{ID: "s", Items: []window.Item{{ID: "shared", Tokens: 5}, {ID: "stays", Tokens: 6}}}}
	for _, test := range []struct {
		ids   []string
		after int
		code  fault.Code
	}{
		{[]string{"item0"}, 31, ""}, {[]string{"item0", "item1", "item0"}, 11, ""}, {[]string{"shared", "item1"}, 16, ""}, {[]string{"shared", "shared"}, 36, ""},
		{[]string{"item0", "nobody"}, 0, fault.NotFound}, {[]string{""}, 0, fault.NotFound},
	} {
		out, err := window.Remove(w, test.ids)
		if err == nil && (test.code != "" || out.Before != 41 || out.After != test.after) || err != nil && fault.CodeOf(err) != test.code {
			t.Errorf("Remove(%q): %d to %d, %v; want %d, %q", test.ids, out.Before, out.After, err, test.after, test.code)
		}
	}
	if w.Used() != 41 {
		t.Error("Remove has changed the window")
	}
}

func tools(n, tokens int) (out []window.Tool) {
	for i := range n {
		out = append(out, window.Tool{Name: fmt.Sprintf("tool%02d", i), Tokens: tokens})
	}
	return out
}

func TestRegister(t *testing.T) {
	t.Parallel()
	e := newEnv()
	for _, test := range []struct {
		name             string
		capacity, before int
		more             []window.Tool
		shown, used      int
		confused         bool
		exceeded         bool
	}{
		{"few", 1000, 0, tools(30, 10), 30, 300, false, false},
		{"one too many", 1000, 0, tools(31, 10), 0, 0, true, false},
		{"one too many, with those there are", 1000, 30, []window.Tool{{Name: "more", Tokens: 1}}, 0, 0, true, false},
		{"in a new form", 1000, 30, tools(30, 20), 30, 600, false, false},
		{"few that do not fit", 100, 0, tools(11, 10), 0, 0, false, true},
		{"many need not fit", 100, 0, tools(50, 1000), 0, 0, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := window.Window{Capacity: test.capacity}
			if test.before > 0 {
				_, w.Tools, _ = window.Register(t.Context(), newEnv(), w, tools(test.before, 10), false)
			}
			out, all, err := window.Register(t.Context(), newEnv(), w, test.more, false)
			if (fault.CodeOf(err) == fault.ContextWindowExceeded) != test.exceeded {
				t.Fatalf("Register gave %v", err)
			}
			if test.exceeded {
				return
			}
			shown := 0
			for _, tool := range all {
				if tool.Shown {
					shown++
				}
			}
			if shown != test.shown || out.After != test.used || (len(out.Mitigations) == 1) != test.confused || test.confused && out.Mitigations[0].Failure != window.Confusion {
				t.Errorf("%d shown, %d used, %+v", shown, out.After, out.Mitigations)
			}
		})
	}
	if _, _, err := window.Register(t.Context(), e, window.Window{Capacity: 10}, tools(window.MaxTools+1, 1), false); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("too many: %v", err)
	}
	// Room is made for them.
	w := holding(t, 100, part(window.Knowledge, "k", 70))
	if out, _, err := window.Register(t.Context(), e, w, tools(4, 10), false); err != nil || out.After != 40 || out.Compression == nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// Tools that are all described have less room than those that are searched for.
func TestAllTools(t *testing.T) {
	t.Parallel()
	tools := func(n, bytes int) []window.Tool {
		all := make([]window.Tool, n)
		for i := range all {
			all[i] = window.Tool{Name: fmt.Sprint("t", i), Description: strings.Repeat("x", bytes/n)}
		}
		return all
	}
	for _, tt := range []struct {
		has, more []window.Tool
		replace   bool
		want      int // 0: too many, or too long
	}{
		{nil, tools(16, window.MaxShownToolBytes), false, 16},
		{nil, tools(16, window.MaxShownToolBytes+16), false, 0},
		{nil, tools(32, window.MaxToolBytes), false, 32},
		{nil, tools(32, window.MaxToolBytes+32), false, 0},
		{tools(32, window.MaxToolBytes), tools(2, 2), false, 32},
		{tools(32, window.MaxToolBytes), tools(33, 33), false, 33},
		{tools(32, window.MaxToolBytes), []window.Tool{{Name: "more", Description: "x"}}, false, 0},
		{tools(32, window.MaxToolBytes), []window.Tool{{Name: "more", Description: "x"}}, true, 1},
		{nil, tools(window.MaxTools+1, 0), false, 0},
	} {
		all, err := window.AllTools(window.Window{Tools: tt.has}, tt.more, tt.replace)
		if len(all) != tt.want || tt.want == 0 && fault.CodeOf(err) != fault.BadUserInput || tt.want > 0 && err != nil {
			t.Errorf("%d with %d more, replace is %t: %d, %v, want %d", len(tt.has), len(tt.more), tt.replace, len(all), err, tt.want)
		}
	}
}

// Tools that replace others are all that a window has, and to have less of them is possible however full it is.
func TestReplaceTools(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name              string
		before, goals     int
		more              []window.Tool
		all, used, asides int
		exceeded          bool
	}{
		{"by none", 9, 0, nil, 0, 0, 0, false},
		{"many by none", 40, 0, nil, 0, 0, 0, false},
		{"none by none", 0, 0, nil, 0, 0, 0, false},
		{"by one", 9, 0, tools(1, 20), 1, 20, 0, false},
		{"many by few", 40, 0, tools(2, 10), 2, 20, 0, false},
		{"few by many", 9, 0, tools(31, 10), 31, 0, 1, false},
		{"by none in a full window", 2, 98, nil, 0, 98, 0, false},
		{"by less in a full window", 2, 97, tools(1, 2), 1, 99, 0, false},
		{"by more in a full window", 2, 97, tools(1, 4), 0, 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, 100)
			if test.goals > 0 {
				w.Items = []window.Item{{ID: "goal", Type: window.Goal, Content: "g", Tokens: test.goals}}
			}
			w.Tools = tools(test.before, 1)
			for i := range w.Tools {
				w.Tools[i].Name, w.Tools[i].Shown = "old"+w.Tools[i].Name, test.before <= window.ToolsShown
			}
			out, all, err := window.Register(t.Context(), newEnv(), w, test.more, true)
			if (fault.CodeOf(err) == fault.ContextWindowExceeded) != test.exceeded || err != nil && !test.exceeded {
				t.Fatalf("Register gave %v", err)
			}
			if len(all) != test.all || out.After != test.used || len(out.Mitigations) != test.asides || len(out.Kept) != 0 {
				t.Errorf("%d tools, %d used, %+v", len(all), out.After, out.Mitigations)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	w := holding(t, 100, part(window.Goal, "g", 70))
	_, w.Tools, _ = window.Register(t.Context(), newEnv(), w, tools(40, 12), false)
	out, fit := window.Describe(w, []window.Tool{w.Tools[5], {Name: "large", Tokens: 19}, w.Tools[7], w.Tools[9]})
	var shown []string
	for _, tool := range fit {
		if tool.Shown {
			shown = append(shown, tool.Name)
		}
	}
	if len(fit) != 4 || !slices.Equal(shown, []string{"tool05", "tool07"}) || out.Before != 70 || out.After != 94 {
		t.Errorf("%+v, %d to %d; want four, and two that are shown", fit, out.Before, out.After)
	}
	w.Tools[5].Shown = true
	if out, fit := window.Describe(w, nil); len(fit) != 0 || out.Before != 82 || out.After != 70 {
		t.Errorf("nothing found: %+v, %d to %d", fit, out.Before, out.After)
	}
	few := window.Window{Capacity: 1000}
	_, few.Tools, _ = window.Register(t.Context(), newEnv(), few, tools(30, 10), false)
	if out, fit := window.Describe(few, few.Tools[:3]); len(fit) != 3 || out.Before != 300 || out.After != 300 {
		t.Errorf("few are all described anyway: %+v, %d to %d", fit, out.Before, out.After)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	e := newEnv()
	e.Forced = true
	w := holding(t, 100, window.Draft{Type: window.UserPreference, Content: "new one", Key: "slot"}, part(window.Goal, "g", 30))
	old := window.Item{ID: "old", Place: 1, Type: window.UserPreference, Content: "old one", Tokens: 2, Key: "slot"}
	other := window.Item{ID: "other", Place: 0, Type: window.UserPreference, Content: "other one", Tokens: 2, Key: "free"}
	out, err := window.Restore(t.Context(), e, w, []window.Item{old, other, w.Items[1]})
	if err != nil {
		t.Fatal(err)
	}
	w = after(w, out.Change)
	if left(w) != "other new old g" || w.Used() != out.After || w.Used() != 36 {
		t.Fatalf("%q of %d", left(w), w.Used())
	}
	for _, item := range w.Items {
		if want := map[string]string{"old": "", "other": "free", "item0": "slot"}[item.ID]; item.Key != want {
			t.Errorf("%s is in the slot %q, want %q", item.ID, item.Key, want)
		}
	}
	if _, err := window.Restore(t.Context(), e, w, []window.Item{{ID: "large", Type: window.Goal, Tokens: 65}}); fault.CodeOf(err) != fault.ContextWindowExceeded {
		t.Errorf("without room: %v", err)
	}
}

// Where nothing comes back nothing needs room: a mere judgement is overruled in a window that is full.
func TestRestoreNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		kind window.ContentType
	}{{"of what stays", window.Goal}, {"of what would leave", window.Knowledge}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, 100, part(test.kind, "g", 50), part(test.kind, "h", 46))
			if out, err := window.Restore(t.Context(), newEnv(), w, w.Items[:1]); err != nil || out.Compression != nil || out.After != 96 || len(out.Kept) != 0 {
				t.Errorf("%+v, %v", out, err)
			}
			segment := window.Segment{ID: "s"}
			w.Segments = []window.Segment{segment}
			shared, err := window.RestoreShared(t.Context(), newEnv(), segment, []window.Window{w}, 0, nil, nil)
			if err != nil || shared.Compression != nil || shared.Windows[0].After != 96 {
				t.Errorf("of a segment: %+v, %v", shared, err)
			}
		})
	}
}
