package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
)

// Key is a name under which the tree was signed, as the database has it.
type Key struct {
	Origin string
	Public string // the verifier key: name+id+key
}

// Keys are whose signatures are believed.
type Keys struct {
	Logs      []Key           // the newest last
	Witnesses []note.Verifier // of cosignatures; those of others are read and not checked
}

// Signed is a row of checkpoints, with the cosignatures of it. Its values are believed to be nothing yet.
type Signed struct {
	Head
	Origin       string
	Note         string
	SignedAt     time.Time
	Cosignatures []SignedLine
}

// SignedLine is a row of cosignatures.
type SignedLine struct {
	Witness string
	Line    string
}

// claim is what one source says of the tree's roots, held against those that the leaves have. Where it is wrong from
// some size on, that is one thing that is wrong and not one a size.
type claim struct {
	agreed       int64 // the largest size before the first that is wrong
	wrong        int64 // how many are
	first, last  int64 // of those that are
	claimed, has chain.Hash
}

// hold tells whether a head is that of the tree at its size.
func (c *claim) hold(head Head, root chain.Hash) bool {
	if head.Root == root {
		if c.wrong == 0 {
			c.agreed = head.Size
		}
		return true
	}
	if c.wrong++; c.wrong == 1 {
		c.first, c.claimed, c.has = head.Size, head.Root, root
	}
	c.last = head.Size
	return false
}

// words say what a claim and the tree differ in; the source is the sentence's subject.
func (c *claim) words() string {
	since := "no smaller size agrees"
	if c.agreed > 0 {
		since = fmt.Sprintf("size %d still agrees, so what differs is a leaf from %d to %d", c.agreed, c.agreed, c.first-1)
	}
	sizes := fmt.Sprintf("size %d", c.first)
	if c.wrong > 1 {
		sizes = fmt.Sprintf("%d sizes from %d to %d", c.wrong, c.first, c.last)
	}
	return fmt.Sprintf("at %s: of size %d it is %s there, and the leaves give %s; %s", sizes, c.first, c.claimed, c.has, since)
}

// heads holds what is said of the tree's present size against its root.
func (a *Auditor) heads() {
	size := a.tree.Size()
	atOutside := a.outside != nil && a.outside.Size == size
	if !atOutside && (len(a.next.Trees) == 0 || a.next.Trees[0].Size > size) &&
		(len(a.next.Checkpoints) == 0 || a.next.Checkpoints[0].Size > size) {
		return
	}
	root := a.tree.Root()
	if atOutside {
		a.outsideClaim.hold(a.outside.Head, root)
	}
	for len(a.next.Trees) > 0 && a.next.Trees[0].Size <= size {
		if a.next.Trees[0].Size == size {
			a.trees.hold(a.next.Trees[0], root)
			a.lastTree = size
		}
		a.next.Trees = a.next.Trees[1:]
	}
	for len(a.next.Checkpoints) > 0 && a.next.Checkpoints[0].Size <= size {
		if c := &a.next.Checkpoints[0]; c.Size == size {
			a.checkpoint(c, root)
		}
		a.next.Checkpoints = a.next.Checkpoints[1:]
	}
}

// checkpoint checks a checkpoint's signatures, and holds it against the root that the tree has at its size.
func (a *Auditor) checkpoint(c *Signed, root chain.Hash) {
	a.compareOutside(c)
	if a.origins[c.Origin] == nil {
		a.origins[c.Origin] = &claim{}
	}
	agrees := a.origins[c.Origin].hold(c.Head, root)
	if a.signatures(c) && agrees && c.Origin == a.origin() {
		newest := *c
		a.newest = &newest
	}
}

// compareOutside notes that the checkpoint that is kept elsewhere is among those of the database, too.
func (a *Auditor) compareOutside(c *Signed) {
	if a.outside != nil && c.Origin == a.outside.Origin && c.Head == a.outside.Head {
		a.outsideStored = true
	}
}

// origin is the name that the tree is signed under now.
func (a *Auditor) origin() string {
	if len(a.keys.Logs) == 0 {
		return ""
	}
	return a.keys.Logs[len(a.keys.Logs)-1].Origin
}

func (a *Auditor) verifier(origin string) (note.Verifier, error) {
	for _, k := range a.keys.Logs {
		if k.Origin == origin {
			return note.NewVerifier(k.Public)
		}
	}
	return nil, fmt.Errorf("no key is known of %q", origin)
}

// signatures checks that a checkpoint's note is signed by the log's key and says what its row says, and what is known
// of its cosignatures.
func (a *Auditor) signatures(c *Signed) bool {
	verifier, err := a.verifier(c.Origin)
	if err != nil {
		a.root("the checkpoint of size %d cannot be checked: %v", c.Size, err)
		return false
	}
	opened, err := OpenOwn(c.Note, Policy{Origin: c.Origin, Log: verifier})
	if err != nil {
		a.root("the checkpoint of size %d is not signed with the key of %s: %v", c.Size, c.Origin, err)
		return false
	}
	if opened.Head != c.Head {
		a.root("the checkpoint of size %d is another one: its note is of size %d and root %s, its row has the root %s",
			c.Size, opened.Size, opened.Root, c.Root)
		return false
	}
	for _, s := range c.Cosignatures {
		if err := a.cosignature(c, s, verifier); err != nil {
			a.root("the cosignature of %s on the checkpoint of size %d is none: %v", s.Witness, c.Size, err)
		}
	}
	return true
}

