package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

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
	poll, lease, lasting, reprobe, refile time.Duration
	wait                                  func(attempt int, failure *provider.Error) time.Duration
}

// Pace of the embedder.
const (
	denseWorkers = 2                      // batches under way
	densePoll    = 500 * time.Millisecond // between looks at an empty backlog
	denseLease   = 3 * time.Minute        // how long a batch may take before another server takes it over
	denseLasting = time.Minute            // without asking, after a failure that does not pass by itself
	denseReprobe = time.Minute            // between attempts to reach the old model while a new one is built
	denseRefile  = time.Minute            // between looks for what may be missing from the backlog
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
	told     bool   // problem is what the database has
	problem  string // empty: none
	failures int    // since the last success
	until    time.Time
}

// paused says whether the model is not to be asked for now.
func (t *denseTarget) paused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until)
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
	reprobe time.Time // the model that serves is not tried before
	filed   bool      // what was missing from the backlog is in it
	settled bool      // and nothing more can be missing
	refile  time.Time // not looked for again before
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
	for attempt := 0; ; attempt++ {
		target, err := e.introduce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			e.mu.Lock()
			e.mine, e.problem = target, ""
			e.mu.Unlock()
			break
		}
		e.db.log.WarnContext(ctx, "the embedding model cannot be used yet", "model", e.config.Model, "cause", err)
		e.mu.Lock()
		e.problem = denseProblem(err)
		e.mu.Unlock()
		e.look(ctx) // the model that serves may answer
		wait(ctx, e.pauseAfter(attempt, err))
	}
	for range denseWorkers {
		e.wait.Go(func() { e.work(ctx) })
	}
	for ctx.Err() == nil {
		e.look(ctx)
		wait(ctx, e.config.pace.poll)
	}
}

// introduce asks the provider which model it has under the name of the settings, adds it if it is new, and makes it the
// one to switch to.
func (e *denseEmbedder) introduce(ctx context.Context) (*denseTarget, error) {
	embedder, err := e.config.Open(e.config.Model)
	if err != nil {
		return nil, err
	}
	vector, err := probe(ctx, embedder)
	if err != nil {
		return nil, err
	}
	model := denseModel{askedAs: e.config.Model, dimensions: len(vector), probe: vector}
	err = e.db.inTx(ctx, func(tx pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockModels(ctx); err != nil {
			return err
		}
		if err := findOrAdd(ctx, q, &model); err != nil {
			return err
		}
		if err := q.WantModel(ctx, model.id); err != nil {
			return err
		}
		began, err := q.FollowLog(ctx, model.id)
		if err == nil && began > 0 {
			err = q.FileAll(ctx, model.id)
		}
		return errors.Join(err, retire(ctx, q))
	})
	return &denseTarget{denseModel: model, embedder: embedder}, err
}

// findOrAdd looks for the model that gives these vectors under this name, or adds it.
func findOrAdd(ctx context.Context, q *dbgen.Queries, model *denseModel) error {
	known, err := q.ModelsAskedAs(ctx, model.askedAs)
	if err != nil {
		return err
	}
	for _, k := range known {
		if same(k.Probe.Slice(), model.probe) {
			model.id, model.name = k.ID, k.Name
			return nil
		}
	}
	names, err := q.ModelNames(ctx)
	if err != nil {
		return err
	}
	model.name = model.askedAs
	for n := 2; slices.Contains(names, model.name); n++ {
		model.name = fmt.Sprintf("%s@%d", model.askedAs, n)
	}
	model.id, err = q.AddDense(ctx, model.name, model.askedAs, int32(model.dimensions), pgvector.NewHalfVector(model.probe))
	return err
}

// retire ends the following of models that nobody wants any more.
func retire(ctx context.Context, q *dbgen.Queries) error {
	if err := q.RetireModels(ctx); err != nil {
		return err
	}
	return q.DropRetiredBacklog(ctx)
}

// probe gives the vector by which a model is known again.
func probe(ctx context.Context, embedder Embedder) ([]float32, error) {
	vectors, err := embedder.Embed(ctx, []string{denseProbe})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// same says whether two vectors are those of one text and one model, but for rounding.
func same(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	var product, squareA, squareB float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		squareA += float64(a[i]) * float64(a[i])
		squareB += float64(b[i]) * float64(b[i])
	}
	return product >= sameModel*math.Sqrt(squareA*squareB)
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
		e.problem = "another server has started with another model, or this one was dropped; nothing is embedded with it until a server starts with it"
	}
	e.mu.Unlock()
	e.reach(ctx, serving, target)
	if mine == nil {
		return nil
	}
	return e.advance(ctx, target, mine.Serves, mine.Wanted)
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
		return nil, fault.New(fault.Unavailable, "the embedding provider has another model under the name %s now", model.askedAs)
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
