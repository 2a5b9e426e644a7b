package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/fault"
)

const (
	pollEvery  = 20 * time.Millisecond  // between two looks at something that sends no signal
	retryEvery = 200 * time.Millisecond // between two starts that orphaned backends prevent
	patience   = 3                      // such starts, before the backends are ended the hard way
	maxLogSize = 16 << 20               // bytes; a longer log starts anew, the old one is kept once
)

// process is a program of Postgres that runs.
type process struct {
	cmd   *exec.Cmd
	log   string        // the file it prints to
	from  int64         // where in the file it began
	began chan error    // whether the program could be started
	done  chan struct{} // closed when the program has ended
	err   error         // how it ended; read after done
}

// spawn starts a program as the cluster's owner, printing to the cluster's log.
func (c *cluster) spawn(program, dir string, args []string) (*process, error) {
	if info, err := os.Stat(c.log); err == nil && info.Size() > maxLogSize {
		_ = os.Rename(c.log, c.log+".old")
	}
	out, err := os.OpenFile(c.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot open %s: %v", c.log, err)
	}
	defer func() { _ = out.Close() }() // the program has its own
	info, err := out.Stat()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.install.program(program), args...)
	cmd.Dir = dir
	cmd.Env = environment(os.Environ())
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = attributes(c.owner.credential)
	p := &process{cmd: cmd, log: c.log, from: info.Size(), began: make(chan error), done: make(chan struct{})}
	go p.run()
	if err := <-p.began; err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot start %s: %v", cmd.Path, err)
	}
	return p, nil
}

// run starts the program and waits for its end on one thread that does nothing else: the kernel's signal on our
// death (see attributes) comes when the thread that started the program ends, and Go ends threads as it likes
// unless a goroutine holds them.
func (p *process) run() {
	runtime.LockOSThread()
	err := p.cmd.Start()
	p.began <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
	close(p.done)
}

func (p *process) signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// stop ends Postgres by a fast shutdown, at once when ctx ends before that. It returns when it has ended.
func (p *process) stop(ctx context.Context) error {
	_ = p.signal(syscall.SIGINT) // fails only when it has ended
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	_ = p.signal(syscall.SIGQUIT)
	<-p.done
	return fault.Wrap(ctx.Err(), fault.Unavailable, "Postgres was stopped at once: it took too long")
}

// lastLine is the last thing the program printed.
func (p *process) lastLine() string {
	lines := strings.Split(strings.TrimSpace(p.printed()), "\n")
	return lines[len(lines)-1]
}

func (p *process) printed() string {
	text, err := os.ReadFile(p.log)
	if err != nil || int64(len(text)) < p.from {
		return ""
	}
	return string(text[p.from:])
}

// launch starts Postgres on the cluster and waits until it accepts connections. Backends that outlived a killed
// Postgres make it refuse; launch ends them, and tries again for as long as ctx lets it.
func (c *cluster) launch(ctx context.Context, socket socketDir) (*process, error) {
	for try := 1; ; try++ {
		p, err := c.spawn("postgres", c.dir, arguments(c.dir, c.install, socket, c.settings))
		if err != nil {
			return nil, err
		}
		err = p.ready(ctx, socket.url("postgres", superuser))
		if err == nil {
			return p, nil
		}
		if !strings.Contains(p.printed(), "is still in use") {
			return nil, errors.Join(err, p.stop(ctx))
		}
		c.endOrphans(try > patience)
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return nil, errors.Join(err, p.stop(ctx))
		}
	}
}

// clear waits until nothing is left of a Postgres that was killed.
func (c *cluster) clear(ctx context.Context) {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for len(processesOn(c.dir)) > 0 {
		c.endOrphans(ctx.Err() != nil)
		select {
		case <-poll.C:
		case <-ctx.Done():
			c.endOrphans(true)
			return
		}
	}
}

// endOrphans ends what is left of a Postgres that was killed. Nobody else may use the cluster, whose lock we hold, and
// what such a backend has not committed is lost in any case; but while it computes it does not see that.
func (c *cluster) endOrphans(hard bool) {
	signal := syscall.SIGQUIT // leave at once
	if hard {
		signal = syscall.SIGKILL
	}
	for _, pid := range processesOn(c.dir) {
		_ = syscall.Kill(pid, signal)
	}
}

// ready waits until Postgres accepts connections.
func (p *process) ready(ctx context.Context, url string) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		conn, err := pgconn.Connect(ctx, url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-p.done:
			return &startError{fault.Wrap(p.err, fault.Unavailable, "Postgres did not start: %s (see %s)", p.lastLine(), p.log), p.lastWords()}
		case <-ctx.Done():
			return fault.Wrap(errors.Join(ctx.Err(), err), fault.Unavailable, "Postgres is not ready yet (see %s)", p.log)
		case <-poll.C:
		}
	}
}

// ensureDatabase makes the server's database on first start.
func ensureDatabase(ctx context.Context, url string) error {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot connect to the private Postgres: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "CREATE DATABASE "+database).ReadAll()
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == duplicateDatabase {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make database %s: %w", database, err)
	}
	return nil
}

const duplicateDatabase = "42P04" // SQLSTATE

// environment drops the settings for Postgres' own programs (PGPORT, PGDATA, ...): they are not meant for this
// server.
func environment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		return strings.HasPrefix(s, "PG") || strings.HasPrefix(s, "LC_") || strings.HasPrefix(s, "LANG")
	})
}
