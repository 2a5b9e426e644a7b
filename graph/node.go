package graph

import (
	"context"
	"errors"

	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// nodeByHash gives an object that is known by its hash; absent is nil.
func (r *Resolver) nodeByHash(ctx context.Context, kind string, hash chain.Hash) (model.Node, error) {
	loaders := loader.From(ctx)
	switch kind {
	case "Message":
		m, err := loaders.Messages.Load(ctx, hash)
		if err != nil || m == nil {
			return nil, err
		}
		return model.Message{Message: *m}, nil
	case "Record":
		record, err := loaders.Records.Load(ctx, hash)
		if err != nil || record == nil {
			return nil, err
		}
		return model.Record{Record: *record}, nil
	case "Session":
		s, err := r.session(ctx, hash)
		if err != nil || s == nil {
			return nil, err
		}
		return *s, nil
	case "Thread":
		t, err := r.thread(ctx, hash)
		if err != nil || t == nil {
			return nil, err
		}
		return *t, nil
	}
	return componentNode(ctx, kind, hash)
}

// componentNode gives a component as the kind that its id names.
func componentNode(ctx context.Context, kind string, hash chain.Hash) (model.Node, error) {
	switch kind {
	case "Player":
		c, err := componentField(ctx, hash, component.Player)
		return asPlayer(c), err
	case "Hashtag":
		c, err := componentField(ctx, hash, component.Hashtag)
		return asHashtag(c), err
	case "Flag":
		c, err := componentField(ctx, hash, component.Flag)
		return asFlag(c), err
	case "Item":
		c, err := componentField(ctx, hash, component.Item)
		return asItem(c), err
	case "Location":
		c, err := componentField(ctx, hash, component.Location)
		return asLocation(c), err
	}
	return nil, fault.Input("id", "is not an id that this server gave")
}

// absent says whether an error means that there is no such thing.
func absent(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == fault.NotFound
}
