package memory

import (
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
)

// Limits of a prompt.
const (
	MaxPromptBudget = 1_000_000 // tokens
	MaxPromptBytes  = 256 << 10 // of role, rules and input together, all of which are counted before they can turn out to be too many
)

// System is who says what the assistant is told before the conversation.
const System Speaker = "system"

// PromptMessage is a message for a model.
type PromptMessage struct {
	Role    Speaker
	Content string
	Tokens  int // of the content; a provider adds a few for each message
}

// Prompt is what a model is asked with, in order: who it is, by what rules, what was confirmed, what is relevant, what was
// said last, and what the user says now. What seldom changes stands first, the same to the byte from call to call, so that a
// provider's prompt cache holds.
type Prompt struct {
	Role    string // never left out
	Rules   string // never left out, if there are any
	State   State  // never left out
	History []Turn
	Input   string // never left out
	Budget  int    // tokens of all contents together; 0: no budget
}

// Room gives the prompt's parts with what they cost, and how many tokens are left for relevant context when nothing else is
// left out: 0 if there is no room, and -1 if there is no budget.
//
// Faults: CONTEXT_WINDOW_EXCEEDED if what is never left out does not fit.
func (p Prompt) Room(count token.Counter) (Assembly, int, error) {
	least := 0
	for _, text := range []string{p.Role, p.Rules, p.Input} {
		least += token.Least(token.DefaultEncoding, text)
	}
	if p.Budget > 0 && least > p.Budget { // which is known a hundred times as soon as what they need
		return Assembly{}, 0, errNoRoom("at least ", least, p.Budget)
	}
	a := Assembly{budget: p.Budget, first: make([]PromptMessage, 0, 3), history: make([]PromptMessage, 0, len(p.History))}
	say := func(to *[]PromptMessage, m PromptMessage) (err error) {
		if m.Tokens == 0 {
			m.Tokens, err = count(m.Content)
		}
		if err == nil {
			*to = append(*to, m)
		}
		return err
	}
	add := func(to *[]PromptMessage, role Speaker, content string) error {
		return say(to, PromptMessage{Role: role, Content: content})
	}
	if err := add(&a.first, System, p.Role); err != nil {
		return Assembly{}, 0, err
	}
	if p.Rules != "" {
		if err := add(&a.first, System, p.Rules); err != nil {
			return Assembly{}, 0, err
		}
	}
	if err := add(&a.first, System, "Current State: "+string(p.State.JSON())); err != nil {
		return Assembly{}, 0, err
	}
	for _, turn := range p.History {
		if err := say(&a.history, PromptMessage{turn.Role, turn.Content, turn.Tokens}); err != nil {
			return Assembly{}, 0, err
		}
	}
	input := make([]PromptMessage, 0, 1)
	if err := add(&input, User, p.Input); err != nil {
		return Assembly{}, 0, err
	}
	a.input = input[0]
	fixed := Tokens(a.first) + a.input.Tokens
	if p.Budget > 0 && fixed > p.Budget {
		return Assembly{}, 0, errNoRoom("", fixed, p.Budget)
	}
	if p.Budget == 0 {
		return a, -1, nil
	}
	a.left = p.Budget - fixed - Tokens(a.history)
	return a, max(0, a.left), nil
}

func errNoRoom(least string, need, budget int) error {
	return fault.New(fault.ContextWindowExceeded,
		"role, rules, state and the user's message need %s%d tokens, which are never left out; the budget is %d", least, need, budget)
}

// Assembly is a prompt whose parts are counted, and that only waits for its relevant context.
type Assembly struct {
	first   []PromptMessage // role, rules, state
	history []PromptMessage
	input   PromptMessage
	budget  int
	left    int // of the budget, beside all but the context; negative if the history does not fit whole
}

// With gives the prompt. The context, which costs so many tokens, stands before the history; it is empty if there is none.
// The first thing that is left out is the context, if it does not fit; then the oldest history, question with answer.
func (a Assembly) With(context string, tokens int) []PromptMessage {
	history := a.history
	for over := -a.left; a.budget > 0 && over > 0 && len(history) > 0; {
		n := 1
		for n < len(history) && history[n].Role == Assistant {
			n++
		}
		over -= Tokens(history[:n])
		history = history[n:]
	}
	out := append(make([]PromptMessage, 0, len(a.first)+len(history)+2), a.first...)
	if context != "" && (a.budget == 0 || tokens <= a.left) {
		out = append(out, PromptMessage{System, context, tokens})
	}
	return append(append(out, history...), a.input)
}

// Tokens is what messages cost together.
func Tokens(messages []PromptMessage) (n int) {
	for _, m := range messages {
		n += m.Tokens
	}
	return n
}
