package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// resume finds the tree in the database and goes on from it, if it is whole and extends all that was signed before.
func (l *leader) resume(ctx context.Context, p dbgen.SealPositionRow) error {
	l.tree, l.signed, l.note, l.outside, l.consulted = nil, seal.Head{}, "", seal.Head{}, false
	if p.Leaves != p.Size {
		return &refusal{broken: true, reason: fmt.Sprintf("the tree was recorded with %d messages, and its leaves go to %d", p.Size, p.Leaves)}
	}
	tree, err := openTree(ctx, l.q, p.Size)
	if err != nil {
		return refuseDamage(err)
	}
	logs, err := l.q.SealLogs(ctx)
	if err != nil {
		return err
	}
	newest, err := l.newestSigned(ctx, l.q)
	if err != nil {
		return err
	}
	head := tree.Head()
	recorded := p.Size == 0 || p.Root == head.Root.String()
	begins := newest == nil && len(logs) > 0 && logs[0].Reason != nil // under a new name, whatever was recorded
	switch {
	case newest != nil:
		if err := extends(ctx, l.q, head, newest.Head, "the newest checkpoint in the database", newest.Note); err != nil {
			return err
		}
		l.signed, l.note = newest.Head, newest.Note
	case !recorded && !begins:
		return &refusal{reason: fmt.Sprintf("the tree of %d messages has the root %s, and was recorded with %s", head.Size, head.Root, p.Root)}
	}
	err = l.checkFile(ctx, head, logs)
	if _, refused := errors.AsType[*refusal](err); refused {
		return err
	}
	if err := errors.Join(l.checkPublished(ctx, head), err); err != nil {
		return err
	}
	if len(logs) == 0 {
		if err := l.q.AddSealLog(ctx, l.key.Name(), l.key.Public, nil, nil); err != nil {
			return err
		}
	}
	l.tree = tree
	return nil
}

// newestSigned gives the newest checkpoint that is in the database, without cosignatures, nil if there is none. A *refusal
// says that the log's key did not sign it. That a cosignature on the newest that has one verifies with no key is told,
// and refuses nothing: witnesses are asked by what is known of them here.
func (s *Sealer) newestSigned(ctx context.Context, q *dbgen.Queries) (*seal.Checkpoint, error) {
	by := s.store.signers()
	rows, err := q.NewestCheckpoints(ctx, by.policy.Origin, by.names())
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	unsound := ""
	var newest *seal.Checkpoint
	for i, r := range rows {
		c, why, err := s.store.open(by, signedRow(r))
		if err != nil && i == 0 {
			return nil, &refusal{checkpoint: r.Note, reason: fmt.Sprintf(
				"the newest checkpoint in the database, of %d messages, is not what the log's key signed: %s", r.Size, err)}
		}
		if i == 0 {
			newest = &c
			newest.Note, newest.Cosignatures = r.Note, nil
		}
		unsound = cmp.Or(unsound, why)
	}
	s.mu.Lock()
	changed := s.unsound != unsound
	s.unsound = unsound
	s.mu.Unlock()
	if changed && unsound != "" {
		s.store.log.ErrorContext(ctx, "a cosignature in the database is none", "reason", unsound)
	}
	return newest, nil
}

// checkOutside holds the tree against the file once more.
func (l *leader) checkOutside(ctx context.Context) error { return l.checkFile(ctx, l.tree.Head(), nil) }

// checkFile sees that a tree extends the checkpoint in the file. One of a name that the log has given up, as logs
// says, is set aside: an administrator has put the key of the new name here.
func (l *leader) checkFile(ctx context.Context, head seal.Head, logs []dbgen.SealLog) error {
	outside, err := l.loadOutside(ctx, logs)
	if err != nil {
		return err
	}
	if outside.Head != l.outside {
		if err := extends(ctx, l.q, head, outside.Head, "the checkpoint in "+l.config.Checkpoint, outside.Text); err != nil {
			return err
		}
		l.outside = outside.Head
		l.hold(outside.Checkpoint)
	}
	return nil
}

// checkPublished sees that a tree extends what this server has published since it was started.
func (l *leader) checkPublished(ctx context.Context, head seal.Head) error {
	if l.published.Origin != l.policy.Origin || l.published.Size == 0 {
		return nil
	}
	err := extends(ctx, l.q, head, l.published.Head, "what this server has signed since it was started", l.published.Note)
	if r, ok := errors.AsType[*refusal](err); ok {
		r.unseen = true
	}
	return err
}

// hold remembers a checkpoint as long as this server runs: neither the database nor the file may go back behind it.
func (s *Sealer) hold(c seal.Checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Origin != s.published.Origin || c.Size > s.published.Size {
		s.published = c
	}
}

// held gives the largest checkpoint that this server has published of the name that it signs under; of size 0 if none.
func (s *Sealer) held() seal.Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.published.Origin != s.policy.Origin {
		return seal.Checkpoint{}
	}
	return s.published
}

