package graph

import (
	"context"
	"slices"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

func (r *messageResolver) ID(ctx context.Context, obj *model.Message) (string, error) {
	return model.GlobalID("Message", obj.Hash.String()), nil
}

func (r *messageResolver) Session(ctx context.Context, obj *model.Message) (*model.Session, error) {
	return r.session(ctx, obj.SessionHash)
}

func (r *messageResolver) Thread(ctx context.Context, obj *model.Message) (*model.Thread, error) {
	if obj.ThreadHash == nil {
		return nil, nil
	}
	return r.thread(ctx, *obj.ThreadHash)
}

func (r *messageResolver) Owner(ctx context.Context, obj *model.Message) (*model.Player, error) {
	return optionalComponent(ctx, &obj.OwnerID, component.Player, asPlayer)
}

func (r *messageResolver) Players(ctx context.Context, obj *model.Message) ([]model.Player, error) {
	return componentList(ctx, obj.PlayerIDs, component.Player, asPlayer)
}

func (r *messageResolver) MasterPlayer(ctx context.Context, obj *model.Message) (*model.Player, error) {
	return optionalComponent(ctx, obj.Message.MasterPlayer, component.Player, asPlayer)
}

func (r *messageResolver) Hashtags(ctx context.Context, obj *model.Message) ([]model.Hashtag, error) {
	return componentList(ctx, obj.Message.Hashtags, component.Hashtag, asHashtag)
}

func (r *messageResolver) Flag(ctx context.Context, obj *model.Message) (*model.Flag, error) {
	return optionalComponent(ctx, obj.FlagID, component.Flag, asFlag)
}

func (r *messageResolver) MasterItem(ctx context.Context, obj *model.Message) (*model.Item, error) {
	return optionalComponent(ctx, obj.MasterItemID, component.Item, asItem)
}

func (r *messageResolver) Items(ctx context.Context, obj *model.Message) ([]model.Item, error) {
	return componentList(ctx, obj.ItemIDs, component.Item, asItem)
}

func (r *messageResolver) Location(ctx context.Context, obj *model.Message) (*model.Location, error) {
	return optionalComponent(ctx, obj.LocationID, component.Location, asLocation)
}

func (r *messageResolver) Refs(ctx context.Context, obj *model.Message, typeArg *chain.RefType) ([]model.MessageRef, error) {
	refs, err := loader.From(ctx).Refs.Load(ctx, obj.Hash)
	if err != nil {
		return nil, err
	}
	out := make([]model.MessageRef, 0, len(refs))
	for i, ref := range refs {
		if typeArg == nil || *typeArg == ref.Type {
			out = append(out, model.MessageRef{Position: i + 1, Type: ref.Type, Hash: ref.Hash})
		}
	}
	return out, nil
}

func (r *messageResolver) CitedBy(ctx context.Context, obj *model.Message, first *int, after *string) (*model.MessageConnection, error) {
	return r.citedBy(ctx, obj.Hash, cursor.CitedBy, pageArgs{first: first, after: after})
}

func (r *messageResolver) Integrity(ctx context.Context, obj *model.Message) (*model.MessageIntegrity, error) {
	loader.From(ctx).Integrity.Expect(obj.Message) // as well as those of its page, which are known already
	return &model.MessageIntegrity{Message: obj.Message}, nil
}

func (r *messageIntegrityResolver) State(ctx context.Context, obj *model.MessageIntegrity) (model.IntegrityState, error) {
	return integrityState(ctx, &obj.Message)
}

func (r *messageIntegrityResolver) LeafIndex(ctx context.Context, obj *model.MessageIntegrity) (*int, error) {
	sealed, err := loader.From(ctx).Integrity.Sealed.Load(ctx, obj.Message.Hash)
	if err != nil || !sealed.Covered {
		return nil, err
	}
	index := int(sealed.Index)
	return &index, nil
}

func (r *messageIntegrityResolver) Proof(ctx context.Context, obj *model.MessageIntegrity) (*string, error) {
	sealed, err := loader.From(ctx).Integrity.Proofs.Load(ctx, obj.Message.Hash)
	if err != nil || !sealed.Covered {
		return nil, err
	}
	return &sealed.Proof, nil
}

func (r *messageIntegrityResolver) Erasure(ctx context.Context, obj *model.MessageIntegrity) (*model.Message, error) {
	erasure, err := erasureOf(ctx, &obj.Message)
	if err != nil || erasure == nil {
		return nil, err
	}
	return &model.Message{Message: *erasure}, nil
}

func (r *messageRefResolver) Target(ctx context.Context, obj *model.MessageRef) (model.ContextSource, error) {
	return sourceOf(ctx, obj.Type, obj.Hash)
}

func (r *mutationResolver) AppendMessages(ctx context.Context, messages []chain.Draft) ([]model.Message, error) {
	messages, err := actingFor(ctx, messages, messageField)
	if err != nil {
		return nil, err
	}
	written, err := r.view(ctx).Append(ctx, messages)
	if err != nil {
		return nil, err
	}
	if asksForMore(ctx) {
		loader.From(ctx).ExpectAround(written)
	}
	out := make([]model.Message, len(written))
	for i, m := range written {
		out[i] = model.Message{Message: m}
	}
	return out, nil
}

func (r *queryResolver) Channels(ctx context.Context) ([]db.ChannelUse, error) {
	return r.view(ctx).Channels(ctx)
}

func (r *queryResolver) Message(ctx context.Context, hash chain.Hash) (*model.Message, error) {
	m, err := loader.From(ctx).Messages.Load(ctx, hash)
	if err != nil || m == nil {
		return nil, err
	}
	return &model.Message{Message: *m}, nil
}

func (r *queryResolver) Messages(ctx context.Context, filter *selection.Scope, match *selection.Match, first *int, after *string, last *int, before *string) (*model.MessageConnection, error) {
	p, err := pageOf(pageArgs{first, last, after, before}, cursor.Messages.Parse)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(filter, "filter")
	if err != nil {
		return nil, err
	}
	matching, err := matchOf(match)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).Messages(ctx, scope, matching, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.Messages.Encode, messageEdge)
	expectMessages(ctx, edges)
	return &model.MessageConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountMessages(ctx, scope, matching)
	}}, nil
}

