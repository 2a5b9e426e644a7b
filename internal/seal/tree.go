package seal

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
)

// TileHeight is the height of a tile: C2SP's tlog-tiles fixes it at 8, so that a full tile has TileWidth hashes.
const (
	TileHeight = 8
	TileWidth  = 1 << TileHeight
)

// MaxSize is how many leaves a tree may have. Package tlog does not come to an end with larger ones, so that a signed
// checkpoint of such a tree would stop whoever checks it.
const MaxSize = 1 << 62

// Levels is how many levels of tiles a tree of 2⁶³ leaves has.
const Levels = 8

// OpenWidth gives how many hashes of a level are in no full tile yet, in the tree of a size.
func OpenWidth(size int64, level int) int { return int(size >> (TileHeight * level) % TileWidth) }

// Tile is a full tile: TileWidth hashes of one level, from the TileWidth·N-th on. Those of level 0 are leaves' hashes,
// those of level L+1 the roots of tiles of level L.
type Tile struct {
	Level  int
	N      int64
	Root   tlog.Hash
	Hashes []tlog.Hash
}

// Data gives the tile as tlog-tiles serves it.
func (t Tile) Data() []byte { return TileData(t.Hashes) }

// TileData gives hashes one after the other.
func TileData(hashes []tlog.Hash) []byte {
	b := make([]byte, 0, len(hashes)*tlog.HashSize)
	for i := range hashes {
		b = append(b, hashes[i][:]...)
	}
	return b
}

// node is the root of a perfect subtree of 2^height leaves.
type node struct {
	hash   tlog.Hash
	height int
}

// Tree is a Merkle tree that only grows, and keeps of it what growing needs: the roots of the perfect subtrees at its
// right edge, and the hashes that are in no full tile yet. Its memory grows with the logarithm of its size. The zero
// value is the empty tree. Not safe for concurrent use.
type Tree struct {
	size int64
	edge []node // heights descend
	open [Levels][]tlog.Hash
}

// Resume gives the tree of a size from what of each level is in no full tile: open[0] are the last size mod 256 leaves'
// hashes, open[1] the roots of the last (size / 256) mod 256 full tiles of level 0, and so on.
func Resume(size int64, open [][]tlog.Hash) (*Tree, error) {
	t := &Tree{size: size}
	for level := Levels - 1; level >= 0; level-- {
		var hashes []tlog.Hash
		if level < len(open) {
			hashes = open[level]
		}
		if want := OpenWidth(size, level); len(hashes) != want {
			return nil, fmt.Errorf("level %d of a tree of %d leaves has %d open hashes and not %d", level, size, want, len(hashes))
		}
		for _, h := range hashes {
			t.push(node{h, TileHeight * level})
		}
		t.open[level] = append(t.open[level], hashes...)
	}
	return t, nil
}

// Size is how many leaves the tree has.
func (t *Tree) Size() int64 { return t.size }

// Add appends a leaf and gives the tiles that it fills, lowest level first; mostly none.
func (t *Tree) Add(leaf tlog.Hash) []Tile {
	t.size++
	t.push(node{hash: leaf})
	return t.fill(leaf)
}

// push appends a perfect subtree and joins neighbours of the same height.
func (t *Tree) push(n node) {
	for len(t.edge) > 0 && t.edge[len(t.edge)-1].height == n.height {
		n = node{tlog.NodeHash(t.edge[len(t.edge)-1].hash, n.hash), n.height + 1}
		t.edge = t.edge[:len(t.edge)-1]
	}
	t.edge = append(t.edge, n)
}

func (t *Tree) fill(h tlog.Hash) (filled []Tile) {
	for level := range t.open {
		t.open[level] = append(t.open[level], h)
		if len(t.open[level]) < TileWidth {
			return filled
		}
		tile := Tile{Level: level, N: t.size>>(TileHeight*(level+1)) - 1, Root: subtreeRoot(t.open[level]), Hashes: t.open[level]}
		filled, t.open[level], h = append(filled, tile), nil, tile.Root
	}
	return filled
}

// subtreeRoot gives the root over a power of two of hashes.
func subtreeRoot(hashes []tlog.Hash) tlog.Hash {
	row := append([]tlog.Hash(nil), hashes...)
	for len(row) > 1 {
		for i := range len(row) / 2 {
			row[i] = tlog.NodeHash(row[2*i], row[2*i+1])
		}
		row = row[:len(row)/2]
	}
	return row[0]
}

// Root gives the hash of the whole tree; that of the empty one is SHA-256 of nothing.
func (t *Tree) Root() chain.Hash {
	if len(t.edge) == 0 {
		return chain.Sum(nil)
	}
	root := t.edge[len(t.edge)-1].hash
	for i := len(t.edge) - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.edge[i].hash, root)
	}
	return chain.Hash(root)
}

// Head gives size and root.
func (t *Tree) Head() Head { return Head{Size: t.size, Root: t.Root()} }

// Head is what a checkpoint says of a tree.
type Head struct {
	Size int64
	Root chain.Hash
}
