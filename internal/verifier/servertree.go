package verifier

import (
	"bytes"
	"context"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// read reads all leaves and tiles of the checkpoint's tree.
func (c *serverChecker) read(ctx context.Context) error {
	size := c.head.Size
	if older := c.Older; older != nil && older.Size > size {
		c.wrong(nil, chain.RootMismatch, "the checkpoint is of %d messages, and the one that was kept of %d: it is an older one", size, older.Size)
	}
	if c.before.Size > size {
		c.wrong(nil, chain.RootMismatch, "the checkpoint went back from %d messages to %d", c.before.Size, size)
	}
	for n := int64(0); n*seal.TileWidth < size; n++ {
		width := min(seal.TileWidth, size-n*seal.TileWidth)
		leaves, err := c.tiles.Leaves(ctx, n, int(width))
		if err != nil {
			return c.absent(err)
		}
		for _, leaf := range leaves {
			if err := c.leaf(ctx, leaf); err != nil {
				return err
			}
		}
		c.report.Leaves = c.tree.Size()
		c.Progress("the tree", c.tree.Size(), size)
	}
	c.report.Sessions = int64(len(c.last))
	if c.tree.Root() != c.head.Root {
		c.wrong(nil, chain.RootMismatch, "the leaves that the server shows do not give the checkpoint's root")
		return nil
	}
	return c.edge(ctx)
}

// absent gives a page that the server does not have, though its checkpoint covers it, as a break.
func (c *serverChecker) absent(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	c.wrong(nil, chain.RootMismatch, "the server does not show its whole tree: %s", err)
	return nil
}

// leaf takes the next leaf of the tree.
func (c *serverChecker) leaf(ctx context.Context, leaf seal.Leaf) error {
	index := c.tree.Size()
	if last := c.last[leaf.Session]; leaf.Sequence != last+1 && !c.strayed[leaf.Session] {
		if c.strayed == nil {
			c.strayed = map[chain.Hash]bool{}
		}
		c.strayed[leaf.Session] = true
		c.wrong(&leaf, chain.LeafMismatch, "leaf %d is message %d of its session, and the leaf of it before that is message %d", index, leaf.Sequence, last)
	}
	c.last[leaf.Session] = max(c.last[leaf.Session], leaf.Sequence)
	c.covered(index, leaf)
	for _, t := range c.tree.Add(leaf.Hash()) {
		if err := c.full(ctx, t); err != nil {
			return err
		}
	}
	for _, older := range []*seal.Checkpoint{c.Older, &c.before} {
		if older != nil && older.Size == c.tree.Size() && older.Root != c.tree.Root() {
			c.wrong(nil, chain.RootMismatch, "the tree does not extend the one of %d messages that %s", older.Size,
				map[bool]string{true: "was kept", false: "was signed when the check began"}[older == c.Older])
		}
	}
	return nil
}

// covered holds a leaf against what the API showed of its session.
func (c *serverChecker) covered(index int64, leaf seal.Leaf) {
	h := c.heads[leaf.Session]
	if h == nil || h.Length == 0 {
		if index < c.before.Size { // the API was asked later
			c.heads[leaf.Session] = &apiHead{head: head{Hash: leaf.Session}, tail: leaf, from: 1}
		}
		return
	}
	if leaf.Sequence == h.Length {
		h.met = true
		if leaf.Message != h.Head {
			c.wrong(&leaf, chain.LeafMismatch, "the server's session ends with %s, and leaf %d is another: the message was written anew after it was sealed", h.Head, index)
		}
	}
	if leaf.Sequence > h.Length && index < c.before.Size {
		if h.from == 0 {
			h.from = leaf.Sequence
		}
		h.tail = leaf
	}
}

// full holds a tile that the leaves fill against the one that the server shows.
func (c *serverChecker) full(ctx context.Context, t seal.Tile) error {
	shown, err := c.tiles.Tiles(ctx).ReadTiles([]tlog.Tile{{H: seal.TileHeight, L: t.Level, N: t.N, W: seal.TileWidth}})
	if err != nil {
		return c.absent(err)
	}
	if !bytes.Equal(shown[0], t.Data()) {
		c.wrong(nil, chain.RootMismatch, "tile %d of level %d is not that of the leaves", t.N, t.Level)
	}
	return nil
}

// edge reads the tiles at the right edge, as a client would that looks for the last leaf.
func (c *serverChecker) edge(ctx context.Context) error {
	if c.head.Size == 0 {
		return nil
	}
	reader := tlog.TileHashReader(tlog.Tree{N: c.head.Size, Hash: tlog.Hash(c.head.Root)}, c.tiles.Tiles(ctx))
	if _, err := tlog.ProveRecord(c.head.Size, c.head.Size-1, reader); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.wrong(nil, chain.RootMismatch, "the tiles at the end of the tree do not belong to it: %s", err)
	}
	return nil
}
