package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/instance"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/evaluation"
	"github.com/tzzr/context-manager/internal/evaluation/contradiction"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/verifier"
	"github.com/tzzr/context-manager/internal/witness"
)

// sealLimit is how long an export with proofs waits for what is not sealed yet.
const sealLimit = 10 * time.Second

// dropLimit is how long the end of a scratch database may take.
const dropLimit = 30 * time.Second

// commandLine is what kong reads.
type commandLine struct {
	config.Database `group:"Database"`

	Serve  serveCommand  `cmd:"" default:"withargs" help:"Serve the API and the console, until Ctrl-C or SIGTERM."`
	Import importCommand `cmd:"" help:"Append the conversations of files to the log. Importing again adds only what is new."`
	Export exportCommand `cmd:"" help:"Write a session, or the whole log, as JSON lines that import reads back to the same hashes."`
	Verify verifyCommand `cmd:"" help:"Check an export, with no server and no database, or a server that need not be trusted."`
	Eval   evalCommand   `cmd:"" help:"Measure what ranked context finds of a LoCoMo file's evidence, in a scratch database."`
	Bench  benchCommand  `cmd:"" help:"Measure appending, checking and sealing beside the limits that the machine sets, in a scratch database."`
	Chaos  chaosCommand  `cmd:"" help:"Make faults under load, on servers and databases of its own, and look whether anything acknowledged is lost."`

	Witness witnessCommand `cmd:"" help:"Cosign the checkpoints of logs, each only if it extends the last. For a machine that the logs' administrators cannot touch."`
}

type witnessCommand struct {
	config.Witness
}

type importCommand struct {
	Files []string `arg:"" name:"file" help:"JSON lines, a chat in OpenAI's style or LoCoMo's JSON; - is standard input."`
}

type exportCommand struct {
	Session string `required:"" xor:"what" placeholder:"HASH" help:"The session's hash."`
	All     bool   `required:"" xor:"what" help:"The whole log."`
	Proofs  bool   `help:"With each message the proof that it is sealed, for verify."`
}

type verifyCommand struct {
	File      string   `arg:"" optional:"" help:"An export with proofs; - is standard input; none: a server is checked."`
	Key       string   `required:"" placeholder:"FILE" help:"The log's public key, one line, as its /log.pub had it when you came to trust it."`
	Origin    string   `placeholder:"NAME" help:"The log's name in checkpoints; none: the key's."`
	Witness   []string `sep:"none" placeholder:"KEY" help:"The public key of a witness; may be given several times."`
	Quorum    int      `default:"-1" placeholder:"N" help:"How many of the witnesses must have signed; none: all."`
	State     string   `placeholder:"FILE" help:"Where the last checkpoint is kept that was found to hold: an older one, or one that does not extend it, is a break."`
	Complete  bool     `help:"It is a break that an export is not of the whole log."`
	Server    string   `default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server to check."`
	TokenFile string   `placeholder:"FILE" help:"An administrator's token for the server; none: that of the data directory."`
	JSON      bool     `name:"json" help:"Write the report as JSON."`
}

type evalCommand struct {
	File        string `arg:"" help:"LoCoMo's JSON; of --judge, pairs of texts."`
	Calibration bool   `xor:"what" help:"Measure instead whether the default threshold lets a conversation's own questions through, and not another's."`
	Judge       bool   `xor:"what" help:"Measure instead how well contradictions are told, on pairs of texts as in testdata/judge: JSON lines."`
	Summary     bool   `xor:"what" help:"Measure instead what is left of the evidence when sessions are summarised to a fifth of their tokens."`
	JSON        bool   `name:"json" help:"Write the report as JSON."`

	config.LLM `group:"Model, of --judge and --summary"`
}

