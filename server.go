// Package main is the context manager: a server of GraphQL and a console over a log in Postgres, and the commands
// that bring conversations into the log and out of it.
//
//	context-manager [serve]               serve until Ctrl-C or SIGTERM
//	context-manager import FILE...        append the conversations of files
//	context-manager export --session HASH write a session as JSON lines
//	context-manager eval FILE             measure what ranked context finds
//	context-manager witness               cosign the checkpoints of logs, on a machine of its own
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/rs/cors"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/instance"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/evaluation"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/witness"
	"github.com/tzzr/context-manager/web"
)

// dropLimit is how long the end of a scratch database may take.
const dropLimit = 30 * time.Second

// commandLine is what kong reads.
type commandLine struct {
	config.Database `group:"Database"`

	Serve  serveCommand  `cmd:"" default:"withargs" help:"Serve the API and the console, until Ctrl-C or SIGTERM."`
	Import importCommand `cmd:"" help:"Append the conversations of files to the log. Importing again adds only what is new."`
	Export exportCommand `cmd:"" help:"Write a session as JSON lines that import reads back to the same hashes."`
	Eval   evalCommand   `cmd:"" help:"Measure what ranked context finds of a LoCoMo file's evidence, in a scratch database."`

	Witness witnessCommand `cmd:"" help:"Cosign the checkpoints of logs, each only if it extends the last. For a machine that the logs' administrators cannot touch."`
}

type serveCommand struct {
	config.Server
}

type witnessCommand struct {
	config.Witness
}

type importCommand struct {
	Files []string `arg:"" name:"file" help:"JSON lines, a chat in OpenAI's style or LoCoMo's JSON; - is standard input."`
}

type exportCommand struct {
	Session string `required:"" placeholder:"HASH" help:"The session's hash."`
}

type evalCommand struct {
	File string `arg:"" help:"LoCoMo's JSON."`
	JSON bool   `name:"json" help:"Write the report as JSON."`
}

// gcPercent lets the heap grow to four times what lives, some tens of megabytes, before it is swept: a request for
// context took a fifth less time than with Go's default. GOGC overrides it.
const gcPercent = 300

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	config.IgnoreEmpty()
	var line commandLine
	command := kong.Parse(&line, kong.Name("context-manager"), kong.ShortUsageOnError(),
		kong.Description("Keeps conversations in an immutable log, and finds the context that an agent needs."))
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	slog.SetDefault(log) // for libraries that log by themselves
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(log, line.Database); err != nil {
		fmt.Fprintln(os.Stderr, "context-manager:", explain(err))
		os.Exit(1)
	}
}

// explain gives an error with its cause: whoever runs the program may know it.
func explain(err error) string {
	text := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil && !strings.Contains(text, f.Cause.Error()) {
		text += ": " + f.Cause.Error()
	}
	return text
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
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if s.Postgres != nil {
		go func() {
			<-s.Postgres.Done()
			fail(fault.New(fault.Unavailable, "the private Postgres has ended; its log is %s", filepath.Join(cfg.DataDir, "postgres.log")))
		}()
	}
	announce(listener.Addr(), token, made, cfg.DataDir)
	err = serve(ctx, listener, s, auth.NewAdminVerifier(token), c.Server, log)
	if cause, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
		return cause
	}
	return err
}