func (r *queryResolver) Session(ctx context.Context, hash chain.Hash) (*model.Session, error) {
	return r.session(ctx, hash)
}

func (r *queryResolver) Sessions(ctx context.Context, filter *selection.Scope, match *selection.Match, first *int, after *string) (*model.SessionConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.Sessions.Parse)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(filter, "filter")
	if err != nil {
		return nil, err
	}
	matching, err := matchOf(match)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).Sessions(ctx, scope, matching, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.Sessions.Encode, sessionEdge)
	return &model.SessionConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountSessions(ctx, scope, matching)
	}}, nil
}

func (r *queryResolver) Thread(ctx context.Context, hash chain.Hash) (*model.Thread, error) {
	return r.thread(ctx, hash)
}

func (r *queryResolver) Threads(ctx context.Context, filter *selection.Scope, match *selection.Match, first *int, after *string) (*model.ThreadConnection, error) {
	p, err := pageOf(pageArgs{first: first, after: after}, cursor.Threads.Parse)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(filter, "filter")
	if err != nil {
		return nil, err
	}
	matching, err := matchOf(match)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).Threads(ctx, scope, matching, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.Threads.Encode, threadEdge)
	hashes, last := make([]chain.Hash, len(edges)), make([]chain.Hash, len(edges))
	for i, e := range edges {
		hashes[i], last[i] = e.Node.Hash, e.Node.Last
	}
	loader.From(ctx).ThreadPlayers.Expect(hashes)
	loader.From(ctx).Messages.Expect(last)
	return &model.ThreadConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountThreads(ctx, scope, matching)
	}}, nil
}

func (r *sessionResolver) ID(ctx context.Context, obj *model.Session) (string, error) {
	return model.GlobalID("Session", obj.Hash.String()), nil
}

func (r *sessionResolver) Messages(ctx context.Context, obj *model.Session, first *int, after *string, last *int, before *string) (*model.MessageConnection, error) {
	p, err := pageOf(pageArgs{first, last, after, before}, cursor.SessionMessages.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).SessionMessages(ctx, obj.Hash, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.SessionMessages.Encode, messageEdge)
	expectMessages(ctx, edges)
	return &model.MessageConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountMessages(ctx, selection.Scope{Sessions: []chain.Hash{obj.Hash}}, selection.Match{})
	}}, nil
}

func (r *sessionResolver) Range(ctx context.Context, obj *model.Session, from int, count int, match *selection.Match) (*model.MessageRange, error) {
	return r.rangeOf(ctx, db.Line{Hash: obj.Hash}, match, from, count)
}

func (r *sessionResolver) Place(ctx context.Context, obj *model.Session, message chain.Hash, match *selection.Match) (*int, error) {
	return r.placeOf(ctx, db.Line{Hash: obj.Hash}, match, message)
}

func (r *sessionResolver) PlaceAt(ctx context.Context, obj *model.Session, at time.Time, match *selection.Match) (int, error) {
	return r.placeAt(ctx, db.Line{Hash: obj.Hash}, match, at)
}

