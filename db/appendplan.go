package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// entry is a message that a plan will write.
type entry struct {
	draft   *chain.Draft
	at      time.Time
	message chain.Message // set once written
}

// slot is the place of one draft in its call's answer: a message to be written, or one written before.
type slot struct {
	entry   *entry
	written chain.Message
}

// head is the end of a session's chain as the plan knows it. The hash of what the plan itself will write is not
// known yet, so it is nil then, and so it is in a new session.
type head struct {
	hash    *chain.Hash
	at      time.Time
	planned bool
}

type appendKey struct {
	owner chain.Hash
	key   string
}

// use is what an idempotency key stands for.
type use struct {
	fingerprint chain.Hash
	slot        slot
}

// appendPlan decides, with the sessions locked, which drafts can be written. Calls are planned one after the
// other; one that cannot be written leaves no trace.
type appendPlan struct {
	now     time.Time
	heads   map[chain.Hash]head
	uses    map[appendKey]use
	sources map[chain.Hash]chain.RefType
	entries []*entry
	keys    map[*entry]appendKey
}

// readState locks the sessions and reads all that planning needs.
func readState(ctx context.Context, q *dbgen.Queries, calls []*appendCall) (*appendPlan, error) {
	p := &appendPlan{
		heads: map[chain.Hash]head{}, uses: map[appendKey]use{}, sources: map[chain.Hash]chain.RefType{}, keys: map[*entry]appendKey{},
	}
	sessions, refs := map[chain.Hash]bool{}, map[chain.Hash]bool{}
	var owners, keys []string
	for _, call := range calls {
		for i := range call.drafts {
			d := &call.drafts[i]
			sessions[d.SessionHash] = true
			for _, r := range d.Refs {
				refs[r.Hash] = true
			}
			if d.IdempotencyKey != nil {
				owners, keys = append(owners, d.OwnerID.String()), append(keys, *d.IdempotencyKey)
			}
		}
	}
	if err := q.LockSessions(ctx, texts(sessions)); err != nil {
		return nil, err
	}
	heads, err := q.SessionHeads(ctx, texts(sessions))
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		p.heads[h.SessionHash] = head{hash: &h.Hash, at: h.CreatedAt}
	}
	if p.now, err = q.Clock(ctx); err != nil {
		return nil, err
	}
	if len(refs) > 0 {
		sources, err := q.ExistingSources(ctx, texts(refs))
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			p.sources[s.Hash] = chain.RefType(s.Kind)
		}
	}
	if len(keys) > 0 {
		return p, p.readKeys(ctx, q, owners, keys)
	}
	return p, nil
}

func (p *appendPlan) readKeys(ctx context.Context, q *dbgen.Queries, owners, keys []string) error {
	used, err := q.AppendKeys(ctx, owners, keys)
	if err != nil || len(used) == 0 {
		return err
	}
	hashes := map[chain.Hash]bool{}
	for _, u := range used {
		hashes[u.MessageHash] = true
	}
	rows, err := q.MessagesByHash(ctx, texts(hashes))
	if err != nil {
		return err
	}
	written := make(map[chain.Hash]chain.Message, len(rows))
	for _, r := range rows {
		written[r.Hash] = messageOf(r)
	}
	for _, u := range used {
		p.uses[appendKey{u.OwnerID, u.Key}] = use{u.Fingerprint, slot{written: written[u.MessageHash]}}
	}
	return nil
}

// call plans one call, or says why it cannot be written.
func (p *appendPlan) call(drafts []chain.Draft) ([]slot, error) {
	heads, uses := map[chain.Hash]head{}, map[appendKey]use{} // what this call changes
	var entries []*entry
	slots := make([]slot, len(drafts))
	for i := range drafts {
		d, field := &drafts[i], fmt.Sprintf("messages[%d]", i)
		key, mark := appendKey{}, chain.Hash{}
		if d.IdempotencyKey != nil {
			key, mark = appendKey{d.OwnerID, *d.IdempotencyKey}, d.Fingerprint()
			u, known := uses[key]
			if !known {
				u, known = p.uses[key]
			}
			if known && u.fingerprint != mark {
				return nil, &fault.Error{Code: fault.Conflict, Field: field + ".idempotencyKey", Message: "was used for another message"}
			}
			if known {
				slots[i] = u.slot
				continue
			}
		}
		h, changed := heads[d.SessionHash]
		if !changed {
			h = p.heads[d.SessionHash]
		}
		at, err := p.place(d, h, field)
		if err != nil {
			return nil, err
		}
		e := &entry{draft: d, at: at}
		entries, slots[i] = append(entries, e), slot{entry: e}
		heads[d.SessionHash] = head{at: at, planned: true}
		if d.IdempotencyKey != nil {
			uses[key] = use{mark, slots[i]}
		}
	}
	for session, h := range heads {
		p.heads[session] = h
	}
	for key, u := range uses {
		p.uses[key], p.keys[u.slot.entry] = u, key
	}
	p.entries = append(p.entries, entries...)
	return slots, nil
}

