package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/tzzr/context-manager/internal/fault"
)

// sharedHome is where a root server keeps the clusters of data directories that the postgres user cannot reach,
// such as those under /root.
const sharedHome = "/var/lib/context-manager"

// owner is the user that Postgres runs as: ourselves, or, since Postgres refuses to run as root, the postgres
// user.
type owner struct {
	credential *syscall.Credential // nil: ourselves
}

func currentOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	u, err := user.Lookup(superuser)
	if err != nil {
		return owner{}, fault.Wrap(err, fault.Unavailable,
			"Postgres refuses to run as root, and this machine has no user named postgres to run it; "+
				"install Postgres with .ci/setup.sh, run as an ordinary user, or set DATABASE_URL")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return owner{}, fmt.Errorf("uid of postgres: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return owner{}, fmt.Errorf("gid of postgres: %w", err)
	}
	return owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// mkdir makes a directory that only the owner can enter; it must not exist.
func (o owner) mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	if o.credential == nil {
		return nil
	}
	return os.Chown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// enters says whether the owner can enter a directory, by trying: parents, groups and access lists all count.
func (o owner) enters(dir string) (bool, error) {
	if o.credential == nil {
		return true, nil
	}
	cmd := exec.Command("/bin/true")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
	err := cmd.Run()
	if errors.Is(err, os.ErrPermission) {
		return false, nil
	}
	return err == nil, err
}

// makeDataDir gives the absolute path of the data directory, symbolic links followed. A new one can be listed by
// nobody else; as root, others may pass through it, so that the postgres user reaches its cluster.
func makeDataDir(dir string, o owner) (string, error) {
	mode := os.FileMode(0o700)
	if o.credential != nil {
		mode = 0o711
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(abs, mode)
	}
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "cannot make the data directory %s: %v", dir, err)
	}
	return abs, nil
}

// clusterDir gives the path of a data directory's cluster: its postgres folder or, where the owner cannot get
// there, a folder of its own under sharedHome that a symbolic link named postgres leads to.
func (o owner) clusterDir(dataDir string) (string, error) {
	dir := filepath.Join(dataDir, "postgres")
	if target, err := os.Readlink(dir); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(dataDir, target)
		}
		return target, os.MkdirAll(filepath.Dir(target), 0o711)
	}
	ok, err := o.enters(dataDir)
	if err != nil || ok {
		return dir, err
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", fault.New(fault.Unavailable,
			"%s holds a cluster, but the user postgres can no longer enter %s; let it pass (chmod o+x on each folder above it)", dir, dataDir)
	}
	if err := os.MkdirAll(sharedHome, 0o711); err != nil {
		return "", err
	}
	home, err := os.MkdirTemp(sharedHome, "data-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(home, 0o711); err != nil { // MkdirTemp's 0700 would keep postgres out
		return "", err
	}
	target := filepath.Join(home, "postgres")
	return target, os.Symlink(target, dir)
}
