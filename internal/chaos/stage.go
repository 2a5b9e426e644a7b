package chaos

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Harness is what the faults of a run share. Make it with Open, and Close it when done.
type Harness struct {
	cfg      Config
	dir      string
	postgres *syscall.Credential // whom Postgres runs as; nil: ourselves
	password string              // of the clusters' superuser
	version  string

	mu       sync.Mutex
	template string // a cluster to copy
}

// Open looks what there is to run, and makes a directory for it.
func Open(ctx context.Context, cfg Config) (*Harness, error) {
	if cfg.Patience == 0 {
		cfg.Patience = 1
	}
	h := &Harness{cfg: cfg, password: rand.Text()}
	var err error
	if h.postgres, err = postgresUser(); err != nil {
		return nil, err
	}
	if h.dir, err = os.MkdirTemp("", "context-manager-chaos-"); err != nil {
		return nil, err
	}
	if err = os.Chmod(h.dir, 0o711); err != nil { // Postgres, another user, passes through
		h.Close()
		return nil, err
	}
	if h.version, err = output(ctx, nil, filepath.Join(cfg.Postgres, "postgres"), "--version"); err != nil {
		h.Close()
		return nil, err
	}
	h.version = strings.TrimPrefix(h.version, "postgres (PostgreSQL) ")
	return h, nil
}

// Close removes the directory.
func (h *Harness) Close() { _ = os.RemoveAll(h.dir) }

// postgresUser gives the user that Postgres runs as: it refuses to be root.
func postgresUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("a user for Postgres, which refuses to be root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// stage is where one fault is made: its processes, and what was found.
type stage struct {
	*Harness
	fault scenario
	dir   string
	undo  []func()
	rows  []Row

	preload  map[string]string // environment of its clusters
	servers  []*server
	clusters []*cluster
}

func (h *Harness) newStage(f scenario) (*stage, error) {
	dir, err := os.MkdirTemp(h.dir, f.name+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, err
	}
	return &stage{Harness: h, fault: f, dir: dir}, nil
}

// later does something when the stage is cleared, the last first.
func (s *stage) later(f func()) { s.undo = append(s.undo, f) }

func (s *stage) close() {
	for len(s.undo) > 0 {
		last := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		last()
	}
	_ = os.RemoveAll(s.dir)
}

// words gives the last that the stage's processes said, to be told with an error.
func (s *stage) words() error {
	var all []error
	for _, v := range s.servers {
		if v.process != nil {
			all = append(all, fmt.Errorf("the server said: %s", v.process.output.last(6)))
		}
	}
	for _, c := range s.clusters {
		if c.process != nil {
			all = append(all, fmt.Errorf("and Postgres: %s", c.process.output.last(6)))
		}
	}
	return errors.Join(all...)
}

// folder makes a directory of Postgres' user.
func (s *stage) folder(name string) (string, error) {
	dir := filepath.Join(s.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, s.give(dir)
}

// give makes a file one of Postgres' user.
func (h *Harness) give(path string) error {
	if h.postgres == nil {
		return nil
	}
	return os.Chown(path, int(h.postgres.Uid), int(h.postgres.Gid))
}

// size gives a number by the size of the run.
func size[T any](s *stage, test, full T) T {
	if s.cfg.Full {
		return full
	}
	return test
}

// limit is how long something may take on this machine.
func (s *stage) limit(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.cfg.Patience)
}

// Ports for what is stopped and started again: below those that Linux gives to connections (32768 and up), of which one could
// take a server's port while it is down.
const firstPort, lastPort = 20_000, 32_000

// lastGiven is the port that was given last. It begins anywhere, for others run the same.
var lastGiven atomic.Int64

func init() { lastGiven.Store(time.Now().UnixNano()) }

// freePort gives a port of loopback that nobody listens on, and that it has not given before.
func freePort() (port int, err error) {
	for range lastPort - firstPort {
		port = firstPort + int(lastGiven.Add(1)%(lastPort-firstPort))
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// found adds a row that is not about time.
func (s *stage) found(done string, times int, must, measured string, ok bool, values map[string]float64) {
	s.rows = append(s.rows, Row{Fault: s.fault.name, Done: done, Times: times, Must: must, Measured: measured, OK: ok, Values: values})
	s.say("%s: must hold: %s; measured: %s; ok: %t", done, must, measured, ok)
}

// timed adds a row about how long something took: the longest of all times.
func (s *stage) timed(done, what string, took []time.Duration, limit time.Duration) {
	middle, longest := percentile(took, 0.5), percentile(took, 1)
	ok := len(took) > 0 && longest <= s.limit(limit)
	s.found(done, len(took), fmt.Sprintf("%s ≤ %s", what, limit), fmt.Sprintf("%s, %s at most", short(middle), short(longest)), ok,
		map[string]float64{"p50_ms": milliseconds(middle), "max_ms": milliseconds(longest)})
	s.rows[len(s.rows)-1].Timed = true
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// copyTree copies a directory with owners and modes.
func copyTree(ctx context.Context, from, to string) error {
	out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}

// timedAt adds a row about one time.
func (s *stage) timedAt(done string, times int, what string, took, limit time.Duration) {
	s.found(done, times, fmt.Sprintf("%s (%s)", what, limit), short(took)+" at most", took <= s.limit(limit),
		map[string]float64{"max_ms": milliseconds(took)})
	s.rows[len(s.rows)-1].Timed = true
}
