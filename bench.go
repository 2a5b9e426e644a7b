package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/instance"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/bench"
	"github.com/tzzr/context-manager/internal/bench/retrieval"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

type benchCommand struct {
	Messages  int           `default:"1000000" help:"Size of the log at the end; it is measured at 10,000, 100,000 and so on up to it."`
	Retrieval bool          `help:"Measure ranked context instead, on one log that grows to that size."`
	Prompts   int           `placeholder:"NUMBER" help:"Measure prompts instead, of so many live conversations."`
	Turn      time.Duration `default:"4s" help:"How long each turn of appending, and of its limit, takes."`
	Turns     int           `default:"3" help:"How many turns each has; twice as many with --retrieval."`
	JSON      string        `name:"json" placeholder:"FILE" help:"Write the report to a file as JSON, too."`
}

// Validate refuses what would measure nothing. Kong calls it.
func (c *benchCommand) Validate() error {
	switch {
	case c.Messages < 1000 || c.Messages > 100_000_000:
		return fault.Input("--messages", "%d is outside of 1,000 to 100,000,000", c.Messages)
	case c.Prompts < 0 || c.Prompts > 1_000_000:
		return fault.Input("--prompts", "%d is outside of 1 to 1,000,000", c.Prompts)
	case c.Turn < 100*time.Millisecond || c.Turn > time.Hour:
		return fault.Input("--turn", "%s is outside of 100 ms to 1 h", c.Turn)
	case c.Turns < 1 || c.Turns > 100:
		return fault.Input("--turns", "%d is outside of 1 to 100", c.Turns)
	}
	return nil
}

func (c *benchCommand) sizes() (sizes []int) {
	for size := 10_000; size < c.Messages; size *= 10 {
		sizes = append(sizes, size)
	}
	return append(sizes, c.Messages)
}

