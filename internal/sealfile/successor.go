package sealfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/tzzr/context-manager/internal/fault"
)

// Succession is the right to put another key in the place of one. One process at a time has it.
type Succession struct {
	path string
	lock *os.File
}

// BeginSuccession takes the right for the key in a file, until End.
//
// Faults: CONFLICT while another has it; UNAVAILABLE.
func BeginSuccession(path string) (*Succession, error) {
	lock, err := os.OpenFile(path+lockSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, asFault(err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Succession{path, lock}, nil
	}
	_ = lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fault.New(fault.Conflict, "another server puts a new key in the place of %s just now", path)
	}
	return nil, asFault(err)
}

// End gives the right back.
func (s *Succession) End() { _ = s.lock.Close() } // which unlocks

// Make makes the key that is to take the key's place, in a file beside it. One that is there already is lost: the caller
// has seen that no log is signed with it.
//
// Faults: UNAVAILABLE.
func (s *Succession) Make(origin string) (Key, error) {
	if err := os.Remove(s.path + nextSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Key{}, asFault(err)
	}
	key, err := makeKey(s.path+nextSuffix, origin)
	if err != nil {
		return Key{}, asFault(err)
	}
	return key, nil
}

// Succeed puts the successor in the place of the key, if it is the one with that public key, and keeps the old one
// beside it. It gives the key that stands there then, and whether it has the public key. A process that ended halfway
// through is made up for.
//
// Faults: as FindKey; UNAVAILABLE around fs.ErrNotExist if no key stands there.
func (s *Succession) Succeed(public string) (Key, bool, error) {
	if next, err := readKey(s.path + nextSuffix); err == nil && next.Public == public {
		if err := SetAside(s.path); err != nil {
			return Key{}, false, asFault(err)
		}
		if err := os.Rename(s.path+nextSuffix, s.path); err != nil {
			return Key{}, false, asFault(err)
		}
	}
	return standing(s.path, public)
}

// Succeed is the same by who has no right yet, and needs it only if the successor is there.
//
// Faults: as BeginSuccession and there.
func Succeed(path, public string) (Key, bool, error) {
	if next, err := readKey(path + nextSuffix); err != nil || next.Public != public {
		return standing(path, public)
	}
	s, err := BeginSuccession(path)
	if err != nil {
		return Key{}, false, err
	}
	defer s.End()
	return s.Succeed(public)
}

func standing(path, public string) (Key, bool, error) {
	key, err := readKey(path)
	if err != nil {
		return Key{}, false, asFault(err)
	}
	return key, key.Public == public, nil
}

// maxAside is how many files of a name can be set aside.
const maxAside = 10_000

// SetAside renames a file to the first of path.1, path.2, … that is free; one that is not there stays so.
func SetAside(path string) error {
	for n := 1; n < maxAside; n++ {
		err := os.Link(path, fmt.Sprintf("%s.%d", path, n))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil:
			return os.Remove(path)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return fault.New(fault.Unavailable, "%s was set aside %d times", path, maxAside)
}
