// Package sealfile keeps what the seal needs outside of the database: the log's signing key, and the last checkpoint
// that was signed or seen, against which a database that was rolled back or exchanged shows. Both are small files in
// the data directory, written whole or not at all.
package sealfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/fault"
)

// Names of the files in the data directory. A key's successor, and the locks of both, stand beside them.
const (
	KeyFile        = "log.key"    // the signing key; mode 0600
	CheckpointFile = "checkpoint" // the last checkpoint, a signed note
	nextSuffix     = ".next"      // a key that takes over once the log says so
	lockSuffix     = ".lock"
)

// Key signs checkpoints. Its name is the log's origin.
type Key struct {
	note.Signer
	Public string // as verifiers take it: name+id+key
}

// Verifier gives what checks the key's signatures.
func (k Key) Verifier() (note.Verifier, error) { return note.NewVerifier(k.Public) }

// LoadKey reads the signing key from a file, and makes one under a new name if there is none. The name is origin or, if
// that is empty, one that no other log has.
//
// Faults: as FindKey; BAD_USER_INPUT if origin cannot name a log; UNAVAILABLE if it cannot be written.
func LoadKey(path, origin string) (Key, error) {
	key, found, err := FindKey(path, origin)
	if err != nil || found {
		return key, err
	}
	key, err = makeKey(path, origin)
	if errors.Is(err, fs.ErrExist) { // by another server, just now
		key, _, err = FindKey(path, origin)
	}
	if err != nil {
		return Key{}, asFault(err)
	}
	return key, nil
}

// FindKey reads the signing key from a file; false if there is no file.
//
// Faults: BAD_USER_INPUT if the file holds no key, or one whose name is neither origin, if that is not empty, nor that
// of a successor; UNAVAILABLE if it cannot be read.
func FindKey(path, origin string) (Key, bool, error) {
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, false, nil
	}
	if err != nil {
		return Key{}, false, asFault(err)
	}
	if name := key.Name(); origin != "" && name != origin && !strings.HasPrefix(name, origin+"/") {
		return Key{}, false, fault.Input("LOG_ORIGIN", "is %q, and the key in %s is that of %q", origin, path, name)
	}
	return key, true, nil
}

func asFault(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "the log's key cannot be read or written")
}

func readKey(path string) (Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, err
	}
	secret, public, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	signer, err := note.NewSigner(secret)
	if err != nil {
		return Key{}, fault.Input(path, "holds no signing key")
	}
	if verifier, err := note.NewVerifier(public); err != nil || verifier.Name() != signer.Name() || verifier.KeyHash() != signer.KeyHash() {
		return Key{}, fault.Input(path, "holds a signing key and not the public key that belongs to it")
	}
	return Key{Signer: signer, Public: public}, nil
}

// makeKey makes a key and writes it to a file that is not there yet.
func makeKey(path, origin string) (Key, error) {
	if origin == "" {
		random := make([]byte, 8)
		_, _ = rand.Read(random) // never fails
		origin = "context-manager/" + hex.EncodeToString(random)
	}
	secret, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return Key{}, fault.Wrap(err, fault.Internal, "cannot make the log's key")
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return Key{}, fault.Input("LOG_ORIGIN", "%q cannot name a log: it has blanks or a +", origin)
	}
	if err := create(path, secret+"\n"+public+"\n"); err != nil {
		return Key{}, err
	}
	return Key{Signer: signer, Public: public}, nil
}

// create writes a file that is not there yet, whole or not at all.
func create(path, text string) error {
	temporary, err := write(path, text)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary) }()
	if err := os.Link(temporary, path); err != nil { // fails if it is there
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// Replace writes a file in the place of the one that is there, if any, whole or not at all. When it returns, the text
// is on disk.
func Replace(path, text string) error {
	temporary, err := write(path, text)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// write writes text to a new file beside path, on disk and only for its owner.
func write(path, text string) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return f.Name(), nil
}

// settle sees that a file and its name are on disk.
func settle(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), syncDirectory(filepath.Dir(path)))
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
