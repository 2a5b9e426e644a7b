package db

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/ranking"
)

// How models are measured.
const (
	measureLeast  = 256 // messages that a log has, at least, by which a model is measured
	measureSample = 256 // vectors that are compared with each other
)

// unrelatedTexts have nothing to do with each other. By them a model is measured until the log has enough of its own.
var unrelatedTexts = []string{
	"Could you send me the invoice for March before Friday, please?",
	"We saw three herons on the lake this morning, and then it rained.",
	"The database migration failed because the disk was full.",
	"My daughter starts school in September and is a little afraid of it.",
	"I have been trying to bake bread with rye flour, but it stays too wet.",
	"The train to the coast stood still for an hour, so I missed the ferry.",
	"Thanks, that is very kind of you!",
	"He plays the cello in an orchestra and teaches on Tuesdays.",
	"What do you think about the new coach of the team?",
	"The doctor said that the knee has to rest for six weeks.",
	"Please water the tomatoes while I am away.",
	"They want to raise the rent again, and the lift is still broken.",
	"I finished the novel last night; the ending was a surprise.",
	"Which text editor do you use at the office?",
	"The council will vote on the new bicycle lanes next month.",
	"Grandmother's ring was under the sofa all the time.",
	"It is too hot to sleep, and the neighbours have a party.",
	"The camera needs a new battery before the wedding.",
	"Our flight was cancelled, and they put us in a hotel near the airport.",
	"Did you ever learn to swim properly?",
}

// gauge measures a model that was not measured yet, by texts of the server's own.
func (e *denseEmbedder) gauge(ctx context.Context, model int32, embedder Embedder) error {
	known, err := e.db.queries().UnrelatedOf(ctx, model)
	if err != nil || known.UnrelatedMedian != nil {
		return err
	}
	vectors, err := embedder.Embed(ctx, unrelatedTexts)
	if err != nil {
		return err
	}
	of, _ := ranking.Measure(vectors)
	return e.db.queries().SetUnrelated(ctx, of.Median, of.Spread, 0, model)
}

// measure measures the model by what the log holds, once that is enough, and anew whenever the log has doubled: so what is
// unrelated in this log is told by texts like its own. What was selected before keeps the measure of its time.
func (e *denseEmbedder) measure(ctx context.Context, mine *denseTarget) error {
	if time.Now().Before(e.remeasure) {
		return nil
	}
	q := e.db.queries()
	known, err := q.UnrelatedOf(ctx, mine.id)
	if err != nil {
		return err
	}
	last, err := q.LastEmbedded(ctx, mine.id)
	if err != nil {
		return err
	}
	if last >= max(measureLeast, 2*known.MeasuredUpTo) {
		sample, err := q.SampleDense(ctx, measureSample, mine.id, last)
		if err != nil {
			return err
		}
		vectors := make([][]float32, len(sample))
		for i, v := range sample {
			vectors[i] = v.Slice()
		}
		if of, ok := ranking.Measure(vectors); ok {
			if err := q.SetUnrelated(ctx, of.Median, of.Spread, last, mine.id); err != nil {
				return err
			}
			e.db.log.InfoContext(ctx, "an embedding model was measured", "model", mine.name, "median", of.Median, "spread", of.Spread, "messages", last)
		}
	}
	e.remeasure = time.Now().Add(e.config.pace.refile)
	return nil
}

// unrelated gives what was measured of a model; nil if nothing was.
func (d *DB) unrelated(ctx context.Context, model int32) (*ranking.Unrelated, error) {
	known, err := dbgen.New(d.reads).UnrelatedOf(ctx, model)
	if err != nil || known.UnrelatedMedian == nil {
		return nil, err
	}
	return &ranking.Unrelated{Median: *known.UnrelatedMedian, Spread: *known.UnrelatedSpread}, nil
}
