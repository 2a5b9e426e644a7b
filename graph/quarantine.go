package graph

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// recorded gives a message that a quarantine names; the log never loses one, so that it is gone is a defect.
func recorded(ctx context.Context, hash chain.Hash) (*model.Message, error) {
	m, err := loader.From(ctx).Messages.Load(ctx, hash)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fault.New(fault.NotFound, "%s, which a quarantine names, is no longer in the log", hash)
	}
	return &model.Message{Message: *m}, nil
}

func quarantineEdge(c string, q db.Quarantine) model.QuarantineEdge {
	return model.QuarantineEdge{Cursor: c, Node: model.Quarantine{Quarantine: q}}
}

func holderEdge(c string, h db.Holder) model.SelectionHolderEdge {
	return model.SelectionHolderEdge{Cursor: c, Node: model.SelectionHolder{Holder: h}}
}

// expectQuarantines announces what the fields of a page may ask for: the messages, and what records them, apart.
func expectQuarantines(ctx context.Context, edges []model.QuarantineEdge) {
	var messages, events, players []chain.Hash
	for _, e := range edges {
		q := e.Node.Quarantine
		messages, events, players = append(messages, q.Message), append(events, q.Event), append(players, q.PlacedBy)
		if q.Release != nil {
			events, players = append(events, q.Release.Event), append(players, q.Release.By)
		}
	}
	l := loader.From(ctx)
	l.Messages.Expect(messages)
	l.Messages.Expect(events)
	l.Components.Expect(players)
}

func expectHolders(ctx context.Context, edges []model.SelectionHolderEdge) {
	var players []chain.Hash
	for _, e := range edges {
		if e.Node.Viewer != nil {
			players = append(players, *e.Node.Viewer)
		}
	}
	loader.From(ctx).Components.Expect(players)
}
