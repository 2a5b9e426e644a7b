package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
)

// tryIntroduce sets the model of the settings, or why there is none yet.
func (e *denseEmbedder) tryIntroduce(ctx context.Context) {
	target, err := e.introduce(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		e.introduced, e.again, e.failed, e.other = true, true, 0, denseOther{}
		e.filed, e.settled = false, false
		e.mu.Lock()
		e.mine, e.problem = target, ""
		e.mu.Unlock()
		return
	}
	e.introduced = errors.Is(err, errYield) // for good
	e.db.log.WarnContext(ctx, "the embedding model cannot be used yet", "model", e.config.Model, "cause", err)
	e.retry = time.Now().Add(e.pauseAfter(e.failed, err))
	e.failed++
	e.mu.Lock()
	e.problem = denseProblem(err)
	e.mu.Unlock()
}

// introduce asks the provider which model it has under the name of the settings, adds it if it is new, and makes it the
// one to switch to.
func (e *denseEmbedder) introduce(ctx context.Context) (*denseTarget, error) {
	embedder, err := e.config.Open(e.config.Model)
	if err != nil {
		return nil, err
	}
	vector, err := probe(ctx, embedder)
	if err != nil {
		return nil, err
	}
	known, err := e.db.queries().ModelsAskedAs(ctx, e.config.Model)
	if err != nil {
		return nil, err
	}
	if err := e.believe(known, vector); err != nil {
		return nil, err
	}
	model := denseModel{askedAs: e.config.Model, dimensions: len(vector), probe: vector}
	err = e.db.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockModels(ctx); err != nil {
			return err
		}
		if err := e.yield(ctx, q); err != nil {
			return err
		}
		if err := findOrAdd(ctx, q, &model); err != nil {
			return err
		}
		if err := q.WantModel(ctx, model.id); err != nil {
			return err
		}
		began, err := q.FollowLog(ctx, model.id)
		if err == nil {
			err = q.FileRefused(ctx, model.id)
		}
		if err == nil && began > 0 {
			err = q.FileAll(ctx, model.id)
		}
		return errors.Join(err, retire(ctx, q))
	})
	if err == nil {
		err = e.gauge(ctx, model.id, embedder)
	}
	return &denseTarget{denseModel: model, embedder: embedder}, err
}

// errYield ends the embedding of a server whose model is not the one to switch to any more.
var errYield = fault.New(fault.Conflict, "another server has started with another model, or this one was dropped; nothing is embedded with it until a server starts with it")

// yield says whether a model that is looked for again, while the server runs, may still be the one to switch to.
func (e *denseEmbedder) yield(ctx context.Context, q *dbgen.Queries) error {
	if !e.again {
		return nil
	}
	rows, err := q.ModelStates(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(rows, func(row dbgen.ModelStatesRow) bool { return row.Wanted && row.AskedAs == e.config.Model }) {
		return errYield
	}
	return nil
}

// denseOther is what answers to a known name, while it is not sure that it stays.
type denseOther struct {
	vector []float32
	since  time.Time
	asked  int
}

// errOtherModel is the cause of what otherModel says.
var errOtherModel = errors.New("another model")

// believe takes another vector under a known name for that of another model only once it has come several times, over
// some time: a fault that passes would have everything embedded anew, with vectors that are worth nothing.
func (e *denseEmbedder) believe(known []dbgen.ModelsAskedAsRow, vector []float32) error {
	if len(known) == 0 || slices.ContainsFunc(known, func(k dbgen.ModelsAskedAsRow) bool { return same(k.Probe.Slice(), vector) }) {
		return nil
	}
	if !same(e.other.vector, vector) {
		e.other = denseOther{vector: vector, since: time.Now()}
	}
	e.other.asked++
	if e.other.asked >= denseAsked && time.Since(e.other.since) >= e.config.pace.identify {
		return nil
	}
	return otherModel(e.config.Model, int(known[0].Dimensions), len(vector))
}

// otherModel says that what answers to a name is not its model.
func otherModel(name string, dimensions, given int) error {
	what := "other vectors than before"
	if given != dimensions {
		what = fmt.Sprintf("a vector of %d dimensions instead of %d", given, dimensions)
	}
	return fault.Wrap(errOtherModel, fault.Unavailable, "the embedding provider gave %s: another model answers to the name %s", what, name)
}

// findOrAdd looks for the model that gives these vectors under this name, or adds it.
func findOrAdd(ctx context.Context, q *dbgen.Queries, model *denseModel) error {
	known, err := q.ModelsAskedAs(ctx, model.askedAs)
	if err != nil {
		return err
	}
	for _, k := range known {
		if same(k.Probe.Slice(), model.probe) {
			model.id, model.name = k.ID, k.Name
			return nil
		}
	}
	names, err := q.ModelNames(ctx)
	if err != nil {
		return err
	}
	model.name = model.askedAs
	for n := 2; slices.Contains(names, model.name); n++ {
		model.name = fmt.Sprintf("%s@%d", model.askedAs, n)
	}
	model.id, err = q.AddDense(ctx, model.name, model.askedAs, int32(model.dimensions), pgvector.NewHalfVector(model.probe))
	return err
}

// retire ends the following of models that nobody wants any more.
func retire(ctx context.Context, q *dbgen.Queries) error {
	if err := q.RetireModels(ctx); err != nil {
		return err
	}
	return q.DropRetiredBacklog(ctx)
}

// probe gives the vector by which a model is known again.
func probe(ctx context.Context, embedder Embedder) ([]float32, error) {
	vectors, err := embedder.Embed(ctx, []string{denseProbe})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// same says whether two vectors are those of one text and one model, but for rounding.
func same(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	var product, squareA, squareB float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		squareA += float64(a[i]) * float64(a[i])
		squareB += float64(b[i]) * float64(b[i])
	}
	return product >= sameModel*math.Sqrt(squareA*squareB)
}
