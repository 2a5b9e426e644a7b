package seal_test

import (
	"bytes"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// grown is a tree, what it gave while it grew, and the same tree by tlog.
type grown struct {
	tree  *seal.Tree
	tiles []seal.Tile
	log   *sealtest.Log
}

func grow(log *sealtest.Log) *grown {
	g := &grown{tree: &seal.Tree{}, log: log}
	for _, leaf := range log.Leaves {
		g.tiles = append(g.tiles, g.tree.Add(leaf.Hash())...)
	}
	return g
}

// check checks the tree's head, and each tile that it gave, against tlog; and that it gave each once and in order.
func (g *grown) check(t *testing.T, size int) {
	t.Helper()
	if got, want := g.tree.Head(), g.log.Head(size); got != want {
		t.Fatalf("a tree of %d leaves has the head %+v, want %+v", size, got, want)
	}
	next := map[int]int64{}
	for _, tile := range g.tiles {
		if tile.N != next[tile.Level] {
			t.Fatalf("tile %d of level %d came, want %d", tile.N, tile.Level, next[tile.Level])
		}
		next[tile.Level]++
	}
	for level, n := range next {
		if want := int64(size) >> (seal.TileHeight * (level + 1)); n != want {
			t.Fatalf("a tree of %d leaves gave %d tiles of level %d, want %d", size, n, level, want)
		}
	}
}

// open gives what of each level is in no full tile, by tlog.
func open(t *testing.T, log *sealtest.Log, size int) (hashes [][]tlog.Hash) {
	t.Helper()
	for level := 0; size>>(seal.TileHeight*level) > 0; level++ {
		n := int64(size) >> (seal.TileHeight * level)
		var indexes []int64
		for i := n / seal.TileWidth * seal.TileWidth; i < n; i++ {
			indexes = append(indexes, tlog.StoredHashIndex(seal.TileHeight*level, i))
		}
		row, err := log.ReadHashes(indexes)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, row)
	}
	return hashes
}

func TestTreeAgainstTlogAtEverySize(t *testing.T) {
	t.Parallel()
	const most = 600
	log := sealtest.New(t, "log.example.org").Grow(most)
	g := &grown{tree: &seal.Tree{}, log: log}
	g.check(t, 0)
	for size := 1; size <= most; size++ {
		g.tiles = append(g.tiles, g.tree.Add(log.Leaves[size-1].Hash())...)
		g.check(t, size)
		resumed, err := seal.Resume(int64(size), open(t, log, size))
		if err != nil || resumed.Head() != g.tree.Head() || resumed.Size() != int64(size) {
			t.Fatalf("Resume at %d = %+v, %v, want %+v", size, resumed.Head(), err, g.tree.Head())
		}
	}
}

func TestTreeAtTheSecondLevelsEdge(t *testing.T) {
	t.Parallel()
	const edge = seal.TileWidth * seal.TileWidth
	log := sealtest.New(t, "log.example.org").Grow(2*edge + seal.TileWidth + 3)
	g := &grown{tree: &seal.Tree{}, log: log}
	resumed := map[int]*seal.Tree{} // at a size, and grown on from there
	for i, leaf := range log.Leaves {
		g.tiles = append(g.tiles, g.tree.Add(leaf.Hash())...)
		for _, tree := range resumed {
			tree.Add(leaf.Hash())
		}
		switch size := i + 1; size {
		case 255, 256, 257, 511, 512, 513, edge - 257, edge - 256, edge - 255, edge - 1, edge, edge + 1, edge + 255, edge + 256,
			edge + 257, 2*edge - 1, 2 * edge, 2*edge + 1, 2*edge + 256, len(log.Leaves):
			g.check(t, size)
			for from, tree := range resumed {
				if tree.Head() != g.tree.Head() {
					t.Fatalf("resumed at %d, the tree of %d has the head %+v, want %+v", from, size, tree.Head(), g.tree.Head())
				}
			}
			tree, err := seal.Resume(int64(size), open(t, log, size))
			if err != nil {
				t.Fatalf("Resume(%d): %v", size, err)
			}
			resumed[size] = tree
		}
	}
	for _, tile := range g.tiles {
		want, err := tlog.ReadTileData(tlog.Tile{H: seal.TileHeight, L: tile.Level, N: tile.N, W: seal.TileWidth}, log)
		if err != nil || !bytes.Equal(tile.Data(), want) {
			t.Fatalf("tile %d of level %d is another than tlog's (%v)", tile.N, tile.Level, err)
		}
		root, err := log.ReadHashes([]int64{tlog.StoredHashIndex(seal.TileHeight*(tile.Level+1), tile.N)})
		if err != nil || root[0] != tile.Root {
			t.Fatalf("the root of tile %d of level %d = %v, want %v (%v)", tile.N, tile.Level, tile.Root, root, err)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	some := func(n int) []tlog.Hash { return make([]tlog.Hash, n) }
	for _, test := range []struct {
		name string
		size int64
		open [][]tlog.Hash
	}{
		{"a hash too few", 3, [][]tlog.Hash{some(2)}},
		{"a hash too many", 3, [][]tlog.Hash{some(4)}},
		{"none", 3, nil},
		{"some for the empty tree", 0, [][]tlog.Hash{some(1)}},
		{"a full tile", 256, [][]tlog.Hash{some(256)}},
		{"a level too few", 256, [][]tlog.Hash{{}}},
		{"a level too many", 256, [][]tlog.Hash{{}, some(1), some(1)}},
		{"a negative size", -1, nil},
		{"a very negative size", -1 << 63, nil},
	} {
		if tree, err := seal.Resume(test.size, test.open); err == nil {
			t.Errorf("Resume, %s = %+v, want an error", test.name, tree.Head())
		}
	}
	if tree, err := seal.Resume(0, nil); err != nil || tree.Root() != chain.Sum(nil) {
		t.Errorf("Resume(0) = %v, %v, want the empty tree", tree, err)
	}
}

// Wherever a tree is resumed, it grows as if it had never stopped, tiles and all.
func TestResumedTreeGrowsTheSame(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3 * seal.TileWidth)
	whole := grow(log)
	rapid.Check(t, func(r *rapid.T) {
		at := rapid.IntRange(0, len(log.Leaves)).Draw(r, "at")
		tree, err := seal.Resume(int64(at), open(t, log, at))
		if err != nil {
			r.Fatal(err)
		}
		var tiles []seal.Tile
		for _, leaf := range log.Leaves[at:] {
			tiles = append(tiles, tree.Add(leaf.Hash())...)
		}
		if tree.Head() != whole.tree.Head() {
			r.Fatalf("head %+v, want %+v", tree.Head(), whole.tree.Head())
		}
		if want := whole.tiles[at/seal.TileWidth:]; !slices.EqualFunc(tiles, want, sameTile) {
			r.Fatalf("%d tiles, want %d", len(tiles), len(want))
		}
	})
}

func sameTile(a, b seal.Tile) bool {
	return a.Level == b.Level && a.N == b.N && a.Root == b.Root && slices.Equal(a.Hashes, b.Hashes)
}
