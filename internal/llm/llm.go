// Package llm asks a model behind an OpenAI-compatible chat endpoint (OpenAI, Ollama, vLLM, LM Studio) to judge and to
// summarise for context windows, quickly or not at all. It believes nothing of an answer that it can check: who asked, and
// for what, decides what an answer may be. It keeps neither what it sent nor what it was told.
package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Limits.
const (
	Limit = 10 * time.Second // how long a judgement or a summary may take, with all its requests
	Pause = 30 * time.Second // how long a model is left alone that failed

	MaxPair  = 64_000  // bytes of the two texts of a pair
	MaxParts = 512_000 // bytes of all that is summarised at once

	tries     = 3 // of a request that failed in a way that passes, as far as Limit allows
	maxAnswer = 1 << 20
)

var chat = endpoint.Service{Name: "chat endpoint", Setting: "LLM", Path: "/chat/completions", Answer: maxAnswer, Hint: hint}

// What is asked of a model.
const (
	TaskJudge     = "judge"
	TaskSummarise = "summarise"
)

// Observer is told what a model is asked, for metrics. It is safe for concurrent use.
type Observer interface {
	// ModelAsked tells of one request: its task, what kind of failure it ended in, if any, and how long it took.
	ModelAsked(task, failure string, took time.Duration)
	// ModelReplaced tells that what is built in did a task in the model's place.
	ModelReplaced(task string)
}

// Config says whom to ask, and how. Zero values of the limits mean the constants of the same name.
type Config struct {
	URL   string // the base address, such as http://localhost:11434/v1, or that of the endpoint itself, which ends in /chat/completions
	Model string
	Key   string `json:"-"` // sent as bearer token; empty: none is sent

	Limit time.Duration
	Pause time.Duration

	// Missing gives what of the vital parts is not in a summary, such as names, numbers and dates; nil: Missing.
	Missing  func(parts []window.Part, summary string) []string
	Observer Observer // nil: nobody
}

// Format prints the configuration without the key, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Model+" at "+c.URL) }

// Model asks one model. It is a window.Judge and a window.Summariser. Safe for concurrent use.
type Model struct {
	config  Config
	service openai.ChatCompletionService
	now     func() time.Time
	wait    func(done <-chan struct{}, d time.Duration) // returns early when done is closed
	breaker endpoint.Breaker

	mu     sync.Mutex
	state  State  // guarded by mu
	manner manner // guarded by mu
}

var (
	_ window.Judge      = (*Model)(nil)
	_ window.Summariser = (*Model)(nil)
)

// State is what a model was asked so far, for the console. It holds neither the key nor any text.
type State struct {
	Model string
	URL   string

	Requests  int64 // sent
	Failures  int64 // requests without an answer that could be used
	Fallbacks int64 // judgements and summaries that what is built in gave instead

	LastError     string // what an administrator can do about the last failure; empty: there was none
	LastErrorKind endpoint.Kind
	LastErrorAt   time.Time
	LastSuccessAt time.Time // later than LastErrorAt: it is over
	PausedUntil   time.Time // it is not asked before this time; zero: it is
}

// New makes a model; it asks nothing yet.
//
// Faults: BAD_USER_INPUT that names the setting.
func New(config Config) (*Model, error) {
	target, err := chat.Check(endpoint.Target{URL: config.URL, Model: config.Model, Key: config.Key})
	if err != nil {
		return nil, err
	}
	config.URL, config.Model, config.Key = target.URL, target.Model, target.Key
	if config.Limit <= 0 {
		config.Limit = Limit
	}
	if config.Pause <= 0 {
		config.Pause = Pause
	}
	if config.Missing == nil {
		config.Missing = Missing
	}
	m := &Model{config: config, service: openai.NewChatCompletionService(chat.Options(target)...), now: time.Now, wait: endpoint.Wait}
	m.breaker.Pause = config.Pause
	m.state = State{Model: config.Model, URL: config.URL}
	return m, nil
}

// Format prints whom it asks, never the key.
func (m *Model) Format(f fmt.State, verb rune) { m.config.Format(f, verb) }

// State gives what it was asked so far.
func (m *Model) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	state := m.state
	state.PausedUntil = m.breaker.PausedUntil(m.now())
	return state
}

// errLate is why the context of a call ends at its limit.
var errLate = errors.New("the limit is over")

// call lets run ask within the limit, unless the model failed a moment ago. Run says whether anything was answered, too: a model
// that answers until the limit is over was asked for much, and is not left alone for that.
//
// Faults: UNAVAILABLE around an *Error; or the error of ctx, if that ended, which is no failure of the model.
func (m *Model) call(ctx context.Context, run func(ctx context.Context) (answered bool, err error)) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if paused := m.breaker.Enter(m.now()); paused != nil {
		return (*Error)(paused).fault()
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.config.Limit, errLate)
	defer cancel()
	answered, err := run(limited)
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	failure, _ := errors.AsType[*Error](err)
	if failure != nil && failure.Kind == endpoint.TimedOut && answered {
		m.breaker.Leave(m.now(), nil)
	} else {
		m.breaker.Leave(m.now(), (*endpoint.Failure)(failure))
	}
	if failure != nil {
		return failure.fault()
	}
	return err
}

// ended says that the caller's ctx has ended.
func ended(ctx context.Context) error { return fmt.Errorf("asking the model: %w", context.Cause(ctx)) }

// note counts a request by how it ended.
func (m *Model) note(task string, failure *endpoint.Failure, took time.Duration) {
	kind := ""
	m.mu.Lock()
	if failure == nil {
		m.state.LastSuccessAt = m.now()
	} else {
		kind = string(failure.Kind)
		m.state.Failures++
		m.state.LastError, m.state.LastErrorKind, m.state.LastErrorAt = (*Error)(failure).Error(), failure.Kind, m.now()
	}
	m.mu.Unlock()
	if m.config.Observer != nil {
		m.config.Observer.ModelAsked(task, kind, took)
	}
}

// Error is a failure of the model. Its text is for administrators, and holds neither the key nor a text.
type Error endpoint.Failure

// Error says it in words.
func (e *Error) Error() string { return "the model " + e.Message }

// Temporary says whether the same may succeed later without anybody doing anything.
func (e *Error) Temporary() bool { return e.Kind.Temporary() }

// Plain says it in words for anybody, without addresses and settings.
func (e *Error) Plain() string {
	switch e.Kind {
	case endpoint.Unreachable:
		return "the model cannot be reached"
	case endpoint.RateLimited:
		return "the model takes no more requests for now"
	case endpoint.Failing:
		return fmt.Sprintf("the model's endpoint fails with status %d", e.Status)
	case endpoint.Paused:
		return "the model failed a moment ago, and is left alone for now"
	case endpoint.Denied, endpoint.NotFound, endpoint.Refused:
		if e.Status != 0 {
			return fmt.Sprintf("the model's endpoint refuses the request with status %d", e.Status)
		}
	}
	message, _, _ := strings.Cut(e.Message, "; check ")
	return "the model " + message
}

// fault is what callers of the package get.
func (e *Error) fault() error { return fault.Wrap(e, fault.Unavailable, "%s", e.Plain()) }
