package verifier

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/tile"
)

// Server says which server to check, and what of it to believe.
type Server struct {
	URL    string // its address, such as http://127.0.0.1:8080
	Token  string // an administrator's, for its API
	Policy seal.Policy
	Older  *seal.Checkpoint // that the caller kept: the server's tree must extend it

	// Progress is told how far each part is: the server's own check in messages, the tree in leaves.
	Progress func(part string, done, total int64)
	// Wait is how long the next checkpoint may take while none covers what the API shows; zero is ten seconds.
	Wait time.Duration
	// Patience is how long an answer of the API, or the next bytes of a stream, may take; zero is a minute. A stream has
	// a ping every few seconds.
	Patience time.Duration
}

// ServerReport is what was found at a server.
type ServerReport struct {
	Valid bool `json:"valid"` // neither the server nor this check found a break

	Checked   int64   `json:"checked"`   // messages, by the server
	OwnBreaks []Break `json:"ownBreaks"` // what the server says of its log: at most 1,000

	Checkpoint *Signed `json:"checkpoint"` // null if the server has none that holds
	Sessions   int64   `json:"sessions"`   // in the tree
	Leaves     int64   `json:"leaves"`     // that were read; they give the checkpoint's root unless a break says otherwise
	Unsealed   int64   `json:"unsealed"`   // messages that the API shows and the checkpoint does not cover
	Breaks     []Break `json:"breaks"`     // what this check found: at most MaxBreaks
	Found      int64   `json:"found"`      // how many there are in all

	kept *seal.Checkpoint // what the caller may keep
}

const (
	sealWait = 10 * time.Second
	patience = time.Minute
)

// maxWaiting is how many messages that no checkpoint covers an API may show. Beyond, only a log that is being sealed is
// read on, so that a server cannot fill the memory with sessions that nobody signed.
const maxWaiting = 100_000

// CheckServer lets a server check its log and then checks, trusting nothing but the policy: that it has a checkpoint
// which holds; that its leaves give the checkpoint's root and its tiles belong to it; that the tree extends the one that
// the caller kept; that the leaves of each session follow each other; and that the sessions which the API shows end
// with the messages that the tree has. Memory grows with the number of sessions.
//
// An error says that the server cannot be checked; what is wrong is in the report.
func CheckServer(ctx context.Context, s Server) (ServerReport, error) {
	c, err := newServerChecker(s)
	if err != nil {
		return ServerReport{}, err
	}
	err = c.run(ctx)
	r := &c.report
	r.Breaks, r.Found = append([]Break{}, c.broken.list...), c.broken.found
	r.OwnBreaks = append([]Break{}, r.OwnBreaks...)
	r.Valid = r.Found == 0 && len(r.OwnBreaks) == 0
	return *r, err
}

func newServerChecker(s Server) (*serverChecker, error) {
	client, err := tile.NewClient(s.URL, s.Token)
	if err != nil {
		return nil, err
	}
	c := &serverChecker{
		Server: s, tiles: client, tree: new(seal.Tree), heads: map[chain.Hash]*apiHead{}, last: map[chain.Hash]int64{},
		api: &api{url: strings.TrimRight(s.URL, "/"), token: s.Token, http: &http.Client{}, patience: cmp.Or(s.Patience, patience)},
	}
	if c.Progress == nil {
		c.Progress = func(string, int64, int64) {}
	}
	return c, nil
}

// serverChecker is the state of a check.
type serverChecker struct {
	Server
	report ServerReport
	broken breaks
	tiles  *tile.Client
	api    *api

	before  seal.Checkpoint         // when the check began: the API must show all that it covers
	head    seal.Checkpoint         // after the API was asked
	heads   map[chain.Hash]*apiHead // what it showed
	tree    *seal.Tree
	last    map[chain.Hash]int64 // of each session: the sequence of its last leaf
	strayed map[chain.Hash]bool  // sessions whose leaves do not follow each other
}

// apiHead is a session's end as the API showed it.
type apiHead struct {
	head
	met  bool      // its leaf was found
	tail seal.Leaf // the last of it that is missing from the API
	from int64     // the first; 0 if none is
}

