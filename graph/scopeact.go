package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// actingFor gives drafts with a record of the administrator who appends them for other players, in what the hash covers:
// the mark at the end of the source, which no draft may have before, and as master player unless there is one. field
// gives the path of a draft.
func actingFor(ctx context.Context, drafts []chain.Draft, field func(i int) string) ([]chain.Draft, error) {
	for i := range drafts {
		if err := chain.CheckUnclaimed(field(i)+".source", drafts[i].Source); err != nil {
			return nil, err
		}
	}
	caller, err := auth.From(ctx)
	if err != nil || !caller.IsAdmin() {
		return drafts, err
	}
	drafts = slices.Clone(drafts)
	for i := range drafts {
		if err := recordActor(&drafts[i], caller.Player, field(i)); err != nil {
			return nil, err
		}
	}
	return drafts, nil
}

func recordActor(d *chain.Draft, actor chain.Hash, field string) error {
	if d.OwnerID == actor {
		return nil
	}
	if d.MasterPlayer == nil {
		d.MasterPlayer = &actor
	}
	source := ""
	if d.Source != nil {
		source = *d.Source
	}
	by := chain.ActedBy(actor)
	if limit := chain.MaxNameBytes - len(by); len(source) > limit {
		return fault.Input(field+".source", "has %d bytes; at most %d are allowed where an administrator appends for another player: it ends in %q then",
			len(source), limit, by)
	}
	source += by
	d.Source = &source
	return nil
}

// messageField is the path of a draft of appendMessages.
func messageField(i int) string { return fmt.Sprintf("messages[%d]", i) }

// ownDrafts gives drafts of components that can change nobody's but the caller's own player, administrators apart: a row
// that others made under the same namespace and key may have another hash than the one that follows from them.
func (r *Resolver) ownDrafts(ctx context.Context, drafts []component.Draft) ([]component.Draft, error) {
	caller, err := auth.From(ctx)
	if err != nil || caller.IsAdmin() {
		return drafts, err
	}
	drafts = slices.Clone(drafts)
	for i := range drafts {
		d := &drafts[i]
		d.Hash = &caller.Player
		if component.DefaultHash(d.Namespace, d.Key) == caller.Player {
			continue
		}
		found, err := r.Store.ComponentsByHash(ctx, []chain.Hash{caller.Player})
		if err != nil {
			return nil, err
		}
		own, ok := found[caller.Player]
		if !ok || *own.Namespace != d.Namespace || *own.Key != d.Key {
			return nil, forbidden(fmt.Sprintf("components[%d].key", i), "is not that of your token's player; only administrators name players")
		}
	}
	return drafts, nil
}
