package sealfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tzzr/context-manager/internal/fault"
)

// MakeSuccessor makes the key that is to take a key's place, in a file beside it. One that is there already and was
// never used is made anew.
//
// Faults: UNAVAILABLE.
func MakeSuccessor(path, origin string) (Key, error) {
	if err := os.Remove(path + nextSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Key{}, asFault(err)
	}
	key, err := makeKey(path+nextSuffix, origin)
	if err != nil {
		return Key{}, asFault(err)
	}
	return key, nil
}

// Succeed puts the successor in the place of the key, if it is the one with that public key, and keeps the old one
// beside it. It gives the key that stands there then, and whether it has the public key.
//
// Faults: as LoadKey.
func Succeed(path, public string) (Key, bool, error) {
	if next, err := readKey(path + nextSuffix); err == nil && next.Public == public {
		if err := SetAside(path); err != nil {
			return Key{}, false, asFault(err)
		}
		if err := os.Rename(path+nextSuffix, path); err != nil {
			return Key{}, false, asFault(err)
		}
	}
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
