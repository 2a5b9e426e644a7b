package graph

import (
	"context"
	"math"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// maxRange is how many messages are given by position at once.
const maxRange = maxPage

// matchOf checks a match; null is any message.
func matchOf(match *selection.Match) (selection.Match, error) {
	if match == nil {
		return selection.Match{}, nil
	}
	return *match, match.Validate("match")
}

func (r *Resolver) rangeOf(ctx context.Context, line db.Line, match *selection.Match, from, count int) (*model.MessageRange, error) {
	matching, err := matchOf(match)
	switch {
	case err != nil:
		return nil, err
	case from < 0 || from > math.MaxInt32:
		return nil, fault.Input("from", "%d is outside of 0 to %d", from, math.MaxInt32)
	case count < 1 || count > maxRange:
		return nil, fault.Input("count", "%d is outside of 1 to %d", count, maxRange)
	}
	found, total, err := r.view(ctx).Range(ctx, line, matching, from, count)
	if err != nil {
		return nil, err
	}
	loader.From(ctx).ExpectAround(found)
	messages := make([]model.Message, len(found))
	for i, m := range found {
		messages[i] = model.Message{Message: m}
	}
	return &model.MessageRange{From: from, TotalCount: total, Messages: messages}, nil
}

func (r *Resolver) placeOf(ctx context.Context, line db.Line, match *selection.Match, message chain.Hash) (*int, error) {
	matching, err := matchOf(match)
	if err != nil {
		return nil, err
	}
	place, ok, err := r.view(ctx).Place(ctx, line, matching, message)
	if err != nil || !ok {
		return nil, err
	}
	return &place, nil
}

func (r *Resolver) placeAt(ctx context.Context, line db.Line, match *selection.Match, at time.Time) (int, error) {
	matching, err := matchOf(match)
	if err != nil {
		return 0, err
	}
	return r.view(ctx).PlaceAt(ctx, line, matching, at)
}

func (r *Resolver) marksOf(ctx context.Context, line db.Line, match *selection.Match) ([]db.Mark, error) {
	matching, err := matchOf(match)
	if err != nil {
		return nil, err
	}
	return r.view(ctx).Marks(ctx, line, matching)
}

func (r *Resolver) countMarks(ctx context.Context, line db.Line, match *selection.Match) (int, error) {
	matching, err := matchOf(match)
	if err != nil {
		return 0, err
	}
	return r.view(ctx).CountMarks(ctx, line, matching)
}