// Run measures, each size in a database of its own.
func (c *benchCommand) Run(ctx context.Context, log *slog.Logger, cfg config.Database) error {
	if c.Retrieval {
		return c.retrieval(ctx, log, cfg)
	}
	if c.Prompts > 0 {
		return c.prompts(ctx, cfg)
	}
	var report bench.Report
	for _, size := range c.sizes() {
		err := onScratch(ctx, cfg, func(scratch *instance.Instance, endpoint, token string) error {
			recorder := &bench.Recorder{}
			traced, err := db.Open(ctx, scratch.URL, 2, log, db.WithTracer(recorder))
			if err != nil {
				return err
			}
			defer traced.Close()
			traced.HoldIndexing(true) // it has nothing to do but proofs, and would take every moment for a lull
			found, err := bench.Run(ctx, bench.Config{
				Database: scratch.URL, Endpoint: endpoint, Token: token, Log: measured{scratch.DB, traced}, Recorder: recorder,
				Size: size, Turn: c.Turn, Turns: c.Turns, Progress: os.Stderr,
			})
			found.Figures = append(report.Figures, found.Figures...)
			report = found
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.tell(report)
}

func (c *benchCommand) tell(report bench.Report) error {
	if c.JSON != "" {
		if err := report.WriteJSONFile(c.JSON); err != nil {
			return err
		}
	}
	return report.WriteTable(os.Stdout)
}

// prompts measures what an assistant asks a model with.
func (c *benchCommand) prompts(ctx context.Context, cfg config.Database) error {
	var report bench.Report
	err := onScratch(ctx, cfg, func(scratch *instance.Instance, endpoint, secret string) error {
		assistant := component.DefaultHash("ply", "assistant")
		agent, err := newAgent(ctx, scratch.DB, assistant)
		if err != nil {
			return err
		}
		count, err := token.Default()
		if err != nil {
			return err
		}
		view := scratch.DB.As(assistant)
		report, err = bench.RunPrompts(ctx, bench.PromptConfig{
			Database: scratch.URL, Endpoint: endpoint, Administrator: secret, Agent: agent, Assistant: assistant,
			Conversations: c.Prompts, Turn: c.Turn, Turns: c.Turns, Progress: os.Stderr,
			Prompt: func(ctx context.Context, id memory.ID, p memory.Prompt) ([]memory.PromptMessage, error) {
				known, err := view.ConversationForPrompt(ctx, id)
				if err != nil {
					return nil, err
				}
				p.State, p.History = known.State, known.History
				assembly, _, err := p.Room(count)
				return assembly.With("", 0), err
			},
		})
		return err
	})
	if err != nil {
		return err
	}
	return c.tell(report)
}

// newAgent gives a token of an agent.
func newAgent(ctx context.Context, store *db.DB, agent chain.Hash) (secret string, err error) {
	_, secret, err = store.CreateToken(ctx, auth.Draft{Role: auth.Agent, Player: agent, Note: "bench"}, auth.Administrator())
	return secret, err
}

// retrieval measures ranked context.
func (c *benchCommand) retrieval(ctx context.Context, log *slog.Logger, cfg config.Database) error {
	var report retrieval.Report
	err := onScratch(ctx, cfg, func(scratch *instance.Instance, endpoint, token string) (err error) {
		report, err = retrieval.Run(ctx, retrieval.Config{
			Database: scratch.URL, Endpoint: endpoint, Token: token, Log: searched{scratch.DB}, Sizes: c.sizes(), Turn: c.Turn, Turns: c.Turns,
			Progress: os.Stderr,
			NewAgent: func(ctx context.Context, agent chain.Hash) (string, error) { return newAgent(ctx, scratch.DB, agent) },
			OpenDense: func(ctx context.Context, url, model string) (retrieval.Dense, error) {
				store, err := db.Open(ctx, scratch.URL, 4, log)
				if err != nil {
					return nil, err
				}
				return searched{store}, startEmbedder(ctx, store, config.Server{EmbeddingsURL: url, EmbeddingsModel: model})
			},
		})
		return err
	})
	if len(report.Figures) == 0 {
		return err
	}
	// What was measured before a failure, or an interrupt, took its time: it is not thrown away.
	if c.JSON != "" {
		err = errors.Join(err, report.WriteJSONFile(c.JSON))
	}
	return errors.Join(err, report.WriteTable(os.Stdout))
}

// searched is the log as package retrieval takes it.
type searched struct{ *db.DB }

// ByWords gives what a search finds by its words.
func (s searched) ByWords(ctx context.Context, viewer *chain.Hash, request selection.Request, limit int) (string, []retrieval.Hit, error) {
	store := s.DB
	if viewer != nil {
		store = store.As(*viewer)
	}
	vector, found, err := store.ByWords(ctx, request, limit)
	return vector, hits(found), err
}

// ByMeaning gives what a search finds by its dense vector.
func (s searched) ByMeaning(ctx context.Context, text string, limit int) ([]float32, []retrieval.Hit, time.Duration, error) {
	vector, found, took, err := s.DB.ByMeaning(ctx, text, limit)
	return vector, hits(found), took, err
}

func hits(found []db.Match) []retrieval.Hit {
	list := make([]retrieval.Hit, len(found))
	for i, f := range found {
		list[i] = retrieval.Hit(f)
	}
	return list
}

// measured is the log as package bench takes it.
type measured struct {
	*db.DB
	traced *db.DB
}

// Verify checks the whole log.
func (m measured) Verify(ctx context.Context, progress func(chain.Progress)) (bool, int64, error) {
	report, err := m.VerifyLog(ctx, progress)
	return report.Valid, report.Messages, err
}

// Prove makes the proof of a message.
func (m measured) Prove(ctx context.Context, session chain.Hash, sequence int64) (string, error) {
	sealed, err := m.traced.Proofs(ctx, []db.Place{{Session: session, Sequence: sequence}})
	if err != nil {
		return "", err
	}
	return sealed[0].Proof, nil
}
