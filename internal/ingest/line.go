package ingest

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// The namespaces that keys without one are of.
const (
	defaultPlayer   component.Namespace = "ply"
	defaultHashtag  component.Namespace = "hst"
	defaultFlag     component.Namespace = "flg"
	defaultItem     component.Namespace = "itm"
	defaultLocation component.Namespace = "loc"
)

// readLine reads one entry of JSON lines.
func readLine(values *values, v value, ordinals *ordinals, add func(*row) error) error {
	row, err := parseLine(values, v, ordinals)
	if err != nil {
		return values.explainRow(v, err)
	}
	return add(row)
}

// explainRow gives an error of the value v with its line, unless it has one.
func (v *values) explainRow(of value, err error) error {
	if _, ok := errors.AsType[*LineError](err); ok {
		return err
	}
	line, _ := v.lines.at(of.offset)
	return &LineError{Line: line, Err: err}
}

func parseLine(values *values, v value, ordinals *ordinals) (*row, error) {
	line, _ := values.lines.at(v.offset)
	var kinds struct {
		Component jsontext.Value `json:"component"`
		Record    jsontext.Value `json:"record"`
	}
	if err := json.Unmarshal(v.json, &kinds); err != nil {
		return nil, err
	}
	strict := json.RejectUnknownMembers(true)
	switch {
	case kinds.Component != nil:
		var wire struct {
			Component wireComponent `json:"component"`
		}
		if err := values.decode(v, &wire, strict); err != nil {
			return nil, err
		}
		return wire.Component.toRow(line)
	case kinds.Record != nil:
		var wire struct {
			Record wireRecord `json:"record"`
		}
		if err := values.decode(v, &wire, strict); err != nil {
			return nil, err
		}
		return wire.Record.toRow(line)
	}
	var wire wireMessage
	if err := values.decode(v, &wire, strict); err != nil {
		return nil, err
	}
	row, err := wire.toRow(line)
	if err != nil {
		return nil, err
	}
	if row.hash == nil && row.message.draft.IdempotencyKey == nil {
		key, err := ordinals.key("line", v.json)
		if err != nil {
			return nil, err
		}
		row.message.draft.IdempotencyKey = &key
	}
	return row, nil
}

// toRow gives the message to append.
func (w *wireMessage) toRow(line int) (*row, error) {
	m := new(message)
	d := &m.draft
	if w.Content == nil {
		return nil, fault.Input("content", "is missing")
	}
	d.Role, d.Channel, d.Source, d.Content, d.IdempotencyKey = w.Role, w.Channel, w.Source, *w.Content, w.IdempotencyKey
	d.Attachments, d.Ambient = optionalJSON(w.Attachments), optionalJSON(w.Ambient)
	if w.Importance != nil {
		d.Importance = *w.Importance
	}
	if w.EventType != nil {
		eventType, err := oneOf("eventType", *w.EventType, eventTypes)
		if err != nil {
			return nil, err
		}
		d.EventType = eventType
	}
	to := &row{line: line, message: m}
	for _, step := range []func() error{
		func() error { return setLabel(to, "label", w.Label) },
		func() error { return parseTime("createdAt", w.CreatedAt, &d.CreatedAt) },
		func() error { return w.names(m) },
		func() error { return w.original(to) },
		func() error { return w.refs(m) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return to, m.validate()
}

// names reads everything that is a hash or a key.
func (w *wireMessage) names(m *message) (err error) {
	d := &m.draft
	if d.SessionHash, err = group("sessionHash", w.SessionHash, SessionHash); err != nil {
		return err
	}
	if w.ThreadHash != nil {
		thread, err := group("threadHash", *w.ThreadHash, ThreadHash)
		if err != nil {
			return err
		}
		d.ThreadHash = &thread
	}
	for _, step := range []func() error{
		func() error { return m.component("ownerId", w.OwnerID, defaultPlayer, &d.OwnerID) },
		func() error { return m.list("playerIds", w.PlayerIDs, defaultPlayer, &d.PlayerIDs) },
		func() error { return m.optional("masterPlayer", w.MasterPlayer, defaultPlayer, &d.MasterPlayer) },
		func() error { return m.list("hashtags", w.Hashtags, defaultHashtag, &d.Hashtags) },
		func() error { return m.optional("flagId", w.FlagID, defaultFlag, &d.FlagID) },
		func() error { return m.optional("masterItemId", w.MasterItemID, defaultItem, &d.MasterItemID) },
		func() error { return m.list("itemIds", w.ItemIDs, defaultItem, &d.ItemIDs) },
		func() error { return m.optional("locationId", w.LocationID, defaultLocation, &d.LocationID) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// original reads what an exported message had from its log.
func (w *wireMessage) original(to *row) error {
	d := &to.message.draft
	if w.PrevHash != nil {
		prev, err := parseHash("prevHash", *w.PrevHash)
		if err != nil {
			return err
		}
		d.PrevHash = &prev
	}
	if w.Hash == nil {
		if w.Salt != nil || w.Sequence != nil {
			return fault.Input("hash", "is missing, although salt or sequence is there")
		}
		return nil
	}
	hash, err := parseHash("hash", *w.Hash)
	if err != nil {
		return err
	}
	switch {
	case len(w.Salt) != chain.SaltBytes:
		return fault.Input("salt", "has %d bytes; next to a hash it has %d", len(w.Salt), chain.SaltBytes)
	case w.CreatedAt == nil:
		return fault.Input("createdAt", "is missing, although hash is there")
	case w.Sequence == nil:
		return fault.Input("sequence", "is missing, although hash is there")
	case (*w.Sequence == 1) != (w.PrevHash == nil) || *w.Sequence < 1:
		return fault.Input("sequence", "%d does not go with prevHash: the first message of a session is 1 and has none", *w.Sequence)
	}
	to.hash = &hash
	d.Attachments, d.Ambient = exactJSON(w.Attachments), exactJSON(w.Ambient)
	d.Original = &chain.Original{Hash: hash, Salt: w.Salt}
	return nil
}

func (w *wireMessage) refs(m *message) error {
	if len(w.Refs) > chain.MaxRefs {
		return fault.Input("refs", "has %d entries; at most %d are allowed", len(w.Refs), chain.MaxRefs)
	}
	for i, r := range w.Refs {
		field := fmt.Sprintf("refs[%d]", i)
		var to ref
		if r.Type != nil {
			kind, err := oneOf(field+".type", *r.Type, refTypes)
			if err != nil {
				return err
			}
			to.kind = kind
		}
		switch {
		case (r.Hash == nil) == (r.Label == nil):
			return fault.Input(field, "needs either a hash or a label")
		case r.Label != nil:
			to.label = *r.Label
		case r.Type == nil:
			return fault.Input(field+".type", "is missing")
		default:
			hash, err := parseHash(field+".hash", *r.Hash)
			if err != nil {
				return err
			}
			to.hash = hash
		}
		m.refs = append(m.refs, to)
	}
	return nil
}
