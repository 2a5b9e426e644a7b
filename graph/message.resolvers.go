package graph

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
)

func (r *messageResolver) ID(ctx context.Context, obj *model.Message) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *messageResolver) Session(ctx context.Context, obj *model.Message) (*model.Session, error) {
	panic(fmt.Errorf("not implemented: Session - session"))
}

func (r *messageResolver) Thread(ctx context.Context, obj *model.Message) (*model.Thread, error) {
	panic(fmt.Errorf("not implemented: Thread - thread"))
}

func (r *messageResolver) Owner(ctx context.Context, obj *model.Message) (*model.Player, error) {
	panic(fmt.Errorf("not implemented: Owner - owner"))
}

func (r *messageResolver) Players(ctx context.Context, obj *model.Message) ([]model.Player, error) {
	panic(fmt.Errorf("not implemented: Players - players"))
}

func (r *messageResolver) MasterPlayer(ctx context.Context, obj *model.Message) (*model.Player, error) {
	panic(fmt.Errorf("not implemented: MasterPlayer - masterPlayer"))
}

func (r *messageResolver) Hashtags(ctx context.Context, obj *model.Message) ([]model.Hashtag, error) {
	panic(fmt.Errorf("not implemented: Hashtags - hashtags"))
}

func (r *messageResolver) Flag(ctx context.Context, obj *model.Message) (*model.Flag, error) {
	panic(fmt.Errorf("not implemented: Flag - flag"))
}

func (r *messageResolver) MasterItem(ctx context.Context, obj *model.Message) (*model.Item, error) {
	panic(fmt.Errorf("not implemented: MasterItem - masterItem"))
}

func (r *messageResolver) Items(ctx context.Context, obj *model.Message) ([]model.Item, error) {
	panic(fmt.Errorf("not implemented: Items - items"))
}

func (r *messageResolver) Location(ctx context.Context, obj *model.Message) (*model.Location, error) {
	panic(fmt.Errorf("not implemented: Location - location"))
}

func (r *messageResolver) Refs(ctx context.Context, obj *model.Message, typeArg *chain.RefType) ([]model.MessageRef, error) {
	panic(fmt.Errorf("not implemented: Refs - refs"))
}

func (r *messageResolver) CitedBy(ctx context.Context, obj *model.Message, first *int, after *string) (*model.MessageConnection, error) {
	panic(fmt.Errorf("not implemented: CitedBy - citedBy"))
}

func (r *messageResolver) Integrity(ctx context.Context, obj *model.Message) (*model.MessageIntegrity, error) {
	panic(fmt.Errorf("not implemented: Integrity - integrity"))
}

func (r *messageRefResolver) Target(ctx context.Context, obj *model.MessageRef) (model.ContextSource, error) {
	panic(fmt.Errorf("not implemented: Target - target"))
}

func (r *mutationResolver) AppendMessages(ctx context.Context, messages []model.MessageInput) ([]model.Message, error) {
	panic(fmt.Errorf("not implemented: AppendMessages - appendMessages"))
}

func (r *queryResolver) Message(ctx context.Context, hash chain.Hash) (*model.Message, error) {
	panic(fmt.Errorf("not implemented: Message - message"))
}

func (r *queryResolver) Messages(ctx context.Context, filter *model.ContextScope, first *int, after *string, last *int, before *string) (*model.MessageConnection, error) {
	panic(fmt.Errorf("not implemented: Messages - messages"))
}

func (r *queryResolver) Session(ctx context.Context, hash chain.Hash) (*model.Session, error) {
	panic(fmt.Errorf("not implemented: Session - session"))
}

func (r *queryResolver) Sessions(ctx context.Context, filter *model.ContextScope, first *int, after *string) (*model.SessionConnection, error) {
	panic(fmt.Errorf("not implemented: Sessions - sessions"))
}

func (r *queryResolver) Thread(ctx context.Context, hash chain.Hash) (*model.Thread, error) {
	panic(fmt.Errorf("not implemented: Thread - thread"))
}

func (r *queryResolver) Threads(ctx context.Context, filter *model.ContextScope, first *int, after *string) (*model.ThreadConnection, error) {
	panic(fmt.Errorf("not implemented: Threads - threads"))
}

func (r *sessionResolver) ID(ctx context.Context, obj *model.Session) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *sessionResolver) Messages(ctx context.Context, obj *model.Session, first *int, after *string, last *int, before *string) (*model.MessageConnection, error) {
	panic(fmt.Errorf("not implemented: Messages - messages"))
}

func (r *subscriptionResolver) MessageAppended(ctx context.Context, sessions []chain.Hash, threads []chain.Hash) (<-chan *model.Message, error) {
	panic(fmt.Errorf("not implemented: MessageAppended - messageAppended"))
}

func (r *threadResolver) ID(ctx context.Context, obj *model.Thread) (string, error) {
	panic(fmt.Errorf("not implemented: ID - id"))
}

func (r *threadResolver) Players(ctx context.Context, obj *model.Thread) ([]model.Player, error) {
	panic(fmt.Errorf("not implemented: Players - players"))
}

func (r *threadResolver) Messages(ctx context.Context, obj *model.Thread, first *int, after *string, last *int, before *string) (*model.MessageConnection, error) {
	panic(fmt.Errorf("not implemented: Messages - messages"))
}

func (r *Resolver) Message() generated.MessageResolver { return &messageResolver{r} }

func (r *Resolver) MessageRef() generated.MessageRefResolver { return &messageRefResolver{r} }

func (r *Resolver) Session() generated.SessionResolver { return &sessionResolver{r} }

func (r *Resolver) Thread() generated.ThreadResolver { return &threadResolver{r} }

type (
	messageResolver    struct{ *Resolver }
	messageRefResolver struct{ *Resolver }
	sessionResolver    struct{ *Resolver }
	threadResolver     struct{ *Resolver }
)
