package db

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings/provider"
	"github.com/tzzr/context-manager/internal/fault"
)

// Embedder is one model of an embedding provider; provider.Provider is one, and says what its errors mean. Safe for
// concurrent use.
type Embedder interface {
	// Embed gives one vector of length 1 a text. Whatever the error, each vector that is not nil may be kept.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Query gives the vector of a query, soon or not at all.
	Query(ctx context.Context, text string) ([]float32, error)
}

// EmbedderConfig says which dense model the log is to have, and how models are reached.
type EmbedderConfig struct {
	// Model is what the provider calls it.
	Model string
	// Open gives a model of the provider by that name, and asks nothing yet. The model that serves is opened as well, if
	// it is another one.
	Open func(model string) (Embedder, error)

	pace densePace
	// step, if not nil, is called before each step of the work; tests end the work by an error of it.
	step func(name string) error
}

// densePace is how quickly the embedder goes on. Zero values mean the constants.
type densePace struct {
	poll, lease, lasting, reprobe, refile, again, identify time.Duration
	wait                                                   func(attempt int, failure *provider.Error) time.Duration
}

// Pace of the embedder.
const (
	denseWorkers  = 2                      // batches under way
	densePoll     = 500 * time.Millisecond // between looks at an empty backlog
	denseLease    = 3 * time.Minute        // how long a batch may take before another server takes it over
	denseLasting  = time.Minute            // without asking, after a failure that does not pass by itself
	denseReprobe  = time.Minute            // between attempts to reach the old model while a new one is built
	denseRefile   = time.Minute            // between looks for what may be missing from the backlog
	denseAgain    = 10 * time.Second       // between questions whether a known name has another model now
	denseIdentify = time.Minute            // for how long the answer has to stay the same before it is believed
	denseAsked    = 5                      // and how often it has to be given, at least
)

// denseProbe is the text by whose vector a model is known again, and sameModel the cosine from which on it is.
const (
	denseProbe = "The hotel by the sea is booked for the last week of June."
	sameModel  = 0.99
)

// denseModel is a dense model as the database has it.
type denseModel struct {
	id         int32
	name       string
	askedAs    string
	dimensions int
	probe      []float32
}

// denseTarget is a model that can be asked for.
type denseTarget struct {
	denseModel
	embedder Embedder

	mu       sync.Mutex
	failures int // since the last success
	until    time.Time
	doubted  bool // it gave vectors that are not this model's, and is asked no more
}

// doubt takes a model out of use: what answers to its name may be another one now.
func (t *denseTarget) doubt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubted = true
}

func (t *denseTarget) isDoubted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.doubted
}

// paused says whether the model is not to be asked for now.
func (t *denseTarget) paused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.doubted || time.Now().Before(t.until)
}

// denseEmbedder gives dense vectors to what the log and the records hold, in the background, and switches to its model
// once that has all of them. Nobody waits for it: what has no vector is found by its words.
type denseEmbedder struct {
	db     *DB
	config EmbedderConfig
	end    context.CancelFunc
	wait   sync.WaitGroup
	counts denseCounts

	mu      sync.Mutex   // guards what follows
	mine    *denseTarget // the model of the settings; nil until the provider answered, and once the model is gone
	older   *denseTarget // the model that serves, if it is another one and the provider has it
	serving *denseModel  // nil if none does
	problem string       // while mine is nil
	missing string       // why the model that serves cannot be asked for; empty if it can

	building bool      // its index, by this server
	unbuilt  error     // why it was not built the last time
	rebuild  time.Time // not tried before

	// Owned by the goroutine that manages.
	introduced bool       // mine was found or added; false again once it is doubted
	again      bool       // it was before
	failed     int        // attempts at that in a row
	retry      time.Time  // it is not tried before
	other      denseOther // what answers to a known name instead of its model
	reprobe    time.Time  // the model that serves is not tried before
	filed      bool       // what was missing from the backlog is in it
	settled    bool       // and nothing more can be missing
	refile     time.Time  // not looked for again before
}

// StartEmbedder starts to embed with a provider, until Close; a store has one. That the provider fails is told by
// EmbeddingModels, and not here. With a model that the log does not have, everything is embedded anew, while the model
// that serves goes on; then searches switch to the new one.
func (d *DB) StartEmbedder(ctx context.Context, config EmbedderConfig) error {
	config.pace = config.pace.orStandard()
	if config.step == nil {
		config.step = func(string) error { return nil }
	}
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	e := &denseEmbedder{db: d, config: config, end: end, counts: newDenseCounts(), problem: "the embedding provider has not answered yet"}
	if !d.dense.CompareAndSwap(nil, e) {
		end()
		return fault.New(fault.Internal, "the store has an embedder already")
	}
	e.wait.Go(func() { e.run(run) })
	return nil
}

