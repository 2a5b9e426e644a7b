package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// conversationDeleted is the reason of erasures that come with a conversation's, unless there is another.
const conversationDeleted = "The conversation was deleted."

// eraseImpact counts what an erasure would touch: of a message, or of all that was said in a conversation.
func (r *Resolver) eraseImpact(ctx context.Context, message *chain.Hash, conversation *string) (*model.EraseImpact, error) {
	switch {
	case message == nil && conversation == nil:
		return nil, fault.Input("message", "or conversation is needed")
	case message != nil && conversation != nil:
		return nil, fault.Input("conversation", "is of no use beside a message")
	case message != nil:
		impact, err := r.view(ctx).EraseImpact(ctx, *message)
		if err != nil {
			return nil, err
		}
		return &model.EraseImpact{Hash: *message, EraseImpact: impact}, nil
	}
	id, err := memory.ParseID("conversation", *conversation)
	if err != nil {
		return nil, err
	}
	impact, session, err := r.view(ctx).ConversationEraseImpact(ctx, id)
	if err != nil {
		return nil, err
	}
	return &model.EraseImpact{Hash: session, EraseImpact: impact}, nil
}

// eraseReason gives why a deleted conversation is erased from the log; "" if it is not.
func eraseReason(eraseLog *bool, given *string) (string, error) {
	erases := eraseLog != nil && *eraseLog
	switch {
	case given == nil && erases:
		return conversationDeleted, nil
	case given == nil:
		return "", nil
	case !erases:
		return "", fault.Input("reason", "is for what is erased: eraseLog is false")
	case *given == "":
		return "", fault.Input("reason", "is empty")
	}
	return *given, nil
}
