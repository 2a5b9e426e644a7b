package db

import (
	"context"
	"errors"
	"sort"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// scan reads the whole log by id and tells whether all of it is as it must be: each message is whole and follows its
// session's last; the leaves are those of the messages that do not wait, one for one, and in their sessions' order; and
// there are no refs but those of messages.
func (v *verification) scan(ctx context.Context, tx pgx.Tx) (fine bool, err error) {
	if !v.auditor.Ordered() {
		return false, nil
	}
	s := newStream(tx, nil)
	s.scan = true
	scan, waiting := chain.NewScan(), v.waiting
	whole := true
	err = v.each(ctx, s, func(e *chain.Entry) bool {
		if whole = scan.Add(e); !whole {
			return false
		}
		for len(waiting) > 0 && waiting[0].LastID < e.ID {
			waiting = waiting[1:]
		}
		if len(waiting) == 0 || e.ID < waiting[0].FirstID {
			v.tally.Add(seal.Leaf{Session: e.SessionHash, Sequence: e.Sequence, Message: e.Hash})
		}
		return true
	})
	if errors.Is(err, errDamaged) {
		return false, nil
	}
	if err != nil || !whole || !scan.End() || scan.Messages() != v.total || !v.tally.Equal(v.auditor.Tally()) ||
		v.tally.Count()+v.waiting.count() != v.total {
		return false, err
	}
	refs := int64(0)
	if err := v.aside(func() (err error) { refs, err = dbgen.New(tx).CountRefs(ctx); return err }); err != nil || refs != scan.Refs() {
		return false, err
	}
	v.counts = chain.LogReport{
		Sessions: scan.Sessions(), Messages: scan.Messages(), Erased: scan.Erased(), Sealed: min(v.tally.Count(), v.covered()),
	}
	return true, nil
}

// idRanges are runs of ids, ascending and without overlaps.
type idRanges []dbgen.WaitingRunsRow

func (r idRanges) has(id int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].LastID >= id })
	return i < len(r) && r[i].FirstID <= id
}

func (r idRanges) count() (n int64) {
	for _, run := range r {
		n += run.LastID - run.FirstID + 1
	}
	return n
}

// unexplained says what a scan must have stumbled over if the chains have no break: a message that waited for the tree
// and is gone, or leaves that match no message in some other way.
func (v *verification) unexplained(ctx context.Context, tx pgx.Tx) error {
	if !v.Valid() {
		return nil
	}
	if v.waited < v.waiting.count() {
		gone, err := dbgen.New(tx).WaitingGone(ctx)
		if err != nil {
			return err
		}
		v.AddGone(gone.Messages, gone.FirstID, gone.LastID)
	}
	if v.Valid() && v.auditor.Valid() && !v.tally.Equal(v.auditor.Tally()) {
		v.AddUnmatched()
	}
	return nil
}