// place checks a draft against the head of its session and gives the time it will have.
func (p *appendPlan) place(d *chain.Draft, h head, field string) (time.Time, error) {
	if d.PrevHash != nil && (h.hash == nil || *h.hash != *d.PrevHash) {
		return time.Time{}, &fault.Error{Code: fault.Conflict, Field: field + ".prevHash", Message: "is not the head of the session"}
	}
	if d.Original == nil {
		for i, r := range d.Refs {
			if kind, there := p.sources[r.Hash]; !there || kind != r.Type {
				return time.Time{}, fault.Input(fmt.Sprintf("%s.refs[%d].hash", field, i), "names nothing of type %s", strings.ToUpper(string(r.Type)))
			}
		}
	}
	switch {
	case d.CreatedAt != nil && (h.planned || h.hash != nil) && d.CreatedAt.Before(h.at):
		return time.Time{}, fault.Input(field+".createdAt", "is before the last message of the session, %s", h.at.UTC().Format(time.RFC3339Nano))
	case d.CreatedAt != nil:
		return *d.CreatedAt, nil
	case (h.planned || h.hash != nil) && p.now.Before(h.at):
		return h.at, nil
	}
	return p.now, nil
}

// write inserts the entries with their refs, search vectors and keys, and sets their messages.
func (p *appendPlan) write(ctx context.Context, q *dbgen.Queries) error {
	rows := make([]row, len(p.entries))
	for i, e := range p.entries {
		rows[i] = rowOf(e.draft, e.at)
	}
	drafts, err := json.Marshal(rows)
	if err != nil {
		return fault.Wrap(err, fault.BadUserInput, "attachments or ambient are not JSON")
	}
	written, err := q.AppendMessages(ctx, drafts)
	if err != nil {
		return err
	}
	if len(written) != len(p.entries) {
		return fmt.Errorf("wrote %d messages of %d", len(written), len(p.entries))
	}
	for i, e := range p.entries {
		e.message = messageOf(written[i])
	}
	if err := p.writeRefs(ctx, q); err != nil {
		return err
	}
	if err := p.writeKeys(ctx, q); err != nil {
		return err
	}
	var search lexicalRows
	for _, e := range p.entries {
		search.add(chain.RefContext, e.message.ID, &e.message.SessionHash, e.message.Sequence, *e.message.Content)
	}
	return search.write(ctx, q)
}

func (p *appendPlan) writeRefs(ctx context.Context, q *dbgen.Queries) error {
	var messages, refs, types []string
	var positions []int32
	for _, e := range p.entries {
		for i, r := range e.draft.Refs {
			messages, positions = append(messages, e.message.Hash.String()), append(positions, int32(i+1))
			refs, types = append(refs, r.Hash.String()), append(types, string(r.Type))
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return q.AppendRefs(ctx, messages, positions, refs, types)
}

func (p *appendPlan) writeKeys(ctx context.Context, q *dbgen.Queries) error {
	var owners, keys, fingerprints, messages []string
	for _, e := range p.entries {
		if key, ok := p.keys[e]; ok {
			owners, keys = append(owners, key.owner.String()), append(keys, key.key)
			fingerprints = append(fingerprints, p.uses[key].fingerprint.String())
			messages = append(messages, e.message.Hash.String())
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return q.AppendKey(ctx, owners, keys, fingerprints, messages)
}

// texts gives hashes as the text that queries take.
func texts(hashes map[chain.Hash]bool) []string {
	out := make([]string, 0, len(hashes))
	for h := range hashes {
		out = append(out, h.String())
	}
	return out
}
