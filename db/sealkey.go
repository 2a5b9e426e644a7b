package db

import (
	"context"
	"errors"
	"io/fs"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// takeKey takes the key in the file, which is made only if nothing was signed before, as far as the database and the
// checkpoint's file know. Else the key is lost: the sealer knows the log's name and, at best, its public key, and waits
// for the file to come back or for an administrator's word.
func (s *Sealer) takeKey(ctx context.Context) error {
	key, found, err := sealfile.FindKey(s.config.Key, s.config.Origin)
	switch {
	case err != nil:
		return err
	case found:
		return s.useKey(key)
	}
	logs, err := s.store.queries().SealLogs(ctx)
	if err != nil {
		return mapError(err)
	}
	outside, err := sealfile.LoadCheckpoint(s.config.Checkpoint, seal.Policy{})
	switch {
	case err != nil:
		return err
	case len(logs) > 0:
		s.lose(logs[0].Origin, logs[0].PublicKey)
		return nil
	case outside.Text != "":
		s.lose(outside.Other, "")
		return nil
	}
	if key, err = sealfile.LoadKey(s.config.Key, s.config.Origin); err != nil {
		return err
	}
	return s.useKey(key)
}

// lose goes on without the key of a log, of which the public one may be known.
func (s *Sealer) lose(origin, public string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.policy = sealfile.Key{Public: public}, seal.Policy{Origin: origin}
	if verifier, err := s.key.Verifier(); err == nil {
		s.policy.Log = verifier
	}
	s.state.Origin, s.state.PublicKey = origin, public
}

// useKey signs with a key from now on.
func (s *Sealer) useKey(key sealfile.Key) error {
	verifier, err := key.Verifier()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "the log's key cannot check what it signs")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.policy, s.newest = key, seal.Policy{Origin: key.Name(), Log: verifier}, nil
	s.state.Origin, s.state.PublicKey, s.state.Newest = key.Name(), key.Public, seal.Head{}
	for _, w := range s.asked {
		w.finding, w.cosigned = nil, WitnessedSize{} // of the name before
	}
	s.refused = nil // so is that
	return nil
}

// lost tells whether the key is not there. Only the goroutine that runs may ask.
func (s *Sealer) lost() bool { return s.key.Signer == nil }

// Policy is what the sealer's own checkpoints are opened with. Witnesses are not in it, and no key if none is known.
func (s *Sealer) Policy() seal.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policy
}

// Verifier gives what checks the log's own signatures.
func (s *Sealer) Verifier() note.Verifier { return s.Policy().Log }

// checkKey sees that the log, as the database says, is signed with this server's key, or with one that another server
// of the same files has put in its place. errAnew says that there is another key now.
func (s *Sealer) checkKey(ctx context.Context, q *dbgen.Queries, p dbgen.SealPositionRow) error {
	if !s.lost() && (p.PublicKey == "" || p.PublicKey == s.key.Public) {
		return nil
	}
	key, same, err := sealfile.Succeed(s.config.Key, p.PublicKey)
	switch {
	case s.lost() && errors.Is(err, fs.ErrNotExist):
		if p.PublicKey != "" && p.PublicKey != s.key.Public { // of another server, by now
			if err := s.takeKey(ctx); err != nil {
				return err
			}
		}
		which := p.PublicKey
		if which == "" {
			which = "of the log " + s.State().Origin
		}
		return &failure{"the key " + which + " is missing: there is no " + s.config.Key +
			"; put it back or set LOG_KEY to another file with it, or, if it is lost, go on under a new name (acceptTree)"}
	case err != nil:
		return err
	case !same && !s.lost():
		return s.foreign(ctx, q, p)
	}
	if err := s.useKey(key); err != nil {
		return err
	}
	return errAnew
}

// foreign says what it means that the database names another key than this server's. Where the file shows that this
// server signed the log, somebody has put that there: an administrator with another server, or who altered the
// database. That the tree does not extend the file weighs more.
func (s *Sealer) foreign(ctx context.Context, q *dbgen.Queries, p dbgen.SealPositionRow) error {
	outside, err := sealfile.LoadCheckpoint(s.config.Checkpoint, s.policy)
	if err != nil || outside.Size == 0 {
		return &failure{"the log is signed with the key " + p.PublicKey + ", and this server's, in " + s.config.Key +
			", is another: set LOG_KEY to a file with the log's key"}
	}
	s.set(func(state *SealState) { state.Outside = outside })
	recorded, err := headOf(p)
	if err != nil {
		return err
	}
	if err := extends(ctx, q, recorded, outside.Head, "the checkpoint in "+s.config.Checkpoint, outside.Text); err != nil {
		if r, ok := errors.AsType[*refusal](err); ok {
			r.foreign = p.PublicKey
		}
		return err
	}
	return &refusal{unseen: true, checkpoint: outside.Text, foreign: p.PublicKey, reason: "the database says that the log is signed with the key " +
		p.PublicKey + ", and what is in " + s.config.Checkpoint + " was signed with this server's, " + s.key.Public +
		": if another server has gone on under that key, set LOG_KEY to a file with it; if not, the database was altered"}
}
