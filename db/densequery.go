package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/tzzr/context-manager/embeddings/provider"
)

// byWords is how a notice ends.
const byWords = ": ranked by words alone"

// denseQuery gives the vector of a query under the model that serves: nil if there is none, and then the notice says why
// in one sentence, if a provider is set.
func (d *DB) denseQuery(ctx context.Context, text string) (query *denseQuery, notice string) {
	e := d.dense.Load()
	if e == nil {
		return nil, ""
	}
	model, embedder, why := e.server()
	if embedder == nil {
		return nil, why + byWords
	}
	return e.query(ctx, model, embedder, text)
}

// denseQueryUnder is denseQuery for the model of that name, whether it serves or not: so that what was ranked under it
// can be ranked again.
func (d *DB) denseQueryUnder(ctx context.Context, name, text string) (query *denseQuery, notice string) {
	e := d.dense.Load()
	if e == nil {
		return nil, "there is no embedding provider" + byWords
	}
	for _, target := range e.targets() {
		if target.name == name {
			return e.query(ctx, target.denseModel, target.embedder, text)
		}
	}
	rows, err := d.queries().DenseModel(ctx, name)
	if err != nil || len(rows) == 0 {
		return nil, fmt.Sprintf("the embedding model %s is not there any more"+byWords, name)
	}
	r := rows[0]
	target, err := e.open(ctx, denseModel{r.ID, r.Name, r.AskedAs, int(r.Dimensions), r.Probe.Slice()})
	if err != nil {
		return nil, denseProblem(err) + byWords
	}
	return e.query(ctx, target.denseModel, target.embedder, text)
}

// server gives the model that serves and how it is asked; embedder is nil if it cannot be, and why says so.
func (e *denseEmbedder) server() (model denseModel, embedder Embedder, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.serving == nil && e.problem != "":
		return model, nil, e.problem
	case e.serving == nil:
		return model, nil, "the log is being embedded with the model " + e.config.Model
	case e.mine != nil && e.mine.id == e.serving.id:
		return e.mine.denseModel, e.mine.embedder, ""
	case e.older != nil && e.older.id == e.serving.id:
		return e.older.denseModel, e.older.embedder, ""
	case e.missing != "":
		return model, nil, e.missing
	case e.problem != "":
		return model, nil, e.problem
	}
	return model, nil, "the embedding model " + e.serving.name + " is being looked for"
}

// query embeds a query.
func (e *denseEmbedder) query(ctx context.Context, model denseModel, embedder Embedder, text string) (*denseQuery, string) {
	vector, err := embedder.Query(ctx, text)
	switch {
	case err != nil:
		return nil, queryProblem(err) + byWords
	case len(vector) != model.dimensions:
		return nil, fmt.Sprintf("the embedding provider gave a vector of %d dimensions instead of %d"+byWords, len(vector), model.dimensions)
	}
	return &denseQuery{model: model.id, name: model.name, vector: vector}, ""
}

// queryProblem says why a query has no vector.
func queryProblem(err error) string {
	if text, ok := errors.AsType[*provider.TextError](err); ok {
		return text.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "the request ended before the embedding provider answered"
	}
	return denseProblem(err)
}