func (c *serverChecker) run(ctx context.Context) error {
	if _, ok, err := c.open(ctx, &c.before); !ok || err != nil {
		return err
	}
	checked, found, err := c.api.verify(ctx, func(done, total int64) { c.Progress("the server's own check", done, total) })
	if err != nil {
		return err
	}
	c.report.Checked = checked
	for _, b := range found {
		own := Break{Sequence: b.Sequence, MessageHash: b.MessageHash, Reason: b.Reason, Detail: b.Detail}
		if b.Session != (chain.Hash{}) {
			own.Session = &b.Session
		}
		c.report.OwnBreaks = append(c.report.OwnBreaks, own)
	}
	total, ok, err := c.list(ctx)
	if ok && err == nil {
		ok, err = c.await(ctx, total)
	}
	if c.head.Note != "" { // or else the log is empty
		c.report.Checkpoint, c.report.kept = signed(c.head), &c.head
	}
	if !ok || err != nil || c.head.Note == "" {
		return err
	}
	if err := c.read(ctx); err != nil {
		return err
	}
	return c.compare(ctx)
}

// list reads the sessions that the API shows, and gives how many messages they have. What it shows was committed before
// its page was sent, so a checkpoint that is read later covers all of it but what waits to be sealed.
func (c *serverChecker) list(ctx context.Context) (total int64, ok bool, err error) {
	c.head, ok = c.before, true
	shown := int64(0) // of all entries, those that come twice included
	err = c.api.sessions(ctx, func(page []head) (bool, error) {
		for _, h := range page {
			if h.Length > seal.MaxSize-shown {
				c.wrong(nil, chain.LeafMismatch, "the server shows more messages than any tree can have")
				ok = false
				return false, nil
			}
			shown += h.Length
			if c.heads[h.Hash] == nil {
				c.heads[h.Hash] = &apiHead{head: h}
				total += h.Length
			}
		}
		if shown-maxWaiting <= c.head.Size {
			return true, nil
		}
		var err error
		if ok, err = c.await(ctx, shown-maxWaiting); !ok || err != nil {
			return false, err
		}
		if ok = shown-maxWaiting <= c.head.Size; !ok {
			c.wrong(nil, chain.LeafMismatch, "the server shows at least %d messages, and its newest checkpoint covers %d: so many cannot wait to be sealed", shown, c.head.Size)
		}
		return ok, nil
	})
	return total, ok, err
}

// wrong adds a break of the tree, or of a session.
func (c *serverChecker) wrong(leaf *seal.Leaf, reason chain.BreakReason, format string, args ...any) {
	b := Break{Reason: reason, Detail: fmt.Sprintf(format, args...)}
	if leaf != nil {
		copied := *leaf
		b.Session, b.Sequence, b.MessageHash = &copied.Session, &copied.Sequence, &copied.Message
	}
	c.broken.add(b)
}

// open reads the newest checkpoint, if there is one, and tells whether it holds.
func (c *serverChecker) open(ctx context.Context, to *seal.Checkpoint) (there, holds bool, err error) {
	text, err := c.tiles.Checkpoint(ctx)
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return false, true, nil
		}
		return false, false, err
	}
	opened, err := seal.Open(text, c.Policy)
	if err != nil {
		c.wrong(nil, chain.RootMismatch, "the checkpoint does not hold: %s", err)
		return true, false, nil
	}
	*to = opened
	return true, true, nil
}

// await reads checkpoints until one covers what the API showed, or no larger one has come for long enough: then what
// it does not cover counts as not sealed.
func (c *serverChecker) await(ctx context.Context, total int64) (bool, error) {
	wait := cmp.Or(c.Wait, sealWait)
	end := time.NewTimer(wait)
	defer end.Stop()
	for largest, late := c.head.Size, false; ; {
		there, holds, err := c.open(ctx, &c.head)
		if c.head.Size > largest {
			largest, late = c.head.Size, false
			end.Reset(wait)
		}
		switch {
		case !holds || err != nil:
			return false, err
		case there && (c.head.Size >= total || late), !there && total == 0 && c.before.Note == "" && c.Older == nil:
			return true, nil
		case late:
			c.wrong(nil, chain.RootMismatch, "the server has no checkpoint")
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-end.C:
			late = true
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// compare holds the API's sessions against the leaves, once all are read.
func (c *serverChecker) compare(ctx context.Context) error {
	for _, session := range slices.SortedFunc(maps.Keys(c.heads), chain.Hash.Compare) {
		h := c.heads[session]
		switch {
		case h.Length == 0: // it is not there: noted by covered
			now, err := c.api.session(ctx, session)
			if err != nil {
				return err
			}
			if now == nil || now.Length < h.tail.Sequence {
				c.wrong(&h.tail, chain.MissingSession, "its %d messages are in the tree, and the server does not show them", h.tail.Sequence)
			}
		case h.from > 0:
			c.wrong(&h.tail, chain.MissingTail, "messages %d to %d are in the tree, and the server's session ends with %d", h.from, h.tail.Sequence, h.Length)
		case !h.met:
			c.report.Unsealed += max(0, h.Length-c.last[session])
		}
	}
	return nil
}
