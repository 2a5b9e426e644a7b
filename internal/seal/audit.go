package seal

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
)

// maxSessions is how many sessions' places an Auditor follows: some 30 MB.
const maxSessions = 500_000

// maxAltered is how many altered leaves of one tile are named one by one.
const maxAltered = 100

// Auditor builds a tree anew from its stored leaves and holds against it all that is stored of it: tiles, the sizes
// and roots that it had, checkpoints and cosignatures, and the checkpoint that is kept elsewhere. Call Expect with what
// is stored of the next leaves, then Leaf with each of them; and at the end Beyond and Finish. Its memory grows
// with the number of sessions, up to a limit, and not with the tree. Not safe for concurrent use.
type Auditor struct {
	keys    Keys
	outside *Checkpoint
	tree    Tree
	tally   *Tally
	places  map[chain.Hash]int64 // of each session: its last leaf's sequence
	ordered bool
	breaks  []chain.Break
	found   int64
	lost    bool // leaves are missing, so that roots cannot be compared from there on

	next   Stored
	row    [TileWidth]Leaf // the leaves of the tile of level 0 that is being filled
	hashed [1 + LeafBytes]byte

	trees          *claim
	origins        map[string]*claim
	outsideClaim   *claim
	outsideStored  bool // among the checkpoints
	outsidePending bool // or may not be there yet
	lastTree       int64
	newest         *Signed
}

// Stored is what the database keeps of a stretch of the tree, each list ascending: by size, or by level and number.
type Stored struct {
	Trees       []Head
	Checkpoints []Signed
	Tiles       []StoredTile
}

// StoredTile is a row of tiles. Its values are believed to be nothing yet.
type StoredTile struct {
	Level  int
	N      int64
	Root   chain.Hash
	Hashes []byte
}

// NewAuditor gives an auditor of a tree that has no leaves yet. keys are those of the database; outside is the last
// checkpoint that is kept elsewhere, nil if none is; secret is for the tally and must be drawn for this use.
func NewAuditor(keys Keys, outside *Checkpoint, secret [32]byte) *Auditor {
	a := &Auditor{
		keys: keys, tally: NewTally(secret), places: make(map[chain.Hash]int64), ordered: true,
		trees: &claim{}, origins: make(map[string]*claim), outsideClaim: &claim{},
	}
	if outside != nil {
		a.openOutside(*outside)
	}
	return a
}

// Size is how many leaves there were.
func (a *Auditor) Size() int64 { return a.tree.Size() }

// Tally is that of the leaves.
func (a *Auditor) Tally() *Tally { return a.tally }

// Ordered tells whether the leaves of each session are known to stand in its order, without a hole. It is false if
// there were too many sessions to follow.
func (a *Auditor) Ordered() bool { return a.ordered }

// Valid tells whether no break was found so far.
func (a *Auditor) Valid() bool { return a.found == 0 }

// Breaks lists what was found so far, at most chain.MaxBreaks. The slice is not written to later.
func (a *Auditor) Breaks() []chain.Break { return slices.Clip(a.breaks) }

// Newest is the newest checkpoint that is signed and agrees with the tree; nil if there is none.
func (a *Auditor) Newest() *Signed { return a.newest }

// Expect says what is stored of the leaves that come next: sizes and tiles that they reach. It is the caller's to see
// to it that nothing is left of what was said before.
func (a *Auditor) Expect(s Stored) { a.next = s }

// Leaf takes the leaf that is stored at an index, ascending.
func (a *Auditor) Leaf(index int64, l Leaf) {
	size := a.tree.Size()
	switch {
	case a.lost:
	case index < size:
		a.lost = true
		a.leafBreak(l, "there are two leaves %d", index)
	case index > size:
		a.lost = true
		a.addBreak(chain.Break{Reason: chain.LeafMismatch, Detail: missing(size, index-1)})
	}
	a.tally.Add(l)
	a.order(l)
	a.row[size%TileWidth] = l
	a.hashed[0] = 0
	l.append(a.hashed[:1])
	filled := a.tree.Add(sha256.Sum256(a.hashed[:]))
	if a.lost {
		return
	}
	for _, tile := range filled {
		a.tile(tile)
	}
	a.heads()
}

