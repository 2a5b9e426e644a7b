// Package local runs the private Postgres that the server starts when it is not given a database: it finds the
// programs, makes the cluster, starts it on a Unix socket that only this user can reach, starts it again when it ends
// unasked, and stops it with the server. It survives what a killed server leaves behind. It never listens on TCP,
// never touches a cluster it did not make, and knows nothing of what is kept in the database.
package local

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/tzzr/context-manager/internal/fault"
)

const (
	superuser = "postgres"        // the cluster's superuser, also where the server itself runs as an ordinary user
	database  = "context_manager" // the database that URL names; made on first start
	port      = "5432"            // part of the socket's name only
)

// Config says where the private Postgres keeps its data, and how it runs.
type Config struct {
	// DataDir holds the cluster (postgres/), its log (postgres.log), its socket and postgres.url. Made if missing.
	DataDir string
	// Log gets one line a step. Required.
	Log *slog.Logger
	// Settings are Postgres settings that replace the package's own, as in {"fsync": "off"} for tests.
	Settings map[string]string
}

// Server is a running private Postgres. It is safe for concurrent use.
type Server struct {
	dataDir string
	cluster *cluster
	owner   owner
	socket  socketDir
	lock    *os.File // held from Start until Stop: one server a data directory
	log     *slog.Logger
	stopped sync.Once

	end  context.CancelFunc // of supervision
	done chan struct{}      // closed when that has ended

	mu      sync.Mutex
	process *process // the last one that accepted connections
	problem error    // why there is no Postgres; nil while there is
}

// Start gives a Postgres that accepts connections, with the database of URL in it. It makes the cluster on first
// use, stops what a killed server left running, and lets Postgres recover from a crash, which may take a while:
// ctx bounds the wait, not the life of Postgres. Errors are UNAVAILABLE and say what to do; a data directory in
// use by another live server is a CONFLICT.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	owner, err := currentOwner()
	if err != nil {
		return nil, err
	}
	dataDir, err := makeDataDir(cfg.DataDir, owner)
	if err != nil {
		return nil, err
	}
	lock, err := lockDataDir(dataDir)
	if err != nil {
		return nil, err
	}
	s := &Server{dataDir: dataDir, owner: owner, lock: lock, log: cfg.Log, done: make(chan struct{})}
	if err := s.start(ctx, cfg); err != nil {
		s.release()
		return nil, err
	}
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	go s.supervise(run)
	return s, nil
}

func (s *Server) start(ctx context.Context, cfg Config) (err error) {
	if s.cluster, err = openCluster(ctx, s.dataDir, s.owner, cfg); err != nil {
		return err
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	if err := s.publish(ctx); err != nil {
		return errors.Join(err, s.process.stop(ctx))
	}
	cfg.Log.InfoContext(ctx, "private Postgres started", "version", s.cluster.install.version, "data", s.cluster.dir, "socket", s.socket.path)
	return nil
}

// launch starts Postgres, once nothing of an earlier one is left.
func (s *Server) launch(ctx context.Context) error {
	if err := s.cluster.evict(ctx); err != nil {
		return err
	}
	socket, err := makeSocketDir(s.cluster.dir, s.owner)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.socket = socket // the same place each time
	s.mu.Unlock()
	p, err := s.cluster.launch(ctx, socket)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.problem = p, nil
	return nil
}

// publish makes the database and writes postgres.url, for psql and other programs of the same user.
func (s *Server) publish(ctx context.Context) error {
	if err := ensureDatabase(ctx, s.socket.url("postgres", superuser)); err != nil {
		return err
	}
	path := s.urlFile()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fault.Wrap(err, fault.Unavailable, "cannot replace %s: %v", path, err)
	}
	if err := os.WriteFile(path, []byte(s.URL()+"\n"), 0o600); err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot write %s: %v", path, err)
	}
	return nil
}

// URL is the connection string of the server's database, as superuser; libpq and pgx both read it.
func (s *Server) URL() string { return s.URLAs(superuser) }

// URLAs is the same as another role of the database, which has to be there.
func (s *Server) URLAs(role string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.socket.url(database, role)
}

// Problem says, as UNAVAILABLE and in words for whoever runs the server, why there is no Postgres at the moment; nil
// while there is one.
func (s *Server) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Stop disconnects all clients, writes a checkpoint and ends Postgres; when ctx ends first, it ends Postgres at
// once, which loses nothing that was committed but makes the next start recover. When Stop returns, no process is
// left and the data directory is free. Later calls do nothing.
func (s *Server) Stop(ctx context.Context) error {
	var err error
	s.stopped.Do(func() {
		s.end()
		<-s.done
		err = s.process.stop(ctx)
		s.cluster.clear(ctx)
		s.release()
	})
	return err
}

func (s *Server) release() {
	_ = os.Remove(s.urlFile())
	s.socket.remove()
	// Closing alone would not do while a program that is just being started still has a copy of the file.
	_ = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_UN)
	_ = s.lock.Close()
}

func (s *Server) urlFile() string { return filepath.Join(s.dataDir, "postgres.url") }

// url is the connection string of one database behind the socket.
func (d socketDir) url(name, role string) string {
	q := url.Values{"host": {d.path}, "port": {port}, "user": {role}}
	return (&url.URL{Scheme: "postgres", Path: "/" + name, RawQuery: q.Encode()}).String()
}

// lockDataDir takes the data directory for this process until the file is closed or the process ends, however it
// ends: the kernel gives the lock back.
func lockDataDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot open %s: %v", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fault.Wrap(err, fault.Conflict,
			"the data directory %s is in use by another context manager; stop it, or give this one its own DATA_DIR", dir)
	}
	return f, nil
}
