// Package retrieval measures ranked context on a log that it makes up: whole requests over HTTP beside what the same
// search costs as one bare statement, in turns, so that a busy machine counts for both.
package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/bench/wire"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/selection"
)

// Hit is a message and what it was found by: its inner product with the query, or its cosine.
type Hit struct {
	ID    int64
	Score float64
}

// Log is what is measured besides HTTP.
type Log interface {
	Append(ctx context.Context, drafts []chain.Draft) ([]chain.Message, error)
	// ByWords gives the candidates of a viewer's request by inner product, best first, and the query's vector as text; nil sees all.
	ByWords(ctx context.Context, viewer *chain.Hash, request selection.Request, limit int) (vector string, hits []Hit, err error)
	// HoldIndexing stops the making of search vectors, or lets it go on.
	HoldIndexing(hold bool)
}

// Config is what a run needs.
type Config struct {
	Database string // a scratch database, brought up to date
	Endpoint string // host:port of a server of it
	Token    string // an administrator's
	Log      Log
	Sizes    []int         // of the log, ascending: it is measured at each
	Turn     time.Duration // of one measurement of appending, with search vectors and without; each has twice as many as Turns
	Turns    int
	Progress io.Writer
	// NewAgent gives a token of an agent.
	NewAgent func(ctx context.Context, agent chain.Hash) (token string, err error)
	// OpenDense opens a store of the database that embeds with the model of a provider at a base address.
	OpenDense func(ctx context.Context, url, model string) (Dense, error)
}

// first is how many of the best are compared.
const first = 10

// Run makes the log and measures it at each size.
func Run(ctx context.Context, cfg Config) (Report, error) {
	conn, err := pgx.Connect(ctx, cfg.Database)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	r := &run{Config: cfg, conn: conn, corpus: newCorpus(slices.Max(cfg.Sizes)), administrator: &client{Client: wire.New(cfg.Endpoint, cfg.Token)}}
	defer r.administrator.Close()
	report := Report{Processors: runtime.NumCPU(), Go: runtime.Version()}
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'").
		Scan(&report.Postgres, &report.Vector); err != nil {
		return report, err
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE kept_selections (LIKE memory.selections INCLUDING ALL)"); err != nil {
		return report, err
	}
	for _, size := range cfg.Sizes {
		builds, err := r.grow(ctx, size)
		report.Builds = append(report.Builds, builds...)
		if err != nil {
			return report, err
		}
		if r.agent == nil { // it takes part in what was appended just now
			token, err := cfg.NewAgent(ctx, busy())
			if err != nil {
				return report, err
			}
			player := busy()
			r.agent = &client{wire.New(cfg.Endpoint, token), &player}
			defer r.agent.Close()
		}
		figures, err := r.figures(ctx)
		report.Figures = append(report.Figures, figures...)
		if err != nil {
			return report, err
		}
		dense, builds, err := r.dense(ctx)
		if err != nil {
			return report, err
		}
		report.Figures, report.Builds = append(report.Figures, dense), append(report.Builds, builds...)
		relations, err := r.relations(ctx)
		report.Relations = append(report.Relations, relations...)
		if err == nil {
			err = r.dropModel(ctx)
		}
		if err != nil {
			return report, err
		}
		appending, err := r.appending(ctx) // last, since it makes the log larger
		if err != nil {
			return report, err
		}
		report.Figures = append(report.Figures, appending)
	}
	return report, nil
}

// run is one run of everything.
type run struct {
	Config
	conn          *pgx.Conn
	administrator *client
	agent         *client // the busy player
	corpus        *corpus
	size          int // of the log when measuring began
	have          int // messages in the log
}

// grow appends until the log has its size, waits until all of it can be found, and tells how long that took.
func (r *run) grow(ctx context.Context, size int) ([]Build, error) {
	added := size - r.have
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("filling the log up to %d messages", size), int64(max(0, added)), "messages")
	defer meter.Done()
	r.Log.HoldIndexing(true)
	defer r.Log.HoldIndexing(false)
	began := time.Now()
	for r.have < size {
		n, err := r.append(ctx, min(1000, size-r.have))
		if err != nil {
			return nil, err
		}
		meter.Add(int64(n))
	}
	appended := time.Since(began)
	began = time.Now()
	r.Log.HoldIndexing(false)
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	indexed := time.Since(began)
	r.size = r.have
	// What filling leaves to be done is not done while it is measured.
	for _, sql := range []string{"VACUUM ANALYZE log.messages", "VACUUM ANALYZE embedding.lexical", "CHECKPOINT"} {
		_, err := r.conn.Exec(ctx, sql)
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "42501" {
			continue // a login that may not
		}
		if err != nil {
			return nil, err
		}
	}
	return []Build{
		{r.size, fmt.Sprintf("%d messages appended", added), appended.Seconds()},
		{r.size, "their search vectors by words", indexed.Seconds()},
	}, nil
}

func (r *run) append(ctx context.Context, messages int) (int, error) {
	drafts := make([]chain.Draft, messages)
	for i := range drafts {
		drafts[i] = r.corpus.draft()
	}
	_, err := r.Log.Append(ctx, drafts)
	r.have += messages
	return messages, err
}

// settle waits until every message has its search vectors.
func (r *run) settle(ctx context.Context) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var left bool
		if err := r.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM embedding.backlog)").Scan(&left); err != nil || !left {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// queries makes up questions about threads that are there, the same in each run.
func (r *run) queries(n int, threads func(random *rand.Rand) int) []question {
	random := rand.New(rand.NewPCG(uint64(r.size), 3))
	list := make([]question, n)
	for i := range list {
		list[i].thread = threads(random)
		list[i].text = r.corpus.query(list[i].thread, random)
	}
	return list
}

type question struct {
	text   string
	thread int
}

// anyThread gives one of those that have been going on for a while.
func (r *run) anyThread(random *rand.Rand) int {
	return random.IntN(max(1, r.corpus.begun-openThreads))
}

// busyThread gives one of the busy player's.
func (r *run) busyThread(random *rand.Rand) int { return r.anyThread(random) / busyShare * busyShare }