// gcPercent lets the heap grow to three and a half times what lives, some tens of megabytes, before it is swept: a request for
// context took a fifth less time than with Go's default, and a million messages are checked in less than 200 MB. GOGC overrides it.
const gcPercent = 250

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
	mux.Handle("/healthz", server.Health(httpd.Readiness{}))
	mux.Handle("/", w.Handler())
	return server.Run(ctx, listener, mux)
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
	what := ingest.What{Proofs: c.Proofs}
	if !c.All {
		session, err := chain.ParseHash(c.Session)
		if err != nil {
			return fault.Input("--session", "%s", err)
		}
		what.Session = &session
	}
	s, err := instance.Open(ctx, cfg, true, log)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Proofs {
		if what.Leaves, err = s.AwaitSeal(ctx, sealLimit); err != nil {
			return err
		}
	}
	return s.Snapshot(ctx, func(snapshot *db.Snapshot) error {
		done, err := ingest.Export(ctx, snapshot, what, os.Stdout)
		if err == nil && done.Later > 0 {
			fmt.Fprintf(os.Stderr, "%d messages were sealed after the checkpoint of %d, and are left out\n", done.Later, done.Checkpoint.Size)
		}
		return err
	})
}

// Run verifies.
func (c *verifyCommand) Run(ctx context.Context, _ *slog.Logger, cfg config.Database) error {
	v := verifier.Command{
		Pins:    verifier.Pins{Origin: c.Origin, Witnesses: c.Witness, Quorum: c.Quorum},
		KeyFile: c.Key, State: c.State, Complete: c.Complete, JSON: c.JSON, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if c.File != "" {
		return v.File(ctx, c.File)
	}
	file := cmp.Or(c.TokenFile, filepath.Join(cfg.DataDir, auth.TokenFile))
	token, err := os.ReadFile(file)
	if err != nil {
		return fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	return v.Server(ctx, c.Server, strings.TrimSpace(string(token)))
}

// Run evaluates through the API, so that the times are those that a client sees.
func (c *evalCommand) Run(ctx context.Context, log *slog.Logger, cfg config.Database) error {
	if _, err := os.Stat(c.File); errors.Is(err, fs.ErrNotExist) {
		return fault.Input("FILE", "%s does not exist", c.File)
	}
	if c.Judge || c.Summary {
		judge, summariser, err := measuredModels(c.LLM)
		switch {
		case err != nil:
			return err
		case c.Judge:
			return contradiction.RunFile(ctx, judge, c.File, c.JSON, os.Stdout)
		default:
			return evaluation.SummariseFile(ctx, summariser, c.File, c.JSON, os.Stdout, os.Stderr)
		}
	}
	return onScratch(ctx, cfg, func(scratch *instance.Instance, endpoint, token string) error {
		client := &evaluation.Client{URL: "http://" + endpoint + "/graphql", Token: token, HTTP: &http.Client{}}
		defer client.HTTP.CloseIdleConnections()
		if c.Calibration {
			return evaluation.CalibrateFile(ctx, scratch.DB, client, c.File, c.JSON, os.Stdout, os.Stderr)
		}
		return evaluation.RunFile(ctx, scratch.DB, client, c.File, c.JSON, os.Stdout, os.Stderr)
	})
}

// onScratch runs f with a database of its own that is dropped when it is done, and a server of it.
func onScratch(ctx context.Context, cfg config.Database, f func(scratch *instance.Instance, endpoint, token string) error) (err error) {
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
	scratch, err := instance.Open(ctx, config.Database{DatabaseURL: url}, false, quiet)
	if err != nil {
		return err
	}
	defer scratch.Close()
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "context-manager-scratch-") // for the key of a log that ends with the run
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	metrics := httpd.NewMetrics()
	if err := startSealer(ctx, scratch.DB, config.Server{}, dir, metrics); err != nil {
		return err
	}
	token := auth.NewAdminToken()
	tokens := auth.NewTokens(token, scratch.DB, nil, quiet)
	defer tokens.Close()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() {
		served <- serve(serving, listener, scratch, tokens, config.Server{}, httpd.NewMetrics(), quiet)
	}()
	err = f(scratch, listener.Addr().String(), token)
	stop()
	return errors.Join(err, <-served)
}
