package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// A Go program reads the clock without the C library, so libfaketime cannot move it. The server is built anew, with a
// package time that adds what a file says to the clock that walls have; the one that measures spans stays true.
const (
	clockNow  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	clockFile = "CHAOS_CLOCK"
	clockMain = `package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

func init() {
	read := func() {
		text, _ := os.ReadFile(os.Getenv("` + clockFile + `"))
		skew, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		time.ChaosSkew.Store(skew)
	}
	read()
	go func() {
		for {
			time.Sleep(10 * time.Millisecond)
			read()
		}
	}()
}
`
)

// skewedProgram builds the server with a clock that can be set.
func (s *stage) skewedProgram(ctx context.Context) (string, error) {
	source, err := filepath.Abs(s.cfg.Source)
	if err != nil {
		return "", err
	}
	root, err := output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	original := filepath.Join(root, "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	changed := strings.Replace(string(text), clockNow, clockNow+"\tsec += ChaosSkew.Load()\n", 1)
	changed = strings.Replace(changed, "import (\n", "import (\n\t\"sync/atomic\"\n", 1) +
		"\n// ChaosSkew is added to the clock, in seconds.\nvar ChaosSkew atomic.Int64\n"
	if !strings.Contains(changed, "sec += ChaosSkew") {
		return "", fmt.Errorf("time.Now of %s is not as it was", runtime.Version())
	}
	replace := map[string]string{}
	for at, content := range map[string]string{original: changed, filepath.Join(source, "chaosclock.go"): clockMain} {
		file := filepath.Join(s.dir, filepath.Base(at))
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", err
		}
		replace[at] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file, program := filepath.Join(s.dir, "overlay.json"), filepath.Join(s.dir, "skewed")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay", file, "-o", program, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return program, nil
}

// libfaketime moves the clock of programs in C, such as Postgres; "" if it is not installed.
func libfaketime() string {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // the only error is a bad pattern
			return found[0]
		}
	}
	return ""
}

// dial sets a clock to so many seconds from the true one.
type dial struct {
	file   string
	format string
}

func (d dial) set(seconds int) error {
	beside := d.file + ".new"
	if err := os.WriteFile(beside, fmt.Appendf(nil, d.format, seconds), 0o644); err != nil {
		return err
	}
	return os.Rename(beside, d.file)
}

// wrongClocks moves the server's clock, and then Postgres', by an hour to and fro.
func wrongClocks(ctx context.Context, s *stage) error {
	library := libfaketime()
	if library == "" {
		return errors.New("libfaketime is not installed; install it with .ci/setup.sh faults")
	}
	program, err := s.skewedProgram(ctx)
	if err != nil {
		return err
	}
	servers, postgres := dial{filepath.Join(s.dir, "clock"), "%d\n"}, dial{filepath.Join(s.dir, "postgres-clock"), "%+d\n"}
	if err := errors.Join(servers.set(0), postgres.set(0)); err != nil {
		return err
	}
	// It is not to read the file at each look at the clock: Postgres looks in a handler of a signal as well, and what reading allocates
	// there spoils what the signal has interrupted.
	s.preload = map[string]string{"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": postgres.file, "FAKETIME_CACHE_DURATION": "1",
		"FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DISABLE_SHM": "1"}
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	v, err := s.newServer(c.url(database), clockFile+"="+servers.file)
	if err != nil {
		return err
	}
	v.program = program
	if _, err := v.start(ctx); err != nil {
		return err
	}
	o, err := s.observe(ctx, v)
	if err != nil {
		return err
	}
	crew, err := s.work(ctx, v, usual)
	if err != nil {
		return err
	}
	scene := &scene{s, v, crew, o}
	hold := size(s, 2*time.Second, 3*time.Second) // longer than what was read of the file is kept
	for _, side := range []struct {
		name string
		dial
		shown func() (time.Time, error)
	}{
		{"the server's clock", servers, func() (time.Time, error) { return v.clock() }},
		{"Postgres' clock", postgres, func() (time.Time, error) { return c.clock(ctx) }},
	} {
		if err := scene.turn(ctx, side.name, side.dial, side.shown, hold); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	if err := scene.expires(ctx, c, servers); err != nil {
		return err
	}
	return scene.overtaken(ctx, c, postgres)
}

// turn moves a clock an hour on, back, an hour behind and back under load.
func (s *scene) turn(ctx context.Context, name string, d dial, shown func() (time.Time, error), hold time.Duration) error {
	var sum verdict
	began := time.Now()
	times := 0
	for range size(s.stage, 1, 10) {
		for _, hours := range []int{1, 0, -1, 0} {
			if err := d.set(hours * 3600); err != nil {
				return err
			}
			var at time.Time
			if _, err := until(ctx, startLimit, "the clock is moved", func() bool {
				var err error
				at, err = shown()
				off := at.Sub(time.Now().Add(time.Duration(hours) * time.Hour))
				return err == nil && off.Abs() < 10*time.Minute
			}); err != nil {
				return fmt.Errorf("%w: it shows %s", err, at)
			}
			times++
			if err := pause(ctx, hold); err != nil {
				return err
			}
			if _, err := s.crew.writing(ctx, time.Now(), recoveryLimit); err != nil {
				return fmt.Errorf("%d h off: %w; %s", hours, err, tally(s.crew.writes.since(began)))
			}
			if err := s.crew.check(ctx, s.observer, s.server.database, &sum); err != nil {
				return err
			}
		}
	}
	done := name + " an hour ahead, back, an hour behind, and back"
	s.nothingLost(done, times, &sum, s.observer)
	list := append(s.crew.writes.since(began), s.crew.reads.since(began)...)
	measured, ok := s.crew.served(list)
	s.found(done, times, "everything is answered", measured, ok, nil)
	return nil
}

// clock is what the server takes for the time: its log says so with each line.
func (v *server) clock() (time.Time, error) {
	text := v.process.output.String()
	i := strings.LastIndex(text, "time=")
	if i < 0 {
		return time.Time{}, errors.New("the server has said nothing")
	}
	stamp, _, _ := strings.Cut(text[i+len("time="):], " ")
	return time.Parse(time.RFC3339, stamp)
}

// clock is what Postgres takes for the time.
func (c *cluster) clock(ctx context.Context) (at time.Time, err error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return at, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
	return at, err
}
