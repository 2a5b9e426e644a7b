package graph

import (
	"context"
	"regexp"

	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

const selectionKind = "ContextSelection"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// selectionKey reads a selection's global id; the fault names the field.
func selectionKey(field, id string) (string, error) {
	kind, key, ok := model.ParseGlobalID(id)
	if !ok || kind != selectionKind || !uuid.MatchString(key) {
		return "", fault.Input(field, "is not the id of a selection")
	}
	return key, nil
}

// selection gives a selection as it was kept, nil if there is none.
func (r *Resolver) selection(ctx context.Context, key string) (*model.ContextSelection, error) {
	if !uuid.MatchString(key) {
		return nil, fault.Input("id", "is not the id of a selection")
	}
	kept, err := r.view(ctx).Selection(ctx, key)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return showSelection(ctx, kept), nil
}

// showSelection gives a selection its form in the schema, and announces the messages and records that it names.
func showSelection(ctx context.Context, s selection.Selection) *model.ContextSelection {
	var items, dropped sources
	for _, item := range s.Items {
		items.add(item.Type, item.Hash)
	}
	for _, d := range s.Dropped {
		dropped.add(d.Type, d.Hash)
	}
	items.expect(ctx)
	dropped.expect(ctx)
	return &model.ContextSelection{Selection: s}
}

// sources are what a part of a selection names: asked for together, or not at all.
type sources struct{ messages, records []chain.Hash }

func (s *sources) add(kind chain.RefType, hash chain.Hash) {
	if kind == chain.RefContext {
		s.messages = append(s.messages, hash)
	} else {
		s.records = append(s.records, hash)
	}
}

func (s *sources) expect(ctx context.Context) {
	loader.From(ctx).Messages.Expect(s.messages)
	loader.From(ctx).Records.Expect(s.records)
}

// selectedSource gives what was selected; the log never loses a message, so that it is gone is a defect.
func selectedSource(ctx context.Context, kind chain.RefType, hash chain.Hash) (model.ContextSource, error) {
	source, err := sourceOf(ctx, kind, hash)
	if err == nil && source == nil {
		return nil, fault.New(fault.NotFound, "%s, which was selected, is no longer in the log", hash)
	}
	return source, err
}
