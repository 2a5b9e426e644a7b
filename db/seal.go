package db

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// CheckpointKey is the place of a checkpoint in the list of all: which name it was signed under, and its size.
type CheckpointKey struct {
	Log  int32
	Size int64
}

// NewestCheckpoint gives the newest checkpoint of the name that is signed under now that opens with the log's key, with
// the lines of the configured witnesses that cosigned it; false if there is none.
func (d *DB) NewestCheckpoint(ctx context.Context) (seal.Checkpoint, bool, error) {
	newest, _, err := d.newestCheckpoints(ctx, d.queries())
	if err != nil || newest == nil {
		return seal.Checkpoint{}, false, mapError(err)
	}
	return *newest, true, nil
}

// WitnessedCheckpoint gives the newest one that a configured witness cosigned; false if none did. For the rest it is as
// NewestCheckpoint.
func (d *DB) WitnessedCheckpoint(ctx context.Context) (seal.Checkpoint, bool, error) {
	_, witnessed, err := d.newestCheckpoints(ctx, d.queries())
	if err != nil || witnessed == nil {
		return seal.Checkpoint{}, false, mapError(err)
	}
	return *witnessed, true, nil
}

// CheckpointOfSize gives the checkpoint of exactly that size, of the name that is signed under now; false if there is
// none that opens with the log's key.
func (d *DB) CheckpointOfSize(ctx context.Context, size int64) (seal.Checkpoint, bool, error) {
	by := d.signers()
	rows, err := d.queries().CheckpointOfSize(ctx, by.policy.Origin, size)
	if err != nil {
		return seal.Checkpoint{}, false, mapError(err)
	}
	for _, r := range rows {
		if c, _, err := d.open(by, signedRow(r)); err == nil {
			return c, true, nil
		}
	}
	return seal.Checkpoint{}, false, nil
}

// Checkpoints gives a page of all checkpoints that open with the key of their name, the newest first; those of names that
// are given up come last. The page is never taken from its end.
func (d *DB) Checkpoints(ctx context.Context, p Page[CheckpointKey]) (Rows[seal.Checkpoint, CheckpointKey], error) {
	var after *int64
	var log int32
	if p.After != nil {
		after, log = &p.After.Size, p.After.Log
	}
	by := d.signers()
	var found []Item[seal.Checkpoint, CheckpointKey]
	for last := false; !last && len(found) < int(p.more()); {
		rows, err := d.queries().Checkpoints(ctx, after, log, p.more())
		if err != nil {
			return Rows[seal.Checkpoint, CheckpointKey]{}, mapError(err)
		}
		last = len(rows) < int(p.more())
		for _, r := range rows {
			after, log = &r.Size, r.Log
			c, _, err := d.open(by, signedRow{r.Origin, r.PublicKey, r.Size, r.Root, r.Note, r.SignedAt, r.Witnesses, r.Lines})
			if err == nil {
				found = append(found, Item[seal.Checkpoint, CheckpointKey]{c, CheckpointKey{r.Log, r.Size}})
			}
		}
	}
	return rowsOf(p, found, func(i Item[seal.Checkpoint, CheckpointKey]) Item[seal.Checkpoint, CheckpointKey] { return i }), nil
}

// CountCheckpoints counts all checkpoints.
func (d *DB) CountCheckpoints(ctx context.Context) (int64, error) {
	n, err := d.queries().CountCheckpoints(ctx)
	return n, mapError(err)
}

// Leaves gives at most count leaves of the tree from the first on, in order, whether or not they are covered by a
// checkpoint. The first leaf of all is 0.
func (d *DB) Leaves(ctx context.Context, first, count int64) ([]seal.Leaf, error) {
	return leavesOf(ctx, d.queries(), first, count)
}

func leavesOf(ctx context.Context, q *dbgen.Queries, first, count int64) ([]seal.Leaf, error) {
	rows, err := q.Leaves(ctx, first, first+count)
	if err != nil {
		return nil, mapError(err)
	}
	leaves := make([]seal.Leaf, len(rows))
	for i, r := range rows {
		leaves[i] = leafOf(r)
	}
	return leaves, nil
}

func leafOf(r dbgen.SealLeafe) seal.Leaf {
	return seal.Leaf{Session: r.SessionHash, Sequence: r.Sequence, Message: r.MessageHash}
}

// Waiting counts the messages that are committed and not yet in the tree.
func (d *DB) Waiting(ctx context.Context) (int64, error) {
	n, err := d.queries().SealWaiting(ctx)
	return n, mapError(err)
}

// TileHashes gives the first width hashes, 1 to 256, of tile n of a level of the tree, one after the other, as
// tlog-tiles serves them. Only what the newest checkpoint covers is there: NOT_FOUND otherwise. They are held against its
// root, since caches keep them for ever: INTERNAL if they do not belong there.
func (d *DB) TileHashes(ctx context.Context, level int, n int64, width int) ([]byte, error) {
	absent := fault.New(fault.NotFound, "the tree has no such tile, or no checkpoint covers it")
	if level < 0 || level >= seal.Levels || n < 0 || width < 1 || width > seal.TileWidth {
		return nil, absent
	}
	checkpoint, found, err := d.NewestCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	if !found || n > checkpoint.Size>>(seal.TileHeight*(level+1)) || checkpoint.Size>>(seal.TileHeight*level) < n*seal.TileWidth+int64(width) {
		return nil, absent
	}
	indexes := make([]int64, width)
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(seal.TileHeight*level, n*seal.TileWidth+int64(i))
	}
	hashes, err := newTreeReader(ctx, d.queries(), checkpoint.Head).ReadHashes(indexes)
	if err != nil {
		return nil, mapDamage(err)
	}
	data := make([]byte, 0, width*tlog.HashSize)
	for _, hash := range hashes {
		data = append(data, hash[:]...)
	}
	return data, nil
}

// mapDamage gives an error of reading the tree as a fault.
func mapDamage(err error) error {
	if damage, ok := errors.AsType[*damageError](err); ok {
		return fault.Wrap(damage, fault.Internal, "the stored tree is damaged: %s", damage)
	}
	return mapError(err)
}
