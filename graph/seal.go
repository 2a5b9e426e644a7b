package graph

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// sealer gives the sealer of this server.
func (r *Resolver) sealer() (*db.Sealer, error) {
	if sealer := r.Store.Sealer(); sealer != nil {
		return sealer, nil
	}
	return nil, fault.New(fault.Unavailable, "this server does not seal")
}

// administrator gives the caller, if it is one.
func administrator(ctx context.Context) (auth.Caller, error) {
	caller, err := auth.From(ctx)
	if err == nil && !caller.IsAdmin() {
		err = fault.New(fault.Forbidden, "only administrators may do this")
	}
	return caller, err
}

func sealOf(state db.SealState) *model.Seal {
	s := &model.Seal{Condition: state.Condition, Origin: state.Origin, PublicKey: state.PublicKey}
	if state.Problem != "" {
		s.Problem = &state.Problem
	}
	return s
}

func witnessesOf(states []db.WitnessState, sizes map[string]db.WitnessedSize) []model.Witness {
	out := make([]model.Witness, len(states))
	for i, state := range states {
		out[i] = model.Witness{Name: state.Name, URL: state.URL}
		if state.Problem != "" {
			out[i].Problem = &state.Problem
		}
		if newest, there := sizes[state.Name]; there {
			size := int(newest.Size)
			out[i].Size, out[i].SignedAt = &size, &newest.At
		}
	}
	return out
}

// optionalCheckpoint gives nil for an absent checkpoint.
func optionalCheckpoint(c seal.Checkpoint, found bool, err error) (*model.Checkpoint, error) {
	if err != nil || !found {
		return nil, err
	}
	return &model.Checkpoint{Checkpoint: c}, nil
}

func checkpointEdge(cursor string, c seal.Checkpoint) model.CheckpointEdge {
	return model.CheckpointEdge{Cursor: cursor, Node: model.Checkpoint{Checkpoint: c}}
}

// integrityState says how far a message can be proved: that it was erased, on the record, in preference to the rest. What
// is not the message that its hash names, or has lost its content off the record, is proved by no checkpoint.
func integrityState(ctx context.Context, m *chain.Message) (model.IntegrityState, error) {
	erasure, err := erasureOf(ctx, m)
	if err != nil || erasure != nil {
		return model.IntegrityStateErased, err
	}
	sealed, err := loader.From(ctx).Integrity.Sealed.Load(ctx, m.Hash)
	if err != nil || !sealed.Covered {
		return model.IntegrityStateChained, err
	}
	whole, err := intact(ctx, m)
	switch {
	case err != nil || !whole:
		return model.IntegrityStateChained, err
	case sealed.Witnessed:
		return model.IntegrityStateWitnessed, nil
	}
	return model.IntegrityStateSealed, nil
}

// intact tells whether a message has all that its hash covers, as it does: its refs, too, which have rows of their own.
// Those of a page come together, and once for all of its fields.
func intact(ctx context.Context, m *chain.Message) (bool, error) {
	if m.Content == nil || m.Attachments == nil || m.ComputeHash() != m.Hash ||
		chain.Sum(chain.ContentPreimage(m.Salt, *m.Content, *m.Attachments, m.Ambient)) != m.ContentDigest {
		return false, nil
	}
	refs, err := loader.From(ctx).Refs.Load(ctx, m.Hash)
	return chain.RefsDigest(refs) == m.RefsDigest, err
}

// erasureOf gives what records that a message was erased, nil if nothing does.
func erasureOf(ctx context.Context, m *chain.Message) (*chain.Message, error) {
	if m.Content != nil {
		return nil, nil
	}
	return loader.From(ctx).Integrity.Erasures.Load(ctx, m.Hash)
}
