package db

import (
	"cmp"

	"github.com/tzzr/context-manager/internal/fault"
)

// tooLate says that sealing has stopped where nothing else says so.
const tooLate = "messages have waited to be sealed for longer than 5 seconds: whoever holds the lock of the sequencer does not seal, or is behind"

// Ready gives an error, in words for whoever runs the server, while the tree is refused, once sealing has failed, or
// messages have waited for it, for longer than a hitch lasts, and when messages or cosignatures were tampered with.
func (s *Sealer) Ready() error {
	state := s.State()
	s.mu.Lock()
	failing := s.failing
	missing := cmp.Or(s.unsound, s.missed)
	if missing == "" && s.late() {
		missing = tooLate
	}
	s.mu.Unlock()
	switch {
	case state.Condition == Refused:
		return fault.New(fault.Unavailable, "the tree is not sealed: %s", state.Problem)
	case !failing.IsZero() && s.config.now().Sub(failing) >= hitch:
		return fault.New(fault.Unavailable, "the log is not sealed: %s", state.Problem)
	case missing != "":
		return fault.New(fault.Unavailable, "%s", missing)
	}
	return nil
}

// late tells whether messages wait longer than a hitch may last, though this server is told of no failure: another one
// holds the lock of the sequencer and does not seal. The caller holds the lock of what is known.
func (s *Sealer) late() bool { return s.growth.pace(s.config.now()).Lag >= hitch }
