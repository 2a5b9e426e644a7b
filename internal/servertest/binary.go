// Package servertest runs the real program for tests: built once, in data directories of its own, and asked over
// HTTP. It is for tests only.
package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Binary is the program, built for the tests of a package.
type Binary struct{ path string }

// Build builds the program of the folder at root. Remove it when done.
func Build(root string) (*Binary, error) {
	dir, err := os.MkdirTemp("", "context-manager-binary-")
	if err != nil {
		return nil, err
	}
	b := &Binary{path: filepath.Join(dir, "context-manager")}
	cmd := exec.Command("go", "build", "-o", b.path, ".")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Remove()
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return b, nil
}

// Remove deletes the program.
func (b *Binary) Remove() { _ = os.RemoveAll(filepath.Dir(b.path)) }

// DataDir gives a data directory that is not there yet, in one that a private Postgres, which may run as another
// user, can reach. It is deleted when the test ends.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "context-manager-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

// Command prepares the program in a process group of its own, on a free port and without any setting that the
// tests' environment has.
func (b *Binary) Command(dataDir string, args ...string) *exec.Cmd {
	cmd := exec.Command(b.path, args...)
	cmd.Env = append(os.Environ(), "DATA_DIR="+dataDir, "ADDR=127.0.0.1:0", "DATABASE_URL=", "DEMO=", "CORS_ORIGINS=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Path is where it is.
func (b *Binary) Path() string { return b.path }
