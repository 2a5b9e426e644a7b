package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// leader is the sealer while its connection holds the lock. Whatever goes wrong in a turn, the connection is given up
// and all that it knew forgotten, but for what was published: the next leader goes on from what is in the database and in
// the file, and neither may be behind that.
type leader struct {
	*Sealer
	conn *pgx.Conn // holds the lock; all that a round writes goes over it, so who lost the lock writes nothing
	q    *dbgen.Queries

	tree    *seal.Tree // what is committed; nil: not known
	signed  seal.Head  // the newest checkpoint of the key that is kept; zero if there is none
	note    string
	outside seal.Head // what the file has, found to be extended by the tree; zero if there is none

	consulted bool // the witnesses, since the tree is known

	took   bool      // the last turn took messages
	sawAll time.Time // every message that was committed by then is signed
}

// turn takes what waits into the tree, signs it, publishes the checkpoint, and keeps it: whatever of that is to be
// done. more says that messages wait still.
//
// The order is what makes a crash harmless. A tree is signed once it is committed, and was held against the file.
// Its checkpoint is published first: on disk in the file. Only then is it kept in the database, from where clients and
// witnesses have it. So nobody has one that the file does not know, and a database that loses it and comes back
// without it does not get past the file. A file that is ahead of what was kept is of a tree that is committed: it is
// kept then, and a signature is the same every time. While the file cannot be written, or what it has cannot be kept,
// nothing is signed, and nothing more is taken into the tree.
func (l *leader) turn(ctx context.Context) (more bool, err error) {
	began := time.Now()
	looking, cancel := context.WithTimeout(ctx, lookLimit)
	position, err := l.q.SealPosition(looking)
	cancel()
	if err != nil {
		return false, err
	}
	l.looked(began, position)
	if err := l.checkKey(ctx, l.q, position); err != nil {
		return false, err
	}
	knows := l.knows(position)
	if knows {
		newest, err := l.newestSigned(ctx, l.q)
		if err != nil {
			return false, err
		}
		knows = newest == nil && l.signed.Size == 0 || newest != nil && newest.Head == l.signed
	}
	if !knows {
		if err := l.resume(ctx, position); err != nil {
			return false, err
		}
	} else if err := l.checkOutside(ctx); err != nil {
		return false, err
	}
	if err := l.settle(ctx); err != nil {
		return false, err
	}
	if !l.consulted {
		if err := l.consult(ctx); err != nil {
			return false, err
		}
		l.consulted = true
	}
	if err := l.heard(); err != nil {
		return false, err
	}
	if err := l.sign(ctx); err != nil { // what was grown before
		return false, err
	}
	size := l.tree.Size()
	if position.Waiting > 0 {
		if more, err = l.grow(ctx); err != nil {
			return false, err
		}
	}
	if err := l.sign(ctx); err != nil {
		return false, err
	}
	l.took = l.tree.Size() > size
	if l.took && l.config.Lag != nil {
		l.config.Lag(l.tree.Size()-size, time.Since(l.sawAll))
	}
	if !more {
		l.sawAll = began
	}
	position.Leaves, position.Waiting = l.tree.Size(), max(0, position.Waiting-(l.tree.Size()-size))
	l.looked(began, position)
	l.set(func(s *SealState) { s.Waiting = position.Waiting })
	return more, nil
}

// knows tells whether the database stands where this leader left it.
func (l *leader) knows(p dbgen.SealPositionRow) bool {
	if l.tree == nil || l.tree.Size() != p.Size || p.Leaves != p.Size {
		return false
	}
	return p.Size == 0 || p.Root == l.tree.Root().String()
}

// grow takes a batch of messages into the tree, in one transaction. more says that it was a full one.
func (l *leader) grow(ctx context.Context) (more bool, err error) {
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()                                      // if that fails, the connection is closed, which does the same
	if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = on"); err != nil { // behind a pooler nothing else says so
		return false, err
	}
	q := dbgen.New(tx)
	var runs idRuns
	if err = l.step("take", func() (err error) { runs, more, err = takeRuns(ctx, q); return err }); err != nil {
		return false, err
	}
	var leaves []seal.Leaf
	if err = l.step("leaves", func() (err error) { leaves, err = l.addLeaves(ctx, q, runs); return err }); err != nil {
		if placeTaken(err) && !l.careful {
			l.careful = true // the next round leaves such messages out
		}
		return false, err
	}
	if err := l.addNodes(ctx, q, leaves); err != nil {
		return false, err
	}
	if err := l.step("commit", func() error { return tx.Commit(ctx) }); err != nil {
		return false, err
	}
	if missed := runs.count() - int64(len(leaves)); missed > 0 {
		l.miss(ctx, missed)
	}
	return more, nil
}

// addNodes adds leaves to the tree, and writes the tiles that they fill, and its head.
func (l *leader) addNodes(ctx context.Context, q *dbgen.Queries, leaves []seal.Leaf) error {
	if len(leaves) == 0 {
		return nil
	}
	var levels []int16
	var ns []int64
	var roots []string
	var hashes [][]byte
	for _, leaf := range leaves {
		for _, t := range l.tree.Add(leaf.Hash()) {
			levels, ns = append(levels, int16(t.Level)), append(ns, t.N)
			roots, hashes = append(roots, chain.Hash(t.Root).String()), append(hashes, t.Data())
		}
	}
	if len(levels) > 0 {
		if err := l.step("tiles", func() error { return q.AddTiles(ctx, levels, ns, roots, hashes) }); err != nil {
			return err
		}
	}
	head := l.tree.Head()
	return l.step("tree", func() error { return q.AddTree(ctx, head.Size, head.Root) })
}

