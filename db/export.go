package db

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/seal"
)

// Pages of an export.
const (
	exportRows    = 1000
	exportBytes   = 16 << 20 // of content, attachments and ambient of messages
	exportRecords = 20       // each may have two megabytes
)

// Snapshot is the log as it stood at one moment, for exports. Not safe for concurrent use.
type Snapshot struct {
	store   *shared
	q       *dbgen.Queries
	waiting []dbgen.SealOutbox // runs of messages that wait for the tree; read when they are asked for
}

// Snapshot calls f with the log as it stands at this moment. What f keeps of it is no good later.
func (d *DB) Snapshot(ctx context.Context, f func(*Snapshot) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return mapError(pgx.BeginTxFunc(ctx, d.pool, options, func(tx pgx.Tx) error { return f(&Snapshot{store: d.shared, q: dbgen.New(tx)}) }))
}

// SessionSnapshot is a Snapshot of what a viewer sees of a session's surroundings: of its components, as they are now.
type SessionSnapshot struct {
	*Snapshot
	view *DB
}

// ComponentsByHash gives those of the components that rows describe, and the viewer sees, in no order.
func (s *SessionSnapshot) ComponentsByHash(ctx context.Context, hashes []chain.Hash) ([]component.Component, error) {
	found, err := s.view.ComponentsByHash(ctx, hashes)
	return slices.Collect(maps.Values(found)), err
}

// SnapshotSession calls f with a session as it stands at this moment, for an export with proofs, once all that is
// committed is sealed, or the limit is over. leaves is for the export's checkpoint. What an administrator reads is on
// record before f is called.
//
// Faults: NOT_FOUND if there is no such session, or the viewer does not see it; UNAVAILABLE if messages are not sealed in time.
func (d *DB) SnapshotSession(ctx context.Context, session chain.Hash, limit time.Duration, f func(s *SessionSnapshot, leaves int64) error) error {
	first, err := d.SessionMessages(ctx, session, Page[int64]{Limit: 1})
	if err != nil {
		return err
	}
	if len(first.Items) == 0 {
		return fault.New(fault.NotFound, "there is no session %s", session)
	}
	if err := d.RecordReading(ctx); err != nil {
		return err
	}
	leaves, err := d.AwaitSeal(ctx, limit)
	if err != nil {
		return err
	}
	return d.Snapshot(ctx, func(s *Snapshot) error { return f(&SessionSnapshot{s, d}, leaves) })
}

// MessagesAfter gives the messages behind a place, in the order of sessions and sequences, up to the session last: a
// page of them, which is empty only at the end.
func (s *Snapshot) MessagesAfter(ctx context.Context, session chain.Hash, sequence int64, last chain.Hash) ([]chain.Message, error) {
	rows, err := s.q.ExportMessages(ctx, dbgen.ExportMessagesParams{
		AfterSession: session.String(), AfterSequence: sequence, LastSession: last.String(), RowCount: exportRows, Bytes: exportBytes,
	})
	return messagesOf(rows), mapError(err)
}

// RefsOf gives the refs of each of the messages, by position. A message without any is left out.
func (s *Snapshot) RefsOf(ctx context.Context, messages []chain.Hash) (map[chain.Hash][]chain.Ref, error) {
	return refsOf(ctx, s.q, messages, nil)
}

// ComponentsByHash gives those of the components that rows describe, in no order.
func (s *Snapshot) ComponentsByHash(ctx context.Context, hashes []chain.Hash) ([]component.Component, error) {
	rows, err := s.q.AllComponentsByHash(ctx, hashTexts(hashes))
	return componentsOf(rows), mapError(err)
}

// ComponentsAfter gives the components that rows describe behind a hash, in the order of hashes: a page of them, which
// is empty only at the end.
func (s *Snapshot) ComponentsAfter(ctx context.Context, after chain.Hash) ([]component.Component, error) {
	rows, err := s.q.ExportComponents(ctx, after.String(), exportRows)
	return componentsOf(rows), mapError(err)
}

// RecordsByHash gives those of the records that there are, in no order.
func (s *Snapshot) RecordsByHash(ctx context.Context, hashes []chain.Hash) ([]knowledge.Record, error) {
	rows, err := s.q.RecordsByHash(ctx, hashTexts(hashes))
	return recordsOf(rows), mapError(err)
}

// RecordsAfter gives the records behind a hash, in the order of hashes: a page of them, which is empty only at the end.
func (s *Snapshot) RecordsAfter(ctx context.Context, after chain.Hash) ([]knowledge.Record, error) {
	rows, err := s.q.ExportRecords(ctx, after.String(), exportRecords)
	return recordsOf(rows), mapError(err)
}

