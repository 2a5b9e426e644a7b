package graph

import (
	"context"
	"regexp"
	"slices"

	"github.com/99designs/gqlgen/graphql"

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
	var owners []chain.Hash
	for _, item := range s.Items {
		items.add(item.Type, item.Hash)
		if item.Provenance != nil {
			owners = append(owners, item.Provenance.Owner)
		}
	}
	for _, d := range s.Dropped {
		dropped.add(d.Type, d.Hash)
	}
	items.expect(ctx)
	dropped.expect(ctx)
	loader.From(ctx).Components.Expect(owners)
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

// selectedSource gives what was selected; the log never loses a message, so that it is gone is a defect. Whoever asks for
// nothing but hashes, as those do who go by what was rendered, is told what the selection says.
func selectedSource(ctx context.Context, kind chain.RefType, hash chain.Hash) (model.ContextSource, error) {
	if kind == chain.RefContext && asksForHash(ctx) {
		return model.Message{Message: chain.Message{Hash: hash}}, nil
	}
	source, err := sourceOf(ctx, kind, hash)
	if err == nil && source == nil {
		return nil, fault.New(fault.NotFound, "%s, which was selected, is no longer in the log", hash)
	}
	return source, err
}

// asksForHash tells whether the source that is being resolved is asked, if it is a message, for no more than its hash.
func asksForHash(ctx context.Context) bool {
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field.Selections, messageTypes)
	return !slices.ContainsFunc(fields, func(f graphql.CollectedField) bool { return f.Name != "hash" && f.Name != "__typename" })
}

// messageTypes are the types that a message has in the schema, as a source.
var messageTypes = []string{"Message", "Node", "ContextSource"}

// provenance says whose message an item is, nil for a record. What was selected before that was kept is told by the log.
func provenance(ctx context.Context, item *selection.Item) (*selection.Provenance, error) {
	if item.Provenance != nil || item.Type != chain.RefContext {
		return item.Provenance, nil
	}
	m, err := loader.From(ctx).Messages.Load(ctx, item.Hash)
	if err != nil || m == nil {
		return nil, err
	}
	return &selection.Provenance{Owner: m.OwnerID, Role: m.Role, Source: m.Source, Session: m.SessionHash}, nil
}
