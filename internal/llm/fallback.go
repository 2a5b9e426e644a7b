package llm

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/window"
)

// Fallback is a judge and a summariser that asks a model first, and what is built in if the model does not give a right
// answer in time. Safe for concurrent use.
type Fallback struct {
	model      *Model
	judge      window.Judge
	summariser window.Summariser
	log        *slog.Logger
}

var (
	_ window.Judge      = (*Fallback)(nil)
	_ window.Summariser = (*Fallback)(nil)
)

// WithFallback lets others do what the model does not. What they give says why, in one sentence without texts, addresses
// and keys; the model's state counts it, and log tells more.
func (m *Model) WithFallback(judge window.Judge, summariser window.Summariser, log *slog.Logger) *Fallback {
	return &Fallback{model: m, judge: judge, summariser: summariser, log: log}
}

// Judge asks the model, then the other judge about what the model did not judge in time.
//
// Faults: those of the other judge; or the error of ctx.
func (f *Fallback) Judge(ctx context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	verdicts, failure := f.model.judgeMost(ctx, pairs)
	if failure == nil {
		return verdicts, nil
	}
	if ctx.Err() != nil {
		return nil, failure
	}
	var rest []window.Pair
	var at []int
	for i, v := range verdicts {
		if v.By == "" {
			rest, at = append(rest, pairs[i]), append(at, i)
		}
	}
	others, err := f.judge.Judge(ctx, rest)
	if err != nil {
		return nil, err
	}
	why := f.replaced(ctx, TaskJudge, failure)
	for i, v := range others {
		v.Fallback = why
		verdicts[at[i]] = v
	}
	return verdicts, nil
}

// Summarise asks the model, then the other summariser.
//
// Faults: those of the other summariser; or the error of ctx.
func (f *Fallback) Summarise(ctx context.Context, parts []window.Part, budget int) (window.Summary, error) {
	summary, failure := f.model.Summarise(ctx, parts, budget)
	if failure == nil || ctx.Err() != nil {
		return summary, failure
	}
	summary, err := f.summariser.Summarise(ctx, parts, budget)
	if err != nil {
		return window.Summary{}, err
	}
	summary.Fallback = f.replaced(ctx, TaskSummarise, failure)
	return summary, nil
}

// replaced counts what was done in the model's place, and gives the reason for anybody.
func (f *Fallback) replaced(ctx context.Context, task string, err error) string {
	f.model.mu.Lock()
	f.model.state.Fallbacks++
	f.model.mu.Unlock()
	if f.model.config.Observer != nil {
		f.model.config.Observer.ModelReplaced(task)
	}
	failure, ok := errors.AsType[*Error](err)
	if !ok { // a defect of ours
		f.log.ErrorContext(ctx, "model not asked", "task", task, "model", f.model.config.Model, "error", err)
		return "the model could not be asked"
	}
	if failure.Kind != endpoint.Paused { // the failure before it was told
		f.log.WarnContext(ctx, "model replaced by what is built in", "task", task, "model", f.model.config.Model,
			"kind", string(failure.Kind), "error", failure.Error())
	}
	return failure.Plain()
}
