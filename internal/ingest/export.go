package ingest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/seal"
)

// Source is what an export reads from: the log at one moment. A page is empty only at the end.
type Source interface {
	// MessagesAfter gives the messages behind a place, in the order of sessions and sequences, up to the session last:
	// at most 1,000.
	MessagesAfter(ctx context.Context, session chain.Hash, sequence int64, last chain.Hash) ([]chain.Message, error)
	// RefsOf gives the refs of messages, by position. Messages without refs may be left out.
	RefsOf(ctx context.Context, messages []chain.Hash) (map[chain.Hash][]chain.Ref, error)
	// ComponentsByHash gives the components that a row describes, in any order.
	ComponentsByHash(ctx context.Context, hashes []chain.Hash) ([]component.Component, error)
	// ComponentsAfter gives a page of them behind a hash, in the order of hashes.
	ComponentsAfter(ctx context.Context, after chain.Hash) ([]component.Component, error)
	// RecordsByHash gives the records that are there, in any order.
	RecordsByHash(ctx context.Context, hashes []chain.Hash) ([]knowledge.Record, error)
	// RecordsAfter gives a page of them behind a hash, in the order of hashes.
	RecordsAfter(ctx context.Context, after chain.Hash) ([]knowledge.Record, error)
	Sealed
}

// Sealed is what an export reads of the tree.
type Sealed interface {
	// Checkpoint gives the checkpoint to prove to, one that a witness cosigned if such a one covers that many leaves.
	Checkpoint(ctx context.Context, leaves int64) (seal.Checkpoint, error)
	// Proofs gives the proof of each of at most 1,000 messages, empty where the tree has nothing at its place. What is
	// not covered is sealed later than the checkpoint, or waits.
	Proofs(ctx context.Context, checkpoint seal.Checkpoint, messages []chain.Message) (proofs []string, covered []bool, err error)
	// Leaves gives at most count leaves of the tree from the first on, in order.
	Leaves(ctx context.Context, first, count int64) ([]seal.Leaf, error)
}

// What says what to export.
type What struct {
	Session *chain.Hash // nil: the whole log
	Proofs  bool
	Leaves  int64 // with Proofs: how many leaves the checkpoint should cover
}

// Exported counts what an export wrote.
type Exported struct {
	Messages   int64
	Erased     int64            // of them: written without what was erased
	Later      int64            // messages that are left out, since the checkpoint does not cover them
	Checkpoint *seal.Checkpoint // with proofs
}

// Export writes a session, or the whole log, as JSON lines that Import reads back to the same hashes: the components
// that its messages name (those that a row describes; of the whole log, all), the records they were sent with (of the
// whole log, all), then the messages in the order of sessions and of each chain. With proofs, every message has one for
// the same checkpoint, what the checkpoint does not cover is left out, and behind the whole log come the tree's leaves.
// docs/import.md and docs/seal.md describe the lines.
//
// The same session gives the same bytes, proofs aside, here and in any log it was imported into. Memory grows with the
// components and records that one session names, not with messages. A session that has no message is a fault, NOT_FOUND.
func Export(ctx context.Context, source Source, what What, w io.Writer) (Exported, error) {
	buffered := bufio.NewWriterSize(w, 64<<10)
	e := exporter{source: source, what: what, out: jsontext.NewEncoder(buffered)}
	for _, step := range e.steps() {
		if err := step(ctx); err != nil {
			return Exported{}, err
		}
	}
	if err := buffered.Flush(); err != nil {
		return Exported{}, fmt.Errorf("write export: %w", err)
	}
	return e.done, nil
}

type exporter struct {
	source Source
	what   What
	out    *jsontext.Encoder
	done   Exported

	// Of one session.
	named  []chain.Hash // components, each once
	stated []chain.Hash // records, each once, in the order of their first use
}

func (e *exporter) steps() (steps []func(context.Context) error) {
	if e.what.Proofs {
		steps = append(steps, e.open)
	}
	if e.what.Session != nil {
		return append(steps, e.survey, e.namedComponents, e.statedRecords, e.messages)
	}
	steps = append(steps, e.allComponents, e.allRecords, e.messages)
	if e.what.Proofs {
		steps = append(steps, e.leaves)
	}
	return steps
}

