// Package verifier checks a log by what it shows to anyone: an export with proofs, or a server over HTTP. It needs no
// database and believes nothing but the origin, the key and the witnesses that the caller pins.
//
// It never writes to a log, and never takes a key or an origin from what it checks.
package verifier

import (
	"fmt"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// Unreadable is a line that is no entry of an export. All other reasons are the chain's.
const Unreadable chain.BreakReason = "UNREADABLE"

// Limits of what a report lists. What is found beyond is counted only.
const (
	MaxBreaks = chain.MaxBreaks
	MaxRanges = 100
)

// Break is one thing that is wrong.
type Break struct {
	Line        int64             `json:"line,omitzero"` // of the file, from 1; 0 if no one line is meant
	Session     *chain.Hash       `json:"session,omitzero"`
	Sequence    *int64            `json:"sequence,omitzero"`
	MessageHash *chain.Hash       `json:"messageHash,omitzero"` // as stated
	Reason      chain.BreakReason `json:"reason"`
	Detail      string            `json:"detail"`
}

// String says it in a line.
func (b Break) String() string {
	text := ""
	if b.Line > 0 {
		text += fmt.Sprintf("line %d: ", b.Line)
	}
	if b.Session != nil {
		text += "session " + b.Session.String()
		if b.Sequence != nil {
			text += fmt.Sprintf(", message %d", *b.Sequence)
		}
		text += ": "
	}
	return text + string(b.Reason) + ": " + b.Detail
}

// Range is leaves of the tree, both ends included.
type Range struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// String gives the range as "4" or "4–9".
func (r Range) String() string {
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d–%d", r.First, r.Last)
}

// Signed is a checkpoint that holds: the caller's key signed it, and so did as many witnesses as the caller asks for.
type Signed struct {
	Origin    string   `json:"origin"`
	Size      int64    `json:"size"`
	Root      string   `json:"root"` // in base64, as the note has it
	Witnesses []string `json:"witnesses"`
}

func signed(c seal.Checkpoint) *Signed {
	s := &Signed{Origin: c.Origin, Size: c.Size, Root: seal.Base64([]chain.Hash{c.Root})[0], Witnesses: []string{}}
	for _, w := range c.Cosignatures {
		s.Witnesses = append(s.Witnesses, w.Witness)
	}
	return s
}

// breaks collects what is wrong.
type breaks struct {
	list  []Break
	found int64
}

func (b *breaks) add(broken Break) {
	b.found++
	if len(b.list) < MaxBreaks {
		b.list = append(b.list, broken)
	}
}
