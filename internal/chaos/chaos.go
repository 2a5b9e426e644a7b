// Package chaos makes faults and looks at what they leave: real servers on real Postgres clusters, in a temporary
// directory and on loopback, with writers that keep a journal on disk of what was acknowledged to them. After each
// fault the log must be the journal, no more and no less; chains and checkpoints must verify, also against those that
// were signed before; and the server must serve again in time.
//
// It never touches a database that it did not make. Whatever it starts ends with it, also when it is killed.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// Config is what a run needs.
type Config struct {
	Program  string        // the server's binary
	Source   string        // the folder of its source, for the faults that build another; none: the current one
	Postgres string        // the directory of Postgres' programs
	Full     bool          // in the size of the table of docs/reliability.md, and not of a test
	Soak     time.Duration // 0: as long as the size says
	Patience float64       // times that the limits may take, for machines that do other work as well; 0: 1
	Progress io.Writer
}

// scenario is one kind of fault.
type scenario struct {
	name  string
	about string
	needs []string // programs, besides Postgres'
	root  bool     // mounts file systems, or looks into processes of another user
	run   func(ctx context.Context, s *stage) error
}

// scenarios are all faults, in the order of the table.
func scenarios() []scenario {
	return []scenario{
		{name: "server", about: "the server is killed, and its own Postgres with it", run: killServer},
		{name: "server-alone", about: "the server is killed, and its Postgres goes on", run: killServerAlone},
		{name: "events", about: "the server is killed while events arrive in lists", run: killUnderEvents},
		{name: "windows", about: "one of several servers is killed while all write to the same windows", run: killUnderWindows},
		{name: "postgres", about: "Postgres is killed", run: killPostgres},
		{name: "postgres-own", about: "the server's own Postgres is killed", run: killPrivatePostgres},
		{name: "eio", about: "Postgres' disk fails", needs: []string{"strace"}, root: true, run: failingDisk},
		{name: "disk", about: "Postgres' disk is full", root: true, run: fullDisk},
		{name: "standby", about: "a synchronous standby is promoted", run: promoteStandby},
		{name: "network", about: "the network to Postgres is bad", run: badNetwork},
		{name: "connections", about: "there are no connections left", run: noConnections},
		{name: "pgbouncer", about: "PgBouncer in transaction mode is before Postgres", needs: []string{"pgbouncer"}, run: pooled},
		{name: "slow", about: "many clients are slow", needs: []string{"slowhttptest"}, run: slowClients},
		{name: "subscribers", about: "many clients listen", run: manySubscribers},
		{name: "overload", about: "twice as much comes as can be served", run: overload},
		{name: "clock", about: "clocks are wrong and jump", needs: []string{"go", "faketime"}, run: wrongClocks},
		{name: "soak", about: "the server works for long", run: soak},
	}
}

// Names lists the faults, each with what it is.
func Names() [][2]string {
	var names [][2]string
	for _, f := range scenarios() {
		names = append(names, [2]string{f.name, f.about})
	}
	return names
}

// Run makes the named faults, all if none is named, one after the other. What was found before an error, or an
// interrupt, is in the report.
func Run(ctx context.Context, cfg Config, names ...string) (Report, error) {
	h, err := Open(ctx, cfg)
	if err != nil {
		return newReport(cfg), err
	}
	defer h.Close()
	return h.Run(ctx, names...)
}

// Run is what the function of that name does. Several may run at once, and slow each other down.
func (h *Harness) Run(ctx context.Context, names ...string) (Report, error) {
	report := newReport(h.cfg)
	report.Postgres = h.version
	chosen, err := choose(names)
	if err != nil {
		return report, err
	}
	for _, f := range chosen {
		rows, err := h.run(ctx, f)
		report.Rows = append(report.Rows, rows...)
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		if err != nil { // the others can still be made
			report.Rows = append(report.Rows, Row{Fault: f.name, Done: f.about, Must: "the fault can be made", Measured: err.Error()})
		}
	}
	return report, nil
}

func choose(names []string) ([]scenario, error) {
	all := scenarios()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []scenario
	for _, name := range names {
		i := slices.IndexFunc(all, func(f scenario) bool { return f.name == name })
		if i < 0 {
			var known []string
			for _, f := range all {
				known = append(known, f.name)
			}
			return nil, fault.Input("fault", "%q is none of %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// run makes one fault on a stage of its own.
func (h *Harness) run(ctx context.Context, f scenario) ([]Row, error) {
	if err := f.ready(ctx); err != nil {
		return nil, err
	}
	s, err := h.newStage(f)
	if err != nil {
		return nil, err
	}
	defer s.close()
	began := time.Now()
	s.say("begins: %s", f.about)
	err = f.run(ctx, s)
	if err != nil {
		err = errors.Join(err, s.words())
	}
	s.say("took %s", time.Since(began).Round(100*time.Millisecond))
	return s.rows, err
}

// ready tells whether the machine has what the fault needs.
func (f scenario) ready(ctx context.Context) error {
	for _, program := range f.needs {
		if lookPath(program) == "" {
			return fault.New(fault.Unavailable, "%s is not installed; install it with .ci/setup.sh faults", program)
		}
	}
	if f.root {
		line := asRoot("true")
		if _, err := output(ctx, nil, line[0], line[1:]...); err != nil {
			return fault.New(fault.Unavailable, "%q needs root, or sudo without a password: %s", f.name, err)
		}
	}
	return nil
}

// say tells how far the run is.
func (s *stage) say(format string, args ...any) {
	if s.cfg.Progress != nil {
		fmt.Fprintf(s.cfg.Progress, "chaos: %s: %s\n", s.fault.name, fmt.Sprintf(format, args...))
	}
}
