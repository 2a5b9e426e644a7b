package verifier

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// addLeaves takes leaves that the file lists, which come behind all messages and in the order of the tree.
func (c *checker) addLeaves(l *leaves) {
	if l.first != c.tree.Size() {
		c.broken.add(Break{Line: c.line, Reason: chain.RootMismatch,
			Detail: fmt.Sprintf("the leaves from %d on stand where those from %d on belong", l.first, c.tree.Size())})
		c.strayed = true
	}
	for _, leaf := range l.list {
		c.trailing.add(leaf, c.seen.has(c.tree.Size()))
		c.tree.Add(leaf.Hash())
		if older := c.options.Older; older != nil && c.tree.Size() == older.Size {
			c.extends = c.tree.Root() == older.Root
		}
	}
}

// trailing finds, of leaves in their order, what is missing at the end of each session. What is missing before is a
// gap, which the check of chains names.
type trailing struct {
	of map[chain.Hash]*run // at most MaxBreaks
}

// run is messages of one session that follow each other.
type run struct {
	first, last int64 // sequences
	hash        chain.Hash
}

func (t *trailing) add(leaf seal.Leaf, seen bool) {
	if seen {
		if len(t.of) > 0 {
			delete(t.of, leaf.Session)
		}
		return
	}
	if r := t.of[leaf.Session]; r != nil {
		r.last, r.hash = leaf.Sequence, leaf.Message
		return
	}
	if t.of == nil {
		t.of = map[chain.Hash]*run{}
	}
	if len(t.of) < MaxBreaks {
		t.of[leaf.Session] = &run{first: leaf.Sequence, last: leaf.Sequence, hash: leaf.Message}
	}
}

// breaks names what is missing, by session.
func (t *trailing) breaks(add func(Break)) {
	for _, session := range slices.SortedFunc(maps.Keys(t.of), chain.Hash.Compare) {
		r := t.of[session]
		b := Break{Session: &session, Sequence: &r.last, MessageHash: &r.hash, Reason: chain.MissingTail,
			Detail: fmt.Sprintf("messages %d to %d are in the tree and not in the file", r.first, r.last)}
		if r.first == r.last {
			b.Detail = fmt.Sprintf("message %d is in the tree and not in the file", r.last)
		}
		if r.first == 1 {
			b.Reason, b.Detail = chain.MissingSession, fmt.Sprintf("its %d messages are in the tree and none is in the file", r.last)
		}
		add(b)
	}
}

// end says what the file covers, and gives the report.
func (c *checker) end() Report {
	c.chains.End()
	c.takeOver()
	report := &c.report
	report.Sessions, report.Erased = c.chains.Sessions(), c.chains.Erased()
	if c.checkpoint == nil && c.broken.found == 0 {
		c.broken.add(Break{Reason: chain.RootMismatch, Detail: "the file has no message, so it shows nothing"})
	}
	if c.checkpoint != nil {
		c.cover()
	}
	report.Breaks, report.Found = c.broken.list, c.broken.found
	if report.Breaks == nil {
		report.Breaks = []Break{}
	}
	report.Valid = report.Found == 0
	report.Complete = report.Complete && report.Valid
	return *report
}

func (c *checker) cover() {
	report, size := &c.report, c.checkpoint.Size
	report.Checkpoint, report.Leaves, report.kept = signed(*c.checkpoint), c.seen.count, c.checkpoint
	report.Missing = c.seen.missing(size, MaxRanges)
	if report.Missing == nil {
		report.Missing = []Range{}
	}
	report.Complete = c.seen.count == size
	if c.tree.Size() > 0 {
		c.checkTree()
	}
	if c.options.Complete && !report.Complete && c.tree.Size() == 0 {
		c.broken.add(Break{Reason: chain.RootMismatch, Detail: fmt.Sprintf("%d leaves of the tree are not in the file", size-c.seen.count)})
	}
}

// checkTree holds the leaves that the file lists against the checkpoint, and names the messages that are missing.
func (c *checker) checkTree() {
	wrong := func(format string, args ...any) {
		c.broken.add(Break{Reason: chain.RootMismatch, Detail: fmt.Sprintf(format, args...)})
	}
	older := c.options.Older
	switch {
	case c.strayed:
	case c.tree.Size() != c.checkpoint.Size:
		wrong("the file lists %d leaves, and the checkpoint is of %d", c.tree.Size(), c.checkpoint.Size)
	case c.tree.Root() != c.checkpoint.Root:
		wrong("the leaves that the file lists do not give the checkpoint's root")
	case older != nil && older.Size > 0 && older.Size < c.tree.Size() && !c.extends:
		wrong("the tree does not extend the one of %d messages that was kept", older.Size)
	default:
		c.trailing.breaks(c.broken.add)
		if !c.report.Complete && c.broken.found == 0 {
			wrong("%d leaves of the tree are not in the file", c.checkpoint.Size-c.seen.count)
		}
		return
	}
	c.report.Complete = false
}
