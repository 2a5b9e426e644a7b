package db

import (
	"context"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/ranking"
)

// unrelatedTexts have nothing to do with each other. By them a model is measured, and not by the log, whose messages would
// tell a player by every receipt something of what they do not see.
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
	return e.db.queries().SetUnrelated(ctx, of.Median, of.Spread, model)
}

// unrelated gives what was measured of a model; nil if nothing was.
func (d *DB) unrelated(ctx context.Context, model int32) (*ranking.Unrelated, error) {
	known, err := dbgen.New(d.reads).UnrelatedOf(ctx, model)
	if err != nil || known.UnrelatedMedian == nil {
		return nil, err
	}
	return &ranking.Unrelated{Median: *known.UnrelatedMedian, Spread: *known.UnrelatedSpread}, nil
}