func (p densePace) orStandard() densePace {
	for value, standard := range map[*time.Duration]time.Duration{
		&p.poll: densePoll, &p.lease: denseLease, &p.lasting: denseLasting, &p.reprobe: denseReprobe, &p.refile: denseRefile,
		&p.again: denseAgain, &p.identify: denseIdentify,
	} {
		if *value <= 0 {
			*value = standard
		}
	}
	if p.wait == nil {
		p.wait = provider.Backoff
	}
	return p
}

func (e *denseEmbedder) stop() {
	e.end()
	e.wait.Wait()
}

func (e *denseEmbedder) run(ctx context.Context) {
	for range denseWorkers {
		e.wait.Go(func() { e.work(ctx) })
	}
	for ctx.Err() == nil {
		if !e.introduced && !time.Now().Before(e.retry) {
			e.tryIntroduce(ctx)
		}
		e.look(ctx)
		wait(ctx, e.config.pace.poll)
	}
}

// look sees which model serves, and does what is next for the one that is to. Failures of the database pass.
func (e *denseEmbedder) look(ctx context.Context) {
	if err := e.manage(ctx); err != nil && ctx.Err() == nil {
		e.db.log.WarnContext(ctx, "embedding models wait", "cause", err)
	}
}

func (e *denseEmbedder) manage(ctx context.Context) error {
	rows, err := e.db.queries().ModelStates(ctx)
	if err != nil {
		return err
	}
	var serving *denseModel
	var mine *dbgen.ModelStatesRow
	e.mu.Lock()
	e.leaveDoubted()
	target := e.mine
	for i, row := range rows {
		if row.Serves {
			serving = &denseModel{row.ID, row.Name, row.AskedAs, int(row.Dimensions), row.Probe.Slice()}
		}
		if target != nil && row.ID == target.id {
			mine = &rows[i]
		}
	}
	e.serving = serving
	if target != nil && mine == nil {
		e.mine = nil
		e.problem = errYield.Message
	}
	e.mu.Unlock()
	e.reach(ctx, serving, target)
	if mine == nil {
		return nil
	}
	return e.advance(ctx, target, mine.Serves, mine.Wanted)
}

// leaveDoubted lets go of models that gave other vectors; they are looked for again. The caller holds mu.
func (e *denseEmbedder) leaveDoubted() {
	if e.mine != nil && e.mine.isDoubted() {
		e.problem = "the embedding provider gave vectors that are not those of the model " + e.mine.name
		e.mine, e.introduced, e.retry = nil, false, time.Time{}
	}
	if e.older != nil && e.older.isDoubted() {
		e.older, e.reprobe = nil, time.Time{}
	}
}

// reach opens the model that serves, if it is not the one of the settings: queries need it, and what is appended
// meanwhile.
func (e *denseEmbedder) reach(ctx context.Context, serving *denseModel, mine *denseTarget) {
	e.mu.Lock()
	older := e.older
	if serving == nil || mine != nil && serving.id == mine.id {
		e.older, e.missing = nil, ""
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	if older != nil && older.id == serving.id || time.Now().Before(e.reprobe) {
		return
	}
	e.reprobe = time.Now().Add(e.config.pace.reprobe)
	older, err := e.open(ctx, *serving)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.older, e.missing = older, ""; err != nil {
		e.older, e.missing = nil, denseProblem(err)
	}
}

// open gives a model that the database has, if the provider has it still.
func (e *denseEmbedder) open(ctx context.Context, model denseModel) (*denseTarget, error) {
	embedder, err := e.config.Open(model.askedAs)
	if err != nil {
		return nil, err
	}
	vector, err := probe(ctx, embedder)
	if err != nil {
		return nil, err
	}
	if !same(vector, model.probe) {
		return nil, otherModel(model.askedAs, model.dimensions, len(vector))
	}
	if err := e.gauge(ctx, model.id, embedder); err != nil {
		return nil, err
	}
	return &denseTarget{denseModel: model, embedder: embedder}, nil
}

// targets gives the models that are embedded with, the one that serves first.
func (e *denseEmbedder) targets() []*denseTarget {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*denseTarget
	for _, t := range []*denseTarget{e.older, e.mine} {
		if t != nil {
			all = append(all, t)
		}
	}
	return all
}

// pauseAfter says how long to leave the provider alone after a failure, the attempt counted from 0.
func (e *denseEmbedder) pauseAfter(attempt int, err error) time.Duration {
	failure, ok := errors.AsType[*provider.Error](err)
	if ok && !failure.Temporary() {
		return e.config.pace.lasting
	}
	if errors.Is(err, errOtherModel) {
		return e.config.pace.again
	}
	return e.config.pace.wait(attempt, failure)
}

// denseProblem says what went wrong, in words for whoever runs the server.
func denseProblem(err error) string {
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		return failure.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "the embedding provider did not embed a batch in time"
	}
	return "the vectors could not be made or kept; the server's log says why"
}
