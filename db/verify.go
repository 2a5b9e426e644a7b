package db

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// progressInterval is how often a check tells how far it is.
const progressInterval = 300 * time.Millisecond

// VerifySession checks one session's chain as it stands at one moment, whoever goes on writing, and its messages against
// their leaves in the tree. A session that has neither is valid and empty. progress, if not nil, is called from the caller's goroutine: at least twice a second
// as long as it returns at once, and at the end. The memory that is used does not grow with the session. When ctx
// ends, so does the check, with UNAVAILABLE. At most two checks run at once, on one DB, and one of a player; it waits for its
// turn, unless three of the player wait already, or eight in all: then it is UNAVAILABLE at once.
func (d *DB) VerifySession(ctx context.Context, session chain.Hash, progress func(chain.Progress)) (chain.SessionReport, error) {
	if hidden, err := d.hidden(ctx, session); hidden || err != nil {
		if progress != nil {
			progress(chain.Progress{Done: true})
		}
		return chain.SessionReport{Session: session, Valid: true}, err
	}
	v, err := d.verify(ctx, &session, progress)
	if err != nil {
		return chain.SessionReport{}, err
	}
	return chain.SessionReport{
		Session: session, Valid: v.Valid(), Length: v.Messages(), Head: v.Head(), Breaks: v.Breaks(),
	}, nil
}

// hidden tells whether a session has no messages for the viewer: then it is as one that is not there.
func (d *DB) hidden(ctx context.Context, session chain.Hash) (bool, error) {
	if d.viewer == nil {
		return false, nil
	}
	found, err := d.SessionsByHash(ctx, []chain.Hash{session})
	return len(found) == 0, err
}

// VerifyLog checks every session's chain, that there are no refs but those of messages, and the tree: that it has each
// message that does not wait for it, and nothing else; and that leaves, tiles, roots, checkpoints and what is kept
// outside of the database agree. For the rest it is as VerifySession, but that its memory grows with the number of
// sessions, up to some 100 MB.
func (d *DB) VerifyLog(ctx context.Context, progress func(chain.Progress)) (chain.LogReport, error) {
	if d.viewer != nil {
		return chain.LogReport{}, fault.New(fault.Forbidden, "the whole log is for administrators to check; a session of yours can be checked")
	}
	started := time.Now()
	v, err := d.verify(ctx, nil, progress)
	if err != nil {
		return chain.LogReport{}, err
	}
	report := v.counts
	report.Valid, report.Breaks, report.Took = v.Valid() && v.auditor.Valid(), v.breaks(), time.Since(started)
	if newest := v.auditor.Newest(); newest != nil {
		report.Checkpoint = signedHead(newest)
	}
	return report, nil
}

func signedHead(c *seal.Signed) *chain.SignedHead {
	lines := make([]string, len(c.Cosignatures))
	for i, s := range c.Cosignatures {
		lines[i] = s.Line
	}
	return &chain.SignedHead{
		Size: c.Size, Root: c.Root, Origin: c.Origin, Note: seal.WithCosignatures(c.Note, lines...), SignedAt: c.SignedAt,
		Cosignatures: lines,
	}
}

// verification is one check under way.
type verification struct {
	*chain.Verifier
	session  *string // nil: all
	total    int64
	refs     int64 // rows of refs that came with their messages
	progress func(chain.Progress)
	told     chain.Progress // what was told last
	ticker   *time.Ticker
	waiting  idRanges
	waited   int64 // messages that were found to wait

	// Of the whole log.
	auditor *seal.Auditor
	tally   *seal.Tally     // of messages that do not wait for the tree
	counts  chain.LogReport // Sessions, Messages, Sealed, Erased
}

func (d *DB) verify(ctx context.Context, session *chain.Hash, progress func(chain.Progress)) (*verification, error) {
	leave, err := d.checks.take(ctx, d.viewer)
	if err != nil {
		return nil, err
	}
	defer leave()
	v := &verification{Verifier: chain.NewVerifier(), progress: progress, ticker: time.NewTicker(progressInterval)}
	defer v.ticker.Stop()
	if session != nil {
		text := session.String()
		v.session = &text
	}
	if progress == nil {
		v.progress = func(chain.Progress) {}
	}
	pins, err := d.pinned() // before the snapshot, which then has what was published
	if err != nil {
		return nil, err
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, d.pool, snapshot, func(tx pgx.Tx) error {
		if err := v.begin(ctx, tx); err != nil {
			return err
		}
		if session != nil {
			return v.chains(ctx, tx)
		}
		return v.log(ctx, tx, pins)
	})
	if err != nil {
		return nil, mapError(err)
	}
	v.note(v.told.Checked)
	v.tell(true)
	return v, nil
}

