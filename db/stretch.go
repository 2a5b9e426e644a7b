package db

import (
	"context"
	"errors"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// How much of a chain is read at once.
const (
	stretchRows  = 2000
	stretchBytes = 4 << 20 // of content, attachments and ambient
)

// Stretch is a part of a session's chain as it stood at one moment, with what it takes to check it.
type Stretch struct {
	Messages   []chain.Message // by sequence
	Refs       map[chain.Hash][]chain.Ref
	Leaves     []int64          // of each message, its leaf's index in the checkpoint's tree; -1 if it has none there
	Checkpoint *seal.Checkpoint // nil before the first
	Witnessed  int64            // how many leaves the newest checkpoint covers that a witness cosigned
	Path       []chain.Hash     // of seal.ProveAll, for all leaves; none unless they ascend, and the tree is whole
	More       bool             // there are messages behind it
}

// Stretch gives the part of a session behind a sequence, up to another: as much as is read at once. What an administrator reads is on
// record before it is given. What is read of the tree is held against the checkpoint's root: if it does not belong there,
// nothing is proved.
//
// Faults: NOT_FOUND if there is no such session, or the viewer does not see it.
func (d *DB) Stretch(ctx context.Context, session chain.Hash, after, upto int64) (out Stretch, err error) {
	first, err := d.SessionMessages(ctx, session, Page[int64]{Limit: 1})
	if err != nil {
		return out, err
	}
	if len(first.Items) == 0 {
		return out, fault.New(fault.NotFound, "there is no session %s", session)
	}
	if err := d.RecordReading(ctx); err != nil {
		return out, err
	}
	err = d.Snapshot(ctx, func(s *Snapshot) (err error) {
		out, err = s.stretch(ctx, session, after, upto)
		return err
	})
	return out, err
}

func (s *Snapshot) stretch(ctx context.Context, session chain.Hash, after, upto int64) (out Stretch, err error) {
	rows, err := s.q.ExportMessages(ctx, dbgen.ExportMessagesParams{
		AfterSession: session.String(), AfterSequence: after, LastSession: session.String(),
		RowCount: int32(min(stretchRows, max(upto-after, 0))), Bytes: stretchBytes,
	})
	if err != nil {
		return out, err
	}
	end := len(rows)
	for end > 0 && rows[end-1].Sequence > upto { // where some are missing
		end--
	}
	rows = rows[:end]
	out.Messages = messagesOf(rows)
	out.Leaves = make([]int64, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	hashes, sessions, sequences := make([]chain.Hash, len(rows)), make([]string, len(rows)), make([]int64, len(rows))
	for i, m := range out.Messages {
		hashes[i], sessions[i], sequences[i] = m.Hash, m.SessionHash.String(), m.Sequence
	}
	if out.Refs, err = s.RefsOf(ctx, hashes); err != nil {
		return out, err
	}
	behind, err := s.q.ExportMessages(ctx, dbgen.ExportMessagesParams{
		AfterSession: session.String(), AfterSequence: sequences[len(rows)-1], LastSession: session.String(), RowCount: 1,
	})
	if err != nil {
		return out, err
	}
	out.More = len(behind) > 0
	leaves, err := s.q.LeavesAt(ctx, sessions, sequences)
	if err != nil {
		return out, err
	}
	return out, s.prove(ctx, &out, leaves)
}

// prove sets where in the tree a stretch's messages are, and what shows it.
func (s *Snapshot) prove(ctx context.Context, out *Stretch, leaves []dbgen.SealLeafe) error {
	newest, witnessed, err := newestCheckpoints(ctx, s.q)
	if err != nil {
		return err
	}
	last := int64(-1)
	found := make(map[int64]int64, len(leaves))
	for _, l := range leaves {
		found[l.Sequence] = l.LeafIndex
		last = max(last, l.LeafIndex)
	}
	out.Checkpoint = newest
	if witnessed != nil {
		out.Witnessed = witnessed.Size
		if last < witnessed.Size {
			out.Checkpoint = witnessed
		}
	}
	var indexes []int64
	ascend := true
	for i, m := range out.Messages {
		index, there := found[m.Sequence]
		if !there || out.Checkpoint == nil || index >= out.Checkpoint.Size {
			out.Leaves[i] = -1
			continue
		}
		out.Leaves[i] = index
		ascend = ascend && (len(indexes) == 0 || index > indexes[len(indexes)-1])
		indexes = append(indexes, index)
	}
	if len(indexes) == 0 || !ascend {
		return nil
	}
	out.Path, err = seal.ProveAll(out.Checkpoint.Size, indexes, newTreeReader(ctx, s.q, out.Checkpoint.Head))
	var damaged *damageError
	if errors.As(err, &damaged) {
		return nil // whoever asks for a proof of each is told which cannot be given
	}
	return err
}
