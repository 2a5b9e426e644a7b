package chaos

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// startLimit is how long a process may take until it serves, recovery included.
const startLimit = time.Minute

// database is the log's, in each cluster.
const database = "chaos"

// cluster is a Postgres of a stage, on a port of loopback.
type cluster struct {
	s        *stage
	dir      string
	port     int
	settings map[string]string
	process  *process
}

// newCluster makes a cluster by copying the run's template. It does not start it.
func (s *stage) newCluster(ctx context.Context, settings map[string]string) (*cluster, error) {
	return s.clusterAt(ctx, filepath.Join(s.dir, fmt.Sprintf("postgres-%d", len(s.clusters))), settings)
}

func (s *stage) clusterAt(ctx context.Context, dir string, settings map[string]string) (*cluster, error) {
	template, err := s.clusterTemplate(ctx)
	if err != nil {
		return nil, err
	}
	if err := copyTree(ctx, template, dir); err != nil {
		return nil, err
	}
	return s.adopt(dir, settings)
}

// adopt takes a cluster that is there.
func (s *stage) adopt(dir string, settings map[string]string) (*cluster, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	c := &cluster{s: s, dir: dir, port: port, settings: settings}
	s.clusters = append(s.clusters, c)
	return c, nil
}

// started makes a cluster and starts it.
func (s *stage) started(ctx context.Context, settings map[string]string) (*cluster, error) {
	c, err := s.newCluster(ctx, settings)
	if err != nil {
		return nil, err
	}
	return c, c.start(ctx)
}

// clusterTemplate gives a new cluster with an empty database, made once a run.
func (h *Harness) clusterTemplate(ctx context.Context) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.template != "" {
		return h.template, nil
	}
	s := &stage{Harness: h, dir: h.dir}
	dir, err := s.folder("template")
	if err != nil {
		return "", err
	}
	secret := filepath.Join(h.dir, "password")
	if err := os.WriteFile(secret, []byte(h.password), 0o600); err != nil {
		return "", err
	}
	if err := h.give(secret); err != nil {
		return "", err
	}
	if _, err := output(ctx, h.postgres, filepath.Join(h.cfg.Postgres, "initdb"), "-D", dir, "-U", "postgres", "-E", "UTF8",
		"--locale=C.UTF-8", "--data-checksums", "--auth=scram-sha-256", "--pwfile="+secret, "--no-sync"); err != nil {
		return "", err
	}
	c, err := s.adopt(dir, nil)
	if err != nil {
		return "", err
	}
	err = c.start(ctx)
	defer c.stop() // it has ended, if all went well
	if err != nil {
		return "", err
	}
	err = c.exec(ctx, "postgres", "CREATE DATABASE "+database)
	c.process.end(syscall.SIGINT)
	if err != nil {
		return "", err
	}
	h.template = dir
	return dir, nil
}

// start starts it and waits until it takes connections.
func (c *cluster) start(ctx context.Context) error {
	if err := c.launch(); err != nil {
		return err
	}
	return c.serving(ctx, startLimit)
}

// launch starts it and does not wait.
func (c *cluster) launch() error {
	settings := map[string]string{
		"listen_addresses": "127.0.0.1", "port": strconv.Itoa(c.port), "unix_socket_directories": "", "max_connections": "100",
		"shared_buffers": "64MB", "timezone": "UTC", "log_timezone": "UTC", "lc_messages": "C", "wal_level": "replica",
		"max_wal_senders": "4", "max_wal_size": "1GB", "log_checkpoints": "off",
	}
	maps.Copy(settings, c.settings)
	args := []string{"-D", c.dir}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	cmd := exec.Command(filepath.Join(c.s.cfg.Postgres, "postgres"), args...)
	cmd.Dir = c.dir
	cmd.Env = environment()
	for name, value := range c.s.preload {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	p, err := launch(cmd, c.s.postgres)
	if err != nil {
		return err
	}
	if c.process == nil {
		c.s.later(c.stop)
	}
	c.process = p
	return nil
}

// environment is ours without what means Postgres, or the server's settings.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "PG") || strings.HasPrefix(s, "LC_") || strings.HasPrefix(s, "LANG")
	})
}

// stop ends it at once. Its processes that outlive it end by themselves.
func (c *cluster) stop() {
	if c.process != nil {
		c.process.end(syscall.SIGQUIT)
	}
}

// serving waits until it takes connections.
func (c *cluster) serving(ctx context.Context, limit time.Duration) error {
	var last error
	_, err := until(ctx, limit, "Postgres takes connections", func() bool {
		if c.process.ended() {
			return true
		}
		var conn *pgx.Conn
		if conn, last = pgx.Connect(ctx, c.url("postgres")); last == nil {
			_ = conn.Close(ctx)
		}
		return last == nil
	})
	if c.process.ended() {
		return fmt.Errorf("the end of Postgres: %v: %s", c.process.err, c.process.output.last(5))
	}
	if err != nil {
		return fmt.Errorf("%w: %v", err, last)
	}
	return nil
}

// keep starts it again whenever it has ended, as a service manager does, until the stage is cleared or the release is
// called.
func (c *cluster) keep(ctx context.Context) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-c.process.done:
			case <-ctx.Done():
				return
			}
			if pause(ctx, 500*time.Millisecond) != nil || c.launch() != nil {
				return
			}
		}
	}()
	release = func() { cancel(); <-done }
	c.s.later(release)
	return release
}

// url is the address of a database of it, as its superuser.
func (c *cluster) url(name string) string {
	return fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/%s?sslmode=disable", url.QueryEscape(c.s.password), c.port, name)
}

// connect gives a connection to the log's database.
func (c *cluster) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, c.url(database))
}

// exec runs statements, each by itself.
func (c *cluster) exec(ctx context.Context, name string, statements ...string) error {
	conn, err := pgx.Connect(ctx, c.url(name))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// backends lists the processes of a cluster that the postmaster has started.
func (c *cluster) backends() []int { return children(c.process.pid()) }
