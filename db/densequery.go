package db

import (
	"context"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/embeddings/provider"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// byWords makes of a reason, in words, the notice of a search without dense vectors: one sentence.
func byWords(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	return selection.WordsNotice(string(unicode.ToUpper(first)) + reason[size:])
}

// denseFailure says that a search got no further at a model's vectors.
type denseFailure struct{ cause error }

func (f *denseFailure) Error() string { return "dense vectors: " + f.cause.Error() }
func (f *denseFailure) Unwrap() error { return f.cause }

// denseFailed makes of an error at a model's vectors one that a search by words alone can do without; not of the end of the
// request.
func denseFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fault.Wrap(&denseFailure{err}, fault.Unavailable, "the dense vectors could not be searched; try again")
}

// searchEither searches, and by words alone if the dense vectors cannot be searched: then the notice says so. Who asks again
// what was asked before wants the same, or nothing.
func (d *DB) searchEither(ctx context.Context, in searchInput) (found searchResult, notice string, err error) {
	found, err = d.search(ctx, in)
	failure, ok := errors.AsType[*denseFailure](err)
	if !ok || in.at != nil {
		return found, "", err
	}
	d.log.WarnContext(ctx, "dense vectors could not be searched", "model", in.dense.name, "cause", failure.cause)
	in.dense, in.policy.Unrelated = nil, nil
	found, err = d.search(ctx, in)
	return found, byWords("the dense vectors could not be searched"), err
}

// denseQuery gives the vector of a query under the model that serves: nil if there is none, and then the notice says why
// in one sentence, if a provider is set.
func (d *DB) denseQuery(ctx context.Context, text string) (query *denseQuery, notice string) {
	e := d.dense.Load()
	if e == nil {
		return nil, ""
	}
	model, embedder, why := e.server()
	if embedder == nil {
		return nil, byWords(why)
	}
	return e.query(ctx, model, embedder, embeddings.Excerpt(text, provider.MaxText))
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
		return nil, byWords(queryProblem(err))
	case len(vector) != model.dimensions:
		return nil, byWords(fmt.Sprintf("the embedding provider gave a vector of %d dimensions instead of %d", len(vector), model.dimensions))
	}
	unrelated, err := e.db.unrelated(ctx, model.id)
	if err != nil {
		e.db.log.WarnContext(ctx, "what an embedding model's cosines are worth could not be read", "model", model.name, "cause", err)
		return nil, byWords("the dense vectors could not be searched")
	}
	return &denseQuery{model: model.id, name: model.name, vector: vector, unrelated: unrelated}, ""
}

// queryProblem says why a query has no vector.
func queryProblem(err error) string {
	if text, ok := errors.AsType[*provider.TextError](err); ok {
		return text.Error()
	}
	// Whoever asks is not told where the provider is; embeddingModels tells administrators.
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		switch failure.Kind {
		case provider.Unreachable:
			return "the embedding provider cannot be reached"
		case provider.Paused:
			return "the embedding provider failed a moment ago, and is not asked for some seconds"
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "the request ended before the embedding provider answered"
	}
	return denseProblem(err)
}
