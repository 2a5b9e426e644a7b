package db

import (
	"context"
	"errors"
	"math"

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
	rows, err := s.q.StretchMessages(ctx, dbgen.StretchMessagesParams{
		SessionHash: session.String(), AfterSequence: after, LastSequence: upto, RowCount: stretchRows, Bytes: stretchBytes,
	})
	if err != nil {
		return out, err
	}
	out.Messages = messagesOf(rows)
	out.Leaves = make([]int64, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	hashes := make([]chain.Hash, len(rows))
	for i, m := range out.Messages {
		hashes[i] = m.Hash
	}
	if out.Refs, err = s.RefsOf(ctx, hashes); err != nil {
		return out, err
	}
	behind, err := s.q.StretchMessages(ctx, dbgen.StretchMessagesParams{
		SessionHash: session.String(), AfterSequence: rows[len(rows)-1].Sequence, LastSequence: math.MaxInt64, RowCount: 1,
	})
	if err != nil {
		return out, err
	}
	out.More = len(behind) > 0
	leaves, err := s.leavesOf(ctx, out.Messages)
	if err != nil {
		return out, err
	}
	return out, s.prove(ctx, &out, leaves)
}

// leavesOf gives the leaves of a session's messages, at once as long as none is missing between them.
func (s *Snapshot) leavesOf(ctx context.Context, messages []chain.Message) ([]dbgen.SealLeafe, error) {
	first, last := messages[0], messages[len(messages)-1]
	if last.Sequence-first.Sequence < int64(len(messages)) {
		return s.q.LeavesOfSession(ctx, first.SessionHash.String(), first.Sequence, last.Sequence)
	}
	sessions, sequences := make([]string, len(messages)), make([]int64, len(messages))
	for i, m := range messages {
		sessions[i], sequences[i] = m.SessionHash.String(), m.Sequence
	}
	return s.q.LeavesAt(ctx, sessions, sequences)
}

// prove sets where in the tree a stretch's messages are, and what shows it.
func (s *Snapshot) prove(ctx context.Context, out *Stretch, leaves []dbgen.SealLeafe) error {
	newest, witnessed, err := s.store.newestCheckpoints(ctx, s.q)
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
