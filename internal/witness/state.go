package witness

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// maxState is how long a state file may be that is read.
const maxState = 16 << 20

// stateFormat names the form of the state file.
const stateFormat = "context-manager/witness/v1"

// stateFile is what is kept: for each log the latest checkpoint that was cosigned.
type stateFile struct {
	Format      string            `json:"format"`
	Checkpoints map[string]string `json:"checkpoints"` // by origin; signed notes with the witness's own signature
}

// state is the state file and what is in it. Not safe for concurrent use. The file is locked for as long as the state
// is open: two processes on one file would cosign two histories.
type state struct {
	path  string
	lock  *os.File
	notes map[string]string                // as on disk
	write func(path, content string) error // whole or not at all; when it returns nil, the content is on disk
}

// openState locks and reads a state file. If there is none it makes an empty one, but only at the first start.
//
// Faults: CONFLICT if another process has it; BAD_USER_INPUT if it is damaged, or missing.
func openState(path string, first bool) (*state, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot lock the witness's state: %v", err)
	}
	s := &state{path: path, lock: lock, notes: map[string]string{}, write: sealfile.Replace}
	if err := take(lock); err != nil {
		_ = lock.Close()
		return nil, fault.Wrap(err, fault.Conflict, "another witness has the state in %s", path)
	}
	if err := errors.Join(sealfile.Clean(path), s.read(first)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// lockPatience is how long a lock may be held by a witness that has just ended: until the last of its children, which had it
// for a moment before they became programs of their own, let go of it.
const lockPatience = 500 * time.Millisecond

// take locks a file.
func take(lock *os.File) error {
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(began) > lockPatience {
			return err
		}
	}
}

// read fills the state from its file.
func (s *state) read(first bool) error {
	text, err := os.ReadFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && first:
		return s.keep("", "")
	case errors.Is(err, fs.ErrNotExist):
		return fault.Input(s.path, "is missing, and the witness's key has been used with it: without the state the witness would cosign "+
			"what contradicts what it has cosigned; bring the file back, or begin a new witness with a new key")
	case err != nil:
		return fault.Wrap(err, fault.Unavailable, "cannot read the witness's state: %v", err)
	case len(text) > maxState:
		return fault.Input(s.path, "has %d bytes, more than any state", len(text))
	}
	var file stateFile
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		return fault.Wrap(err, fault.BadUserInput, "%s: the witness's state is damaged: %v; bring the file back, or begin a new witness with a new key", s.path, err)
	}
	if file.Format != stateFormat || file.Checkpoints == nil {
		return fault.Input(s.path, "is no state of a witness of the format %s", stateFormat)
	}
	s.notes = file.Checkpoints
	return nil
}

// keep writes the state with the checkpoint of one more origin, or of none. When it returns nil, that is on disk. When it
// fails, the state in memory is what it was, whatever is on disk: nothing of it has been answered to anybody.
func (s *state) keep(origin, note string) error {
	notes := maps.Clone(s.notes)
	if origin != "" {
		notes[origin] = note
	}
	var content bytes.Buffer
	err := json.MarshalWrite(&content, stateFile{Format: stateFormat, Checkpoints: notes}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	content.WriteByte('\n')
	if content.Len() > maxState {
		return errors.New("the state would be too long")
	}
	if err := s.write(s.path, content.String()); err != nil {
		return err
	}
	s.notes = notes
	return nil
}

// close gives the file to whoever comes next.
func (s *state) close() { _ = s.lock.Close() }
