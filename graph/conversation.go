package graph

import (
	"context"
	"strings"
	"time"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

func showConversation(c memory.Conversation, err error) (*model.Conversation, error) {
	if err != nil {
		return nil, err
	}
	return &model.Conversation{Conversation: c}, nil
}

// prompt puts together what to ask a model in a conversation.
func (r *Resolver) prompt(ctx context.Context, id memory.ID, p memory.Prompt, input *model.ContextRequestInput) ([]model.PromptMessage, error) {
	for _, t := range []struct {
		field, text string
		limit       int
	}{{"input", p.Input, memory.MaxTurnBytes}, {"rolePrompt", p.Role, memory.MaxPromptBytes}, {"rules", p.Rules, memory.MaxPromptBytes}} {
		if strings.TrimSpace(t.text) == "" && t.field != "rules" {
			return nil, fault.Input(t.field, "is empty")
		}
		if err := chain.CheckText(t.field, &t.text, t.limit); err != nil {
			return nil, err
		}
	}
	if n := len(p.Role) + len(p.Rules) + len(p.Input); n > memory.MaxPromptBytes {
		return nil, fault.Input("rules", "rolePrompt, rules and input have %d bytes together; at most %d are allowed", n, memory.MaxPromptBytes)
	}
	request, err := promptContext(input)
	if err != nil {
		return nil, err
	}
	c, err := r.view(ctx).ConversationForPrompt(ctx, id)
	if err != nil {
		return nil, err
	}
	count, err := token.Default()
	if err != nil {
		return nil, err
	}
	p.State, p.History = c.State, c.History
	assembly, room, err := p.Room(count)
	if err != nil {
		return nil, err
	}
	var relevant string
	var tokens int
	if input != nil && room != 0 {
		if relevant, tokens, err = r.relevant(ctx, c, request, room); err != nil {
			return nil, err
		}
	}
	return model.NewPromptMessages(assembly.With(relevant, tokens)), nil
}

// promptContext reads which context to select, also where there will be no room for it.
func promptContext(input *model.ContextRequestInput) (request selection.Request, err error) {
	if input == nil {
		return request, nil
	}
	if request, err = contextRequest(*input, "context"); err != nil {
		return request, err
	}
	if request.Scope.Players != nil {
		return request, fault.Input("context.scope.players", "is the conversation's user: leave it out")
	}
	checked := request
	if checked.At.IsZero() {
		checked.At = time.Now()
	}
	return request, checked.Validate("context")
}

// relevant selects context for a prompt, of what the assistant sees and the user was named in: what others told the same
// assistant is none of the user's. Whoever names both is none of them either: they would put words into the prompt, unless
// the request says whose messages it wants. It fits into so many tokens, unless room is negative.
func (r *Resolver) relevant(ctx context.Context, c memory.Conversation, request selection.Request, room int) (string, int, error) {
	request.Scope.Players = []chain.Hash{c.Person}
	if request.Scope.Owners == nil {
		request.Scope.Owners = []chain.Hash{c.Person, c.Assistant}
	}
	for _, turn := range c.History {
		request.Except = append(request.Except, turn.Message)
	}
	if room >= 0 && (request.TokenBudget == nil || *request.TokenBudget > room) {
		request.TokenBudget = &room
	}
	selected, err := r.Store.As(c.Assistant).RequestContext(ctx, request)
	r.view(ctx).NoteItems(selected.Items) // it is selected with the assistant's eyes, and read by whoever asks
	return selected.Rendered, selected.Tokens, err
}
