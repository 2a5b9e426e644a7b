// Package main is the context manager: a server of GraphQL and a console over a log in Postgres, and the commands
// that bring conversations into the log and out of it.
//
//	context-manager [serve]               serve until Ctrl-C or SIGTERM
//	context-manager import FILE...        append the conversations of files
//	context-manager export --session HASH write a session as JSON lines, or with --all the log
//	context-manager verify [FILE]         check an export, or a server
//	context-manager eval FILE             measure what ranked context finds
//	context-manager bench                 measure beside the limits that the machine sets
//	context-manager witness               cosign the checkpoints of logs, on a machine of its own
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/cors"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/instance"
	"github.com/tzzr/context-manager/embeddings/provider"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/limit"
	"github.com/tzzr/context-manager/internal/overload"
	"github.com/tzzr/context-manager/internal/sealfile"
	"github.com/tzzr/context-manager/internal/tile"
	"github.com/tzzr/context-manager/internal/witness"
	"github.com/tzzr/context-manager/web"
)

type serveCommand struct {
	config.Server
}

// Run serves.
func (c *serveCommand) Run(ctx context.Context, log *slog.Logger, cfg config.Database) error {
	listener, err := httpd.Listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	s, err := instance.Open(ctx, cfg, false, log)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Demo && s.Postgres != nil {
		if err := fillSample(ctx, s); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(cfg.DataDir, 0o755); err != nil { // the private Postgres has made it already
		return fault.Wrap(err, fault.Unavailable, "cannot make the data directory")
	}
	token, made, err := auth.LoadAdminToken(cfg.DataDir)
	if err != nil {
		return err
	}
	metrics := httpd.NewMetrics()
	if err := startSealer(ctx, s.DB, c.Server, cfg.DataDir, metrics); err != nil {
		return err
	}
	if err := startEmbedder(ctx, s.DB, c.Server); err != nil {
		return err
	}
	metrics.AddEmbeddings(embeddingCounts(s.DB))
	if err := useModel(s.DB, c.LLM, metrics, log); err != nil {
		return err
	}
	metrics.AddWindows(windowFigures(s.DB))
	go readRecords(ctx, s.DB, log)
	s.KeepConversations(time.Duration(c.ConversationTTL))
	announce(listener.Addr(), token, made, cfg.DataDir)
	tokens := auth.NewTokens(token, s.DB, openIDProvider(c.Server, s.DB), log)
	defer tokens.Close()
	return serve(ctx, listener, s, tokens, c.Server, metrics, log)
}

// openIDProvider gives the verifier of the provider's tokens, nil if the settings name none. They end by the database's clock, as
// ours do.
func openIDProvider(cfg config.Server, store *db.DB) auth.Verifier {
	if cfg.OIDCIssuer == "" {
		return nil
	}
	return auth.NewProvider(auth.ProviderConfig{Issuer: cfg.OIDCIssuer, Audience: cfg.OIDCAudience, Claim: cfg.OIDCPlayerClaim, Now: store.Now})
}

// startSealer makes the store seal its log until it is closed.
func startSealer(ctx context.Context, store *db.DB, cfg config.Server, dataDir string, metrics *httpd.Metrics) error {
	clients, err := witness.ParseList(cfg.Witnesses)
	if err != nil {
		return err
	}
	sealing := db.SealerConfig{
		Key: cfg.LogKey, Checkpoint: filepath.Join(dataDir, sealfile.CheckpointFile), Origin: cfg.LogOrigin, Lag: metrics.SealLag,
	}
	if sealing.Key == "" {
		sealing.Key = filepath.Join(dataDir, sealfile.KeyFile)
	}
	for _, c := range clients {
		sealing.Witnesses = append(sealing.Witnesses, db.Witness{Name: c.Key.Name(), Key: c.Key, URL: c.URL, Cosigner: c})
	}
	sealer, err := store.StartSealer(ctx, sealing)
	if err != nil {
		return err
	}
	metrics.AddSeal(func() (size, waiting int64, refused bool) {
		state := sealer.State()
		return state.Newest.Size, state.Waiting, state.Condition == db.Refused
	})
	return nil
}

// startEmbedder makes the store embed its log with the provider of the settings, if there is one, until it is closed.
func startEmbedder(ctx context.Context, store *db.DB, cfg config.Server) error {
	if cfg.EmbeddingsURL == "" {
		return nil
	}
	open := func(model string) (*provider.Provider, error) {
		return provider.New(provider.Config{
			URL: cfg.EmbeddingsURL, Model: model, Key: string(cfg.EmbeddingsKey), CacheTTL: time.Duration(cfg.EmbeddingCacheTTL),
		})
	}
	if _, err := open(cfg.EmbeddingsModel); err != nil { // a setting is wrong
		return err
	}
	return store.StartEmbedder(ctx, db.EmbedderConfig{
		Model: cfg.EmbeddingsModel, Open: func(model string) (db.Embedder, error) { return open(model) },
	})
}

// embeddingCounts gives the metrics of embedding.
func embeddingCounts(store *db.DB) func(context.Context) ([]httpd.EmbeddingCount, error) {
	return func(ctx context.Context) ([]httpd.EmbeddingCount, error) {
		counts, err := store.EmbeddingCounts(ctx)
		out := make([]httpd.EmbeddingCount, len(counts))
		for i, c := range counts {
			out[i] = httpd.EmbeddingCount(c)
		}
		return out, err
	}
}

// fillSample fills a log that is empty.
func fillSample(ctx context.Context, s *instance.Instance) error {
	_, size, err := s.LogPosition(db.WithStartPatience(ctx))
	if err != nil || size > 0 {
		return err
	}
	summary, err := ingest.Sample(ctx, s.DB)
	s.Log.InfoContext(ctx, "sample log imported", "what", summary.String())
	return err
}

// announce prints where the console is; the token only when it is new.
func announce(addr net.Addr, token string, made bool, dataDir string) {
	at := "http://" + reachable(addr) + "/"
	if made {
		fmt.Printf("\nConsole: %s#token=%s\n\n", at, token)
		return
	}
	fmt.Printf("\nConsole: %s (the token is in %s)\n\n", at, filepath.Join(dataDir, auth.TokenFile))
}

// reachable gives an address that a browser on this machine can open.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// How many operations are at work at once, and how many more may wait for a moment. Reads are twice what the database's
// pool has connections for; writes are gathered, so that more at once make them cheaper; searches are as many as the pool
// has connections.
const (
	readPlaces, readQueue   = 32, 64
	writePlaces, writeQueue = 256, 64
	findPlaces, findQueue   = 16, 64
	tilePlaces, tileQueue   = 8, 32
	exportPlaces            = 4 // each keeps a connection as long as its client reads
	exportQueue             = 4
	stretchPlaces           = 8 // each holds some megabytes
	stretchQueue            = 8
	hookPlaces, hookQueue   = 16, 64
)

// serve answers requests until the context ends, then lets those that are under way finish.
func serve(ctx context.Context, listener net.Listener, s *instance.Instance, tokens *auth.Tokens, cfg config.Server, metrics *httpd.Metrics, log *slog.Logger) error {
	metrics.AddPool(s.Pool)
	server := httpd.New(metrics, log)
	server.Trust(cfg.Limits().Proxies)
	mux := http.NewServeMux()
	for _, r := range routes(server, s, tokens, cfg, metrics, log) {
		mux.Handle(r.pattern, r.handler)
	}
	hosts := auth.NewHosts(cfg.AllowedHosts, cfg.Addr, listener.Addr())
	return server.Run(ctx, listener, hosts.Handler(mux))
}

// route is what answers the requests of a pattern of http.ServeMux. testdata/access says who may ask for it.
type route struct {
	pattern string
	handler http.Handler
}

// routes gives all that a server answers.
func routes(server *httpd.Server, s *instance.Instance, tokens *auth.Tokens, cfg config.Server, metrics *httpd.Metrics, log *slog.Logger) []route {
	limits := limit.New(cfg.Limits())
	limited := limits.Verifier(tokens)
	sessions := auth.NewSessions()
	sessions.Recheck = tokens.Recheck
	gate := auth.NewGate(limited, sessions)
	health := &health{instance: s}
	metrics.AddProblems(problemCodes(), health.wrong)
	api := graph.NewHandler(&graph.Resolver{Store: s.DB, Log: log, About: about(s, cfg)},
		graph.Config{Log: log, Tokens: limited, Watcher: tokens, Origins: cfg.Origins(), Limits: limits, Places: graph.Admission{
			Reads: overload.New(readPlaces, readQueue), Writes: overload.New(writePlaces, writeQueue),
			Searches: overload.New(findPlaces, findQueue),
		}})

	counted := func(h http.Handler) http.Handler {
		return limits.Note(gate.Identify(known(limits.Handler(h))))
	}
	all := []route{
		{"/graphql", allowOrigins(cfg.Origins(), limits.Note(gate.Identify(known(api))))},
		{"/export", counted(graph.NewExport(s.DB, overload.New(exportPlaces, exportQueue), graph.Config{Log: log, Watcher: tokens}))},
		{"/stretch", counted(graph.NewStretches(s.DB, overload.New(stretchPlaces, stretchQueue), graph.Config{Log: log}))},
		{"/hooks/events", counted(graph.NewEvents(s.DB, cfg.Sources(), overload.New(hookPlaces, hookQueue), graph.Config{Log: log}))},
		{"/session", counted(gate.Sessions())},
		{"/metrics", counted(auth.Administrators(auth.Verify, metrics.Handler()))},
		{"/healthz", server.Health(httpd.Readiness{})},
		{"/readyz", limits.Note(gate.Identify(server.Health(httpd.Readiness{
			Check: health.check, Remarks: health.remarks, Trusted: administrates(limits),
		})))},
		{"/", web.Handler()},
	}
	if sealer := s.Sealer(); sealer != nil {
		tree := counted(overload.New(tilePlaces, tileQueue).Handler(tile.NewHandler(s.DB, tile.Config{
			PublicKey: func() string { return sealer.State().PublicKey }, Private: cfg.PrivateLog, Diary: log,
		})))
		all = append(all, route{"/checkpoint", tree}, route{"/log.pub", tree}, route{"/tile/", tree})
	}
	return all
}

// known gives the requests of callers who are known lines of their own in the log.
func known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := auth.From(r.Context()); err == nil {
			httpd.Known(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// administrates tells whether a request shows an administrator's token. One that shows another which is not valid counts
// against its address, as everywhere; probes show none.
func administrates(limits *limit.Limiter) func(*http.Request) bool {
	return func(r *http.Request) bool {
		caller, err := auth.From(r.Context())
		if err != nil && (r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "") {
			_ = limits.Take(r.Context()) // it is answered all the same
		}
		return err == nil && caller.IsAdmin()
	}
}

// allowOrigins lets pages of other origins call the API with a token. Cookies stay the console's own.
func allowOrigins(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next // none to rs/cors means all
	}
	allowed := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodPost},
		AllowedHeaders: []string{"Authorization", "Content-Type"},
		MaxAge:         600,
	}).Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // CORS says by itself who is let in
		allowed.ServeHTTP(w, r)
	})
}
