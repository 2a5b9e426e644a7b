package httpd

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// How often it is found out whether the server can serve, and told why not. /readyz is open to all, and asking costs a
// connection to the database.
const (
	checkEvery = time.Second
	checkLimit = 2 * time.Second // for a check
	checkTold  = time.Minute     // between lines of the log that say the same
)

// databaseAway is what is said of a check that fails for a reason without a word of its own.
const databaseAway = "the database does not answer"

// Readiness says how to find out whether a server can serve, and who is told why not. Everybody is told words, which must
// be constants; reasons, which may name paths and sizes, are for those who are trusted, and for the log.
type Readiness struct {
	Check   func(context.Context) error // nil: as soon as it listens, it can; an Unready has a word, and other errors mean the database
	Remarks func() []Remark             // what is well, and could be better, as the last check found; nil: nothing
	Trusted func(*http.Request) bool    // nil: nobody is
}

// Remark is a line below "ready".
type Remark struct {
	Word   string
	Reason string // for those who are trusted
}

// Unready is why a server cannot serve.
type Unready struct {
	Word  string
	Cause error
}

// Error gives both.
func (u *Unready) Error() string { return u.Word + ": " + u.Cause.Error() }

// Unwrap gives the cause.
func (u *Unready) Unwrap() error { return u.Cause }

// readiness finds out for all who ask at once, and keeps the answer for a moment.
type readiness struct {
	Readiness
	server *Server

	mu      sync.Mutex
	current *check // the last one, which may be under way; nil before the first

	// Of the last check's goroutine.
	said string // the word that the log was told last, "" for ready
	at   time.Time
}

// check is one look, for all who ask within checkEvery of its beginning.
type check struct {
	began time.Time
	done  chan struct{} // closed once err is set
	err   error
}

// Health serves /healthz, which answers while the process lives, and /readyz, which answers 200 while all is well: not
// while it stops, and not while the check gives an error.
func (s *Server) Health(r Readiness) http.Handler {
	state := &readiness{Readiness: r, server: s}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, "alive")
	})
	mux.HandleFunc("GET /readyz", state.serve)
	return mux
}

func (r *readiness) serve(w http.ResponseWriter, request *http.Request) {
	err := r.look(request.Context())
	if r.server.draining.Load() {
		say(w, http.StatusServiceUnavailable, "stopping")
		return
	}
	trusted := r.Trusted != nil && r.Trusted(request)
	if err != nil {
		word, reason := wordsOf(err)
		if trusted && reason != "" {
			word += ": " + reason
		}
		say(w, http.StatusServiceUnavailable, word)
		return
	}
	text := "ready"
	for _, remark := range r.remarks() {
		text += "\n" + remark.Word
		if trusted && remark.Reason != "" {
			text += ": " + remark.Reason
		}
	}
	say(w, http.StatusOK, text)
}

func (r *readiness) remarks() []Remark {
	if r.Remarks == nil {
		return nil
	}
	return r.Remarks()
}

// wordsOf gives what everybody is told of an error, and the reason, if it was written for people.
func wordsOf(err error) (word, reason string) {
	word = databaseAway
	if u, ok := errors.AsType[*Unready](err); ok {
		word = u.Word
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		reason = f.Error()
	}
	return word, reason
}

// look gives what the last check found, and begins another if that is too old and none is under way.
func (r *readiness) look(ctx context.Context) error {
	if r.Check == nil || r.server.draining.Load() {
		return nil
	}
	r.mu.Lock()
	c := r.current
	if c == nil || c.over() && time.Since(c.began) >= checkEvery {
		c = &check{began: time.Now(), done: make(chan struct{})}
		r.current = c
		go r.run(context.WithoutCancel(ctx), c) // for those who come later, too
	}
	r.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *check) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// run checks, and tells the log of what has changed.
func (r *readiness) run(ctx context.Context, c *check) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	defer close(c.done)
	c.err = r.Check(ctx)
	word := ""
	if c.err != nil {
		word, _ = wordsOf(c.err)
	}
	if word == r.said && (word == "" || time.Since(r.at) < checkTold) {
		return
	}
	r.said, r.at = word, time.Now()
	if c.err != nil {
		r.server.log.WarnContext(ctx, "not ready", "cause", c.err)
	} else {
		r.server.log.InfoContext(ctx, "ready again")
	}
}