func (a *Auditor) cosignature(c *Signed, s SignedLine, log note.Verifier) error {
	if err := readCosignature(s); err != nil {
		return err
	}
	var known []note.Verifier
	for _, w := range a.keys.Witnesses {
		if w.Name() == s.Witness {
			known = append(known, w)
		}
	}
	if len(known) == 0 {
		return nil
	}
	_, err := Open(WithCosignatures(c.Note, s.Line), Policy{Origin: c.Origin, Log: log, Witnesses: known, Quorum: 1})
	return err
}

// readCosignature checks the form of a line: a dash, the witness's name, and in base64 four bytes that tell the key,
// eight of time and an Ed25519 signature.
func readCosignature(s SignedLine) error {
	text, found := strings.CutPrefix(s.Line, "— "+s.Witness+" ")
	text, ended := strings.CutSuffix(text, "\n")
	if !found || !ended {
		return fmt.Errorf("its line does not begin with a dash and %s", s.Witness)
	}
	if strings.ContainsAny(text, "\r\n") { // which base64 overlooks
		return errors.New("it is not one line")
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return fmt.Errorf("it is not in base64: %w", err)
	}
	if len(signature) != 4+8+64 {
		return fmt.Errorf("it has %d bytes and not %d", len(signature), 4+8+64)
	}
	return nil
}

// Pending says that the checkpoint outside of the database, where it is written first, may be ahead of those in it. It
// still must be of this tree.
func (a *Auditor) Pending() { a.outsidePending = true }

// Refuse says that what is kept outside of the database cannot be what it must be, and why.
func (a *Auditor) Refuse(why string) { a.root("%s", why) }

// openOutside holds the checkpoint that is kept elsewhere against the keys of the database. One without a head is read
// with them.
func (a *Auditor) openOutside(outside Checkpoint) {
	verifier, err := a.verifier(outside.Origin)
	if err != nil {
		a.root("the checkpoint that is kept outside of the database is of the log %q, and the database is not: %v", outside.Origin, err)
	} else if opened, err := Open(outside.Note, Policy{Origin: outside.Origin, Log: verifier}); err != nil {
		a.root("the key of %s in the database is not the one that the checkpoint outside of it is signed with: %v", outside.Origin, err)
	} else {
		outside.Head = opened.Head
	}
	if outside.Size > 0 {
		a.outside = &outside
	}
}

// Beyond takes what is stored of sizes that the tree does not reach, and of tiles that it does not fill, or whose
// sizes are none.
func (a *Auditor) Beyond(s Stored) {
	size := a.tree.Size()
	if n := len(s.Trees); n > 0 && !a.lost {
		a.lastTree = size // or what is missing would be said twice
		a.root("the tree has %d leaves and had more: it is recorded with %d", size, s.Trees[n-1].Size)
	}
	for i := range s.Checkpoints {
		c := &s.Checkpoints[i]
		a.compareOutside(c)
		if c.Origin == a.origin() && !a.lost {
			a.root("the tree has %d leaves, and a checkpoint of %d was signed", size, c.Size)
		}
		a.signatures(c)
	}
	for _, t := range s.Tiles {
		a.root("tile %d/%d is stored, and the tree of %d leaves does not fill it", t.Level, t.N, size)
	}
}

// Finish says what can be said once all leaves are there, and all that is stored.
func (a *Auditor) Finish() {
	size := a.tree.Size()
	if a.trees.wrong > 0 {
		a.root("the roots that are recorded of the tree differ from it %s", a.trees.words())
	}
	if a.lastTree != size && !a.lost && a.trees.wrong == 0 {
		a.root("the tree has %d leaves, and the largest that is recorded has %d", size, a.lastTree)
	}
	// Of an earlier name only the signatures count: an administrator went on, on record, with what it does not agree with.
	if c := a.origins[a.origin()]; c != nil && c.wrong > 0 {
		a.root("what was signed as %s differs from the tree %s", a.origin(), c.words())
	}
	if a.outside == nil || a.lost {
		return
	}
	pending := false
	switch outside := a.outside; {
	case outside.Size > size:
		a.root("the checkpoint that is kept outside of the database is of %d leaves, and the tree has %d: the database is older than what was signed, or another one", outside.Size, size)
	case a.outsideClaim.wrong > 0:
		a.root("the checkpoint that is kept outside of the database differs from the tree %s", a.outsideClaim.words())
	default:
		pending = a.outsidePending
	}
	if !a.outsideStored && !pending {
		a.root("the checkpoint of size %d that is kept outside of the database is not among those in it", a.outside.Size)
	}
}
