package db

import (
	"context"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// Place is where a message stands: in its session.
type Place struct {
	Session  chain.Hash
	Sequence int64
}

// Sealed says how far a place is sealed.
type Sealed struct {
	Covered   bool       // by the newest checkpoint; the rest is zero if not
	Index     int64      // of its leaf, from 0
	Message   chain.Hash // what the leaf holds: a message of another hash at this place is not the one that was sealed
	Witnessed bool       // the newest checkpoint that a witness cosigned covers it, too
	Proof     string     // a tlog-proof, for that checkpoint or else for the newest; only Proofs gives it
}

// Sealed tells of each place how far it is sealed, in two statements.
func (d *DB) Sealed(ctx context.Context, places []Place) ([]Sealed, error) {
	out, _, _, err := d.sealed(ctx, d.queries(), places)
	return out, mapError(err)
}

// sealed is Sealed, and gives the checkpoints that count. Either may be nil.
func (d *DB) sealed(ctx context.Context, q *dbgen.Queries, places []Place) (out []Sealed, newest, witnessed *seal.Checkpoint, err error) {
	out = make([]Sealed, len(places))
	newest, witnessed, err = d.newestCheckpoints(ctx, q)
	if err != nil || newest == nil || len(places) == 0 {
		return out, newest, witnessed, err
	}
	sessions, sequences := make([]string, len(places)), make([]int64, len(places))
	for i, p := range places {
		sessions[i], sequences[i] = p.Session.String(), p.Sequence
	}
	leaves, err := q.LeavesAt(ctx, sessions, sequences)
	if err != nil {
		return nil, nil, nil, err
	}
	found := make(map[Place]Sealed, len(leaves))
	for _, l := range leaves {
		if l.LeafIndex < newest.Size {
			found[Place{l.SessionHash, l.Sequence}] = Sealed{
				Covered: true, Index: l.LeafIndex, Message: l.MessageHash,
				Witnessed: witnessed != nil && l.LeafIndex < witnessed.Size,
			}
		}
	}
	for i, p := range places {
		out[i] = found[p]
	}
	return out, newest, witnessed, nil
}

// Proofs tells of each place how far it is sealed, and proves it to a checkpoint's tree. It takes at most eight
// statements for any number of places, and memory of some ten kilobytes a place. What is read of the tree is held
// against the checkpoint's root: INTERNAL if it does not belong there.
func (d *DB) Proofs(ctx context.Context, places []Place) ([]Sealed, error) {
	q := d.queries()
	out, newest, witnessed, err := d.sealed(ctx, q, places)
	if err != nil {
		return nil, mapError(err)
	}
	for _, group := range []struct {
		checkpoint *seal.Checkpoint
		witnessed  bool
	}{{witnessed, true}, {newest, false}} {
		var members []*Sealed
		for i := range out {
			if out[i].Covered && out[i].Witnessed == group.witnessed {
				members = append(members, &out[i])
			}
		}
		if len(members) > 0 {
			if err := prove(ctx, q, *group.checkpoint, members); err != nil {
				return nil, mapDamage(err)
			}
		}
	}
	return out, nil
}

// prove sets the proofs of places that a checkpoint covers. All hashes are read at once.
func prove(ctx context.Context, q *dbgen.Queries, checkpoint seal.Checkpoint, places []*Sealed) error {
	wanted := hashCollector{}
	for _, p := range places {
		if _, err := tlog.ProveRecord(checkpoint.Size, p.Index, wanted); err != nil {
			return err
		}
	}
	hashes, err := wanted.read(newTreeReader(ctx, q, checkpoint.Head))
	if err != nil {
		return err
	}
	for _, p := range places {
		if p.Proof, err = seal.Prove(checkpoint.Note, checkpoint.Head, p.Index, hashes); err != nil {
			return err
		}
	}
	return nil
}

// hashCollector notes which hashes are asked for, and gives zeros.
type hashCollector map[int64]bool

// ReadHashes notes indexes.
func (c hashCollector) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	for _, i := range indexes {
		c[i] = true
	}
	return make([]tlog.Hash, len(indexes)), nil
}

// read gives a reader of all that was noted.
func (c hashCollector) read(from tlog.HashReader) (tlog.HashReader, error) {
	indexes := make([]int64, 0, len(c))
	for i := range c {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	hashes, err := from.ReadHashes(indexes)
	if err != nil {
		return nil, err
	}
	known := make(map[int64]tlog.Hash, len(indexes))
	for i, index := range indexes {
		known[index] = hashes[i]
	}
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			out[i] = known[index]
		}
		return out, nil
	}), nil
}

// ConsistencyProof gives the hashes that show that the tree of to messages extends the one of from (RFC 6962, section
// 2.1.2).
//
// Faults: BAD_USER_INPUT unless 0 ≤ from ≤ to ≤ the size of the newest checkpoint.
func (d *DB) ConsistencyProof(ctx context.Context, from, to int64) ([]chain.Hash, error) {
	newest, _, err := d.NewestCheckpoint(ctx) // of size 0 if there is none
	switch {
	case err != nil:
		return nil, err
	case from < 0 || from > to:
		return nil, fault.Input("from", "%d is outside of 0 to %d", from, to)
	case to > newest.Size:
		return nil, fault.Input("to", "is %d, and %d messages are sealed", to, newest.Size)
	}
	path, err := seal.ProveConsistency(from, to, newTreeReader(ctx, d.queries(), newest.Head))
	return path, mapDamage(err)
}
