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
	if row == nil {
		return nil
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

// parseLine gives the row that a line is; nil if there is nothing to write.
func parseLine(values *values, v value, ordinals *ordinals) (*row, error) {
	line, _ := values.lines.at(v.offset)
	var kinds struct {
		Component jsontext.Value `json:"component"`
		Record    jsontext.Value `json:"record"`
		Leaves    jsontext.Value `json:"leaves"`
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
	case kinds.Leaves != nil: // they follow from the messages
		var wire struct {
			Leaves wireLeaves `json:"leaves"`
		}
		return nil, values.decode(v, &wire, strict)
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
	to := &row{line: line, message: m, erased: w.erased()}
	if w.Content == nil && !to.erased {
		return nil, fault.Input("content", "is missing")
	}
	d.Role, d.Channel, d.Source, d.IdempotencyKey = w.Role, w.Channel, w.Source, w.IdempotencyKey
	if w.Content != nil {
		d.Content = *w.Content
	}
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
	for _, step := range []func() error{
		func() error { return setLabel(to, "label", w.Label) },
		func() error { return parseTime("createdAt", w.CreatedAt, &d.CreatedAt) },
		func() error { return w.names(m) },
		func() error { return w.original(to) },
		func() error { return w.refs(m) },
		func() error { return w.digests(to) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if to.erased {
		return to, nil
	}
	return to, m.validate()
}

// erased tells whether the line is of an exported message that was erased.
func (w *wireMessage) erased() bool {
	return w.Hash != nil && w.Content == nil && w.Salt == nil && w.Attachments == nil && w.AttachmentsText == nil &&
		w.Ambient == nil && w.AmbientText == nil
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
		if w.Salt != nil || w.Sequence != nil || w.ContentDigest != nil || w.RefsDigest != nil || w.Proof != nil {
			return fault.Input("hash", "is missing, although there is what only an export has")
		}
		return w.texts(d)
	}
	hash, err := parseHash("hash", *w.Hash)
	if err != nil {
		return err
	}
	switch {
	case len(w.Salt) != chain.SaltBytes && !to.erased:
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
	return w.texts(d)
}

// digests holds the digests that an export has against what they are of. The hash tells the same, once the message is
// written; but an erased one is not.
func (w *wireMessage) digests(r *row) error {
	d := &r.message.draft
	if w.RefsDigest != nil {
		list := make([]chain.Ref, len(r.message.refs))
		for i, to := range r.message.refs {
			list[i] = chain.Ref{Type: to.kind, Hash: to.hash}
		}
		if *w.RefsDigest != chain.RefsDigest(list).String() {
			return fault.Input("refsDigest", "is not that of the refs")
		}
	}
	if w.ContentDigest != nil && w.AttachmentsText != nil {
		if *w.ContentDigest != chain.Sum(chain.ContentPreimage(w.Salt, d.Content, *d.Attachments, d.Ambient)).String() {
			return fault.Input("contentDigest", "is not that of salt, content, attachmentsText and ambientText")
		}
	}
	return nil
}

// texts reads the JSON values that an export has as texts.
func (w *wireMessage) texts(d *chain.Draft) error {
	if err := setText("attachments", w.AttachmentsText, w.Attachments, w.Hash, &d.Attachments); err != nil {
		return err
	}
	return setText("ambient", w.AmbientText, w.Ambient, w.Hash, &d.Ambient)
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
