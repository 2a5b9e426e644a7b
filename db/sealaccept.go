package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// acceptance is an administrator's word, on its way.
type acceptance struct {
	reason string
	done   chan struct{} // closed once err is set and the sealer has gone on
	err    error
}

// Accept is an administrator's word to go on with a tree that does not extend what was signed before: under a new name
// and a new key, so that nobody takes it for the old log. The old name's last checkpoint stays on record with the
// reason; its key and its checkpoint's file are kept aside. It gives the state after the sealer has looked again.
//
// It is also the way on where the log's key is lost.
//
// Faults: BAD_USER_INPUT for the reason; CONFLICT unless the condition is Refused or the key is lost, if the tree itself
// is damaged, which no word makes whole, or if another server does the same; UNAVAILABLE.
func (s *Sealer) Accept(ctx context.Context, reason string) (SealState, error) {
	if reason == "" {
		return SealState{}, fault.Input("reason", "is empty")
	}
	if err := chain.CheckText("reason", &reason, MaxReasonBytes); err != nil {
		return SealState{}, err
	}
	a := &acceptance{reason: reason, done: make(chan struct{})}
	ended := fault.New(fault.Unavailable, "the server does not seal now")
	select {
	case s.accept <- a:
	case <-s.done:
		return SealState{}, ended
	case <-ctx.Done():
		return SealState{}, mapError(ctx.Err())
	}
	select {
	case <-a.done:
		return s.State(), a.err
	case <-s.done:
		return SealState{}, ended
	case <-ctx.Done():
		return SealState{}, mapError(ctx.Err())
	}
}

// succeed makes the log go on under a new name. The key stands beside the old one before the log names it, and takes
// its place after that; a server that ends in between finds it there. Of servers with the same files, one at a time does
// so, and what another has done by then stands.
func (s *Sealer) succeed(ctx context.Context, reason string) error {
	switch {
	case s.refused == nil && !s.lost():
		return fault.New(fault.Conflict, "the tree is not refused")
	case s.refused != nil && s.refused.broken:
		return fault.New(fault.Conflict, "the tree itself is damaged, and can only be restored: %s", s.refused.reason)
	}
	right, err := sealfile.BeginSuccession(s.config.Key)
	if err != nil {
		return err
	}
	defer right.End()
	q := s.store.queries()
	logs, err := q.SealLogs(ctx)
	if err != nil {
		return mapError(err)
	}
	refused, err := s.given(logs)
	if err != nil {
		return err
	}
	name := s.State().Origin
	used := map[string]bool{name: true}
	for _, log := range logs {
		used[log.Origin] = true
	}
	key, err := right.Make(successorName(name, used))
	if err != nil {
		return err
	}
	if err := q.AddSealLog(ctx, key.Name(), key.Public, &reason, refused); err != nil {
		return mapError(err)
	}
	if err := sealfile.SetAside(s.config.Checkpoint); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the old checkpoint cannot be set aside")
	}
	now, same, err := right.Succeed(key.Public)
	switch {
	case err != nil:
		return err
	case !same:
		return fault.New(fault.Unavailable, "the new key %s did not come into its place, %s", key.Public, s.config.Key)
	}
	s.store.log.WarnContext(ctx, "a tree was accepted that does not extend what was signed before", "origin", key.Name())
	return s.useKey(now)
}

// given gives the checkpoint that is given up, nil if there is none, if the database still says what the administrator
// was told. CONFLICT if not: another server has been given the word, or this one was, and it ended halfway.
func (s *Sealer) given(logs []dbgen.SealLog) (*string, error) {
	public := ""
	if len(logs) > 0 {
		public = logs[0].PublicKey
	}
	told, text := s.key.Public, ""
	if s.refused != nil {
		text = s.refused.checkpoint
		if s.refused.foreign != "" {
			told = s.refused.foreign
		}
	}
	if public != "" && public != told {
		return nil, fault.New(fault.Conflict, "the log has another key by now, %s: look again", public)
	}
	if s.lost() {
		outside, err := sealfile.LoadCheckpoint(s.config.Checkpoint, seal.Policy{})
		if err != nil {
			return nil, err
		}
		text = outside.Text
	}
	if text == "" {
		return nil, nil
	}
	return &text, nil
}

// successorName gives the first of name/2, name/3, … that was not used.
func successorName(name string, used map[string]bool) string {
	base := name
	if at := strings.LastIndex(name, "/"); at > 0 && strings.Trim(name[at+1:], "0123456789") == "" && len(name[at+1:]) < 5 {
		base = name[:at]
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s/%d", base, n); !used[next] {
			return next
		}
	}
}
