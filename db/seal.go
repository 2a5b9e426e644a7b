package db

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// CheckpointKey is the place of a checkpoint in the list of all: which name it was signed under, and its size.
type CheckpointKey struct {
	Log  int32
	Size int64
}

// NewestCheckpoint gives the newest checkpoint of the name that is signed under now, with the lines of the witnesses
// that cosigned it; false before the first. Its signatures are not checked.
func (d *DB) NewestCheckpoint(ctx context.Context) (seal.Checkpoint, bool, error) {
	newest, _, err := newestCheckpoints(ctx, d.queries())
	if err != nil || newest == nil {
		return seal.Checkpoint{}, false, mapError(err)
	}
	return *newest, true, nil
}

// WitnessedCheckpoint gives the newest one that a witness cosigned; false if none did. For the rest it is as
// NewestCheckpoint.
func (d *DB) WitnessedCheckpoint(ctx context.Context) (seal.Checkpoint, bool, error) {
	_, witnessed, err := newestCheckpoints(ctx, d.queries())
	if err != nil || witnessed == nil {
		return seal.Checkpoint{}, false, mapError(err)
	}
	return *witnessed, true, nil
}

// newestCheckpoints gives the newest one and the newest that a witness cosigned, in one statement. Either may be nil.
func newestCheckpoints(ctx context.Context, q *dbgen.Queries) (newest, witnessed *seal.Checkpoint, err error) {
	rows, err := q.NewestCheckpoints(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range rows {
		c := checkpointOf(dbgen.CheckpointOfSizeRow(r))
		if i == 0 {
			newest = &c
		}
		if len(c.Cosignatures) > 0 && witnessed == nil {
			witnessed = &c
		}
	}
	return newest, witnessed, nil
}

// CheckpointOfSize gives the checkpoint of exactly that size, of the name that is signed under now; false if there is
// none.
func (d *DB) CheckpointOfSize(ctx context.Context, size int64) (seal.Checkpoint, bool, error) {
	row, err := d.queries().CheckpointOfSize(ctx, size)
	if errors.Is(err, pgx.ErrNoRows) {
		return seal.Checkpoint{}, false, nil
	}
	if err != nil {
		return seal.Checkpoint{}, false, mapError(err)
	}
	return checkpointOf(row), true, nil
}

// Checkpoints gives a page of all checkpoints, the newest first; those of names that are given up come last. The page
// is never taken from its end.
func (d *DB) Checkpoints(ctx context.Context, p Page[CheckpointKey]) (Rows[seal.Checkpoint, CheckpointKey], error) {
	var after *int64
	var log int32
	if p.After != nil {
		after, log = &p.After.Size, p.After.Log
	}
	found, err := d.queries().Checkpoints(ctx, after, log, p.more())
	if err != nil {
		return Rows[seal.Checkpoint, CheckpointKey]{}, mapError(err)
	}
	return rowsOf(p, found, func(r dbgen.CheckpointsRow) Item[seal.Checkpoint, CheckpointKey] {
		return Item[seal.Checkpoint, CheckpointKey]{
			Value: checkpointOf(dbgen.CheckpointOfSizeRow{
				Origin: r.Origin, Size: r.Size, Root: r.Root, Note: r.Note, SignedAt: r.SignedAt, Lines: r.Lines,
			}),
			Key: CheckpointKey{r.Log, r.Size},
		}
	}), nil
}

// CountCheckpoints counts all checkpoints.
func (d *DB) CountCheckpoints(ctx context.Context) (int64, error) {
	n, err := d.queries().CountCheckpoints(ctx)
	return n, mapError(err)
}

// checkpointOf gives a row as a checkpoint.
func checkpointOf(r dbgen.CheckpointOfSizeRow) seal.Checkpoint {
	c := seal.Checkpoint{
		Head: seal.Head{Size: r.Size, Root: r.Root}, Origin: r.Origin, SignedAt: r.SignedAt.UTC(),
		Note: seal.WithCosignatures(r.Note, r.Lines),
	}
	for line := range strings.Lines(r.Lines) {
		c.Cosignatures = append(c.Cosignatures, cosignatureOf(line))
	}
	return c
}

// cosignatureOf reads who signed a line, and when: a name, and base64 of a key's id, a time of eight bytes and a
// signature. What is not written so names nobody.
func cosignatureOf(line string) seal.Cosignature {
	c := seal.Cosignature{Line: line}
	text, _ := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "— ")
	name, signature, _ := strings.Cut(text, " ")
	bytes, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(bytes) < 12 {
		return c
	}
	c.Witness, c.At = name, time.Unix(int64(binary.BigEndian.Uint64(bytes[4:12])), 0).UTC()
	return c
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
// tlog-tiles serves them. Only what the newest checkpoint covers is there: NOT_FOUND otherwise.
func (d *DB) TileHashes(ctx context.Context, level int, n int64, width int) ([]byte, error) {
	absent := fault.New(fault.NotFound, "the tree has no such tile, or no checkpoint covers it")
	if level < 0 || level >= seal.Levels || n < 0 || width < 1 || width > seal.TileWidth {
		return nil, absent
	}
	checkpoint, found, err := d.NewestCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	tile := tileAt(level, n, width)
	if !found || n > checkpoint.Size>>(seal.TileHeight*(level+1)) || checkpoint.Size>>(seal.TileHeight*level) < n*seal.TileWidth+int64(width) {
		return nil, absent
	}
	data, err := readTiles(ctx, d.queries(), tile)
	if err != nil {
		return nil, mapDamage(err)
	}
	return data[0], nil
}

// mapDamage gives an error of reading the tree as a fault.
func mapDamage(err error) error {
	if damage, ok := errors.AsType[*damageError](err); ok {
		return fault.Wrap(damage, fault.Internal, "the stored tree is damaged: %s", damage)
	}
	return mapError(err)
}
