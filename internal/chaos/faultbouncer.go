package chaos

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// bouncer is a PgBouncer in transaction mode before a cluster.
type bouncer struct {
	s       *stage
	file    string
	url     string // of the log's database through it
	process *process
}

func (s *stage) bouncer(ctx context.Context, c *cluster) (*bouncer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := s.folder("pgbouncer")
	if err != nil {
		return nil, err
	}
	users := filepath.Join(dir, "users.txt")
	b := &bouncer{s: s, file: filepath.Join(dir, "pgbouncer.ini"),
		url: fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/%s?sslmode=disable", url.QueryEscape(s.password), port, database)}
	settings := fmt.Sprintf(`[databases]
%s = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
server_login_retry = 1
`, database, c.port, port, users)
	for name, text := range map[string]string{b.file: settings, users: fmt.Sprintf("%q %q\n", "postgres", s.password)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
		if err := s.give(name); err != nil {
			return nil, err
		}
	}
	s.later(func() { b.process.end(syscall.SIGTERM) })
	return b, b.start(ctx)
}

func (b *bouncer) start(ctx context.Context) error {
	cmd := exec.Command(lookPath("pgbouncer"), b.file)
	cmd.Dir = "/"
	cmd.Env = environment()
	var err error
	if b.process, err = launch(cmd, b.s.postgres); err != nil {
		return err
	}
	_, err = until(ctx, startLimit, "PgBouncer takes connections", func() bool {
		if b.process.ended() {
			return true
		}
		conn, err := pgx.Connect(ctx, b.url)
		if err == nil {
			_ = conn.Close(ctx)
		}
		return err == nil
	})
	if b.process.ended() {
		return fmt.Errorf("the end of PgBouncer: %v: %s", b.process.err, b.process.output.last(5))
	}
	return err
}

// pooled puts PgBouncer between the server and Postgres, and kills each of the three.
func pooled(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	b, err := s.bouncer(ctx, c)
	if err != nil {
		return err
	}
	scene, err := s.scene(ctx, b.url, usual)
	if err != nil {
		return err
	}
	direct := func() string { return c.url(database) }
	nothing := func(context.Context) error { return nil }
	for _, d := range []disruption{
		{done: "PgBouncer in transaction mode, 2 s without a fault", hold: 2 * time.Second, begin: nothing, end: nothing},
		{done: "PgBouncer SIGKILL, started after 1 s", hold: time.Second,
			begin: func(context.Context) error { b.process.kill(); return nil }, end: b.start},
		{done: "Postgres stopped at once behind PgBouncer, started after 1 s", hold: time.Second,
			begin: func(context.Context) error { c.stop(); return nil }, end: c.again},
	} {
		d.times, d.again, d.database = size(s, 1, 10), writingLimit, direct
		if err := scene.disrupt(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", d.done, err)
		}
	}
	var sum verdict
	var ready []time.Duration
	times := size(s, 2, 20)
	for range times {
		if _, err := scene.crew.writing(ctx, time.Now(), startLimit); err != nil {
			return err
		}
		scene.server.process.kill()
		took, err := scene.server.start(ctx)
		if err != nil {
			return err
		}
		ready = append(ready, took)
		if err := scene.crew.check(ctx, scene.observer, direct(), &sum); err != nil {
			return err
		}
	}
	done := "the server SIGKILL before PgBouncer"
	s.nothingLost(done, times, &sum, scene.observer)
	s.timed(done, "ready after the start", ready, readyLimit)
	return nil
}
