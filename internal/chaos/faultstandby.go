package chaos

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// promotedLimit is how soon a promoted standby must be written to.
const promotedLimit = 2 * time.Second

// promoteStandby kills a primary and promotes its synchronous standby, then makes a new standby of that, and so on. The
// server has both addresses.
func promoteStandby(ctx context.Context, s *stage) error {
	primary, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	standby, err := s.standbyOf(ctx, primary, port)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d,127.0.0.1:%d/%s?sslmode=disable&target_session_attrs=read-write",
		url.QueryEscape(s.password), primary.port, standby.port, database)
	scene, err := s.scene(ctx, address, varied)
	if err != nil {
		return err
	}
	return scene.disrupt(ctx, disruption{
		done: "primary SIGKILL, synchronous standby promoted after 0.5 s", times: size(s, 1, 20), hold: 500 * time.Millisecond, again: promotedLimit,
		begin: func(ctx context.Context) (err error) {
			if standby == nil { // not the first time
				if standby, err = s.standbyOf(ctx, primary, port); err != nil {
					return err
				}
			}
			primary.process.kill()
			port = primary.port
			return nil
		},
		end: func(ctx context.Context) error {
			if err := standby.exec(ctx, database, "SELECT pg_promote(true, 30)"); err != nil {
				return err
			}
			primary, standby = standby, nil
			return nil
		},
		database: func() string { return primary.url(database) },
	})
}

// standbyOf makes a standby, and lets the primary wait for it at every commit.
func (s *stage) standbyOf(ctx context.Context, primary *cluster, port int) (*cluster, error) {
	dir := filepath.Join(s.dir, fmt.Sprintf("postgres-%d", len(s.clusters)))
	if _, err := s.folder(filepath.Base(dir)); err != nil {
		return nil, err
	}
	if _, err := output(ctx, s.postgres, filepath.Join(s.cfg.Postgres, "pg_basebackup"), "-D", dir, "-X", "stream", "-R", "--no-sync",
		"--checkpoint=fast", "-d", primary.url("postgres")); err != nil {
		return nil, err
	}
	c, err := s.adopt(dir, nil)
	if err != nil {
		return nil, err
	}
	c.port = port
	// It waits for nobody, until it has a standby of its own.
	auto := filepath.Join(dir, "postgresql.auto.conf")
	text, err := os.ReadFile(auto)
	if err != nil {
		return nil, err
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "synchronous_standby_names") {
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(auto, []byte(strings.Join(kept, "")), 0o600); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	if err := primary.exec(ctx, "postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"); err != nil {
		return nil, err
	}
	conn, err := primary.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	_, err = until(ctx, startLimit, "the standby is synchronous", func() (ok bool) {
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync')").Scan(&ok)
		return err == nil && ok
	})
	return c, err
}
