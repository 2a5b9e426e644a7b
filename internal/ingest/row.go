package ingest

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// row is one thing to write: exactly one of component, record and message is set.
type row struct {
	line      int // where it starts
	label     string
	component *component.Draft
	record    *knowledge.Draft
	message   *message
	// hash is what an exported message or record has; nil for others.
	hash *chain.Hash
	// erased is set for an exported message whose content is gone: it can be found in the log, but not written.
	erased bool
}

// message is a draft that may still lack what only the log knows.
type message struct {
	draft chain.Draft // without refs
	names []naming
	refs  []ref
}

// naming is a component that a message names by its key, and where in the draft its hash belongs.
type naming struct {
	component component.Draft
	to        *chain.Hash
}

// ref is a ref by hash, or by a label of an earlier row.
type ref struct {
	kind  chain.RefType // empty: whatever the label stands for
	hash  chain.Hash
	label string // empty: by hash
}

// size is about how much of a call the row takes, in bytes.
func (r *row) size() int {
	n := 1024
	switch {
	case r.message != nil:
		d := &r.message.draft
		n += len(d.Content) + 64*len(r.message.refs)
		if d.Attachments != nil {
			n += len(*d.Attachments)
		}
		if d.Ambient != nil {
			n += len(*d.Ambient)
		}
	case r.record != nil:
		n += len(r.record.Content)
		if r.record.Data != nil {
			n += len(*r.record.Data)
		}
	case r.component.Data != nil:
		n += len(*r.component.Data)
	}
	return n
}

// readRows gives each row of the file to add, in order, until one of the two fails. Each value of the file is
// told apart by its fields: a chat has messages, a LoCoMo sample has a conversation, all else is a line.
func readRows(values *values, ordinals *ordinals, add func(*row) error) error {
	for {
		v, err := values.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if v.json.Kind() != '{' {
			return values.fail(v.offset, fault.Input("", "is no JSON object"))
		}
		var probe struct {
			Messages     jsontext.Value `json:"messages"`
			Conversation jsontext.Value `json:"conversation"`
		}
		if err := json.Unmarshal(v.json, &probe); err != nil {
			return values.fail(v.offset, err)
		}
		switch {
		case probe.Messages != nil:
			err = readChat(values, v, ordinals, add)
		case probe.Conversation != nil:
			err = readSample(values, v, add)
		default:
			err = readLine(values, v, ordinals, add)
		}
		if err != nil {
			return err
		}
	}
}
