package provider

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/endpoint"
)

// known is a word that every model embeds. It tells a provider that fails from a text that cannot be embedded.
const known = "hello"

// shortest is how many bytes of a refused text are left when it is cut no further.
const shortest = 1000

// Embed gives one vector of length 1 a text, in their order. Of a text only the first MaxText bytes count, cut at a
// rune, and fewer if the model takes no more.
//
// Whatever the error, each vector that is not nil is right, and may be kept. The error holds a *TextError for each text
// that cannot be embedded, white space alone among them (TextErrors lists them); the others go on without it. It holds
// an *Error if the provider failed, and wraps that of ctx if ctx ended: then what has neither vector nor *TextError was
// not judged. Each request is tried once; RequestLimit bounds it.
//
// A vector of another dimension than the one before ends the call with WRONG_DIMENSION. Later vectors may then have
// another, unless Config.Dimensions states it: who keeps vectors compares.
func (p *Provider) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c := &call{provider: p, texts: make([]string, len(texts)), vectors: make([][]float32, len(texts))}
	var batch []int
	size := 0
	for i, text := range texts {
		c.texts[i] = cut(text, MaxText)
		if c.texts[i] == "" {
			c.bad = append(c.bad, &TextError{Index: i, Message: "holds nothing but white space", Empty: true})
			continue
		}
		if len(batch) > 0 && (len(batch) >= p.batch() || size+len(c.texts[i]) > batchBytes) {
			if err := c.embed(ctx, batch); err != nil {
				return c.vectors, result(err, c.bad)
			}
			batch, size = batch[:0], 0
		}
		batch = append(batch, i)
		size += len(c.texts[i])
	}
	if len(batch) == 0 {
		return c.vectors, result(nil, c.bad)
	}
	return c.vectors, result(c.embed(ctx, batch), c.bad)
}

// call is one Embed.
type call struct {
	provider *Provider
	texts    []string // as they are sent
	vectors  [][]float32
	bad      []*TextError
	works    bool // the provider has given a vector in this call, so what it refuses is due to the text
}

// embed embeds a batch. One that is refused is split, down to single texts, and these are cut, so that no text blocks
// the others; the error is that of the provider.
func (c *call) embed(ctx context.Context, batch []int) error {
	texts := make([]string, len(batch))
	for i, index := range batch {
		texts[i] = c.texts[index]
	}
	vectors, err := c.provider.ask(ctx, texts, c.provider.config.RequestLimit)
	c.provider.adapt(len(batch), err)
	if err == nil {
		for i, index := range batch {
			c.vectors[index] = vectors[i]
		}
		c.works = true
		return nil
	}
	refusal, ok := errors.AsType[*Error](err)
	if !ok || !refusal.Kind.OfTexts() {
		return err
	}
	if !c.works {
		if _, err := c.provider.ask(ctx, []string{known}, c.provider.config.RequestLimit); err != nil {
			c.provider.blame(err)
			return err
		}
		c.works = true
	}
	if half := len(batch) / 2; half > 0 {
		if err := c.embed(ctx, batch[:half]); err != nil {
			return err
		}
		return c.embed(ctx, batch[half:])
	}
	index := batch[0]
	if size := len(c.texts[index]); refusal.TooLong && size > shortest {
		c.texts[index] = cut(c.texts[index], max(size/2, shortest))
		return c.embed(ctx, batch)
	}
	c.bad = append(c.bad, &TextError{Index: index, Message: "cannot be embedded: " + refusal.Error()})
	return nil
}

// blame counts a refusal of the known word as what it is, a failure of the provider.
func (p *Provider) blame(err error) {
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Kind != Refused {
		return // counted already
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Refused--
	p.state.Failures++
	p.fail(refusal)
}

// EmbedRetrying is Embed that tries again what a temporary failure kept back, until nothing is left, ctx ends, or the
// provider fails in a way that does not pass by itself. It waits as long as Backoff says.
func (p *Provider) EmbedRetrying(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var bad []*TextError
	rest := make([]int, len(texts)) // without vector or error
	for i := range rest {
		rest[i] = i
	}
	for attempt := 0; ; attempt++ {
		asked := make([]string, len(rest))
		for i, index := range rest {
			asked[i] = texts[index]
		}
		got, err := p.Embed(ctx, asked)
		judged := map[int]bool{}
		for _, one := range TextErrors(err) {
			judged[one.Index] = true
			bad = append(bad, &TextError{Index: rest[one.Index], Message: one.Message, Empty: one.Empty})
		}
		var left []int
		for i, index := range rest {
			if vectors[index] = got[i]; got[i] == nil && !judged[i] {
				left = append(left, index)
			}
		}
		if len(left) < len(rest) {
			attempt = 0 // it works now and then
		}
		rest = left
		failure, failed := errors.AsType[*Error](err)
		if len(rest) == 0 || !failed || !failure.Temporary() {
			return vectors, result(ending(err), bad)
		}
		p.wait(ctx.Done(), Backoff(attempt, failure))
		if ctx.Err() != nil {
			return vectors, result(ended(ctx), bad)
		}
	}
}

// batch gives how many texts a request holds at most.
func (p *Provider) batch() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts
}

// adapt halves batches that take too long, and lets them grow again by one: a slow provider embeds a few texts in the
// time in which it would never finish many.
func (p *Provider) adapt(texts int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.texts = min(p.texts+1, batchTexts)
	} else if failure, ok := errors.AsType[*Error](err); ok && failure.Kind == TimedOut {
		p.texts = max(min(p.texts, texts)/2, 1)
	}
}

// ending gives what ended a call, without its texts.
func ending(err error) error {
	if o, ok := errors.AsType[*outcome](err); ok {
		return o.failure
	}
	return err
}

// Backoff gives how long to wait before trying again after a failure, the attempt counted from 0: see endpoint.Backoff.
func Backoff(attempt int, failure *Error) time.Duration {
	if failure == nil {
		return endpoint.Backoff(attempt, 0)
	}
	return endpoint.Backoff(attempt, failure.RetryAfter)
}

// Probe embeds one word and gives its dimension, which from now on counts as that of all vectors, whatever came before;
// if Config.Dimensions states it, any other is refused.
func (p *Provider) Probe(ctx context.Context) (int, error) {
	vectors, err := p.askAny(ctx, []string{known}, p.config.RequestLimit)
	if err != nil {
		p.blame(err)
		return 0, err
	}
	dimensions := len(vectors[0])
	if p.config.Dimensions == 0 {
		p.mu.Lock()
		p.learn(dimensions)
		p.mu.Unlock()
	}
	if failure := p.accept(dimensions); failure != nil {
		p.note(0, failure)
		return 0, failure
	}
	p.note(1, nil)
	return dimensions, nil
}

// cut gives a text without white space around it, of at most so many bytes, ending with a whole rune.
func cut(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}