func (a *Auditor) order(l Leaf) {
	if !a.ordered {
		return
	}
	last, known := a.places[l.Session]
	if l.Sequence != last+1 || !known && len(a.places) >= maxSessions {
		a.ordered, a.places = false, nil
		return
	}
	a.places[l.Session] = l.Sequence
}

// tile holds a tile that was filled against the one that is stored.
func (a *Auditor) tile(want Tile) {
	at := slices.IndexFunc(a.next.Tiles, func(t StoredTile) bool { return t.Level == want.Level && t.N == want.N })
	if at < 0 {
		a.root("tile %d/%d is not stored, and its %d hashes are full", want.Level, want.N, TileWidth)
		return
	}
	got := a.next.Tiles[at]
	if len(got.Hashes) != TileWidth*tlog.HashSize {
		a.root("tile %d/%d has %d bytes and not %d", want.Level, want.N, len(got.Hashes), TileWidth*tlog.HashSize)
		return
	}
	differ := differing(got.Hashes, want.Hashes)
	switch {
	case len(differ) == 0 && got.Root != chain.Hash(want.Root):
		a.root("tile %d/%d is recorded with the root %s, and its hashes have %s", want.Level, want.N, got.Root, chain.Hash(want.Root))
	case len(differ) == 0:
	case want.Level > 0:
		a.root("tile %d/%d has other hashes than the tiles below it give: %d, from that of tile %d/%d on", want.Level, want.N,
			len(differ), want.Level-1, want.N*TileWidth+int64(differ[0]))
	case len(differ) > maxAltered:
		a.root("tile 0/%d has other hashes than its leaves: %d, from that of leaf %d on", want.N, len(differ), want.N*TileWidth+int64(differ[0]))
	default:
		for _, i := range differ {
			a.altered(want, got, i)
		}
	}
}

func differing(stored []byte, hashes []tlog.Hash) (at []int) {
	for i := range hashes {
		if tlog.Hash(stored[i*tlog.HashSize:]) != hashes[i] {
			at = append(at, i)
		}
	}
	return at
}

// altered names a leaf that its tile has another hash of.
func (a *Auditor) altered(want Tile, got StoredTile, i int) {
	index := want.N*TileWidth + int64(i)
	for j := range TileWidth {
		if tlog.Hash(got.Hashes[j*tlog.HashSize:]) == want.Hashes[i] {
			a.leafBreak(a.row[i], "leaf %d is in another's place: by tile 0/%d it was leaf %d", index, want.N, want.N*TileWidth+int64(j))
			return
		}
	}
	a.leafBreak(a.row[i], "leaf %d was altered: tile 0/%d has another hash of it", index, want.N)
}

func (a *Auditor) leafBreak(l Leaf, format string, args ...any) {
	a.addBreak(chain.Break{
		Session: l.Session, Sequence: &l.Sequence, MessageHash: &l.Message, Reason: chain.LeafMismatch, Detail: fmt.Sprintf(format, args...),
	})
}

func (a *Auditor) root(format string, args ...any) {
	a.addBreak(chain.Break{Reason: chain.RootMismatch, Detail: fmt.Sprintf(format, args...)})
}

func (a *Auditor) addBreak(b chain.Break) {
	a.found++
	if len(a.breaks) < chain.MaxBreaks {
		a.breaks = append(a.breaks, b)
	}
}

func missing(first, last int64) string {
	if first == last {
		return fmt.Sprintf("leaf %d of the tree is missing", first)
	}
	return fmt.Sprintf("leaves %d to %d of the tree are missing", first, last)
}
