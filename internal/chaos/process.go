package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endPatience is how long a process may take to end in order before it is killed.
const endPatience = 20 * time.Second

// process is a program that the harness runs. It is in a group of its own, so that Ctrl-C reaches the harness alone,
// and is killed if the harness dies.
type process struct {
	cmd    *exec.Cmd
	output *tail
	done   chan struct{} // closed when it has ended
	err    error         // how it ended; read after done
}

// launch starts a program.
func launch(cmd *exec.Cmd, user *syscall.Credential) (*process, error) {
	p := &process{cmd: cmd, output: &tail{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.SysProcAttr = attributes(user)
	began := make(chan error)
	go func() {
		// The signal on our death comes when the thread that started the program ends, which must not be before us.
		runtime.LockOSThread()
		err := cmd.Start()
		began <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		close(p.done)
	}()
	if err := <-began; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) } // fails only if it has ended

// kill ends it at once.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// end asks it to end, by a signal, and kills it if it does not.
func (p *process) end(s syscall.Signal) {
	p.signal(s)
	select {
	case <-p.done:
	case <-time.After(endPatience):
		p.kill()
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// tail keeps the last of what a program prints. Safe for concurrent use.
type tail struct {
	mu     sync.Mutex
	text   []byte
	defect string // the first line that tells of an INTERNAL error
	panics int    // of Postgres
}

// maxTail is how much is kept.
const maxTail = 64 << 10

// Write adds.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.panics += bytes.Count(p, []byte(" PANIC:  "))
	if t.defect == "" {
		for line := range bytes.Lines(p) {
			if bytes.Contains(line, []byte("level=ERROR")) {
				t.defect = strings.TrimSpace(string(line))
				break
			}
		}
	}
	if len(t.text) > 2*maxTail {
		t.text = bytes.Clone(t.text[len(t.text)-maxTail:])
	}
	return len(p), nil
}

// String gives what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// panicked tells how often Postgres gave up.
func (t *tail) panicked() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.panics
}

// internal gives the first defect that a server told.
func (t *tail) internal() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.defect
}

// last gives the last lines.
func (t *tail) last(n int) string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// output runs a program to its end.
func output(ctx context.Context, user *syscall.Credential, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	p, err := launch(cmd, user)
	if err != nil {
		return "", err
	}
	<-p.done
	if p.err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), p.err, p.output.last(5))
	}
	return strings.TrimSpace(p.output.String()), nil
}

// asRoot gives the command line of a program that has to run as root: through sudo, if we are somebody else.
func asRoot(name string, args ...string) []string {
	line := append([]string{lookPath(name)}, args...)
	if os.Geteuid() != 0 {
		line = append([]string{"sudo", "-n"}, line...)
	}
	return line
}

// lookPath finds a program, also where only root's path leads; "" if it is not there.
func lookPath(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

// pollEvery is the time between two looks at what tells nobody.
const pollEvery = 5 * time.Millisecond

// errLate is what did not happen in time.
var errLate = errors.New("not in time")

// until looks again and again, until something has happened. It gives how long that took.
func until(ctx context.Context, limit time.Duration, what string, happened func() bool) (time.Duration, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for !happened() {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return time.Since(began), fmt.Errorf("%s: %w (%s)", what, errLate, limit)
		}
	}
	return time.Since(began), nil
}

// pause waits for a while, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// files counts the descriptors that a process has open.
func files(pid int) int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries)
}

// children lists the processes that a process has started and that have not ended.
func children(pid int) (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, field := range strings.Fields(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// gone tells whether a process has ended, be it that nobody has asked how yet.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
