package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/embeddings/provider"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// WithPace makes an embedder go on quickly, and hold what it took no longer than the lease.
func (c EmbedderConfig) WithPace(pace, lease time.Duration) EmbedderConfig {
	c.pace = densePace{
		poll: pace, lease: lease, lasting: pace, reprobe: pace, refile: pace, again: pace,
		wait: func(int, *provider.Error) time.Duration { return pace },
	}
	return c
}

// WithIdentify makes an embedder believe in another model under a known name after that time.
func (c EmbedderConfig) WithIdentify(d time.Duration) EmbedderConfig {
	c.pace.identify = d
	return c
}

// WithStep makes a test see the steps of an embedder, embed, keep, index and switch, and end the work by an error.
func (c EmbedderConfig) WithStep(step func(name string) error) EmbedderConfig {
	c.step = step
	return c
}

// Hit is how near a message or a record is.
type Hit struct {
	Kind   chain.RefType
	ID     int64
	Cosine float64
}

// State is a state of the log.
type State struct {
	Position, Records int64
	Absent            []int64
}

// Nearest searches by dense vectors alone; notice says why that cannot be done.
func (d *DB) Nearest(ctx context.Context, text string, scope selection.Scope, ids []int64, at *State, limit int) (hits []Hit, model, notice string, err error) {
	query, notice := d.denseQuery(ctx, text)
	if query == nil {
		return nil, "", notice, nil
	}
	var state *asOf
	if at != nil {
		state = &asOf{position: at.Position, records: at.Records, absent: at.Absent}
	}
	err = pgx.BeginTxFunc(ctx, d.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		found, err := denseNearest(ctx, tx, *query, scope, ids, state, limit, false)
		hits = hitsOf(found)
		return err
	})
	return hits, query.name, notice, err
}

// Cosines compares messages and records with a text.
func (d *DB) Cosines(ctx context.Context, text string, messages, records []int64) (hits []Hit, err error) {
	query, _ := d.denseQuery(ctx, text)
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		found, err := denseCosines(ctx, tx, *query, messages, records)
		hits = hitsOf(found)
		return err
	})
	return hits, err
}

func hitsOf(found []denseHit) []Hit {
	hits := make([]Hit, len(found))
	for i, h := range found {
		hits[i] = Hit{h.kind, h.id, h.cosine}
	}
	return hits
}
