package chaos

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usual is the load of most faults.
var usual = load{writers: 8, readers: 2, hot: 3, think: 2 * time.Millisecond}

// varied is the usual load with deeds: see doer.
var varied = load{writers: 8, readers: 2, hot: 3, think: 2 * time.Millisecond, deeds: true}

// writingLimit is how soon writing must go on once the cause of a fault of the database is gone.
const writingLimit = 5 * time.Second

// killPostgres kills a Postgres that is not the server's own: at once, and as pg_ctl stop -m immediate does.
func killPostgres(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	scene, err := s.scene(ctx, c.url(database), varied)
	if err != nil {
		return err
	}
	restart := func(ctx context.Context) error { return c.again(ctx) }
	if err := scene.disrupt(ctx, disruption{
		done: "postmaster SIGKILL, started after 1 s", times: size(s, 1, 20), hold: time.Second, again: writingLimit,
		begin: func(context.Context) error { c.process.kill(); return nil }, end: restart,
	}); err != nil {
		return err
	}
	return scene.disrupt(ctx, disruption{
		done: "pg_ctl stop -m immediate, started after 1 s", times: size(s, 1, 20), hold: time.Second, again: writingLimit,
		begin: func(ctx context.Context) error {
			_, err := output(ctx, s.postgres, filepath.Join(s.cfg.Postgres, "pg_ctl"), "stop", "-m", "immediate", "-D", c.dir)
			return err
		},
		end: restart,
	})
}

// again starts a cluster whose process has ended. Backends of it that live on for a moment make it refuse, so that
// takes some tries, as it does a service manager.
func (c *cluster) again(ctx context.Context) error {
	<-c.process.done
	if err := c.launch(); err != nil {
		return err
	}
	go func() {
		for range 100 {
			select {
			case <-c.process.done:
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
				return
			}
			if !strings.Contains(c.process.output.String(), "is still in use") || pause(ctx, 100*time.Millisecond) != nil || c.launch() != nil {
				return
			}
		}
	}()
	return nil
}

// killPrivatePostgres kills the server's own Postgres, which the server has to start again.
func killPrivatePostgres(ctx context.Context, s *stage) error {
	scene, err := s.scene(ctx, "", varied)
	if err != nil {
		return err
	}
	kill := func(by syscall.Signal) func(context.Context) error {
		return func(ctx context.Context) error {
			text, err := os.ReadFile(filepath.Join(scene.server.dataDir, "postgres", "postmaster.pid"))
			if err != nil {
				return err
			}
			first, _, _ := strings.Cut(string(text), "\n")
			pid, err := strconv.Atoi(first)
			if err != nil {
				return err
			}
			all := append(children(pid), pid)
			if err := syscall.Kill(pid, by); err != nil {
				return err
			}
			// A backend that does not know yet may answer once more: that is not writing again.
			_, err = until(ctx, writingLimit, "the server's own Postgres ends", func() bool {
				return !slices.ContainsFunc(all, func(pid int) bool { return !gone(pid) })
			})
			return err
		}
	}
	nothing := func(context.Context) error { return nil }
	if err := scene.disrupt(ctx, disruption{
		done: "the server's own postmaster SIGKILL", times: size(s, 1, 20), begin: kill(syscall.SIGKILL), end: nothing, again: writingLimit,
	}); err != nil {
		return err
	}
	return scene.disrupt(ctx, disruption{
		done: "the server's own Postgres stopped at once", times: size(s, 1, 20), begin: kill(syscall.SIGQUIT), end: nothing, again: writingLimit,
	})
}

// injection is strace that makes system calls of processes fail.
type injection struct{ process *process }

// inject lets fdatasync and fsync fail with EIO in processes; with follow in their later children, too.
func (s *stage) inject(pids []int, follow bool) (*injection, error) {
	args := []string{"-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync,sync_file_range", "-e", "inject=fdatasync,fsync:error=EIO"}
	if follow {
		args = append(args, "-f")
	}
	for _, pid := range pids {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	line := asRoot("strace", args...)
	p, err := launch(exec.Command(line[0], line[1:]...), nil)
	if err != nil {
		return nil, err
	}
	s.later(func() { p.end(syscall.SIGTERM) })
	return &injection{p}, nil
}

func (i *injection) stop() { i.process.end(syscall.SIGTERM) } // it lets its processes go

// failingDisk lets fdatasync fail. Postgres must not believe what it wrote then: it ends itself and recovers.
func failingDisk(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	scene, err := s.scene(ctx, c.url(database), varied)
	if err != nil {
		return err
	}
	var eio *injection
	var release func()
	var said *tail
	var before int
	begin := func(pids []int, follow bool) (err error) {
		said = c.process.output
		before = said.panicked()
		eio, err = s.inject(pids, follow)
		return err
	}
	panicked := func() error {
		if said.panicked() == before {
			return fmt.Errorf("no Postgres failed by EIO: %s %s", eio.process.output.last(3), said.last(3))
		}
		return nil
	}
	if err := scene.disrupt(ctx, disruption{
		done: "EIO on fdatasync in every backend; Postgres recovers by itself", times: size(s, 1, 20), hold: time.Second, again: writingLimit,
		begin: func(context.Context) error { return begin(c.backends(), false) },
		end:   func(context.Context) error { eio.stop(); return panicked() },
	}); err != nil {
		return err
	}
	return scene.disrupt(ctx, disruption{
		done: "EIO on every fdatasync for 3 s, in recovery too; Postgres is started once it ended", times: size(s, 1, 10), hold: 3 * time.Second,
		again: writingLimit,
		begin: func(context.Context) error {
			if release != nil {
				release()
			}
			return begin(append(c.backends(), c.process.pid()), true)
		},
		end: func(ctx context.Context) error {
			eio.stop()
			release = c.keep(ctx) // it may still be ending
			return panicked()
		},
	})
}
