// Package provider asks an OpenAI-compatible embeddings endpoint (OpenAI, Ollama, vLLM, TEI, LM Studio) for vectors:
// in batches for what is stored, and one at a time, quickly or not at all, for queries. It never touches the database,
// and keeps nothing but the vectors of queries, for a while.
package provider

import (
	"fmt"
	"io"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/openai/openai-go/v3"
	"golang.org/x/sync/singleflight"

	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits.
const (
	MaxDimensions = 4000 // pgvector's HNSW indexes a halfvec of at most so many
	MaxText       = 8000 // bytes; what is longer is cut there, at a rune. No token is shorter than a byte, so this fits into 8,191 tokens.

	QueryLimit   = 500 * time.Millisecond // how long a query waits for its vector
	RequestLimit = time.Minute            // how long a batch may take
	QueryPause   = 5 * time.Second        // how long queries leave a provider alone that failed

	batchTexts = 32     // what TEI takes at once, unless told otherwise
	batchBytes = 64_000 // of texts; keeps a batch within RequestLimit on a processor without a GPU
	cacheSize  = 2048   // vectors of queries: 32 MB at most
	maxAnswer  = 32 << 20
)

var embeddings = endpoint.Service{Name: "embeddings endpoint", Setting: "EMBEDDINGS", Path: "/embeddings", Answer: maxAnswer}

// Config says whom to ask, and how. Zero values of the limits mean the constants of the same name.
type Config struct {
	URL   string // the base address, such as http://localhost:11434/v1, or that of the endpoint itself, which ends in /embeddings
	Model string
	Key   string `json:"-"` // sent as bearer token; empty: none is sent

	Dimensions int           // what every vector must have; 0: as many as the vector before
	CacheTTL   time.Duration // how long vectors of queries are kept; 0: not at all
	CacheSize  int           // how many of them at most; 0: 2048

	QueryLimit   time.Duration
	RequestLimit time.Duration
	QueryPause   time.Duration
}

// Format prints the configuration without the key, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Model+" at "+c.URL) }

// Provider asks one endpoint for vectors of one model. Safe for concurrent use.
type Provider struct {
	config  Config
	service openai.EmbeddingService
	now     func() time.Time
	wait    func(done <-chan struct{}, d time.Duration) // returns early when done is closed

	cache   *lru.Cache[cacheKey, cached] // nil: no cache
	flights singleflight.Group
	breaker endpoint.Breaker

	mu    sync.Mutex
	state State // guarded by mu
	texts int   // in a batch, at most; guarded by mu
}

// State is what a provider has done so far, for metrics and the console. It holds neither the key nor any text.
type State struct {
	Model      string
	URL        string
	Dimensions int // 0: not known

	Requests  int64 // sent
	Failures  int64 // requests that failed; those that were refused for their texts are not among them
	Refused   int64 // requests that were refused for their texts, which then were tried apart, or cut
	Texts     int64 // vectors received
	CacheHits int64 // queries that were answered from the cache
	Misses    int64 // queries that were not

	LastError     string // what an administrator can do about the last failure; empty: there was none
	LastErrorKind Kind
	LastErrorAt   time.Time
	LastSuccessAt time.Time // later than LastErrorAt: it is over
	PausedUntil   time.Time // queries do not ask before this time; zero: they do
}

// New makes a provider; it asks nothing yet.
//
// Faults: BAD_USER_INPUT that names the setting.
func New(config Config) (*Provider, error) {
	target, err := embeddings.Check(endpoint.Target{URL: config.URL, Model: config.Model, Key: config.Key})
	if err != nil {
		return nil, err
	}
	config.URL, config.Model, config.Key = target.URL, target.Model, target.Key
	if config.Dimensions < 0 || config.Dimensions > MaxDimensions {
		return nil, fault.New(fault.BadUserInput, "a model has 1 to %d dimensions, not %d", MaxDimensions, config.Dimensions)
	}
	defaults(&config)
	p := &Provider{config: config, service: openai.NewEmbeddingService(embeddings.Options(target)...), now: time.Now, wait: endpoint.Wait, texts: batchTexts}
	p.breaker.Pause = config.QueryPause
	p.state = State{Model: config.Model, URL: config.URL, Dimensions: config.Dimensions}
	if config.CacheTTL > 0 {
		if p.cache, err = lru.New[cacheKey, cached](config.CacheSize); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "cannot make a cache of %d vectors", config.CacheSize)
		}
	}
	return p, nil
}

func defaults(c *Config) {
	if c.CacheSize <= 0 {
		c.CacheSize = cacheSize
	}
	for value, standard := range map[*time.Duration]time.Duration{
		&c.QueryLimit: QueryLimit, &c.RequestLimit: RequestLimit, &c.QueryPause: QueryPause,
	} {
		if *value <= 0 {
			*value = standard
		}
	}
}

// Format prints whom it asks, never the key.
func (p *Provider) Format(f fmt.State, verb rune) { p.config.Format(f, verb) }

// Model gives the model's name.
func (p *Provider) Model() string { return p.config.Model }

// State gives what it has done so far.
func (p *Provider) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.state
	state.PausedUntil = p.breaker.PausedUntil(p.now())
	return state
}

// note counts a request by how it ended.
func (p *Provider) note(texts int, err *Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.state.Texts += int64(texts)
		p.state.LastSuccessAt = p.now()
	case err.Kind == Refused:
		p.state.Refused++
	default:
		p.state.Failures++
		p.fail(err)
	}
}

// fail keeps an error as the last one. The caller holds mu.
func (p *Provider) fail(err *Error) {
	p.state.LastError, p.state.LastErrorKind, p.state.LastErrorAt = err.Error(), err.Kind, p.now()
}