func (v *verification) begin(ctx context.Context, tx pgx.Tx) error {
	// In the index's order rows come from the first on, without a sort of the whole log on disk.
	if _, err := tx.Exec(ctx, "SET LOCAL enable_sort = off"); err != nil {
		return err
	}
	q := dbgen.New(tx)
	return v.aside(func() (err error) {
		if v.total, err = q.CountMessages(ctx, v.session); err != nil {
			return err
		}
		v.waiting, err = q.WaitingRuns(ctx)
		return err
	})
}

// log checks everything. The tree comes first: whether all messages are in it shows when they have been read. They are
// read in the order that they are stored in and, if anything is not as it must be, in that of their sessions, which
// takes longer and tells what it is.
func (v *verification) log(ctx context.Context, tx pgx.Tx, pins pinned) error {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	v.tally = seal.NewTally(secret)
	if err := v.aside(func() (err error) { v.auditor, err = audit(ctx, tx, pins, secret); return err }); err != nil {
		return err
	}
	v.note(0)
	fine, err := v.scan(ctx, tx)
	if err != nil || fine {
		return err
	}
	v.tally = seal.NewTally(secret)
	if err := v.chains(ctx, tx); err != nil {
		return err
	}
	v.counts.Sessions, v.counts.Messages, v.counts.Erased = v.Sessions(), v.Messages(), v.Erased()
	return v.unexplained(ctx, tx)
}

// chains checks session by session.
func (v *verification) chains(ctx context.Context, tx pgx.Tx) error {
	s := newStream(tx, v.session)
	v.counts = chain.LogReport{}
	if err := v.each(ctx, s, v.add); err != nil {
		return err
	}
	v.End()
	v.note(v.Messages())
	return v.aside(func() error {
		if err := v.returned(ctx, tx); err != nil {
			return err
		}
		if err := v.missing(ctx, tx); err != nil {
			return err
		}
		return v.strays(ctx, tx)
	})
}

func (v *verification) add(e *chain.Entry) bool {
	v.refs += int64(len(e.Refs))
	e.Sealing, e.Waiting = true, v.waiting.has(e.ID)
	if e.Waiting {
		v.waited++
	} else if v.tally != nil {
		v.tally.Add(seal.Leaf{Session: e.SessionHash, Sequence: e.Sequence, Message: e.Hash})
	}
	if e.Leaf != nil && e.Leaf.Message == e.Hash && v.auditor != nil && e.Leaf.Index < v.covered() {
		v.counts.Sealed++
	}
	v.Add(e)
	return true
}

// covered is how many leaves a checkpoint covers.
func (v *verification) covered() int64 {
	if newest := v.auditor.Newest(); newest != nil {
		return newest.Size
	}
	return 0
}

// each hands over what a second goroutine reads, until add gives false, and tells how far it is even while nothing
// comes.
func (v *verification) each(ctx context.Context, s *stream, add func(*chain.Entry) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.run(ctx)
	checked := int64(0)
	for more := true; ; {
		select {
		case b, open := <-s.full:
			if !open {
				v.note(checked)
				return s.err
			}
			for i := 0; more && i < len(b.rows); i++ {
				checked++
				if more = add(&b.rows[i].entry); !more {
					close(s.stop)
				}
			}
			s.empty <- b
		case <-v.ticker.C:
			v.note(checked)
			v.tell(false)
		}
	}
}

// aside runs a function in another goroutine, and tells meanwhile what was known before.
func (v *verification) aside(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for {
		select {
		case err := <-done:
			return err
		case <-v.ticker.C:
			v.tell(false)
		}
	}
}

// note keeps what is to be told. Nothing else may be at work on the verification.
func (v *verification) note(checked int64) {
	v.told = chain.Progress{Checked: checked, Total: v.total, Breaks: v.breaks()}
}

// breaks are those of sessions, then those of the tree.
func (v *verification) breaks() []chain.Break {
	if v.auditor == nil {
		return v.Breaks()
	}
	all := append(v.Breaks(), v.auditor.Breaks()...)
	return all[:min(len(all), chain.MaxBreaks)]
}

func (v *verification) tell(done bool) {
	v.told.Done = done
	v.progress(v.told)
}
