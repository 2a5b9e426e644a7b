package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
)

func (r *eventThreadResolver) Thread(ctx context.Context, obj *model.EventThread) (*model.Thread, error) {
	return r.thread(ctx, obj.Hash)
}

func (r *queryResolver) ThreadEvents(ctx context.Context, agent string, userID string, threadID string, last *int, keepImportant *int) ([]model.Message, error) {
	most, keep := given(last, 20), given(keepImportant, 0)
	switch {
	case most < 1 || most > maxPage:
		return nil, fault.Input("last", "%d is outside of 1 to %d", most, maxPage)
	case keep < 0 || keep > maxPage-most:
		return nil, fault.Input("keepImportant", "%d is outside of 0 to %d: with last, there are at most %d messages", keep, maxPage-most, maxPage)
	}
	if err := eventNames(agent, userID, &threadID); err != nil {
		return nil, err
	}
	recent, important, err := r.view(ctx).ThreadEvents(ctx, ingest.EventThread(agent, userID, threadID), agent, userID, most, keep)
	if err != nil {
		return nil, err
	}
	out := make([]model.Message, 0, len(recent)+len(important))
	for _, m := range important {
		out = append(out, model.Message{Message: m, KeptForImportance: true})
	}
	for _, m := range recent {
		out = append(out, model.Message{Message: m})
	}
	return out, nil
}

func (r *queryResolver) UserThreads(ctx context.Context, agent string, userID string, first *int, threadID *string) ([]model.EventThread, error) {
	most := given(first, 20)
	if most < 1 || most > maxPage {
		return nil, fault.Input("first", "%d is outside of 1 to %d", most, maxPage)
	}
	if err := eventNames(agent, userID, threadID); err != nil {
		return nil, err
	}
	threads, err := r.view(ctx).UserThreads(ctx, agent, userID, threadID, most)
	if err != nil {
		return nil, err
	}
	out := make([]model.EventThread, len(threads))
	for i, t := range threads {
		out[i] = model.EventThread{Hash: t.Hash, ThreadID: t.ID, StartedAt: t.StartedAt, LastEventAt: t.LastEventAt, NumEvents: t.Events}
	}
	return out, nil
}

func (r *Resolver) EventThread() generated.EventThreadResolver { return &eventThreadResolver{r} }

type eventThreadResolver struct{ *Resolver }
