package main

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/instance"
	"github.com/tzzr/context-manager/db/local"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/httpd"
)

// health tells /readyz and /metrics what is wrong with a server; the API's overview asks for the same.
type health struct {
	instance *instance.Instance

	mu    sync.Mutex
	found []httpd.Remark // by the last check
}

// check gives the worst, if that is critical, and keeps the rest for remarks.
func (h *health) check(ctx context.Context) error {
	var found []httpd.Remark
	for _, p := range h.instance.Problems(ctx) {
		if p.Severity == db.Critical {
			return &httpd.Unready{Word: p.Word, Cause: p.Cause}
		}
		found = append(found, httpd.Remark{Word: p.Word, Reason: p.Reason()})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = found
	return nil
}

// remarks are what operators should know though the server is ready.
func (h *health) remarks() []httpd.Remark {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.found
}

// wrong gives the codes of what is wrong.
func (h *health) wrong(ctx context.Context) map[string]bool {
	wrong := map[string]bool{}
	for _, p := range h.instance.Problems(ctx) {
		wrong[string(p.Code)] = true
	}
	return wrong
}

func problemCodes() []string {
	codes := make([]string, len(db.ProblemCodes))
	for i, code := range db.ProblemCodes {
		codes[i] = string(code)
	}
	return codes
}

// about gives what the API tells of the server.
func about(s *instance.Instance, cfg config.Server) *graph.About {
	return &graph.About{
		Version: version(), Started: time.Now(), Private: s.Postgres != nil, Problems: s.Problems,
		Disk: func() (graph.Disk, error) {
			disk, err := local.DiskOf(s.DataDir)
			return graph.Disk{Free: disk.Free, Total: disk.Total, Low: s.Postgres != nil && disk.Low()}, err
		},
		Limits: []graph.Limit{
			{Name: "tokenRate", Value: int64(cfg.RateLimit), Unit: graph.PerSecond, Setting: "RATE_LIMIT",
				Description: "Requests by a token; twice that at once, and four times that by all tokens of a player. Administrators' tokens have none."},
			{Name: "addressRate", Value: int64(cfg.AddressRateLimit), Unit: graph.PerSecond, Setting: "ADDRESS_RATE_LIMIT",
				Description: "Requests without a valid token by an address; five times that at once."},
			{Name: "readsAtOnce", Value: readPlaces, Unit: graph.Count, Description: "Operations that read, at work at once."},
			{Name: "writesAtOnce", Value: writePlaces, Unit: graph.Count, Description: "Operations that write, at work at once."},
			{Name: "searchesAtOnce", Value: findPlaces, Unit: graph.Count, Description: "Searches for context, at work at once."},
		},
		Retention: []graph.Limit{
			{Name: "queryVectors", Value: int64(time.Duration(cfg.EmbeddingCacheTTL).Seconds()), Unit: graph.Seconds, Setting: "EMBEDDING_CACHE_TTL",
				Description: "Vectors of queries are kept; 0 is not at all."},
			{Name: "conversations", Value: int64(time.Duration(cfg.ConversationTTL).Seconds()), Unit: graph.Seconds, Setting: "CONVERSATION_TTL",
				Description: "The working memory of a conversation lasts after the last interaction."},
		},
	}
}

// version gives the module's version or, of a build from a checkout, the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "unknown"
}
