package db

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// damageError says that the tables of the tree do not hold what they must.
type damageError struct{ text string }

func (e *damageError) Error() string { return e.text }

func damage(format string, args ...any) error { return &damageError{fmt.Sprintf(format, args...)} }

func tileAt(level int, n int64, width int) tlog.Tile {
	return tlog.Tile{H: seal.TileHeight, L: level, N: n, W: width}
}

// tileReader makes tlog read tiles by a function, which has the context.
type tileReader func([]tlog.Tile) ([][]byte, error)

func (r tileReader) Height() int                                   { return seal.TileHeight }
func (r tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) { return r(tiles) }
func (r tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte)    {}

// treeReader gives hashes of a tree. What it reads is held against the tree's head, so it gives no hash that does not
// belong there: a *damageError instead.
type treeReader struct {
	reader tlog.HashReader
	failed error // of the database
}

func newTreeReader(ctx context.Context, q *dbgen.Queries, head seal.Head) *treeReader {
	t := &treeReader{}
	t.reader = tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: tlog.Hash(head.Root)}, tileReader(func(tiles []tlog.Tile) ([][]byte, error) {
		data, err := readTiles(ctx, q, tiles...)
		t.failed = err
		return data, err
	}))
	return t
}

// ReadHashes gives hashes by their place in storage, as tlog numbers them.
func (t *treeReader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	hashes, err := t.reader.ReadHashes(indexes)
	if err != nil && t.failed == nil {
		return nil, damage("%s", err)
	}
	return hashes, err
}

// tileKey is a tile's place, whatever its width.
type tileKey struct {
	level int
	n     int64
}

// readTiles gives the hashes of tiles, one after the other. It takes at most three statements for any number of them.
// A *damageError says that some are missing.
func readTiles(ctx context.Context, q *dbgen.Queries, tiles ...tlog.Tile) ([][]byte, error) {
	widths := map[tileKey]int{}
	for _, t := range tiles {
		key := tileKey{t.L, t.N}
		widths[key] = max(widths[key], t.W)
	}
	var w tileWants
	for key, width := range widths {
		w.want(key, width)
	}
	if err := w.read(ctx, q); err != nil {
		return nil, err
	}
	out := make([][]byte, len(tiles))
	for i, t := range tiles {
		hashes := w.found[tileKey{t.L, t.N}]
		if len(hashes) != widths[tileKey{t.L, t.N}]*tlog.HashSize {
			return nil, damage("of tile %d of level %d, %d hashes are there and not %d", t.N, t.L, len(hashes)/tlog.HashSize, t.W)
		}
		out[i] = hashes[:t.W*tlog.HashSize]
	}
	return out, nil
}

// tileWants gathers what is to be read: full tiles as they are stored; of others, leaves or, above them, the roots of
// the tiles below.
type tileWants struct {
	levels, rootLevels    []int16
	ns, rootFrom, rootEnd []int64
	leafFrom, leafEnd     []int64
	found                 map[tileKey][]byte
}

func (w *tileWants) want(key tileKey, width int) {
	first := key.n * seal.TileWidth
	switch {
	case width == seal.TileWidth:
		w.levels, w.ns = append(w.levels, int16(key.level)), append(w.ns, key.n)
	case key.level == 0:
		w.leafFrom, w.leafEnd = append(w.leafFrom, first), append(w.leafEnd, first+int64(width))
	default:
		w.rootLevels = append(w.rootLevels, int16(key.level-1))
		w.rootFrom, w.rootEnd = append(w.rootFrom, first), append(w.rootEnd, first+int64(width))
	}
}

func (w *tileWants) read(ctx context.Context, q *dbgen.Queries) error {
	w.found = map[tileKey][]byte{}
	if len(w.levels) > 0 {
		rows, err := q.TilesAt(ctx, w.levels, w.ns)
		if err != nil {
			return err
		}
		for _, r := range rows {
			w.found[tileKey{int(r.Level), r.N}] = r.Hashes
		}
	}
	if len(w.leafFrom) > 0 {
		rows, err := q.LeavesInRanges(ctx, w.leafFrom, w.leafEnd)
		if err != nil {
			return err
		}
		for _, r := range rows {
			hash := leafOf(r).Hash()
			w.add(0, r.LeafIndex, hash[:])
		}
	}
	if len(w.rootLevels) > 0 {
		rows, err := q.TileRootsInRanges(ctx, w.rootLevels, w.rootFrom, w.rootEnd)
		if err != nil {
			return err
		}
		for _, r := range rows {
			w.add(int(r.Level)+1, r.N, r.Root[:])
		}
	}
	return nil
}

// add appends a hash to the tile that it belongs to. Hashes come in order; one that is missing shows in the tile's
// length.
func (w *tileWants) add(level int, index int64, hash []byte) {
	key := tileKey{level, index / seal.TileWidth}
	w.found[key] = append(w.found[key], hash...)
}

// rootAt gives the root of the tree of an older size within the tree of a head.
func rootAt(ctx context.Context, q *dbgen.Queries, head seal.Head, size int64) (chain.Hash, error) {
	if size == head.Size {
		return head.Root, nil
	}
	if size == 0 {
		return chain.Sum(nil), nil
	}
	root, err := tlog.TreeHash(size, newTreeReader(ctx, q, head))
	return chain.Hash(root), err
}

// openTree gives the tree of a size, to go on from.
func openTree(ctx context.Context, q *dbgen.Queries, size int64) (*seal.Tree, error) {
	var tiles []tlog.Tile
	for level := range seal.Levels {
		if width := seal.OpenWidth(size, level); width > 0 {
			tiles = append(tiles, tileAt(level, size>>(seal.TileHeight*(level+1)), width))
		}
	}
	data, err := readTiles(ctx, q, tiles...)
	if err != nil {
		return nil, err
	}
	open := make([][]tlog.Hash, seal.Levels)
	for i, t := range tiles {
		for b := data[i]; len(b) > 0; b = b[tlog.HashSize:] {
			open[t.L] = append(open[t.L], tlog.Hash(b[:tlog.HashSize]))
		}
	}
	return seal.Resume(size, open)
}
