package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// cluster is one Postgres data directory, complete and of the install's major version. Only the holder of the
// data directory's lock may have one.
type cluster struct {
	dir     string // absolute, symbolic links followed
	log     string // what Postgres prints
	install install
	owner   owner

	settings map[string]string // Config.Settings
}

// openCluster gives the data directory's cluster, made on first use.
func openCluster(ctx context.Context, dataDir string, o owner, cfg Config) (*cluster, error) {
	dir, err := o.clusterDir(dataDir)
	if err != nil {
		return nil, fmt.Errorf("place of the cluster: %w", err)
	}
	if filepath.Dir(dir) != dataDir {
		cfg.Log.InfoContext(ctx, "the postgres user cannot enter the data directory: its cluster lives elsewhere", "cluster", dir)
	}
	c := &cluster{dir: dir, log: filepath.Join(dataDir, "postgres.log"), owner: o, settings: cfg.Settings}
	major, err := c.major()
	if err != nil {
		return nil, err
	}
	if c.install, err = findInstall(ctx, major); err != nil {
		return nil, err
	}
	if major == 0 {
		cfg.Log.InfoContext(ctx, "making a Postgres cluster", "version", c.install.version, "data", dir)
		err = c.create(ctx)
	}
	return c, err
}

// major is the cluster's version, 0 if there is no cluster yet.
func (c *cluster) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "PG_VERSION"))
	if err == nil {
		return strconv.Atoi(strings.TrimSpace(string(text)))
	}
	entries, err := os.ReadDir(c.dir)
	if len(entries) > 0 {
		return 0, fault.New(fault.Unavailable, "%s is neither empty nor a Postgres cluster; choose another DATA_DIR", c.dir)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fault.Wrap(err, fault.Unavailable, "cannot read %s: %v", c.dir, err)
	}
	return 0, nil
}

// create runs initdb beside the cluster's place and moves the result there once it is whole, so that an
// interrupted initdb leaves nothing that looks like a cluster.
func (c *cluster) create(ctx context.Context) error {
	parent := filepath.Dir(c.dir)
	fresh := filepath.Join(parent, "initdb-"+rand.Text())
	if err := c.owner.mkdir(fresh); err != nil {
		return fmt.Errorf("make the cluster's directory: %w", err)
	}
	args := []string{
		"-D", fresh, "-U", superuser, "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums",
		"--auth-local=trust", "--auth-host=reject", // whoever can enter the socket's directory is the owner or root
	}
	if c.settings["fsync"] == "off" {
		args = append(args, "--no-sync")
	}
	p, err := c.spawn("initdb", fresh, args)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		_ = p.signal(syscall.SIGKILL)
		<-p.done
		return fault.Wrap(ctx.Err(), fault.Unavailable, "initdb was interrupted")
	}
	if p.err != nil {
		return fault.Wrap(p.err, fault.Unavailable, "initdb failed: %s (see %s)", p.lastLine(), c.log)
	}
	if err := os.Rename(fresh, c.dir); err != nil {
		return fmt.Errorf("move the new cluster into place: %w", err)
	}
	clearHalfMade(ctx, parent)
	return syncDir(parent)
}

// clearHalfMade removes what an interrupted initdb left. Just killed, it still writes and clears up itself for a
// moment, so that takes a few tries; what stays in the end takes room, no more.
func clearHalfMade(ctx context.Context, parent string) {
	const tries, pause = 100, 50 * time.Millisecond
	for range tries {
		halfMade, _ := filepath.Glob(filepath.Join(parent, "initdb-*")) // the only error is a bad pattern
		if len(halfMade) == 0 {
			return
		}
		for _, dir := range halfMade {
			_ = os.RemoveAll(dir)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// evict sees to it that no Postgres of an earlier server runs on the cluster, and that postmaster.pid does not
// keep ours from starting. It waits for as long as ctx lets it.
func (c *cluster) evict(ctx context.Context) error {
	path := filepath.Join(c.dir, "postmaster.pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot read %s: %v", path, err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 || !isAlive(pid) {
		return clearPID(path, rest)
	}
	if !isPostmaster(pid, c.dir) {
		return clearPID(path, rest) // the number has gone to another program
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fault.Wrap(err, fault.Unavailable, "Postgres (process %d) still runs on %s and cannot be stopped: %v", pid, c.dir, err)
	}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for isAlive(pid) && isPostmaster(pid, c.dir) {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fault.Wrap(ctx.Err(), fault.Unavailable, "Postgres (process %d) of an earlier server is still stopping on %s", pid, c.dir)
		}
	}
	return nil
}

// clearPID makes a left-behind postmaster.pid harmless. Postgres refuses to start while the process in its first
// line lives, even if that number has gone to another program; but the rest of the file is how it finds out
// whether orphaned backends still use the shared memory, so the file must stay. Our own number is right: Postgres
// knows that its parent is no Postgres.
func clearPID(path, rest string) error {
	if rest == "" {
		return os.Remove(path) // it was cut off while being written: there are no backends yet
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // in place: the owner stays the same
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot write %s: %v", path, err)
	}
	text := fmt.Appendf(nil, "%d\n%s", os.Getpid(), rest)
	_, err = f.WriteAt(text, 0) // over what is there, and cut off after: a full disk must not leave it empty
	if err == nil {
		err = f.Truncate(int64(len(text)))
	}
	return errors.Join(err, f.Close())
}

func isAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
