package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// call plans one call and gives its messages, or says why it cannot be written. The other error is of the connection, on which
// the JSON of a large call is read.
func (p *appendPlan) call(ctx context.Context, conn *pgx.Conn, call *appendCall) (o outcome, err error) {
	barred, err := p.check(call)
	switch {
	case err != nil:
		return outcome{err: err}, nil
	case barred != nil && !call.between:
		return outcome{err: barred}, nil // check has looked at all else
	}
	if call.bytes > preparedBytes {
		texts := map[string]bool{}
		for i := range call.drafts {
			wantedJSON(&call.drafts[i], texts)
		}
		if len(texts) > 0 {
			batch := &pgx.Batch{}
			p.queueJSON(batch, texts)
			if err := conn.SendBatch(ctx, batch).Close(); err != nil {
				return outcome{}, err
			}
		}
	}
	o.messages, o.err = p.make(call, barred)
	return o, nil
}

// check refuses a call for all that need not be hashed to be refused, so that refusing costs little however much is sent.
//
// That a session is another's (barred) is told after everything else, and all else as if nobody had begun it. So an append that
// cannot be written for another reason, and leaves no trace, tells nothing of the session that it names.
//
// Left to make are hashes of originals, events whose keys are used, and conversations.
func (p *appendPlan) check(call *appendCall) (barred, err error) {
	heads := map[chain.Hash]head{} // of sessions that this call adds to
	last := map[chain.Hash]*chain.Draft{}
	keys := map[appendKey]chain.Hash{} // the fingerprints of this call's own
	for i := range call.drafts {
		d, field := &call.drafts[i], fmt.Sprintf("messages[%d]", i)
		if d.IdempotencyKey != nil {
			again, err := p.checkKey(call, i, keys, field)
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
		}
		h, changed := heads[d.SessionHash]
		if !changed {
			var why error
			if h, why = p.found(call, d, field); why != nil {
				if barred == nil {
					barred = why
				}
				if d.PrevHash != nil {
					start := *d
					start.PrevHash, d = nil, &start
				}
			}
		}
		if d.Original == nil && (h.audit || d.SessionHash == AuditSession(d.OwnerID)) {
			return nil, errAuditSession(field + ".sessionHash")
		}
		before := last[d.SessionHash]
		last[d.SessionHash] = d
		if before != nil && before.Original != nil {
			continue // make hashes it, and says what is wrong with it, before what follows
		}
		if before != nil && d.PrevHash != nil { // nobody knows the hash of a message before it is written: its salt is random
			return nil, errNotHead(field)
		}
		at, err := p.place(d, h, call.viewer, field)
		if err != nil {
			return nil, err
		}
		heads[d.SessionHash] = head{hash: &chain.Hash{}, sequence: h.sequence + 1, at: at, audit: h.audit}
	}
	return barred, nil
}

// checkKey tells whether an idempotency key stands for a message of before, or of this call, and refuses it for another message.
func (p *appendPlan) checkKey(call *appendCall, i int, keys map[appendKey]chain.Hash, field string) (again bool, err error) {
	d := &call.drafts[i]
	key := keyOf(d)
	mark, own := keys[key]
	switch u := p.uses[key]; {
	case u != nil && u.fingerprint == nil: // its message was erased
		return true, nil
	case u != nil:
		mark = *u.fingerprint
	case !own:
		keys[key] = chain.Hash{}
		return false, nil
	case mark == chain.Hash{}: // the first of two: only now it is needed
		mark = call.fingerprint(p.firstOf(call, key))
		keys[key] = mark
	}
	if !isEvent(d) && call.fingerprint(i) != mark {
		return false, errKeyUsed(d, field)
	}
	return true, nil
}

// firstOf gives the place of the first draft that has a key; one has.
func (p *appendPlan) firstOf(call *appendCall, key appendKey) int {
	for i := range call.drafts {
		if d := &call.drafts[i]; d.IdempotencyKey != nil && keyOf(d) == key {
			return i
		}
	}
	panic("no draft has the key")
}

// found gives the head that the first draft of a call finds in its session. Where its writer may not add to it, that is why, and
// the session is to be taken for one that nobody has begun: whoever is in no session of this name is not told whether there is one
// by what they take for its head, either.
func (p *appendPlan) found(call *appendCall, d *chain.Draft, field string) (head, error) {
	h := p.heads[d.SessionHash]
	switch {
	case call.viewer != nil && (h.hash != nil || d.PrevHash != nil) && !p.members[member{*call.viewer, d.SessionHash}]:
		return head{}, &fault.Error{Code: fault.NotFound, Field: field + ".sessionHash", Message: "names no session of yours"}
	case call.between && h.hash != nil && !p.beganAmong(d):
		return head{}, &fault.Error{Code: fault.Conflict, Field: field + ".sessionHash", Message: "names a session that somebody else has begun"}
	}
	return h, nil
}
