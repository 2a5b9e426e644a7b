package graph

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// contextRequest reads what is asked; faults name the field below field.
func contextRequest(input model.ContextRequestInput, field string) (selection.Request, error) {
	request := selection.Request{
		Query: input.Query, Player: input.Player, Limit: selection.DefaultLimit, Threshold: selection.DefaultThreshold,
		TokenBudget: input.TokenBudget,
	}
	if input.Scope != nil {
		request.Scope = *input.Scope
	}
	if input.Limit != nil {
		request.Limit = *input.Limit
	}
	if input.Threshold != nil {
		request.Threshold = *input.Threshold
	}
	if input.At != nil {
		request.At = *input.At
	}
	if input.Previous != nil {
		var err error
		if request.PreviousID, err = selectionKey(field+".previous", *input.Previous); err != nil {
			return request, err
		}
	}
	return request, nil
}

func (r *Resolver) selections(ctx context.Context, player *chain.Hash, since, until *time.Time, a pageArgs) (*model.ContextSelectionConnection, error) {
	p, err := pageOf(a, cursor.AllSelections.Parse)
	if err != nil {
		return nil, err
	}
	filter := db.SelectionFilter{Player: player, Since: since, Until: until}
	rows, err := r.view(ctx).Selections(ctx, filter, p)
	if err != nil {
		return nil, err
	}
	var players []chain.Hash
	for _, row := range rows.Items {
		if row.Value.Viewer != nil {
			players = append(players, *row.Value.Viewer)
		}
	}
	loader.From(ctx).Components.Expect(players)
	edges, info := connect(p, rows, cursor.AllSelections.Encode, func(c string, s selection.Selection) model.ContextSelectionEdge {
		return model.ContextSelectionEdge{Cursor: c, Node: *showSelection(ctx, s)}
	})
	return &model.ContextSelectionConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) {
		return r.view(ctx).CountSelections(ctx, filter)
	}}, nil
}

func (r *Resolver) tryContext(ctx context.Context, input model.ContextRequestInput, weights []ranking.Set) (*model.ReplayedSelection, error) {
	request, err := contextRequest(input, "request")
	if err != nil {
		return nil, err
	}
	policy, err := ranking.With(weights, "weights")
	if err != nil {
		return nil, err
	}
	tried, err := r.view(ctx).TryContext(ctx, request, policy)
	if err != nil {
		return nil, err
	}
	return &model.ReplayedSelection{Selection: showSelection(ctx, tried).Selection}, nil
}

// replayAs reads what a replay is to have otherwise. No weights, or those of now, are nothing else.
func replayAs(weights []ranking.Set, log *model.ReplayLog) (db.ReplayAs, error) {
	as := db.ReplayAs{Today: log != nil && *log == model.ReplayLogNow}
	policy, err := ranking.With(weights, "weights")
	if err == nil && policy.Version != ranking.Default().Version {
		as.Policy = &policy
	}
	return as, err
}

func (r *Resolver) whyNot(ctx context.Context, id string, hash *chain.Hash, text *string) (*model.WhyNot, error) {
	key, err := selectionKey("selection", id)
	if err != nil {
		return nil, err
	}
	var verdicts []selection.Verdict
	switch {
	case (hash == nil) == (text == nil):
		return nil, fault.Input("hash", "give either a hash or a text, and not both")
	case hash != nil:
		verdicts, err = r.view(ctx).WhyNot(ctx, key, *hash)
	default:
		if err := selection.CheckQuery("text", *text); err != nil {
			return nil, err
		}
		verdicts, err = r.view(ctx).WhyNotText(ctx, key, *text)
	}
	if err != nil {
		return nil, err
	}
	var known sources
	for _, v := range verdicts {
		if v.Kind != selection.VerdictUnknown {
			known.add(v.Type, v.Hash)
		}
	}
	known.expect(ctx)
	return &model.WhyNot{Verdicts: verdicts}, nil
}
