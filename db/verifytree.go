package db

import (
	"context"
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

//go:embed verify/leaves.sql
var leavesSQL string

//go:embed verify/trees.sql
var treesSQL string

//go:embed verify/checkpoints.sql
var checkpointsSQL string

//go:embed verify/tiles.sql
var tilesSQL string

// auditRows is how many leaves are read at once, with all that is stored of them: a whole number of tiles.
const auditRows = 16 * seal.TileWidth

// pinned is what the log is held against that is not in the database.
type pinned struct {
	outside   *seal.Checkpoint // the last checkpoint that this server keeps; nil if it keeps none
	pending   bool             // that may be ahead of those in the database, which are written after it
	refused   []string         // what else speaks against the tree, in words
	witnesses []note.Verifier  // keys of the witnesses that it asks
}

// pinned reads what the sealer keeps. Read before a snapshot is taken, it is of no larger tree than that.
//
// Faults: UNAVAILABLE if it cannot be read.
func (d *DB) pinned() (p pinned, err error) {
	s := d.Sealer()
	if s == nil {
		return p, nil
	}
	for _, w := range s.config.Witnesses {
		if w.Key != nil {
			p.witnesses = append(p.witnesses, w.Key)
		}
	}
	if refused := s.refusal(); refused != nil && refused.unseen {
		p.refused = append(p.refused, refused.reason)
	}
	published := s.held()
	outside, err := sealfile.LoadCheckpoint(s.config.Checkpoint, s.Policy())
	if err == nil {
		if why := s.goneBack(outside, published); why != "" {
			p.refused = append(p.refused, why)
		}
	}
	switch {
	case fault.CodeOf(err) == fault.Conflict:
		p.refused = append(p.refused, err.Error())
		return p, nil
	case err != nil:
		return p, err
	case outside.Other != "":
		p.outside = &seal.Checkpoint{Origin: outside.Other, Note: outside.Text}
	case outside.Size > 0:
		p.outside = &outside.Checkpoint
		p.pending = outside.Size > s.State().Newest.Size // asked for after the file was read
	}
	return p, nil
}

// audit checks the tree.
func audit(ctx context.Context, tx pgx.Tx, pins pinned, secret [32]byte) (*seal.Auditor, error) {
	logs, err := dbgen.New(tx).LogKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys := seal.Keys{Witnesses: pins.witnesses}
	for _, l := range logs {
		keys.Logs = append(keys.Logs, seal.Key{Origin: l.Origin, Public: l.PublicKey})
	}
	a := seal.NewAuditor(keys, pins.outside, secret)
	for _, why := range pins.refused {
		a.Refuse(why)
	}
	if pins.pending {
		a.Pending()
	}
	last := int64(-1)
	for {
		stored, err := readStored(ctx, tx, a.Size(), a.Size()+auditRows, false)
		if err != nil {
			return nil, err
		}
		a.Expect(stored)
		read, err := readLeaves(ctx, tx, a, &last)
		if err != nil {
			return nil, err
		}
		if read < auditRows {
			break
		}
	}
	beyond, err := readStored(ctx, tx, 0, a.Size(), true)
	if err != nil {
		return nil, err
	}
	a.Beyond(beyond)
	a.Finish()
	return a, nil
}

// readLeaves gives the auditor the leaves behind an index, which it moves on.
func readLeaves(ctx context.Context, tx pgx.Tx, a *seal.Auditor, last *int64) (read int, err error) {
	rows, err := tx.Query(ctx, leavesSQL, pgx.QueryResultFormats{pgx.BinaryFormatCode}, *last, auditRows)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); read++ {
		c := columns{values: rows.RawValues()}
		*last = c.integer("leaf_index")
		var leaf seal.Leaf // what cannot be read is zero, and so differs
		c.read("session_hash", &leaf.Session, c.next())
		leaf.Sequence = c.integer("sequence")
		c.read("message_hash", &leaf.Message, c.next())
		a.Leaf(*last, leaf)
	}
	return read, rows.Err()
}

// readStored reads what is stored of the tree's sizes from behind one to another; or what is beyond the latter.
func readStored(ctx context.Context, tx pgx.Tx, behind, to int64, beyond bool) (s seal.Stored, err error) {
	var size, n int64
	var level int32
	var root *string
	var hashes []byte
	if err = forEach(ctx, tx, treesSQL, []any{behind, to, beyond}, []any{&size, &root}, func() {
		s.Trees = append(s.Trees, seal.Head{Size: size, Root: orZero(root)})
	}); err != nil {
		return s, err
	}
	if err = forEach(ctx, tx, tilesSQL, []any{behind, to, beyond}, []any{&level, &n, &root, &hashes}, func() {
		s.Tiles = append(s.Tiles, seal.StoredTile{Level: int(level), N: n, Root: orZero(root), Hashes: hashes})
		hashes = nil
	}); err != nil {
		return s, err
	}
	var origin, text string
	var at time.Time
	var witnesses, lines []string
	err = forEach(ctx, tx, checkpointsSQL, []any{behind, to, beyond}, []any{&origin, &size, &root, &text, &at, &witnesses, &lines}, func() {
		c := seal.Signed{Head: seal.Head{Size: size, Root: orZero(root)}, Origin: origin, Note: text, SignedAt: at.UTC()}
		for i := range witnesses {
			c.Cosignatures = append(c.Cosignatures, seal.SignedLine{Witness: witnesses[i], Line: lines[i]})
		}
		s.Checkpoints = append(s.Checkpoints, c)
	})
	return s, err
}

func forEach(ctx context.Context, tx pgx.Tx, query string, args, into []any, take func()) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, func() error { take(); return nil })
	return err
}

// orZero reads a hash from a row that nothing is known of.
func orZero(text *string) (h chain.Hash) {
	if read := lenient(text); read != nil {
		return *read
	}
	return h
}
