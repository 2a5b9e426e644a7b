package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// namedComponents writes those that a session names, by namespace and key.
func (e *exporter) namedComponents(ctx context.Context) error {
	var found []component.Component
	err := chunks(e.named, func(hashes []chain.Hash) error {
		described, err := e.source.ComponentsByHash(ctx, hashes)
		for _, c := range described {
			if c.Namespace != nil && c.Key != nil {
				found = append(found, c)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(a, b component.Component) int {
		return cmp.Or(cmp.Compare(*a.Namespace, *b.Namespace), cmp.Compare(*a.Key, *b.Key))
	})
	return e.writeComponents(found)
}

// allComponents writes every one that a row describes, by hash.
func (e *exporter) allComponents(ctx context.Context) error {
	for after := (chain.Hash{}); ; {
		page, err := e.source.ComponentsAfter(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := e.writeComponents(page); err != nil {
			return err
		}
		after = page[len(page)-1].Hash
	}
}

func (e *exporter) writeComponents(list []component.Component) error {
	for _, c := range list {
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

// statedRecords writes those that a session's messages were sent with, in the order of their first use.
func (e *exporter) statedRecords(ctx context.Context) error {
	return chunks(e.stated, func(hashes []chain.Hash) error {
		found, err := e.source.RecordsByHash(ctx, hashes)
		if err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b knowledge.Record) int {
			return cmp.Compare(slices.Index(hashes, a.Hash), slices.Index(hashes, b.Hash))
		})
		return e.writeRecords(found)
	})
}

// allRecords writes every record, by hash.
func (e *exporter) allRecords(ctx context.Context) error {
	for after := (chain.Hash{}); ; {
		page, err := e.source.RecordsAfter(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := e.writeRecords(page); err != nil {
			return err
		}
		after = page[len(page)-1].Hash
	}
}

func (e *exporter) writeRecords(list []knowledge.Record) error {
	for _, r := range list {
		wire := wireRecord{
			Hash: pointer(r.Hash.String()), Kind: strings.ToUpper(string(r.Kind)), Book: r.Book, Title: r.Title,
			Content: r.Content, DataText: (*string)(&r.Data), Verified: &r.Verified, CreatedAt: formatTime(r.CreatedAt),
		}
		if err := e.write(struct {
			Record wireRecord `json:"record"`
		}{wire}); err != nil {
			return err
		}
	}
	return nil
}

func toWire(m *chain.Message, refs []chain.Ref, proof string) *wireMessage {
	wire := &wireMessage{
		Hash: pointer(m.Hash.String()), PrevHash: hashText(m.PrevHash), Sequence: &m.Sequence,
		SessionHash: m.SessionHash.String(), ThreadHash: hashText(m.ThreadHash), OwnerID: m.OwnerID.String(),
		PlayerIDs: hashTexts(m.PlayerIDs), MasterPlayer: hashText(m.MasterPlayer), Role: m.Role,
		EventType: pointer(strings.ToUpper(string(m.EventType))), Importance: pointer(int(m.Importance)),
		Channel: m.Channel, Source: m.Source, Content: m.Content, AttachmentsText: (*string)(m.Attachments),
		Hashtags: hashTexts(m.Hashtags), FlagID: hashText(m.FlagID), MasterItemID: hashText(m.MasterItemID),
		ItemIDs: hashTexts(m.ItemIDs), LocationID: hashText(m.LocationID), AmbientText: (*string)(m.Ambient),
		CreatedAt: formatTime(m.CreatedAt), Salt: m.Salt,
		ContentDigest: pointer(m.ContentDigest.String()), RefsDigest: pointer(m.RefsDigest.String()),
	}
	for _, r := range refs {
		wire.Refs = append(wire.Refs, wireRef{Hash: pointer(r.Hash.String()), Type: pointer(strings.ToUpper(string(r.Type)))})
	}
	if proof != "" {
		wire.Proof = &proof
	}
	return wire
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