// addLeaves writes the leaves of messages behind those of the tree, and gives them in order.
func (l *leader) addLeaves(ctx context.Context, q *dbgen.Queries, runs idRuns) ([]seal.Leaf, error) {
	add := q.AddLeaves
	if l.careful {
		add = q.AddLeavesOfFreePlaces
	}
	size := l.tree.Size()
	rows, err := add(ctx, size, runs.firsts, runs.lasts)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b dbgen.SealLeafe) int { return cmp.Compare(a.LeafIndex, b.LeafIndex) })
	leaves := make([]seal.Leaf, len(rows))
	for i, r := range rows {
		if r.LeafIndex != size+int64(i) {
			return nil, fault.New(fault.Internal, "leaf %d was written as %d", size+int64(i), r.LeafIndex)
		}
		leaves[i] = leafOf(r)
	}
	return leaves, nil
}

// placeTaken tells whether an error says that another message has the place of one in the tree.
func placeTaken(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23505" && pg.TableName == "leaves"
}

// miss tells loudly that messages were announced and could not be taken into the tree.
func (l *leader) miss(ctx context.Context, count int64) {
	l.store.log.ErrorContext(ctx, "messages were not taken into the tree: they are gone, or others have their places in it", "messages", count)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed = "messages were not taken into the tree: they are gone, or others have their places in it; verifyLog says which"
}

// idRuns are runs of ids of messages, ascending, neighbours joined.
type idRuns struct{ firsts, lasts []int64 }

func (r *idRuns) add(first, last int64) {
	if n := len(r.lasts); n > 0 && r.lasts[n-1]+1 == first {
		r.lasts[n-1] = last
		return
	}
	r.firsts, r.lasts = append(r.firsts, first), append(r.lasts, last)
}

func (r *idRuns) count() (n int64) {
	for i := range r.firsts {
		n += r.lasts[i] - r.firsts[i] + 1
	}
	return n
}

// takeRuns takes at most sealBatch messages out of the outbox, those of the lowest ids.
func takeRuns(ctx context.Context, q *dbgen.Queries) (runs idRuns, more bool, err error) {
	taken, err := q.TakeOutbox(ctx, sealBatch)
	if err != nil {
		return idRuns{}, false, err
	}
	slices.SortFunc(taken, func(a, b dbgen.SealOutbox) int { return cmp.Compare(a.FirstID, b.FirstID) })
	left := int64(sealBatch)
	for _, r := range taken {
		last := min(r.LastID, r.FirstID+left-1)
		if last < r.LastID { // of a statement that wrote very many
			if err := q.PutBackOutbox(ctx, last+1, r.LastID); err != nil {
				return idRuns{}, false, err
			}
		}
		if last >= r.FirstID {
			runs.add(r.FirstID, last)
			left -= last - r.FirstID + 1
		}
	}
	return runs, left <= 0, nil
}

// settle makes the file and the database agree on the newest checkpoint, before there is another.
func (l *leader) settle(ctx context.Context) error {
	if l.signed.Size >= l.outside.Size {
		if l.outside != l.signed && l.signed.Size > 0 { // another server's, or this one was started without the file
			if err := l.publish(l.signed, l.note); err != nil {
				return err
			}
		}
		l.announce(seal.Checkpoint{Head: l.signed, Origin: l.key.Name(), Note: l.note})
		return nil
	}
	text, err := seal.Sign(l.key, l.outside)
	if err != nil {
		return err
	}
	return l.give(ctx, l.outside, text)
}

// sign signs the tree, if it is not signed yet.
func (l *leader) sign(ctx context.Context) error {
	head := l.tree.Head()
	if head.Size == 0 || head == l.signed {
		return nil
	}
	if err := errors.Join(l.heard(), l.checkOutside(ctx)); err != nil {
		return err
	}
	var text string
	if err := l.step("sign", func() (err error) { text, err = seal.Sign(l.key, head); return err }); err != nil {
		return err
	}
	return l.give(ctx, head, text)
}

// give publishes a checkpoint, keeps it, and makes it known.
func (l *leader) give(ctx context.Context, head seal.Head, text string) error {
	if err := l.publish(head, text); err != nil {
		return err
	}
	if err := l.step("keep", func() error { return l.q.AddCheckpoint(ctx, l.key.Name(), head.Size, head.Root, text) }); err != nil {
		return err
	}
	l.signed, l.note = head, text
	l.announce(seal.Checkpoint{Head: head, Origin: l.key.Name(), Note: text})
	return nil
}

// publish writes a checkpoint to the file.
func (l *leader) publish(head seal.Head, text string) error {
	c := seal.Checkpoint{Head: head, Origin: l.key.Name(), Note: text}
	if err := l.step("publish", func() error {
		return sealfile.StoreCheckpoint(l.config.Checkpoint, l.policy, l.outside, c)
	}); err != nil {
		return err
	}
	l.outside = head
	l.hold(c)
	l.set(func(s *SealState) { s.Outside = sealfile.Outside{Checkpoint: c, Text: text} })
	return nil
}

// announce makes a checkpoint that is kept known as the newest, and has the witnesses asked. One of no messages is none.
func (s *Sealer) announce(c seal.Checkpoint) {
	if c.Size == 0 {
		return
	}
	s.mu.Lock()
	known := s.newest != nil && s.newest.Head == c.Head
	s.newest, s.state.Newest = &c, c.Head
	s.mu.Unlock()
	if known {
		return
	}
	for _, w := range s.asked {
		w.wake()
	}
}
