// Package bench measures the server beside the limits that its parts set, in one run on a scratch database: how fast it
// appends against plain INSERTs of the same rows, how fast it checks the whole log against a copy of it, how soon a
// message is sealed. A figure is a ratio to a limit that was measured in the same minute, in turns with it, so that a
// busy machine counts for both.
package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
)

// Log is what is measured besides HTTP.
type Log interface {
	Append(ctx context.Context, drafts []chain.Draft) ([]chain.Message, error)
	Verify(ctx context.Context, progress func(chain.Progress)) (valid bool, messages int64, err error)
	Prove(ctx context.Context, session chain.Hash, sequence int64) (proof string, err error)
}

// Config is what a run needs.
type Config struct {
	Database string // a scratch database, brought up to date
	Endpoint string // host:port of a server of it
	Token    string
	Log      Log
	Recorder *Recorder     // of the statements that Log.Prove runs
	Sizes    []int         // of the log, ascending, at which to measure
	Turn     time.Duration // of one measurement of appending, or of its limit; each has Turns of them
	Turns    int
	Progress io.Writer
}

// Connections and sessions of the appending figures.
const (
	Connections     = 32
	BulkConnections = 4
	Sessions        = 1000
	BulkMessages    = 1000 // a request
)

// Run measures everything at each size. The figures come in the order of the table.
func Run(ctx context.Context, cfg Config) (Report, error) {
	pool, err := pgxpool.New(ctx, cfg.Database)
	if err != nil {
		return Report{}, err
	}
	defer pool.Close()
	pool.Config().MaxConns = Connections
	r := &run{Config: cfg, pool: pool}
	defer r.close()
	report := Report{Processors: runtime.NumCPU(), Go: runtime.Version()}
	if err := pool.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&report.Postgres); err != nil {
		return report, err
	}
	for _, size := range cfg.Sizes {
		figures, err := r.at(ctx, size)
		report.Figures = append(report.Figures, figures...)
		if err != nil {
			return report, fmt.Errorf("at %d messages: %w", size, err)
		}
	}
	return report, nil
}

// run is one run of everything.
type run struct {
	Config
	pool  *pgxpool.Pool
	plain *plainTable // nil until the first size
	have  int         // messages in the log
}

func (r *run) close() {
	if r.plain != nil {
		r.plain.close()
	}
}

// at fills the log up to a size and measures each figure.
func (r *run) at(ctx context.Context, size int) ([]Figure, error) {
	if err := r.fill(ctx, size); err != nil {
		return nil, err
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	if r.plain == nil {
		var err error
		if r.plain, err = newPlainTable(ctx, r.Database); err != nil {
			return nil, err
		}
	}
	steps := []func(context.Context) (Figure, error){r.checking, r.proving, r.single, r.hot, r.bulk}
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("measuring at %d messages", size), int64(len(steps)), "figures")
	defer meter.Done()
	var figures []Figure
	for _, step := range steps {
		f, err := step(ctx)
		if err != nil {
			return figures, err
		}
		f.Messages = size
		figures = append(figures, f)
		meter.Add(1)
	}
	lag, err := r.lag(ctx)
	lag.Messages = size
	return append(figures, lag), err
}

// fill appends until the log has a size.
func (r *run) fill(ctx context.Context, size int) error {
	if err := r.pool.QueryRow(ctx, countSQL).Scan(&r.have); err != nil {
		return err
	}
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("filling the log up to %d messages", size), int64(size-r.have), "messages")
	defer meter.Done()
	words := newWriter(0)
	for r.have < size {
		drafts := make([]chain.Draft, min(BulkMessages, size-r.have))
		for i := range drafts {
			drafts[i] = words.draft(Sessions)
		}
		if _, err := r.Log.Append(ctx, drafts); err != nil {
			return err
		}
		r.have += len(drafts)
		meter.Add(int64(len(drafts)))
	}
	return nil
}

// settle waits until nothing is left to do behind what was appended, and statistics are up to date.
func (r *run) settle(ctx context.Context) error {
	for {
		var left int64
		if err := r.pool.QueryRow(ctx, leftSQL).Scan(&left); err != nil {
			return err
		}
		if left == 0 {
			break
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, err := r.pool.Exec(ctx, "VACUUM ANALYZE log.messages")
	return err
}
