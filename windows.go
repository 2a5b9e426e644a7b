package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/llm"
	"github.com/tzzr/context-manager/internal/window"
)

// useModel has the model that the settings name judge and summarise for windows, with what is built in as its fallback. It asks
// nothing yet.
func useModel(store *db.DB, cfg config.LLM, metrics *httpd.Metrics, log *slog.Logger) error {
	if cfg.LLMURL == "" {
		return nil
	}
	model, err := llm.New(llm.Config{URL: cfg.LLMURL, Model: cfg.LLMModel, Key: string(cfg.LLMKey), Observer: metrics})
	if err != nil {
		return err
	}
	judge, summariser := db.BuiltIn()
	f := model.WithFallback(judge, summariser, log)
	store.UseModels(f, f)
	return nil
}

// readRecords reads what windows need of records before somebody waits for it.
func readRecords(ctx context.Context, store *db.DB, log *slog.Logger) {
	if err := store.ReadRecords(ctx); err != nil && ctx.Err() == nil {
		log.Warn("the words of verified records could not be read; the first write to a window does it", "error", err)
	}
}

// measuredModels gives what is to be measured: the model that the settings name, without a fallback, or what is built in.
func measuredModels(cfg config.LLM) (window.Judge, window.Summariser, error) {
	if cfg.LLMURL == "" {
		judge, summariser := db.BuiltIn()
		return judge, summariser, nil
	}
	model, err := llm.New(llm.Config{URL: cfg.LLMURL, Model: cfg.LLMModel, Key: string(cfg.LLMKey)})
	return model, model, err
}

// windowFigures gives how windows did within the last day, under the names of the specification.
func windowFigures(store *db.DB) func(context.Context) (map[string]float64, error) {
	return func(ctx context.Context) (map[string]float64, error) {
		since := store.Now().Add(-24 * time.Hour)
		m, err := store.ContextMetrics(ctx, &since)
		return map[string]float64{
			"context_window_usage_avg": m.UsageAvg, "context_window_usage_p95": m.UsageP95,
			"compression_triggered_count": float64(m.Compressions), "compression_ratio_avg": m.RatioAvg, "compression_latency_p95": m.LatencyP95,
			"poisoning_attempts_blocked": float64(m.Poisoning), "distraction_mitigations": float64(m.Distraction),
			"confusion_mitigations": float64(m.Confusion), "clashes_resolved": float64(m.Clashes),
			"context_quality_score_avg": m.ScoreAvg, "relevance_score_avg": m.RelevanceAvg, "accuracy_score_avg": m.AccuracyAvg,
			"scratchpad_writes": float64(m.ScratchpadWrites), "scratchpad_reads": float64(m.ScratchpadReads),
			"rag_over_tools_calls": float64(m.ToolSearches), "window_critical_exceeded": float64(m.Exceeded),
		}, err
	}
}
