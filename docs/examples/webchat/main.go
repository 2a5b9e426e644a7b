// Command webchat is an example: a web chat for visitors on this machine that keeps its memory in a context manager. It uses
// nothing but the server's API and a model that speaks OpenAI's chat completions. README.md says how to run it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// settings are what can be set: by flags, and by environment variables of the same names after WEBCHAT_.
type settings struct {
	addr, server, token       string
	modelURL, model, modelKey string
	modelTimeout              time.Duration
	tokenBudget               int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "webchat:", err)
		os.Exit(1)
	}
}

// read reads the settings. Defaults in the help are the program's own: what the environment holds may be secret.
func read(args []string, stderr io.Writer) (s settings, err error) {
	f := flag.NewFlagSet("webchat", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.addr, "addr", "127.0.0.1:8090", "`HOST:PORT` to listen at, on loopback")
	f.StringVar(&s.server, "server", "http://127.0.0.1:8080", "`URL` of the context manager")
	f.StringVar(&s.token, "token", "", "`TOKEN` of an agent, with the scopes log:read, log:append, context:select and events:ingest; better set the variable: others on this machine can see flags")
	f.StringVar(&s.modelURL, "model-url", "", "`URL` of an OpenAI-compatible API, such as http://localhost:11434/v1; without it a scripted model answers")
	f.StringVar(&s.model, "model", "", "`NAME` of the model; needed with -model-url")
	f.StringVar(&s.modelKey, "model-key", "", "`KEY` that the model's API asks for, if any; better set the variable")
	f.DurationVar(&s.modelTimeout, "model-timeout", 30*time.Second, "how long the model may take to answer, as a `DURATION`")
	f.IntVar(&s.tokenBudget, "token-budget", 8000, "`TOKENS` that a prompt has at most")
	f.VisitAll(func(each *flag.Flag) {
		name := "WEBCHAT_" + strings.ToUpper(strings.ReplaceAll(each.Name, "-", "_"))
		each.Usage += "; " + name
		if value := os.Getenv(name); value != "" && f.Set(each.Name, value) != nil {
			err = errors.Join(err, fmt.Errorf("%s: %q is not valid", name, value))
		}
	})
	if parsed := f.Parse(args); parsed != nil || err != nil {
		return s, errors.Join(parsed, err)
	}
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("%q is no flag", f.Arg(0))
	case s.token == "":
		err = errors.New("-token: there is none; docs/examples/webchat/README.md says how to make one")
	case !isURL(s.server):
		err = fmt.Errorf("-server: %q is no http or https address", s.server)
	case s.modelURL != "" && !isURL(s.modelURL):
		err = errors.New("-model-url: is no http or https address")
	case s.modelURL != "" && s.model == "":
		err = errors.New("-model: there is none, and -model-url needs one")
	case s.modelTimeout <= 0:
		err = errors.New("-model-timeout: must be more than nothing")
	case !isLoopback(s.addr):
		err = fmt.Errorf("-addr: %q is not on loopback: this example asks nobody who they are", s.addr)
	}
	return s, err
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isLoopback tells whether a host, with or without a port, can only be this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// run serves until ctx ends, then lets answers that are under way be recorded.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := read(args, stderr)
	if err != nil {
		return err
	}
	m := &memory{url: strings.TrimSuffix(s.server, "/"), token: s.token, budget: s.tokenBudget}
	if _, err := m.latest(ctx, "nobody"); code(err) == "UNAUTHENTICATED" || code(err) == "FORBIDDEN" {
		return fmt.Errorf("-token: %w", err)
	} else if err != nil { // it may come later
		fmt.Fprintf(stderr, "The context manager at %s does not answer yet: %v\n", m.url, err)
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	if s.modelURL == "" {
		scripted, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		model := &http.Server{Handler: http.HandlerFunc(scriptedModel), ReadTimeout: s.modelTimeout}
		defer model.Close()
		go func() { _ = model.Serve(scripted) }()
		s.modelURL, s.model = "http://"+scripted.Addr().String()+"/v1", "scripted"
	}
	c := &chat{memory: m, model: newModel(s), log: slog.New(slog.NewTextHandler(stderr, nil)), ending: ctx.Done()}
	c.reports.SetLimit(mostToTell)
	server := &http.Server{Handler: c.handler(), ReadTimeout: 30 * time.Second, WriteTimeout: c.limit() + time.Minute, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(stdout, "Web chat: http://%s/, answered by the model %q\n", listener.Addr(), s.model)
	select {
	case err = <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limit())
	defer cancel()
	err = server.Shutdown(ending)
	_ = c.reports.Wait() // which logs what it cannot do
	return err
}
