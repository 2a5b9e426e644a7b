package ingest

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// Source is what an export reads from.
type Source interface {
	// SessionRange gives up to limit messages of a session whose sequence is higher than after, in its order.
	SessionRange(ctx context.Context, session chain.Hash, after int64, limit int) ([]chain.Message, error)
	// RefsOf gives the refs of messages, by position. Messages without refs may be left out.
	RefsOf(ctx context.Context, messages []chain.Hash) (map[chain.Hash][]chain.Ref, error)
	// ComponentsByHash gives the components that a row describes.
	ComponentsByHash(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]component.Component, error)
	// RecordsByHash gives the records that are there, in any order.
	RecordsByHash(ctx context.Context, hashes []chain.Hash) ([]knowledge.Record, error)
}

// exportPage is how many messages or hashes an export asks for at once.
const exportPage = 200

// Export writes a session as JSON lines that Import reads back to the same hashes: the components that its
// messages name (those that a row describes), the records they were sent with, then the messages in the order of
// the chain, up to the head at the call. The same session gives the same bytes, here and in any log it was imported
// into. Memory grows with the components and records it names, not with its messages. A session that has no
// message is a fault, NOT_FOUND.
func Export(ctx context.Context, source Source, session chain.Hash, w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	e := exporter{source: source, session: session, out: jsontext.NewEncoder(buffered)}
	if err := e.survey(ctx); err != nil {
		return err
	}
	if e.last == 0 {
		return fault.New(fault.NotFound, "there is no session %s", session)
	}
	for _, step := range []func(context.Context) error{e.components, e.records, e.messages} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}

type exporter struct {
	source  Source
	session chain.Hash
	out     *jsontext.Encoder

	last   int64        // the sequence of the head
	named  []chain.Hash // components, each once
	stated []chain.Hash // records, each once, in the order of their first use
}

// pages calls f with the session's messages and their refs, a page at a time, up to the sequence limit.
func (e *exporter) pages(ctx context.Context, limit int64, f func([]chain.Message, map[chain.Hash][]chain.Ref) error) error {
	for after := int64(0); after < limit; {
		page, err := e.source.SessionRange(ctx, e.session, after, int(min(exportPage, limit-after)))
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
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
		after = page[len(page)-1].Sequence
	}
	return nil
}

// survey finds what the messages name.
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
	return e.pages(ctx, 1<<62, func(page []chain.Message, refs map[chain.Hash][]chain.Ref) error {
		for i := range page {
			m := &page[i]
			e.last = m.Sequence
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
}

// components writes them by namespace and key.
func (e *exporter) components(ctx context.Context) error {
	var found []component.Component
	for hashes := range slices.Chunk(e.named, exportPage) {
		described, err := e.source.ComponentsByHash(ctx, hashes)
		if err != nil {
			return err
		}
		for _, c := range described {
			if c.Namespace != nil && c.Key != nil {
				found = append(found, c)
			}
		}
	}
	slices.SortFunc(found, func(a, b component.Component) int {
		return cmp.Or(cmp.Compare(*a.Namespace, *b.Namespace), cmp.Compare(*a.Key, *b.Key))
	})
	for _, c := range found {
		wire := wireComponent{
			Namespace: strings.ToUpper(string(*c.Namespace)), Key: *c.Key, Hash: pointer(c.Hash.String()),
			Name: c.Name, Description: c.Description, Data: jsontext.Value(c.Data),
		}
		if c.Kind == component.Player {
			wire.Preferences = c.Preferences
		}
		if err := e.write(struct {
			Component wireComponent `json:"component"`
		}{wire}); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) records(ctx context.Context) error {
	for hashes := range slices.Chunk(e.stated, exportPage) {
		found, err := e.source.RecordsByHash(ctx, hashes)
		if err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b knowledge.Record) int {
			return cmp.Compare(slices.Index(hashes, a.Hash), slices.Index(hashes, b.Hash))
		})
		for _, r := range found {
			wire := wireRecord{
				Hash: pointer(r.Hash.String()), Kind: strings.ToUpper(string(r.Kind)), Book: r.Book, Title: r.Title,
				Content: r.Content, Data: jsontext.Value(r.Data), Verified: &r.Verified, CreatedAt: formatTime(r.CreatedAt),
			}
			if err := e.write(struct {
				Record wireRecord `json:"record"`
			}{wire}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *exporter) messages(ctx context.Context) error {
	return e.pages(ctx, e.last, func(page []chain.Message, refs map[chain.Hash][]chain.Ref) error {
		for i := range page {
			m := &page[i]
			if m.Content == nil || m.Attachments == nil {
				return fault.New(fault.ContentRejected, "message %d of the session is erased: such a session cannot be exported", m.Sequence)
			}
			if err := e.write(toWire(m, refs[m.Hash])); err != nil {
				return err
			}
		}
		return nil
	})
}

func toWire(m *chain.Message, refs []chain.Ref) *wireMessage {
	wire := &wireMessage{
		Hash: pointer(m.Hash.String()), PrevHash: hashText(m.PrevHash), Sequence: &m.Sequence,
		SessionHash: m.SessionHash.String(), ThreadHash: hashText(m.ThreadHash), OwnerID: m.OwnerID.String(),
		PlayerIDs: hashTexts(m.PlayerIDs), MasterPlayer: hashText(m.MasterPlayer), Role: m.Role,
		EventType: pointer(strings.ToUpper(string(m.EventType))), Importance: pointer(int(m.Importance)),
		Channel: m.Channel, Source: m.Source, Content: m.Content, Attachments: jsontext.Value(*m.Attachments),
		Hashtags: hashTexts(m.Hashtags), FlagID: hashText(m.FlagID), MasterItemID: hashText(m.MasterItemID),
		ItemIDs: hashTexts(m.ItemIDs), LocationID: hashText(m.LocationID), CreatedAt: formatTime(m.CreatedAt), Salt: m.Salt,
	}
	if m.Ambient != nil {
		wire.Ambient = jsontext.Value(*m.Ambient)
	}
	for _, r := range refs {
		wire.Refs = append(wire.Refs, wireRef{Hash: pointer(r.Hash.String()), Type: pointer(strings.ToUpper(string(r.Type)))})
	}
	return wire
}

// write writes one line. JSON values keep their numbers and strings as they are.
func (e *exporter) write(line any) error {
	if err := json.MarshalEncode(e.out, line, jsontext.PreserveRawStrings(true)); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}

func hashText(h *chain.Hash) *string {
	if h == nil {
		return nil
	}
	return pointer(h.String())
}

func hashTexts(list []chain.Hash) []string {
	texts := make([]string, len(list))
	for i, h := range list {
		texts[i] = h.String()
	}
	return texts
}
