package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a context manager of a stage. It keeps its port when it is started again.
type server struct {
	s        *stage
	program  string
	dataDir  string
	addr     string // host:port
	settings []string
	database string // its DATABASE_URL; none: its own Postgres
	process  *process
	token    string
}

// newServer prepares a server of a database; of a private Postgres if that is empty. It does not start it.
func (s *stage) newServer(database string, settings ...string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	v := &server{
		s: s, program: s.cfg.Program, dataDir: filepath.Join(s.dir, fmt.Sprintf("server-%d", len(s.servers))),
		addr: fmt.Sprintf("127.0.0.1:%d", port), database: database, settings: settings,
	}
	s.servers = append(s.servers, v)
	return v, nil
}

// serve prepares a server, starts it and waits until it is ready.
func (s *stage) serve(ctx context.Context, database string, settings ...string) (*server, error) {
	v, err := s.newServer(database, settings...)
	if err != nil {
		return nil, err
	}
	_, err = v.start(ctx)
	return v, err
}

// start starts it, waits until it is ready, and gives how long that took.
func (v *server) start(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if err := v.launch(); err != nil {
		return 0, err
	}
	if err := v.ready(ctx, startLimit); err != nil {
		return time.Since(began), err
	}
	took := time.Since(began)
	if v.token == "" {
		text, err := os.ReadFile(filepath.Join(v.dataDir, "admin.token"))
		if err != nil {
			return took, err
		}
		v.token = strings.TrimSpace(string(text))
	}
	return took, nil
}

func (v *server) launch() error {
	cmd := exec.Command(v.program, "serve")
	cmd.Env = append(environment(), "DATA_DIR="+v.dataDir, "ADDR="+v.addr, "DATABASE_URL="+v.database, "DEMO=", "CORS_ORIGINS=",
		"EMBEDDINGS_URL=", "LLM_URL=", "WITNESSES=", "LOG_KEY=")
	cmd.Env = append(cmd.Env, v.settings...)
	p, err := launch(cmd, nil)
	if err != nil {
		return err
	}
	if v.process == nil {
		v.s.later(func() { v.process.end(syscall.SIGTERM) })
	}
	v.process = p
	return nil
}

// ready waits until it can serve.
func (v *server) ready(ctx context.Context, limit time.Duration) error {
	said := ""
	_, err := until(ctx, limit, "the server is ready", func() bool {
		if v.process.ended() {
			return true
		}
		status, text := v.get(ctx, "/readyz", time.Second)
		said = text
		return status == http.StatusOK
	})
	if v.process.ended() {
		return fmt.Errorf("the server ended: %v: %s", v.process.err, v.process.output.last(5))
	}
	if err != nil {
		return fmt.Errorf("%w: /readyz says %q", err, said)
	}
	return nil
}

// get gives the status and the text of a page; status 0 if there is no answer in time.
func (v *server) get(ctx context.Context, path string, limit time.Duration) (int, string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.addr+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

// metric reads a number of /metrics.
func (v *server) metric(ctx context.Context, name string) (float64, error) {
	status, text := v.get(ctx, "/metrics", 10*time.Second)
	value, err := metricOf(text, name)
	if err != nil {
		return 0, fmt.Errorf("/metrics answers %d: %w", status, err)
	}
	return value, nil
}

// metricOf finds a number in what /metrics says.
func metricOf(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("no %s", name)
}

// databaseURL gives the address of its database as a superuser.
func (v *server) databaseURL() (string, error) {
	if v.database != "" {
		return v.database, nil
	}
	text, err := os.ReadFile(filepath.Join(v.dataDir, "postgres.url"))
	if err != nil {
		return "", err
	}
	address, err := url.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return "", err
	}
	address.User = url.User("postgres")
	return address.String(), nil
}
