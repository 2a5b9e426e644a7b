package graph

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

func (r *conversationResolver) User(ctx context.Context, obj *model.Conversation) (*model.Player, error) {
	return optionalComponent(ctx, &obj.Person, component.Player, asPlayer)
}

func (r *conversationResolver) Assistant(ctx context.Context, obj *model.Conversation) (*model.Player, error) {
	return optionalComponent(ctx, &obj.Conversation.Assistant, component.Player, asPlayer)
}

func (r *conversationResolver) Session(ctx context.Context, obj *model.Conversation) (*model.Session, error) {
	return r.session(ctx, obj.Conversation.ID.Session())
}

func (r *mutationResolver) StartConversation(ctx context.Context, role model.ConversationRole, userID string) (*model.Conversation, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	return showConversation(r.view(ctx).StartConversation(ctx, role.MemoryRole(), userID, caller.Player))
}

func (r *mutationResolver) RecordExchange(ctx context.Context, conversation string, user string, assistant string, state *chain.JSON, idempotencyKey *string) (*model.Conversation, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	id, err := memory.ParseID("conversation", conversation)
	if err != nil {
		return nil, err
	}
	x := db.Exchange{User: user, Assistant: assistant, Key: idempotencyKey}
	if state != nil {
		if x.State, err = memory.ParseState("state", *state); err != nil {
			return nil, err
		}
	}
	return showConversation(r.view(ctx).RecordExchange(ctx, id, x, caller.Player))
}

func (r *mutationResolver) UpdateState(ctx context.Context, conversation string, state chain.JSON) (*model.Conversation, error) {
	id, err := memory.ParseID("conversation", conversation)
	if err != nil {
		return nil, err
	}
	patch, err := memory.ParseState("state", state)
	if err != nil {
		return nil, err
	}
	return showConversation(r.view(ctx).UpdateState(ctx, id, patch))
}

func (r *mutationResolver) DeleteConversation(ctx context.Context, id string, eraseLog *bool, reason *string) (*model.Conversation, error) {
	key, err := memory.ParseID("id", id)
	if err != nil {
		return nil, err
	}
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	eraseFor, err := eraseReason(eraseLog, reason)
	if err != nil {
		return nil, err
	}
	return showConversation(r.view(ctx).DeleteConversation(ctx, key, eraseFor, caller.Player))
}

func (r *mutationResolver) PromptMessages(ctx context.Context, conversation string, input string, rolePrompt string, rules *string, context *model.ContextRequestInput, tokenBudget *int) ([]model.PromptMessage, error) {
	id, err := memory.ParseID("conversation", conversation)
	if err != nil {
		return nil, err
	}
	p := memory.Prompt{Role: rolePrompt, Input: input}
	if rules != nil {
		p.Rules = *rules
	}
	if tokenBudget != nil {
		if p.Budget = *tokenBudget; p.Budget < 1 || p.Budget > memory.MaxPromptBudget {
			return nil, fault.Input("tokenBudget", "%d is outside of 1 to %d", p.Budget, memory.MaxPromptBudget)
		}
	}
	return r.prompt(ctx, id, p, context)
}

func (r *queryResolver) Conversation(ctx context.Context, id string) (*model.Conversation, error) {
	key, err := memory.ParseID("id", id)
	if err != nil {
		return nil, err
	}
	found, err := showConversation(r.view(ctx).Conversation(ctx, key))
	if absent(err) {
		return nil, nil
	}
	return found, err
}

func (r *queryResolver) Conversations(ctx context.Context, role model.ConversationRole, userID string) ([]model.Conversation, error) {
	list := r.view(ctx).ConversationsInBrief
	if asked := graphql.CollectAllFields(ctx); slices.Contains(asked, "history") || slices.Contains(asked, "state") {
		list = r.view(ctx).Conversations
	}
	found, err := list(ctx, role.MemoryRole(), userID)
	out := make([]model.Conversation, len(found))
	for i, c := range found {
		out[i] = model.Conversation{Conversation: c}
	}
	return out, err
}

func (r *turnResolver) Message(ctx context.Context, obj *model.Turn) (*model.Message, error) {
	m, err := loader.From(ctx).Messages.Load(ctx, obj.Turn.Message)
	if err != nil || m == nil {
		return nil, err
	}
	return &model.Message{Message: *m}, nil
}

func (r *Resolver) Conversation() generated.ConversationResolver { return &conversationResolver{r} }

func (r *Resolver) Turn() generated.TurnResolver { return &turnResolver{r} }

type (
	conversationResolver struct{ *Resolver }
	turnResolver         struct{ *Resolver }
)
