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
	Size     int           // of the log when measuring begins
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

// Run fills the log up to its size and measures everything, in the order of the table.
func Run(ctx context.Context, cfg Config) (Report, error) {
	pool, err := pgxpool.New(ctx, cfg.Database)
	if err != nil {
		return Report{}, err
	}
	defer pool.Close()
	r := &run{Config: cfg, pool: pool}
	report := Report{Processors: runtime.NumCPU(), Go: runtime.Version()}
	if err := pool.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&report.Postgres); err != nil {
		return report, err
	}
	if err := r.fill(ctx); err != nil {
		return report, err
	}
	if _, err := r.settle(ctx); err != nil {
		return report, err
	}
	if r.plain, err = newPlainTable(ctx, r.Database); err != nil {
		return report, err
	}
	defer r.plain.close()
	report.Figures, err = r.figures(ctx)
	return report, err
}

// run is one run of everything.
type run struct {
	Config
	pool  *pgxpool.Pool
	plain *plainTable
	have  int // messages in the log
}

func (r *run) figures(ctx context.Context) (figures []Figure, err error) {
	steps := []func(context.Context) (Figure, error){r.checking, r.proving, r.single, r.hot, r.bulk, r.lag}
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("measuring at %d messages", r.Size), int64(len(steps)), "figures")
	defer meter.Done()
	for _, step := range steps {
		if err := r.count(ctx); err != nil {
			return figures, err
		}
		if _, err := r.pool.Exec(ctx, "VACUUM ANALYZE log.messages"); err != nil {
			return figures, err
		}
		f, err := step(ctx)
		if err != nil {
			return figures, err
		}
		f.Size, f.Messages = r.Size, r.have
		figures = append(figures, f)
		meter.Add(1)
	}
	return figures, nil
}

func (r *run) count(ctx context.Context) error {
	return r.pool.QueryRow(ctx, countSQL).Scan(&r.have)
}

// fill appends until the log has its size.
func (r *run) fill(ctx context.Context) error {
	if err := r.count(ctx); err != nil {
		return err
	}
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("filling the log up to %d messages", r.Size), int64(r.Size-r.have), "messages")
	defer meter.Done()
	words := newWriter(0)
	for r.have < r.Size {
		drafts := make([]chain.Draft, min(BulkMessages, r.Size-r.have))
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

// settle waits until nothing is left to do behind what was appended, seals and search vectors, and gives how long that
// took.
func (r *run) settle(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var left int64
		if err := r.pool.QueryRow(ctx, leftSQL).Scan(&left); err != nil || left == 0 {
			return time.Since(began), err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
