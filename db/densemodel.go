package db

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
)

// EmbeddingKind says what a model's vectors are.
type EmbeddingKind string

// The kinds.
const (
	LexicalModel EmbeddingKind = "lexical" // words, made by the server
	DenseModel   EmbeddingKind = "dense"   // a provider's
)

// EmbeddingState says what a model is for.
type EmbeddingState string

// The states.
const (
	ModelBuilding EmbeddingState = "building" // the log is being embedded with it; then it serves
	ModelServing  EmbeddingState = "serving"  // searches use it
	ModelKept     EmbeddingState = "kept"     // it served; its vectors are there for replays, and no more are made
)

// EmbeddingModel is a model whose vectors the database has.
type EmbeddingModel struct {
	Name        string
	Kind        EmbeddingKind
	Dimensions  *int // nil until the provider has answered
	State       EmbeddingState
	Embedded    int64  // messages and records that have their vectors
	Outstanding int64  // that wait for them
	Refused     int64  // that the provider does not take
	LastError   string // what keeps it from embedding, in words; empty while nothing does
	CreatedAt   *time.Time
}

// EmbeddingModels gives all models, the newest first, and before them the one of the settings while the provider has
// not answered for it. It counts, so it takes longer for a large log.
func (d *DB) EmbeddingModels(ctx context.Context) ([]EmbeddingModel, error) {
	rows, err := d.queries().Models(ctx)
	if err != nil {
		return nil, mapError(err)
	}
	models := make([]EmbeddingModel, len(rows))
	for i, r := range rows {
		dimensions, created := int(r.Dimensions), r.CreatedAt.UTC()
		models[i] = EmbeddingModel{
			Name: r.Name, Kind: EmbeddingKind(r.Kind), Dimensions: &dimensions, State: stateOfModel(EmbeddingKind(r.Kind), r.Serves, r.Follows),
			Embedded: r.Embedded, Outstanding: r.Outstanding, Refused: r.Refused, CreatedAt: &created,
		}
		if r.Problem != nil {
			models[i].LastError = *r.Problem
		}
	}
	return d.describeModels(models), nil
}

// describeModels adds what only this server knows.
func (d *DB) describeModels(models []EmbeddingModel) []EmbeddingModel {
	if e := d.dense.Load(); e != nil {
		return e.describe(models)
	}
	for i := range models {
		if models[i].Kind == DenseModel && models[i].State != ModelKept {
			models[i].LastError = "this server has no embedding provider; without one, what is new is not embedded, and searches go by words alone. If there is to be none, drop the model"
		}
	}
	return models
}

func stateOfModel(kind EmbeddingKind, serves, follows bool) EmbeddingState {
	switch {
	case serves || kind == LexicalModel:
		return ModelServing
	case follows:
		return ModelBuilding
	}
	return ModelKept
}

// describe adds what only this server knows: why it cannot reach a model.
func (e *denseEmbedder) describe(models []EmbeddingModel) []EmbeddingModel {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := e.mine != nil
	for i := range models {
		m := &models[i]
		if e.problem != "" && m.Name == e.config.Model {
			known, m.LastError = true, e.problem
		}
		if e.missing != "" && e.serving != nil && m.Name == e.serving.name && m.LastError == "" {
			m.LastError = e.missing + "; what is new is not embedded with it, and searches go by words alone until the next model is built"
		}
	}
	if known {
		return models
	}
	unknown := EmbeddingModel{Name: e.config.Model, Kind: DenseModel, State: ModelBuilding, LastError: e.problem}
	return append([]EmbeddingModel{unknown}, models...)
}

// dropPatience is how long dropping a model waits for searches that use it.
const dropPatience = "5s"

// DropEmbeddingModel drops a dense model with its vectors, for good: what was ranked under it cannot be ranked again.
// The model that serves is dropped only by a server that has no embedder; then searches go by words alone.
// Faults: NOT_FOUND; CONFLICT for the model that serves, and for the lexical one; UNAVAILABLE while it is in use.
func (d *DB) DropEmbeddingModel(ctx context.Context, name string) error {
	return d.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockModels(ctx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+dropPatience+"'"); err != nil {
			return err
		}
		names, err := q.ModelNames(ctx)
		if err != nil {
			return err
		}
		rows, err := q.DenseModel(ctx, name)
		switch {
		case err != nil:
			return err
		case len(rows) == 0 && slices.Contains(names, name):
			return fault.New(fault.Conflict, "%s is not a provider's model: it is not dropped", name)
		case len(rows) == 0:
			return fault.New(fault.NotFound, "there is no such model")
		}
		serves, err := q.Serves(ctx, rows[0].ID)
		switch {
		case err != nil:
			return err
		case serves && d.dense.Load() != nil:
			return fault.New(fault.Conflict, "the model %s serves: it can be dropped once another does, or by a server without an embedding provider", name)
		case serves:
			if err := q.EndServing(ctx); err != nil {
				return err
			}
		}
		if err := q.DropDense(ctx, rows[0].ID); err != nil {
			return err
		}
		return retire(ctx, q)
	})
}

// EmbeddingCount says how far the log is embedded with a model, and what this server did for it.
type EmbeddingCount struct {
	Model       string
	Outstanding int64
	Refused     int64
	Embedded    int64 // by this server
	Failures    int64 // of the provider, seen by this server
}

// EmbeddingCounts counts for each dense model that follows the log. It is quick.
func (d *DB) EmbeddingCounts(ctx context.Context) ([]EmbeddingCount, error) {
	rows, err := d.queries().ModelBacklogs(ctx)
	if err != nil {
		return nil, mapError(err)
	}
	counts := make([]EmbeddingCount, len(rows))
	for i, r := range rows {
		counts[i] = EmbeddingCount{Model: r.Name, Outstanding: r.Outstanding, Refused: r.Refused}
		if e := d.dense.Load(); e != nil {
			own := e.counts.of(r.Name)
			counts[i].Embedded, counts[i].Failures = own.embedded.Load(), own.failures.Load()
		}
	}
	return counts, nil
}

// denseCounts count, for each model, what this server did.
type denseCounts struct {
	mu     *sync.Mutex
	counts map[string]*denseCount
}

type denseCount struct{ embedded, failures atomic.Int64 }

func newDenseCounts() denseCounts {
	return denseCounts{mu: &sync.Mutex{}, counts: map[string]*denseCount{}}
}

// of gives the counts of a model.
func (c denseCounts) of(model string) *denseCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[model] == nil {
		c.counts[model] = &denseCount{}
	}
	return c.counts[model]
}
