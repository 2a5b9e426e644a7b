package memory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
)

// words counts words, so that a test can say what something costs.
func words(text string) (int, error) { return len(strings.Fields(text)), nil }

func turns(n int) (all []Turn) {
	for i := range n {
		all = append(all, Turn{Role: []Speaker{User, Assistant}[i%2], Content: fmt.Sprintf("turno %d", i)})
	}
	return all
}

// shown is a prompt as text.
func shown(messages []PromptMessage) (lines []string) {
	for _, m := range messages {
		lines = append(lines, string(m.Role)+": "+m.Content)
	}
	return lines
}

func TestPromptOrder(t *testing.T) {
	t.Parallel()
	p := Prompt{
		Role: "Eres el asistente de la tienda.", Rules: "Solo productos del catálogo.", State: State{"current_category": []byte(`"zapatillas"`)},
		History: turns(2), Input: "¿Y en rojo?",
	}
	a, room, err := p.Room(words)
	if err != nil || room != -1 {
		t.Fatalf("room for %d, %v, want no limit", room, err)
	}
	want := []string{
		"system: Eres el asistente de la tienda.", "system: Solo productos del catálogo.", `system: Current State: {"current_category":"zapatillas"}`,
		"system: Relevant Context:\n- algo", "user: turno 0", "assistant: turno 1", "user: ¿Y en rojo?",
	}
	if diff := cmp.Diff(want, shown(a.With("Relevant Context:\n- algo", 4))); diff != "" {
		t.Error(diff)
	}
	p.Rules, p.State, p.History = "", nil, nil
	if a, _, err = p.Room(words); err != nil {
		t.Fatal(err)
	}
	want = []string{"system: Eres el asistente de la tienda.", "system: Current State: {}", "user: ¿Y en rojo?"}
	if diff := cmp.Diff(want, shown(a.With("", 0))); diff != "" {
		t.Error(diff)
	}
}

// The context goes first, then the oldest history; role, rules, state and input never.
func TestPromptBudget(t *testing.T) {
	t.Parallel()
	p := Prompt{Role: "rol", Rules: "reglas", History: turns(4), Input: "hola"} // 1 + 1 + 3 + 4 × 2 + 1
	for _, test := range []struct{ budget, room, context, history int }{
		{17, 3, 3, 4}, {16, 2, 0, 4}, {14, 0, 0, 4}, {13, 0, 0, 2}, {10, 0, 0, 2}, {9, 0, 0, 0}, {6, 0, 0, 0},
	} {
		p.Budget = test.budget
		a, room, err := p.Room(words)
		if err != nil || room != test.room {
			t.Fatalf("of %d there is room for %d, %v, want %d", test.budget, room, err, test.room)
		}
		got := a.With("uno dos tres", 3)
		if n := len(got) - 4; n != test.history+min(test.context, 1) || Tokens(got) > test.budget {
			t.Errorf("with a budget of %d: %q", test.budget, shown(got))
		}
	}
	p.Budget = 5
	if _, _, err := p.Room(words); fault.CodeOf(err) != fault.ContextWindowExceeded || !strings.Contains(err.Error(), "6 tokens") {
		t.Errorf("with a budget of 5: %v", err)
	}
}

// No budget is exceeded, what is never left out is there, and what is left of the history is its end.
func TestPromptNeverExceeds(t *testing.T) {
	t.Parallel()
	count, err := token.Default()
	if err != nil {
		t.Fatal(err)
	}
	text := rapid.StringMatching(`[a-zñ¿? ]{1,80}`)
	rapid.Check(t, func(t *rapid.T) {
		p := Prompt{Role: text.Draw(t, "role"), Rules: text.Draw(t, "rules"), Input: text.Draw(t, "input"), Budget: rapid.IntRange(1, 400).Draw(t, "budget")}
		p.State = State{"talla": []byte(strconv.Quote(text.Draw(t, "state")))}
		for range rapid.IntRange(0, 5).Draw(t, "exchanges") {
			p.History = append(p.History, Turn{Role: User, Content: text.Draw(t, "user")}, Turn{Role: Assistant, Content: text.Draw(t, "assistant")})
		}
		a, room, err := p.Room(count)
		alone, _, aloneErr := Prompt{Role: p.Role, Rules: p.Rules, State: p.State, Input: p.Input}.Room(count)
		if aloneErr != nil {
			t.Fatal(aloneErr)
		}
		needed := Tokens(alone.With("", 0))
		if fault.CodeOf(err) == fault.ContextWindowExceeded && needed > p.Budget {
			return
		}
		if err != nil || needed > p.Budget {
			t.Fatalf("%v, with a budget of %d and %d tokens that are never left out", err, p.Budget, needed)
		}
		context := text.Draw(t, "context")
		tokens, err := count(context)
		if err != nil {
			t.Fatal(err)
		}
		got := a.With(context, tokens)
		if total := Tokens(got); total > p.Budget {
			t.Fatalf("%d tokens with a budget of %d", total, p.Budget)
		}
		has := len(got) > 3 && got[3].Role == System
		if has != (tokens <= room) {
			t.Fatalf("a context of %d tokens, room for %d: there = %v", tokens, room, has)
		}
		history := got[3 : len(got)-1]
		if has {
			history = history[1:]
		}
		end := p.History[len(p.History)-len(history):]
		if !slices.EqualFunc(history, end, func(m PromptMessage, turn Turn) bool { return m.Content == turn.Content }) {
			t.Fatalf("%q is not the end of %v", shown(history), p.History)
		}
		if got[0].Content != p.Role || got[1].Content != p.Rules || !strings.Contains(got[2].Content, string(p.State["talla"])) || got[len(got)-1].Content != p.Input {
			t.Fatalf("%q", shown(got))
		}
	})
}