func (e *exporter) open(ctx context.Context) error {
	checkpoint, err := e.source.Checkpoint(ctx, e.what.Leaves)
	e.done.Checkpoint = &checkpoint
	return err
}

// pages calls f with the messages and their refs, a page at a time.
func (e *exporter) pages(ctx context.Context, f func([]chain.Message, map[chain.Hash][]chain.Ref) error) error {
	var session, last chain.Hash
	for i := range last {
		last[i] = 0xFF
	}
	if e.what.Session != nil {
		session, last = *e.what.Session, *e.what.Session
	}
	for sequence := int64(0); ; {
		page, err := e.source.MessagesAfter(ctx, session, sequence, last)
		if err != nil || len(page) == 0 {
			return err
		}
		hashes := make([]chain.Hash, len(page))
		for i := range page {
			hashes[i] = page[i].Hash
		}
		refs, err := e.source.RefsOf(ctx, hashes)
		if err != nil {
			return err
		}
		if err := f(page, refs); err != nil {
			return err
		}
		session, sequence = page[len(page)-1].SessionHash, page[len(page)-1].Sequence
	}
}

// survey finds what a session's messages name.
func (e *exporter) survey(ctx context.Context) error {
	seen := map[chain.Hash]bool{}
	add := func(list *[]chain.Hash, hashes ...chain.Hash) {
		for _, h := range hashes {
			if !seen[h] {
				seen[h] = true
				*list = append(*list, h)
			}
		}
	}
	found := false
	err := e.pages(ctx, func(page []chain.Message, refs map[chain.Hash][]chain.Ref) error {
		found = true
		for i := range page {
			m := &page[i]
			add(&e.named, m.OwnerID)
			add(&e.named, m.PlayerIDs...)
			add(&e.named, m.Hashtags...)
			add(&e.named, m.ItemIDs...)
			for _, h := range []*chain.Hash{m.MasterPlayer, m.FlagID, m.MasterItemID, m.LocationID} {
				if h != nil {
					add(&e.named, *h)
				}
			}
			for _, r := range refs[m.Hash] {
				if r.Type != chain.RefContext {
					add(&e.stated, r.Hash)
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		return fault.New(fault.NotFound, "there is no session %s", e.what.Session)
	}
	return err
}

func (e *exporter) messages(ctx context.Context) error {
	return e.pages(ctx, func(page []chain.Message, refs map[chain.Hash][]chain.Ref) error {
		proofs, covered, err := make([]string, len(page)), []bool(nil), error(nil)
		if e.what.Proofs {
			if proofs, covered, err = e.source.Proofs(ctx, *e.done.Checkpoint, page); err != nil {
				return err
			}
		}
		for i := range page {
			m := &page[i]
			if covered != nil && !covered[i] {
				e.done.Later++
				continue
			}
			e.done.Messages++
			if m.Content == nil {
				e.done.Erased++
			}
			if err := e.write(toWire(m, refs[m.Hash], proofs[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// leaves writes all leaves of the checkpoint's tree, so that a message that is missing has a name.
func (e *exporter) leaves(ctx context.Context) error {
	size := e.done.Checkpoint.Size
	for first := int64(0); first < size; first += seal.TileWidth {
		count := min(seal.TileWidth, size-first)
		leaves, err := e.source.Leaves(ctx, first, count)
		if err != nil {
			return err
		}
		line := struct {
			Leaves wireLeaves `json:"leaves"`
		}{wireLeaves{First: first, Entries: make([]byte, 0, len(leaves)*seal.LeafBytes)}}
		for _, leaf := range leaves {
			line.Leaves.Entries = append(line.Leaves.Entries, leaf.Bytes()...)
		}
		if err := e.write(line); err != nil {
			return err
		}
	}
	return nil
}

// write writes one line. JSON values keep their numbers and strings as they are.
func (e *exporter) write(line any) error {
	if err := json.MarshalEncode(e.out, line, jsontext.PreserveRawStrings(true)); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}

// chunks calls f with at most 200 hashes at a time.
func chunks(hashes []chain.Hash, f func([]chain.Hash) error) error {
	for chunk := range slices.Chunk(hashes, 200) {
		if err := f(chunk); err != nil {
			return err
		}
	}
	return nil
}
