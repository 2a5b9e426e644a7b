package db

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

const (
	recalledSessions = 16_384
	recalledSeats    = 32_768
	recalledClock    = 2 * time.Second        // how long it is known what Postgres' clock shows
	recalledLock     = 100 * time.Millisecond // for sessions that others hold: who waits longer has nothing sent while waiting
	outrunPause      = time.Second            // in which nothing is recalled
)

// recall is what the writers remember of the log: how sessions end, groups that are on their way included, who is a member, and
// what Postgres' clock shows. By it a group is planned that needs to know nothing else, and written without reading. Where it is out
// of date, since another server has written or a group was not, the database refuses what does not follow, and the group is planned
// again by what is read. Nobody is told anything by what is remembered but that a message was written.
type recall struct {
	mu       sync.Mutex
	heads    *simplelru.LRU[chain.Hash, head]
	seats    *simplelru.LRU[member, struct{}]
	now, at  time.Time // of Postgres' clock, and when that was
	lost     int64     // of the pool, when all this was learned: what is found after may be another log
	outrunBy time.Time // until when nothing is recalled
}

func newRecall() *recall {
	heads, _ := simplelru.NewLRU[chain.Hash, head](recalledSessions, nil) // fails for no size only
	seats, _ := simplelru.NewLRU[member, struct{}](recalledSeats, nil)
	return &recall{heads: heads, seats: seats}
}

// plan plans a group by what is remembered. It gives nil where that is not enough, or something would be refused.
func (r *recall) plan(ctx context.Context, calls []*appendCall, lost int64) (*appendPlan, []outcome) {
	for _, call := range calls {
		if !call.recallable() {
			return nil, nil
		}
	}
	p := r.known(calls, lost)
	if p == nil {
		return nil, nil
	}
	outcomes := make([]outcome, len(calls))
	for i, call := range calls {
		var err error
		if outcomes[i], err = p.call(ctx, nil, call); err != nil || outcomes[i].err != nil {
			return nil, nil
		}
	}
	return p, outcomes
}

// recallable tells whether nothing has to be read for a call but how its sessions end and who is in them.
func (c *appendCall) recallable() bool {
	if c.between || c.exchange != nil || c.bytes > preparedBytes {
		return false
	}
	for i := range c.drafts {
		d := &c.drafts[i]
		if len(d.Refs) > 0 || d.IdempotencyKey != nil || d.Original != nil ||
			d.Attachments != nil && *d.Attachments != emptyObject || d.Ambient != nil && *d.Ambient != emptyObject {
			return false
		}
	}
	return true
}

// known gives a plan that has what calls need, or nil.
func (r *recall) known(calls []*appendCall, lost int64) *appendPlan {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	stood := now.Round(0).Sub(r.at.Round(0)) // where the machine stood still, what is monotonic did, too
	if lost != r.lost || now.Before(r.outrunBy) || max(now.Sub(r.at), stood) > recalledClock {
		return nil
	}
	p := newAppendPlan()
	p.recalled, p.now = true, r.now.Add(now.Sub(r.at)).Truncate(time.Microsecond)
	for _, call := range calls {
		for i := range call.drafts {
			session := call.drafts[i].SessionHash
			if _, had := p.heads[session]; !had {
				h, ok := r.heads.Get(session)
				if !ok {
					return nil
				}
				p.heads[session] = h
			}
			if call.viewer != nil {
				seat := member{*call.viewer, session}
				if _, ok := r.seats.Get(seat); !ok {
					return nil
				}
				p.members[seat] = true
			}
		}
	}
	return p
}

// learn remembers the heads that a plan is about to leave behind, and Postgres' clock if it has read that, with the pool's lost of
// before that. What is planned behind a head that never comes is refused by the database.
func (r *recall) learn(p *appendPlan, lost int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lost < r.lost {
		return
	} else if lost > r.lost {
		r.clear()
		r.lost = lost
	}
	if !p.recalled {
		r.now, r.at = p.now, p.read
	}
	for session, h := range p.heads {
		if h.hash == nil || h.audit {
			continue
		}
		if had, ok := r.heads.Peek(session); ok && had.sequence > h.sequence { // by a group that was planned later
			continue
		}
		own := *h.hash // without the message that it is part of
		r.heads.Add(session, head{hash: &own, sequence: h.sequence, at: h.at})
	}
}

// seat remembers the members that a plan has read or made, once it is written: the database refuses nobody for not being one.
func (r *recall) seat(p *appendPlan, lost int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lost != r.lost {
		return
	}
	for seat := range p.members {
		r.seats.Add(seat, struct{}{})
	}
}

// forget forgets all that is remembered, since a group was not written that others were planned behind. Where another has
// written, that goes on for a while.
func (r *recall) forget(outrun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	if outrun {
		r.outrunBy = time.Now().Add(outrunPause)
	}
}

func (r *recall) clear() {
	r.heads.Purge()
	r.seats.Purge()
}

// newAppendPlan gives a plan of nothing, by nothing.
func newAppendPlan() *appendPlan {
	return &appendPlan{
		heads: map[chain.Hash]head{}, uses: map[appendKey]*use{}, sources: map[chain.Hash]refSource{}, members: map[member]bool{},
		json: map[string]chain.JSON{}, began: map[chain.Hash]chain.Hash{}, talks: map[string]*memory.Conversation{}, said: map[string]bool{},
	}
}
