package verifier

import (
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// checkProof holds a message, whose fields give computed, against the tree. Of one that is broken already, its place is noted and no more is said,
// unless the proof tells what was altered.
func (c *checker) checkProof(m *message, computed chain.Hash, broken bool) {
	if m.proof == nil {
		c.wrong(m, chain.LeafMismatch, "it has no proof, so it is only chained")
		return
	}
	p, err := seal.ParseProof(*m.proof)
	if err != nil {
		c.wrong(m, chain.LeafMismatch, "its proof cannot be read: %s", err)
		return
	}
	if !c.open(m, p.Checkpoint) {
		return
	}
	leaf := seal.Leaf{Session: m.SessionHash, Sequence: m.Sequence, Message: m.Hash}
	err = p.Check(leaf, c.checkpoint.Head)
	if p.Index >= c.checkpoint.Size {
		c.wrong(m, chain.LeafMismatch, "%s", err)
		return
	}
	added := c.seen.add(p.Index)
	switch {
	case err != nil && computed != m.Hash:
		leaf.Message = computed
		if p.Check(leaf, c.checkpoint.Head) == nil {
			c.wrong(m, chain.LeafMismatch, "the tree has the hash that the fields give: hash was altered")
		}
	case broken:
	case err != nil:
		c.wrong(m, chain.LeafMismatch, "leaf %d of the tree is another: the message was written anew after it was sealed, or its proof was altered (%s)", p.Index, err)
	case !added:
		c.wrong(m, chain.LeafMismatch, "leaf %d is that of another line, too", p.Index)
	case p.Index <= c.lastLeaf:
		c.wrong(m, chain.LeafMismatch, "leaf %d stands before leaf %d of the message before it: their places were swapped", p.Index, c.lastLeaf)
	}
	c.lastLeaf = max(c.lastLeaf, p.Index)
}

// open makes sure of a proof's checkpoint, once for many proofs in a row, and tells whether the proof can be checked
// against it. All of a file's must be of one head.
func (c *checker) open(m *message, note string) bool {
	if note == c.note {
		return c.noteHolds
	}
	c.note, c.noteHolds = note, false
	opened, err := seal.Open(note, c.policy)
	switch {
	case err != nil:
		c.wrong(m, chain.RootMismatch, "the checkpoint does not hold: %s", err)
		return false
	case c.checkpoint == nil:
		c.checkpoint = &opened
		c.checkOlder(m)
	case opened.Head == c.checkpoint.Head:
	case opened.Size == c.checkpoint.Size:
		c.wrong(m, chain.RootMismatch, "the log has signed two trees of %d messages", opened.Size)
		return false
	default:
		c.wrong(m, chain.RootMismatch, "its proof is for a checkpoint of %d messages, and one before it for %d: check such exports one by one", opened.Size, c.checkpoint.Size)
		return false
	}
	c.noteHolds = true
	return true
}

// checkOlder holds the file's checkpoint against the one that the caller kept.
func (c *checker) checkOlder(m *message) {
	older := c.options.Older
	switch {
	case older == nil:
	case c.checkpoint.Size < older.Size:
		c.wrong(m, chain.RootMismatch, "the checkpoint is of %d messages, and the one that was kept of %d: it is an older one", c.checkpoint.Size, older.Size)
	case c.checkpoint.Size == older.Size && c.checkpoint.Root != older.Root:
		c.wrong(m, chain.RootMismatch, "the log has signed two trees of %d messages: this one and the one that was kept", older.Size)
	}
}