// fillSample fills a log that is empty.
func fillSample(ctx context.Context, s *instance.Instance) error {
	_, size, err := s.LogPosition(ctx)
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

// serve answers requests until the context ends, then lets those that are under way finish.
func serve(ctx context.Context, listener net.Listener, s *instance.Instance, tokens auth.Verifier, cfg config.Server, log *slog.Logger) error {
	metrics := httpd.NewMetrics()
	metrics.AddPool(s.Pool())
	server := httpd.New(metrics, log)
	gate := auth.NewGate(tokens, auth.NewSessions())
	api := graph.NewHandler(&graph.Resolver{Store: s.DB, Log: log},
		graph.Config{Log: log, Tokens: tokens, Origins: cfg.Origins()})

	mux := http.NewServeMux()
	mux.Handle("/graphql", allowOrigins(cfg.Origins(), gate.Identify(api)))
	mux.Handle("/session", gate.Sessions())
	mux.Handle("/metrics", metrics.Handler())
	mux.Handle("/healthz", server.Health(s.Ping))
	mux.Handle("/readyz", server.Health(s.Ping))
	mux.Handle("/", web.Handler())
	return server.Run(ctx, listener, mux)
}

// Run is a witness until the context ends.
func (c *witnessCommand) Run(ctx context.Context, log *slog.Logger) error {
	listener, err := httpd.Listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	w, err := witness.Open(c.Files(), log)
	if err != nil {
		return err
	}
	defer w.Close()
	fmt.Printf("\nWitness: %s\n\nFor the log's server:\nWITNESSES=http://%s=%s\n\n", w.PublicKey(), reachable(listener.Addr()), w.PublicKey())
	server := httpd.New(httpd.NewMetrics(), log)
	mux := http.NewServeMux()
	mux.Handle("/healthz", server.Health(func(context.Context) error { return nil })) // once it listens, it is ready
	mux.Handle("/", w.Handler())
	return server.Run(ctx, listener, mux)
}

// allowOrigins lets pages of other origins call the API with a token. Cookies stay the console's own.
func allowOrigins(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next // none to rs/cors means all
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodPost},
		AllowedHeaders: []string{"Authorization", "Content-Type"},
		MaxAge:         600,
	}).Handler(next)
}

// Run imports.
func (c *importCommand) Run(ctx context.Context, log *slog.Logger, cfg config.Database) error {
	s, err := instance.Open(ctx, cfg, true, log)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, file := range c.Files {
		summary, err := ingest.ImportFile(ctx, s.DB, file, os.Stdin, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", file, summary)
	}
	return nil
}

// Run exports.
func (c *exportCommand) Run(ctx context.Context, log *slog.Logger, cfg config.Database) error {
	session, err := chain.ParseHash(c.Session)
	if err != nil {
		return fault.Input("--session", "%s", err)
	}
	s, err := instance.Open(ctx, cfg, true, log)
	if err != nil {
		return err
	}
	defer s.Close()
	return ingest.Export(ctx, s.DB, session, os.Stdout)
}

// Run evaluates, in a database of its own that is dropped when it is done, and through the API, so that the times are
// those that a client sees.
func (c *evalCommand) Run(ctx context.Context, log *slog.Logger, cfg config.Database) (err error) {
	if _, err := os.Stat(c.File); errors.Is(err, fs.ErrNotExist) {
		return fault.Input("FILE", "%s does not exist", c.File)
	}
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := instance.Open(ctx, cfg, true, quiet)
	if err != nil {
		return err
	}
	defer s.Close()
	url, drop, err := db.Scratch(ctx, s.URL)
	if err != nil {
		return err
	}
	defer func() {
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropLimit)
		defer cancel()
		err = errors.Join(err, drop(dropping))
	}()
	return c.evaluate(ctx, url, quiet)
}

func (c *evalCommand) evaluate(ctx context.Context, url string, log *slog.Logger) error {
	scratch, err := instance.Open(ctx, config.Database{DatabaseURL: url}, false, log)
	if err != nil {
		return err
	}
	defer scratch.Close()
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	token := auth.NewAdminToken()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() {
		served <- serve(serving, listener, scratch, auth.NewAdminVerifier(token), config.Server{}, log)
	}()
	client := &evaluation.Client{URL: "http://" + listener.Addr().String() + "/graphql", Token: token, HTTP: &http.Client{}}
	err = evaluation.RunFile(ctx, scratch.DB, client, c.File, c.JSON, os.Stdout, os.Stderr)
	client.HTTP.CloseIdleConnections()
	stop()
	return errors.Join(err, <-served)
}