func (r *sessionResolver) Marks(ctx context.Context, obj *model.Session, match *selection.Match) ([]db.Mark, error) {
	return r.marksOf(ctx, db.Line{Hash: obj.Hash}, match)
}

func (r *sessionResolver) MarksCount(ctx context.Context, obj *model.Session, match *selection.Match) (int, error) {
	return r.countMarks(ctx, db.Line{Hash: obj.Hash}, match)
}

func (r *subscriptionResolver) MessageAppended(ctx context.Context, sessions []chain.Hash, threads []chain.Hash) (<-chan *model.Message, error) {
	for _, list := range []struct {
		name string
		size int
	}{{"sessions", len(sessions)}, {"threads", len(threads)}} {
		if list.size > selection.MaxScopeEntries {
			return nil, fault.Input(list.name, "has %d entries; at most %d are allowed", list.size, selection.MaxScopeEntries)
		}
	}
	feed, err := r.view(ctx).SubscribeTo(ctx, sessions, func(m *chain.Message) bool {
		return threads == nil || m.ThreadHash != nil && slices.Contains(threads, *m.ThreadHash)
	})
	if err != nil {
		return nil, err
	}
	onSent(ctx, feed.Delivered)
	return deliver(ctx, feed), nil
}

func (r *threadResolver) ID(ctx context.Context, obj *model.Thread) (string, error) {
	return model.GlobalID("Thread", obj.Hash.String()), nil
}

func (r *threadResolver) LastMessage(ctx context.Context, obj *model.Thread) (*model.Message, error) {
	m, err := loader.From(ctx).Messages.Load(ctx, obj.Last)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fault.New(fault.NotFound, "the thread's last message is gone")
	}
	return &model.Message{Message: *m}, nil
}

func (r *threadResolver) Players(ctx context.Context, obj *model.Thread) ([]model.Player, error) {
	players, err := loader.From(ctx).ThreadPlayers.Load(ctx, obj.Hash)
	if err != nil {
		return nil, err
	}
	return componentList(ctx, players, component.Player, asPlayer)
}

func (r *threadResolver) Messages(ctx context.Context, obj *model.Thread, first *int, after *string, last *int, before *string) (*model.MessageConnection, error) {
	p, err := pageOf(pageArgs{first, last, after, before}, cursor.ThreadMessages.Parse)
	if err != nil {
		return nil, err
	}
	rows, err := r.view(ctx).ThreadMessages(ctx, obj.Hash, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.ThreadMessages.Encode, messageEdge)
	expectMessages(ctx, edges)
	return &model.MessageConnection{Edges: edges, PageInfo: info, Count: func(context.Context) (int64, error) {
		return obj.MessageCount, nil
	}}, nil
}

func (r *threadResolver) Range(ctx context.Context, obj *model.Thread, from int, count int, match *selection.Match) (*model.MessageRange, error) {
	return r.rangeOf(ctx, db.Line{Hash: obj.Hash, Thread: true}, match, from, count)
}

func (r *threadResolver) Place(ctx context.Context, obj *model.Thread, message chain.Hash, match *selection.Match) (*int, error) {
	return r.placeOf(ctx, db.Line{Hash: obj.Hash, Thread: true}, match, message)
}

func (r *threadResolver) PlaceAt(ctx context.Context, obj *model.Thread, at time.Time, match *selection.Match) (int, error) {
	return r.placeAt(ctx, db.Line{Hash: obj.Hash, Thread: true}, match, at)
}

func (r *threadResolver) Marks(ctx context.Context, obj *model.Thread, match *selection.Match) ([]db.Mark, error) {
	return r.marksOf(ctx, db.Line{Hash: obj.Hash, Thread: true}, match)
}

func (r *threadResolver) MarksCount(ctx context.Context, obj *model.Thread, match *selection.Match) (int, error) {
	return r.countMarks(ctx, db.Line{Hash: obj.Hash, Thread: true}, match)
}

func (r *Resolver) Message() generated.MessageResolver { return &messageResolver{r} }

func (r *Resolver) MessageIntegrity() generated.MessageIntegrityResolver {
	return &messageIntegrityResolver{r}
}

func (r *Resolver) MessageRef() generated.MessageRefResolver { return &messageRefResolver{r} }

func (r *Resolver) Session() generated.SessionResolver { return &sessionResolver{r} }

func (r *Resolver) Thread() generated.ThreadResolver { return &threadResolver{r} }

type (
	messageResolver          struct{ *Resolver }
	messageIntegrityResolver struct{ *Resolver }
	messageRefResolver       struct{ *Resolver }
	sessionResolver          struct{ *Resolver }
	threadResolver           struct{ *Resolver }
)
