package local

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tzzr/context-manager/internal/fault"
)

// maxSocketPath is how long a Unix socket's path may be on every system: 104 bytes with the closing NUL.
const maxSocketPath = 103

// socketDir is the directory of Postgres' socket, which only its owner can enter.
type socketDir struct {
	path string
}

// makeSocketDir makes an empty directory for the socket, beside the cluster or, where that path is too long for a
// socket, in the directory for temporary files. What a killed server left there is removed: the caller holds the
// data directory's lock and has seen to it that no Postgres runs.
func makeSocketDir(cluster string, o owner) (socketDir, error) {
	dir := socketDir{filepath.Join(filepath.Dir(cluster), "socket")}
	if !dir.fits() {
		name := fmt.Sprintf("context-manager-%x", sha256.Sum256([]byte(cluster)))
		dir.path = filepath.Join(os.TempDir(), name[:32])
	}
	if !dir.fits() {
		return socketDir{}, fault.New(fault.Unavailable,
			"%s is too long for a socket's path, and so is the data directory's; set TMPDIR to a shorter one", dir.path)
	}
	if err := os.RemoveAll(dir.path); err != nil {
		return socketDir{}, fault.Wrap(err, fault.Unavailable, "cannot clear the socket's directory: %v", err)
	}
	// Made anew, it is surely ours: mkdir fails where somebody else put something there meanwhile.
	if err := o.mkdir(dir.path); err != nil {
		return socketDir{}, fault.Wrap(err, fault.Unavailable, "cannot make the socket's directory: %v", err)
	}
	return dir, nil
}

func (d socketDir) fits() bool {
	return len(filepath.Join(d.path, ".s.PGSQL."+port)) <= maxSocketPath
}

func (d socketDir) remove() {
	if d.path != "" {
		_ = os.RemoveAll(d.path)
	}
}
