package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// disk is a small file system in memory, which a ballast can fill.
type disk struct{ dir string }

// mount makes a disk of Postgres' user.
func (s *stage) mount(ctx context.Context, name string, megabytes int) (*disk, error) {
	dir, err := s.folder(name)
	if err != nil {
		return nil, err
	}
	uid, gid := os.Getuid(), os.Getgid()
	if s.postgres != nil {
		uid, gid = int(s.postgres.Uid), int(s.postgres.Gid)
	}
	options := fmt.Sprintf("size=%dm,mode=0700,uid=%d,gid=%d", megabytes, uid, gid)
	line := asRoot("mount", "-t", "tmpfs", "-o", options, "context-manager-chaos", dir)
	if _, err := output(ctx, nil, line[0], line[1:]...); err != nil {
		return nil, err
	}
	s.later(func() {
		line := asRoot("umount", "-l", dir)
		_, _ = output(context.Background(), nil, line[0], line[1:]...)
	})
	return &disk{dir}, nil
}

func (d *disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill takes all the room that is left.
func (d *disk) fill() error {
	f, err := os.Create(d.ballast())
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, endless{})
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk does not get full: %w", err)
	}
	return nil
}

// endless gives zeros.
type endless struct{}

// Read fills p.
func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// clear gives the room back.
func (d *disk) clear() error { return os.Remove(d.ballast()) }

// fullDisk fills the disk that tables are on, and then the one of the WAL.
func fullDisk(ctx context.Context, s *stage) error {
	if err := s.fullTables(ctx); err != nil {
		return err
	}
	return s.fullWAL(ctx)
}

// large makes a disk full soon.
var large = load{writers: 8, readers: 2, hot: 3, think: 2 * time.Millisecond, bytes: 8000}

func (s *stage) fullTables(ctx context.Context) error {
	d, err := s.mount(ctx, "tables", size(s, 400, 2000))
	if err != nil {
		return err
	}
	c, err := s.clusterAt(ctx, filepath.Join(d.dir, "postgres"), nil)
	if err != nil {
		return err
	}
	// The WAL is elsewhere.
	wal := filepath.Join(s.dir, "wal")
	if err := copyTree(ctx, filepath.Join(c.dir, "pg_wal"), wal); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, "pg_wal")); err != nil {
		return err
	}
	if err := os.Symlink(wal, filepath.Join(c.dir, "pg_wal")); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	scene, err := s.scene(ctx, c.url(database), large)
	if err != nil {
		return err
	}
	var began time.Time
	return scene.disrupt(ctx, disruption{
		done: "the disk of the tables is full for 3 s", times: size(s, 1, 10), hold: 3 * time.Second, again: writingLimit, reads: true,
		begin: func(context.Context) error { began = time.Now(); return d.fill() },
		end:   func(ctx context.Context) error { return errors.Join(scene.refused(ctx, began), d.clear()) },
	})
}

// refused waits until something was refused since a time: only then was the fault one.
func (s *scene) refused(ctx context.Context, since time.Time) error {
	if _, err := until(ctx, startLimit, "a message is refused", func() bool {
		return count(s.crew.writes.since(since), unavailable, internal) > 0
	}); err != nil {
		return fmt.Errorf("the fault made no difference: %w: %s", err, tally(s.crew.writes.since(since)))
	}
	return nil
}

func (s *stage) fullWAL(ctx context.Context) error {
	c, err := s.newCluster(ctx, map[string]string{"min_wal_size": "32MB", "max_wal_size": "64MB", "wal_recycle": "off"})
	if err != nil {
		return err
	}
	d, err := s.mount(ctx, "wal-disk", 256)
	if err != nil {
		return err
	}
	wal := filepath.Join(c.dir, "pg_wal")
	if err := copyTree(ctx, wal, filepath.Join(d.dir, "wal")); err != nil {
		return err
	}
	if err := os.RemoveAll(wal); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(d.dir, "wal"), wal); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	release := c.keep(ctx)
	defer release()
	scene, err := s.scene(ctx, c.url(database), large)
	if err != nil {
		return err
	}
	hold := 4 * time.Second
	var began time.Time
	return scene.disrupt(ctx, disruption{
		done:  "the disk of the WAL is full for " + strconv.Itoa(int(hold.Seconds())) + " s; Postgres is started whenever it ends",
		times: size(s, 1, 10), hold: hold, again: writingLimit,
		begin: func(ctx context.Context) error {
			// Once the disk is full, Postgres may end before anybody gets in.
			conn, err := c.connect(ctx)
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			began = time.Now()
			return errors.Join(d.fill(), exhaustWAL(ctx, conn))
		},
		end: func(ctx context.Context) error { return errors.Join(scene.refused(ctx, began), d.clear()) },
	})
}

// exhaustWAL writes to the WAL until that fails: the segments that Postgres has are used up then.
func exhaustWAL(ctx context.Context, conn *pgx.Conn) error {
	for range 1000 {
		if _, err := conn.Exec(ctx, "SELECT pg_logical_emit_message(false, 'chaos', repeat('x', 1000000))"); err != nil {
			return ctx.Err()
		}
	}
	return errors.New("the WAL does not get full")
}