// Checkpoint gives the newest checkpoint that a witness cosigned if it covers that many leaves, else the newest; NOT_FOUND
// before the first.
func (s *Snapshot) Checkpoint(ctx context.Context, leaves int64) (seal.Checkpoint, error) {
	newest, witnessed, err := s.store.newestCheckpoints(ctx, s.q)
	switch {
	case err != nil:
		return seal.Checkpoint{}, mapError(err)
	case witnessed != nil && witnessed.Size >= leaves:
		return *witnessed, nil
	case newest == nil:
		return seal.Checkpoint{}, fault.New(fault.NotFound, "there is no checkpoint yet")
	}
	return *newest, nil
}

// Proofs gives the proof of each of the messages, at most 1,000, for a checkpoint: an empty one where the tree has
// nothing at its place, and covered false where it is sealed later than that, or still waits. It proves the leaf
// that is there, whether it is of the message or not.
func (s *Snapshot) Proofs(ctx context.Context, checkpoint seal.Checkpoint, messages []chain.Message) (proofs []string, covered []bool, err error) {
	sessions, sequences := make([]string, len(messages)), make([]int64, len(messages))
	for i := range messages {
		sessions[i], sequences[i] = messages[i].SessionHash.String(), messages[i].Sequence
	}
	leaves, err := s.q.LeavesAt(ctx, sessions, sequences)
	if err != nil {
		return nil, nil, mapError(err)
	}
	found := make(map[Place]*Sealed, len(leaves))
	var members []*Sealed
	for _, l := range leaves {
		leaf := &Sealed{Covered: l.LeafIndex < checkpoint.Size, Index: l.LeafIndex}
		found[Place{l.SessionHash, l.Sequence}] = leaf
		if leaf.Covered {
			members = append(members, leaf)
		}
	}
	if err := prove(ctx, s.q, checkpoint, members); err != nil {
		return nil, nil, mapDamage(err)
	}
	proofs, covered = make([]string, len(messages)), make([]bool, len(messages))
	for i := range messages {
		switch leaf := found[Place{messages[i].SessionHash, messages[i].Sequence}]; {
		case leaf != nil:
			proofs[i], covered[i] = leaf.Proof, leaf.Covered
		default:
			waits, err := s.waits(ctx, messages[i].ID)
			if err != nil {
				return nil, nil, err
			}
			covered[i] = !waits
		}
	}
	return proofs, covered, nil
}

// waits tells whether a message waits for the tree.
func (s *Snapshot) waits(ctx context.Context, id int64) (bool, error) {
	if s.waiting == nil {
		runs, err := s.q.OutboxRuns(ctx)
		if err != nil {
			return false, mapError(err)
		}
		s.waiting = runs
	}
	_, found := slices.BinarySearchFunc(s.waiting, id, func(r dbgen.SealOutbox, id int64) int {
		switch {
		case r.LastID < id:
			return -1
		case r.FirstID > id:
			return 1
		}
		return 0
	})
	return found, nil
}

// Leaves gives at most count leaves of the tree from the first on, in order.
func (s *Snapshot) Leaves(ctx context.Context, first, count int64) ([]seal.Leaf, error) {
	return leavesOf(ctx, s.q, first, count)
}

// awaitPause is how long AwaitSeal waits before it looks again.
const awaitPause = 50 * time.Millisecond

// AwaitSeal waits until a checkpoint covers all that is committed now, and a witness has cosigned it if one ever did,
// and gives how many leaves that are. It waits no longer than the limit, and not at all if nobody seals.
//
// Faults: UNAVAILABLE if messages are not sealed by then. A witness that is late is no fault.
func (d *DB) AwaitSeal(ctx context.Context, limit time.Duration) (leaves int64, err error) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	late := false
	for {
		position, err := d.queries().SealPosition(ctx)
		if err != nil {
			return 0, mapError(err)
		}
		newest, witnessed, err := d.newestCheckpoints(ctx, d.queries())
		if err != nil {
			return 0, mapError(err)
		}
		size := int64(0)
		if newest != nil {
			size = newest.Size
		}
		if leaves == 0 {
			leaves = position.Leaves + position.Waiting
		}
		if position.Waiting == 0 { // a message whose place is taken gets no leaf
			leaves = min(leaves, position.Leaves)
		}
		if size >= leaves && (late || witnessed == nil || witnessed.Size >= leaves) {
			return leaves, nil
		}
		if late {
			return 0, fault.New(fault.Unavailable, "%d messages are not sealed yet: an export with proofs needs a server that seals them", leaves-size)
		}
		if late, err = d.nobodySeals(ctx); err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, mapError(ctx.Err())
		case <-timeout.C:
			late = true
		case <-time.After(awaitPause):
		}
	}
}

// nobodySeals tells whether no server seals.
func (d *DB) nobodySeals(ctx context.Context) (free bool, err error) {
	err = d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		free, err = q.SealLockFree(ctx, sealLock)
		return err
	})
	return free, err
}
