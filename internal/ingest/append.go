package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// writeMessages appends the messages among rows, except for exported ones that the log has.
func (w *writer) writeMessages(ctx context.Context, rows []*row) error {
	messages, present, err := w.missing(ctx, rows)
	if err != nil {
		return err
	}
	if err := w.nameComponents(ctx, messages); err != nil {
		return err
	}
	drafts := make([]chain.Draft, len(messages))
	for i, r := range messages {
		refs, err := w.resolve(r.message.refs)
		if err != nil {
			return err
		}
		drafts[i] = r.message.draft
		drafts[i].Refs = refs
	}
	chainOriginals(drafts)
	var written []chain.Message
	if len(drafts) > 0 {
		if written, err = w.log.Append(ctx, drafts); err != nil {
			return err
		}
		if len(written) != len(drafts) {
			return fmt.Errorf("%d messages came back of %d", len(written), len(drafts))
		}
	}
	w.summary.Present += present
	w.count(written)
	for i, r := range messages {
		w.label(r, target{kind: chain.RefContext, hash: written[i].Hash, line: r.line})
		if r.label != "" && w.options.Labelled != nil {
			w.options.Labelled(r.label, written[i])
		}
	}
	return nil
}

// missing gives the rows with messages to append, and how many exported ones the log has already. One that was erased
// cannot be written without its content, and nothing can follow it in its session without it: both are skipped.
func (w *writer) missing(ctx context.Context, rows []*row) (messages []*row, present int, err error) {
	var exported []chain.Hash
	for _, r := range rows {
		if r.message != nil && r.hash != nil {
			exported = append(exported, *r.hash)
		}
	}
	known := map[chain.Hash]bool{}
	if len(exported) > 0 {
		there, err := w.log.MessagesByHash(ctx, exported)
		if err != nil {
			return nil, 0, err
		}
		for i := range there {
			known[there[i].Hash] = true
		}
	}
	for _, r := range rows {
		switch {
		case r.message == nil:
		case r.hash != nil && known[*r.hash]:
			w.label(r, target{kind: chain.RefContext, hash: *r.hash, line: r.line})
			present++
		case r.erased || r.hash != nil && w.skipped[r.message.draft.SessionHash]:
			w.skipped[r.message.draft.SessionHash] = true
			w.summary.Skipped++
		default:
			messages = append(messages, r)
		}
	}
	return messages, present, nil
}

// nameComponents creates the components that the messages name by keys and nobody described, and puts the hashes
// of all of them into the drafts.
func (w *writer) nameComponents(ctx context.Context, messages []*row) error {
	found := map[componentName]chain.Hash{}
	var drafts []component.Draft
	for _, r := range messages {
		for _, n := range r.message.names {
			name := nameOf(&n.component)
			if _, twice := found[name]; twice {
				continue
			}
			hash, cached := w.names[name]
			if !cached {
				drafts = append(drafts, n.component)
			}
			found[name] = hash
		}
	}
	for chunk := range slices.Chunk(drafts, component.MaxDrafts) {
		hashes, err := w.ensure(ctx, chunk)
		if err != nil {
			return err
		}
		for i, hash := range hashes {
			name := nameOf(&chunk[i])
			found[name] = hash
			w.remember(name, hash)
		}
	}
	for _, r := range messages {
		for _, n := range r.message.names {
			*n.to = found[nameOf(&n.component)]
		}
	}
	return nil
}

// ensure gives the hashes of components that messages name, and creates those that are missing. What has no name
// of its own is named by its draft; all else stays as it is.
func (w *writer) ensure(ctx context.Context, drafts []component.Draft) ([]chain.Hash, error) {
	bare := make([]component.Draft, len(drafts))
	for i, d := range drafts {
		bare[i] = component.Draft{Namespace: d.Namespace, Key: d.Key}
	}
	found, err := w.log.UpsertComponents(ctx, bare)
	if err != nil {
		return nil, err
	}
	if len(found) != len(drafts) {
		return nil, fmt.Errorf("%d components came back of %d", len(found), len(drafts))
	}
	hashes := make([]chain.Hash, len(found))
	var nameless []component.Draft
	for i, c := range found {
		hashes[i] = c.Hash
		if c.Name == nil {
			nameless = append(nameless, drafts[i])
		}
	}
	if len(nameless) > 0 {
		_, err = w.log.UpsertComponents(ctx, nameless)
	}
	return hashes, err
}

// chainOriginals leaves out prevHash where it is the hash of the exported message before it in the same call,
// which is not in the log yet: that hash, which is checked, covers it all the same.
func chainOriginals(drafts []chain.Draft) {
	heads := map[chain.Hash]chain.Hash{}
	for i := range drafts {
		d := &drafts[i]
		if d.Original == nil {
			continue
		}
		if head, ok := heads[d.SessionHash]; ok && d.PrevHash != nil && *d.PrevHash == head {
			d.PrevHash = nil
		}
		heads[d.SessionHash] = d.Original.Hash
	}
}

// resolve gives refs with the hashes that their labels stand for.
func (w *writer) resolve(refs []ref) ([]chain.Ref, error) {
	var resolved []chain.Ref
	for i, r := range refs {
		to := chain.Ref{Type: r.kind, Hash: r.hash}
		if r.label != "" {
			named, ok := w.labels[r.label]
			if !ok {
				return nil, fault.Input(fmt.Sprintf("refs[%d].label", i), "no earlier line has the label %q", r.label)
			}
			if r.kind != "" && r.kind != named.kind {
				return nil, fault.Input(fmt.Sprintf("refs[%d].type", i), "the label %q is that of a ref of type %s", r.label, named.kind)
			}
			to = chain.Ref{Type: named.kind, Hash: named.hash}
		}
		resolved = append(resolved, to)
	}
	return resolved, nil
}

// count tells new messages from those that were there: ids only grow, and each call brings later ones.
func (w *writer) count(written []chain.Message) {
	seen := make(map[int64]bool, len(written))
	before := w.last
	for _, m := range written {
		if m.ID <= before || seen[m.ID] {
			w.summary.Present++
		} else {
			w.summary.Messages++
		}
		seen[m.ID] = true
		w.last = max(w.last, m.ID)
	}
}
