package sealfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Clean removes what a process that was killed while it wrote a file has left beside it. Nobody else may be writing.
func Clean(path string) error {
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-*"))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
