package main

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hands is a clock that a test sets, and a server reads meanwhile.
type hands struct{ at atomic.Int64 }

func (h *hands) set(t time.Time) { h.at.Store(t.UnixMicro()) }
func (h *hands) now() time.Time  { return time.UnixMicro(h.at.Load()).UTC() }

// promptLine is a message of a prompt.
type promptLine struct {
	Role, Content string
	Tokens        int
}

func promptLines(list any) (lines []promptLine) {
	all, _ := list.([]any)
	for _, m := range all {
		m := m.(map[string]any)
		lines = append(lines, promptLine{m["role"].(string), m["content"].(string), int(m["tokens"].(float64))})
	}
	return lines
}

func tokensOf(lines []promptLine) (n int) {
	for _, l := range lines {
		n += l.Tokens
	}
	return n
}

// leavesOutInOrder asks for a prompt with one item of context, without a budget and then with ever smaller ones: one that just
// fits leaves nothing out, with one token less the context goes, unless there is a shorter item, then the oldest question with
// its answer, and so on. Role, rules, state and the user's message never do.
func leavesOutInOrder(t *testing.T, prompt func(code string, budget any) []promptLine) {
	t.Helper()
	left := prompt("", nil)
	if len(left) != 3+1+10+1 || !strings.HasPrefix(left[3].Content, "Relevant Context:") {
		t.Fatalf("without a budget the prompt is %v", left)
	}
	fits := func(budget int) {
		t.Helper()
		if diff := cmp.Diff(left, prompt("", budget)); diff != "" {
			t.Errorf("with %d tokens:\n%s", budget, diff)
		}
	}
	fits(tokensOf(left))
	for withContext := true; withContext; { // until no item is as short
		shorter := prompt("", tokensOf(left)-1)
		if withContext = len(shorter) == len(left); withContext {
			if tokensOf(shorter) >= tokensOf(left) {
				t.Fatalf("%v is no shorter than %v", shorter, left)
			}
			left[3] = shorter[3]
			if diff := cmp.Diff(left, shorter); diff != "" {
				t.Fatalf("with a shorter context:\n%s", diff)
			}
		}
	}
	for goes := 1; len(left) > 3+1; goes = 2 { // the context, then two turns at a time
		before := tokensOf(left)
		left = slices.Delete(left, 3, 3+goes)
		fits(before - 1)
		fits(tokensOf(left))
	}
	prompt("CONTEXT_WINDOW_EXCEEDED", tokensOf(left)-1)
}

// crossesTheEnd asks for all that there is of a conversation one millisecond before its end, and when it has come: each time of
// one of its own, since some of it renews it.
func (s *site) crossesTheEnd(t *testing.T, clock *hands, agent, role, user string) {
	t.Helper()
	start := func() (id string, end time.Time) {
		c := s.talk(t, agent, "", `mutation($r: ConversationRole!, $u: String!) { startConversation(role: $r, userId: $u) { id expiresAt } }`, object{"r": role, "u": user}).(map[string]any)
		end, err := time.Parse(time.RFC3339Nano, c["expiresAt"].(string))
		if err != nil || end != clock.now().Add(30*time.Minute) {
			t.Fatalf("started at %s it is %v", clock.now(), c)
		}
		return c["id"].(string), end
	}
	for _, does := range []struct {
		query string
		gone  string // the code when the end has come; empty: the answer does not tell of it
		fresh bool   // what is given is another conversation
	}{
		{`query($c: String!) { conversation(id: $c) { id } }`, "", false},
		{`query($r: ConversationRole!, $u: String!) { conversations(role: $r, userId: $u) { id } }`, "", false},
		{`mutation($c: String!) { promptMessages(conversation: $c, input: "¿Y?", rolePrompt: "Eres", context: {query: "¿Y?"}) { role } }`, "NOT_FOUND", true},
		{`mutation($c: String!) { updateState(conversation: $c, state: {talla: 43}) { id } }`, "NOT_FOUND", false},
		{`mutation($c: String!) { recordExchange(conversation: $c, user: "hola", assistant: "buenas") { id } }`, "NOT_FOUND", false},
		{`mutation($c: String!) { deleteConversation(id: $c) { id } }`, "NOT_FOUND", true},
	} {
		for _, before := range []time.Duration{time.Millisecond, 0} {
			id, end := start()
			clock.set(end.Add(-before))
			variables := object{"c": id, "r": role, "u": user}
			for name := range variables {
				if !strings.Contains(does.query, "$"+name+":") {
					delete(variables, name)
				}
			}
			code := does.gone
			if before > 0 {
				code = ""
			}
			got := fmt.Sprint(s.talk(t, agent, code, does.query, variables))
			if told := strings.Contains(got, id); told != (before > 0 && !does.fresh) {
				t.Errorf("%s, %s before the end: %s", does.query, before, got)
			}
		}
	}
}
