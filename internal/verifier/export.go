package verifier

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// Report is what was found in an export.
type Report struct {
	Valid      bool    `json:"valid"` // there is no break
	Sessions   int64   `json:"sessions"`
	Messages   int64   `json:"messages"`
	Erased     int64   `json:"erased"`     // of the messages: their content is gone, on record
	Records    int64   `json:"records"`    // of ledgers and secretary, by their own hashes; no tree holds them
	Components int64   `json:"components"` // not checked: no hash covers them
	Checkpoint *Signed `json:"checkpoint"` // null if none of the file's holds

	// Complete tells that the file shows the checkpoint's whole tree.
	Complete bool `json:"complete"`
	// Leaves is how many of the tree's leaves the file's messages are; Missing are the others, at most MaxRanges.
	Leaves  int64   `json:"leaves"`
	Missing []Range `json:"missing"`

	Breaks []Break `json:"breaks"` // at most MaxBreaks
	Found  int64   `json:"found"`  // how many there are in all

	kept *seal.Checkpoint // what the caller may keep
}

// Options of CheckExport. The zero value is fine.
type Options struct {
	// Complete makes it a break that a leaf of the tree is not in the file.
	Complete bool
	// Older is a checkpoint that the caller kept: the file's must not be older nor contradict it. How a newer one
	// extends it shows only in a file with all leaves.
	Older *seal.Checkpoint
}

// CheckExport checks an export that was written with proofs, line by line. Memory grows with a bit for each message,
// not with the file. What is wrong with the file is in the report; an error is one of reading it.
func CheckExport(ctx context.Context, r io.Reader, policy seal.Policy, options Options) (Report, error) {
	c := &checker{policy: policy, options: options, chains: chain.NewVerifier(), tree: new(seal.Tree), absent: map[chain.Hash]int64{}}
	for in := newLines(r); ; {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		c.line = in.number
		if err != nil && !errors.Is(err, errLongLine) {
			return Report{}, fmt.Errorf("read line %d: %w", c.line, err)
		}
		var e entry
		if err == nil {
			e, err = parse(line)
		}
		if err != nil {
			c.broken.add(Break{Line: c.line, Reason: Unreadable, Detail: err.Error()})
			continue
		}
		c.check(e)
	}
	return c.end(), nil
}

// checker is the state of a check. It keeps no message.
type checker struct {
	policy  seal.Policy
	options Options
	report  Report
	broken  breaks
	line    int64

	chains *chain.Verifier
	known  int // breaks of chains that were taken over

	// The session of the last message, and what was seen of it.
	session  chain.Hash
	lastLeaf int64
	lastSeq  int64                // of messages whose fields give their hash
	absent   map[chain.Hash]int64 // lines of messages without content: whether that is on record shows at the session's end

	// The checkpoint, once a proof had one that holds, and the last one's text, whether it holds or not.
	checkpoint *seal.Checkpoint
	note       string
	noteHolds  bool
	seen       leafSet

	// The leaves that the file lists, if it does.
	tree     *seal.Tree
	strayed  bool // they do not follow each other, so that no root comes of them
	extends  bool // Older's root was met
	trailing trailing
}

func (c *checker) check(e entry) {
	switch {
	case e.component:
		c.report.Components++
	case e.record != nil:
		c.report.Records++
		if got := e.record.ComputeHash(); got != e.record.Hash {
			c.broken.add(Break{Line: c.line, MessageHash: &e.record.Hash, Reason: chain.HashMismatch,
				Detail: fmt.Sprintf("a field of the record was altered: the fields give %s", got)})
		}
	case e.leaves != nil:
		c.addLeaves(e.leaves)
	default:
		c.addMessage(e.message)
	}
}

// wrong adds a break of a message.
func (c *checker) wrong(m *message, reason chain.BreakReason, format string, args ...any) {
	session, sequence, hash := m.SessionHash, m.Sequence, m.Hash
	c.broken.add(Break{Line: c.line, Session: &session, Sequence: &sequence, MessageHash: &hash, Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) addMessage(m *message) {
	if c.tree.Size() > 0 {
		c.wrong(m, Unreadable, "there is a message behind the leaves")
	}
	before := c.broken.found
	another := m.SessionHash != c.session || c.report.Messages == 0
	if another {
		c.session, c.lastLeaf, c.lastSeq = m.SessionHash, -1, 0
	}
	c.report.Messages++
	// Ids are those of a database; a file has none. Each gets one that fits.
	m.ID = c.report.Messages
	m.IDDigest = chain.IDDigest(m.ID, m.Hash)
	computed := m.ComputeHash()
	if computed == m.Hash {
		if m.Sequence <= c.lastSeq {
			c.wrong(m, chain.BrokenLink, "it stands behind message %d of its session: the lines are not in their order", c.lastSeq)
		}
		c.lastSeq = m.Sequence
	}
	c.chains.Add(&m.Entry)
	c.takeOver()
	if another {
		clear(c.absent)
	}
	if m.Content == nil {
		c.absent[m.Hash] = c.line
	}
	c.checkProof(m, computed, c.broken.found > before)
}

// takeOver takes what the check of chains has found since the last time.
func (c *checker) takeOver() {
	found := c.chains.Breaks()
	for _, b := range found[c.known:] {
		session, line := b.Session, c.line
		if b.MessageHash != nil {
			if earlier, ok := c.absent[*b.MessageHash]; ok {
				line = earlier
			}
		}
		c.broken.add(Break{Line: line, Session: &session, Sequence: b.Sequence, MessageHash: b.MessageHash, Reason: b.Reason, Detail: b.Detail})
	}
	c.known = len(found)
}
