package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
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
// Faults: BAD_USER_INPUT for the reason; CONFLICT unless the condition is Refused, or if the tree itself is damaged,
// which no word makes whole; UNAVAILABLE.
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
// its place after that; a server that ends in between finds it there.
func (s *Sealer) succeed(ctx context.Context, reason string) error {
	switch {
	case s.refused == nil:
		return fault.New(fault.Conflict, "the tree is not refused")
	case s.refused.broken:
		return fault.New(fault.Conflict, "the tree itself is damaged, and can only be restored: %s", s.refused.reason)
	}
	q := s.store.queries()
	logs, err := q.SealLogs(ctx)
	if err != nil {
		return mapError(err)
	}
	used := map[string]bool{s.key.Name(): true}
	for _, log := range logs {
		used[log.Origin] = true
	}
	key, err := sealfile.MakeSuccessor(s.config.Key, successorName(s.key.Name(), used))
	if err != nil {
		return err
	}
	refused := &s.refused.checkpoint
	if *refused == "" {
		refused = nil
	}
	if err := q.AddSealLog(ctx, key.Name(), key.Public, &reason, refused); err != nil {
		return mapError(err)
	}
	if err := sealfile.SetAside(s.config.Checkpoint); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the old checkpoint cannot be set aside")
	}
	key, _, err = sealfile.Succeed(s.config.Key, key.Public)
	if err != nil {
		return err
	}
	s.store.log.WarnContext(ctx, "a tree was accepted that does not extend what was signed before", "origin", key.Name())
	return s.useKey(key)
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
