package sealfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// Outside is the checkpoint that is kept outside of the database.
type Outside struct {
	seal.Checkpoint        // zero if there is none, or it is of another log
	Other           string // the name of the log that it is of, if that is not the policy's
	Text            string // as it stands in the file
}

// LoadCheckpoint reads the checkpoint in a file, and checks its signature. No file is no checkpoint. To a policy without
// a key, whatever is there is another log's.
//
// Faults: CONFLICT if it is of the policy's log and not signed by its key; UNAVAILABLE if it cannot be read.
func LoadCheckpoint(path string, policy seal.Policy) (Outside, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Outside{}, nil
	}
	if err != nil {
		return Outside{}, fault.Wrap(err, fault.Unavailable, "the checkpoint in %s cannot be read", path)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, seal.MaxNote+1))
	if err != nil {
		return Outside{}, fault.Wrap(err, fault.Unavailable, "the checkpoint in %s cannot be read", path)
	}
	o := Outside{Text: string(text)}
	if origin, _, _ := strings.Cut(o.Text, "\n"); policy.Log == nil || origin != policy.Origin && strings.Contains(o.Text, "\n\n") {
		o.Other = origin
		return o, nil
	}
	o.Checkpoint, err = seal.Open(o.Text, policy)
	if err != nil {
		return Outside{}, fault.Wrap(err, fault.Conflict,
			"what is in %s is no checkpoint that this log's key signed (%s): restore it or, if you know why, remove it", path, err)
	}
	return o, nil
}

// StoreCheckpoint puts a checkpoint, which was checked to extend the head, in the place of the one of that head, which
// is the zero value for no file. When it returns, the checkpoint is on disk, also if it stood there already. What stands
// there and is as large or larger stays: a checkpoint is never taken back, not even by two servers at once.
//
// Faults: CONFLICT if another one stands there that is of another head: check again against that; UNAVAILABLE if it
// cannot be read or written, with the cause in words.
func StoreCheckpoint(path string, policy seal.Policy, checked seal.Head, next seal.Checkpoint) error {
	lock, err := os.OpenFile(path+lockSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return cannotWrite(path, err)
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return cannotWrite(path, err)
	}
	now, err := LoadCheckpoint(path, policy)
	switch {
	case err != nil:
		return err
	case now.Other == "" && now.Head == next.Head && now.Text != "": // by a process that may have ended before it was on disk
		if err := settle(path); err != nil {
			return cannotWrite(path, err)
		}
		return nil
	case now.Other != "" || now.Head != checked || now.Size >= next.Size:
		return fault.New(fault.Conflict, "the checkpoint in %s is another one by now", path)
	}
	if err := errors.Join(Clean(path), Replace(path, next.Note)); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// cannotWrite says which file cannot be written, and why, as the system says it.
func cannotWrite(path string, err error) error {
	why := err
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		why = number
	}
	return fault.Wrap(err, fault.Unavailable, "the checkpoint cannot be written to %s: %s", path, why)
}