// goneBack says, of what is in the file, that it is less than had been published before it was read; empty if it is not.
func (s *Sealer) goneBack(outside sealfile.Outside, published seal.Checkpoint) string {
	if outside.Other != "" || outside.Size >= published.Size {
		return ""
	}
	what := fmt.Sprintf("has gone back from %d messages to %d", published.Size, outside.Size)
	if outside.Text == "" {
		what = "is gone"
	}
	return fmt.Sprintf("the checkpoint in %s %s while this server runs, and is not written anew: put it back or, if you know why, restart the server",
		s.config.Checkpoint, what)
}

// loadOutside reads the file.
func (s *Sealer) loadOutside(ctx context.Context, logs []dbgen.SealLog) (sealfile.Outside, error) {
	outside, err := sealfile.LoadCheckpoint(s.config.Checkpoint, s.policy)
	if err != nil {
		return outside, &failure{problemOf(err)}
	}
	s.set(func(state *SealState) { state.Outside = outside })
	if why := s.goneBack(outside, s.held()); why != "" {
		return outside, &failure{why}
	}
	if outside.Other == "" {
		return outside, nil
	}
	for i, log := range logs {
		if i > 0 && log.Origin == outside.Other {
			s.store.log.WarnContext(ctx, "the checkpoint of a name that the log has given up is set aside", "origin", outside.Other)
			return sealfile.Outside{}, sealfile.SetAside(s.config.Checkpoint)
		}
	}
	return outside, &refusal{checkpoint: outside.Text, reason: fmt.Sprintf(
		"the checkpoint in %s is of the log %s, and this is the log %s", s.config.Checkpoint, outside.Other, s.policy.Origin)}
}

// extends sees that the tree of a head, which the database holds, extends that of an older one: a *refusal if not.
func extends(ctx context.Context, q *dbgen.Queries, head, older seal.Head, what, text string) error {
	if older.Size > head.Size {
		return &refusal{checkpoint: text, reason: fmt.Sprintf(
			"the tree has %d messages with the root %s, and %s has %d with the root %s", head.Size, head.Root, what, older.Size, older.Root)}
	}
	root, err := rootAt(ctx, q, head, older.Size)
	if err != nil {
		return refuseDamage(err)
	}
	if older.Size > 0 && root != older.Root {
		return &refusal{checkpoint: text, reason: fmt.Sprintf(
			"the tree of %d messages had the root %s at %d, and %s has the root %s there", head.Size, root, older.Size, what, older.Root)}
	}
	return nil
}

// headOf gives the head that is recorded of the tree.
func headOf(p dbgen.SealPositionRow) (seal.Head, error) {
	if p.Size == 0 {
		return seal.Head{Root: chain.Sum(nil)}, nil
	}
	root, err := chain.ParseHash(p.Root)
	return seal.Head{Size: p.Size, Root: root}, err
}

// refuseDamage makes a refusal of damage to the tree; other errors stay.
func refuseDamage(err error) error {
	if damage, ok := errors.AsType[*damageError](err); ok {
		return &refusal{broken: true, reason: "the stored tree is damaged: " + damage.Error()}
	}
	return err
}

// follow checks what another server has signed against the file, and writes it there. The file is ahead of it if this
// server ended between publishing and keeping a checkpoint: then the tree must extend the file, and whoever seals
// signs it later.
func (s *Sealer) follow(ctx context.Context, q *dbgen.Queries) error {
	began := time.Now()
	position, err := q.SealPosition(ctx)
	if err != nil {
		return err
	}
	s.looked(began, position)
	if err := s.checkKey(ctx, q, position); err != nil {
		return err
	}
	s.set(func(state *SealState) { state.Waiting = position.Waiting })
	logs, err := q.SealLogs(ctx)
	if err != nil {
		return err
	}
	outside, err := s.loadOutside(ctx, logs)
	if err != nil {
		return err
	}
	if position, err = q.SealPosition(ctx); err != nil { // after the file, which another server may write
		return err
	}
	newest, err := s.newestSigned(ctx, q)
	if err != nil {
		return err
	}
	if newest == nil {
		newest = &seal.Checkpoint{Head: seal.Head{Root: chain.Sum(nil)}}
	}
	if outside.Head == newest.Head || newest.Size == 0 && outside.Size == 0 {
		s.set(func(state *SealState) { state.Newest = newest.Head })
		return nil
	}
	if outside.Size > newest.Size {
		recorded, err := headOf(position)
		if err != nil {
			return err
		}
		return extends(ctx, q, recorded, outside.Head, "the checkpoint in "+s.config.Checkpoint, outside.Text)
	}
	if err := extends(ctx, q, newest.Head, outside.Head, "the checkpoint in "+s.config.Checkpoint, outside.Text); err != nil {
		return err
	}
	if err := s.step("publish", func() error {
		return sealfile.StoreCheckpoint(s.config.Checkpoint, s.policy, outside.Head, *newest)
	}); err != nil {
		return err
	}
	s.hold(*newest)
	s.set(func(state *SealState) {
		state.Newest, state.Outside = newest.Head, sealfile.Outside{Checkpoint: *newest, Text: newest.Note}
	})
	return nil
}
