package local

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// Pace at which Postgres is started again. The longest pause is what a server waits, at most, once the cause is gone.
const (
	restartShortest = 100 * time.Millisecond
	restartLongest  = 2 * time.Second
	steady          = 10 * time.Second // that long it has to run for the next end to count as the first
)

// supervise starts Postgres again whenever it ends unasked, until ctx ends: at once the first time, then after longer
// and longer pauses.
func (s *Server) supervise(ctx context.Context) {
	defer close(s.done)
	ends, began := 0, time.Now()
	for {
		select {
		case <-s.process.done:
		case <-ctx.Done():
			return
		}
		if time.Since(began) >= steady {
			ends = 0
		}
		ends++
		s.report(ctx, ends, s.process.lastWords(), s.process.err)
		for tries := ends - 1; ; tries++ {
			if !pause(ctx, tries) {
				return
			}
			err := s.launch(ctx)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return
			}
			s.report(ctx, ends, wordsOf(err), err)
		}
		began = time.Now()
		s.log.InfoContext(ctx, "private Postgres started again", "ends", ends)
	}
}

// report makes known that there is no Postgres, and why.
func (s *Server) report(ctx context.Context, ends int, words string, cause error) {
	how := "has ended and is being started again"
	if ends > 1 {
		how = fmt.Sprintf("ends again and again, %d times so far, and is being started", ends)
	}
	if words == "" {
		words = "nothing"
	}
	problem := fault.Wrap(cause, fault.Unavailable, "the private Postgres %s; it last complained of: %s (postgres.log in the data directory says more)", how, words)
	s.mu.Lock()
	changed := s.problem == nil || s.problem.Error() != problem.Error()
	s.problem = problem
	s.mu.Unlock()
	if changed {
		s.log.WarnContext(ctx, "the private Postgres has ended", "ends", ends, "words", words, "cause", cause)
	}
}

// complaint is a line of Postgres' log that says why it ended. Other lines may hold what was being written, and are
// for the log alone.
var complaint = regexp.MustCompile(`(?m)(?: (?:FATAL|PANIC):  |^postgres: )(.*)$`)

// lastWords gives the program's last complaint that is not about its clients alone, "" if it had none.
func (p *process) lastWords() string {
	all := complaint.FindAllStringSubmatch(p.printed(), -1)
	for _, m := range slices.Backward(all) {
		if !strings.HasPrefix(m[1], "terminating ") && !strings.HasPrefix(m[1], "the database system is ") {
			return m[1]
		}
	}
	return ""
}

// startError says that Postgres did not start.
type startError struct {
	error
	words string
}

func (e *startError) Unwrap() error { return e.error }

// wordsOf gives why Postgres could not be started.
func wordsOf(err error) string {
	if e, ok := errors.AsType[*startError](err); ok {
		return e.words
	}
	return err.Error()
}

// pause waits before an attempt, of which tries came before. It tells whether there is to be one.
func pause(ctx context.Context, tries int) bool {
	if tries == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(min(restartShortest<<min(tries-1, 10), restartLongest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
