package graph

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/overload"
)

// Times of a download. While it goes on it keeps a connection to the database, and what was there when it began.
const (
	exportLimit = 5 * time.Minute  // for all of it
	sealLimit   = 10 * time.Second // for what is not sealed yet
)

// NewExport serves GET /export?session=HASH: a session with proofs, as the command export writes it, to those who see
// the session and have the scopes log:read and verify. It is streamed: memory does not grow with it. What goes wrong
// before the first byte is answered as the API answers; after that the connection is cut, so that no half file is taken
// for a whole one. Places bounds how many go on at once; nil does not. The caller stands in the request's context.
func NewExport(store *db.DB, places *overload.Gate, cfg Config) http.Handler {
	return &exporting{resolver: &Resolver{Store: store}, places: places, watcher: cfg.Watcher, present: presenter{log: cfg.Log}}
}

type exporting struct {
	resolver *Resolver
	places   *overload.Gate
	watcher  Watcher // of the token that a download began with; nil: it outlives its token
	present  presenter
}

func (e *exporting) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.serve(w, r, e.export) }

func (e *exporting) serve(w http.ResponseWriter, r *http.Request, answer func(*http.Request, *download) error) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	leave, err := e.places.Enter(r.Context(), whoAsks(r.Context()))
	if err != nil {
		writeFull(w, r, err)
		return
	}
	defer leave()
	out := &download{to: w, kind: "application/x-ndjson"}
	if err := answer(r, out); err != nil {
		if out.begun {
			if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil {
				err = f.Cause
			}
			e.present.log.WarnContext(r.Context(), "a download was cut", "cause", fault.Redacted(err))
			panic(http.ErrAbortHandler) // not whole, and must not look so
		}
		e.present.refuse(w, r, exportStatus(err), err)
	}
}

// refuse answers a request that no transport sees with an error. Why it is INTERNAL is told to the log alone.
func (p presenter) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	if fault.CodeOf(err) == fault.Internal {
		p.hide(r.Context(), &gqlerror.Error{}, err)
	}
	writeError(w, r, status, err)
}

func (e *exporting) export(r *http.Request, out *download) error {
	session, caller, err := e.asked(r)
	if err != nil {
		return err
	}
	ctx, cancel := reading(r.Context(), caller)
	defer cancel()
	ctx, done, err := e.watch(ctx, out)
	if err != nil {
		return err
	}
	defer done()
	out.name = fmt.Sprintf("session-%.16s.jsonl", session.String())
	return e.resolver.view(ctx).SnapshotSession(ctx, session, sealLimit, func(s *db.SessionSnapshot, leaves int64) error {
		if _, err := ingest.Export(ctx, s, ingest.What{Session: &session, Proofs: true, Leaves: leaves}, out); err != nil {
			return err
		}
		return out.end()
	})
}

// reading gives the context of a download, in which what an administrator reads is gathered.
func reading(ctx context.Context, caller auth.Caller) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, exportLimit)
	if caller.IsAdmin() {
		ctx = context.WithValue(ctx, readingKey{}, db.NewReading())
	}
	return ctx, cancel
}

// watch gives the context of a download that ends with its token, or the caller's session of the console. Whatever ends it ends
// it also while a slow client is being waited for: else it would go on for as long as the client takes for what was read
// before. done is to be called once all is written.
func (e *exporting) watch(ctx context.Context, out *download) (watched context.Context, done func(), err error) {
	watch := auth.Watch{Check: func(context.Context) error { return nil }, Stop: func() {}}
	if e.watcher != nil {
		if ctx, watch, err = e.watcher.Watch(ctx); err != nil {
			return ctx, nil, err
		}
	}
	out.may = func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return watch.Check(ctx)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = http.NewResponseController(out.to).SetWriteDeadline(time.Unix(1, 0)) // not supported by a test's recorder
	})
	return ctx, func() { stop(); watch.Stop() }, nil
}

// asked reads what is asked for, and by whom.
func (e *exporting) asked(r *http.Request) (session chain.Hash, caller auth.Caller, err error) {
	if caller, err = auth.From(r.Context()); err != nil {
		return session, caller, err
	}
	if err = needScopes(caller, auth.LogRead|auth.Verify); err != nil {
		return session, caller, err
	}
	given := r.URL.Query()["session"]
	if len(given) != 1 {
		return session, caller, fault.Input("session", "is to be given once, as in %s?session=…", r.URL.Path)
	}
	if session, err = chain.ParseHash(given[0]); err != nil {
		err = fault.Input("session", "%s", err)
	}
	return session, caller, err
}

// exportStatus gives the status of an error before the first byte.
func exportStatus(err error) int {
	switch fault.CodeOf(err) {
	case fault.BadUserInput:
		return http.StatusBadRequest
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Unauthenticated, fault.RateLimited:
		return auth.Status(err)
	}
	return http.StatusInternalServerError
}

// heldBack is how many bytes of a download are sent only with those that follow: the end of a line. So what is cut ends
// within a line, which no verifier reads.
const heldBack = len("}\n")

// download is an answer whose headers are those of its kind once there is a first byte of it; those of a file if it has a name.
type download struct {
	to    http.ResponseWriter
	kind  string
	name  string
	begun bool
	held  []byte
	may   func() error // tells whether a part may go out; nil: each may
}

// Write sends a part of the file, but for what is held back.
func (d *download) Write(p []byte) (int, error) {
	if d.may != nil {
		if err := d.may(); err != nil {
			return 0, err
		}
	}
	if !d.begun {
		d.begun = true
		h := d.to.Header()
		h.Set("Content-Type", d.kind)
		if d.name != "" {
			h.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
		}
	}
	all := append(d.held, p...)
	send := max(0, len(all)-heldBack)
	d.held = slices.Clone(all[send:])
	if _, err := d.to.Write(all[:send]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end sends what was held back.
func (d *download) end() error {
	_, err := d.to.Write(d.held)
	return err
}
