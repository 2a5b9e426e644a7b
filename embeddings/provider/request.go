package provider

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// ask sends one request and gives one vector of length 1 a text, in their order. An error is an *Error, or wraps that of
// ctx if ctx has ended, which is no failure of the provider.
func (p *Provider) ask(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	vectors, err := p.askAny(ctx, texts, limit)
	if err != nil {
		return nil, err
	}
	if failure := p.accept(len(vectors[0])); failure != nil {
		p.note(0, failure)
		return nil, failure
	}
	p.note(len(vectors), nil)
	return vectors, nil
}

// askAny is ask for vectors of any dimension; they share one. It counts failures, and leaves success to be counted.
func (p *Provider) askAny(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	p.count(&p.state.Requests)
	body, failed, err := embeddings.Send(ctx, limit, p.now, func(ctx context.Context, options ...option.RequestOption) error {
		_, err := p.service.New(ctx, openai.EmbeddingNewParams{
			Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
			Model:          p.config.Model,
			EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
		}, options...)
		return err
	})
	if err != nil {
		return nil, ended(ctx)
	}
	failure := (*Error)(failed)
	var vectors [][]float32
	if failure == nil {
		vectors, failure = parse(body, len(texts))
	}
	if failure != nil {
		p.note(0, failure)
		return nil, failure
	}
	return vectors, nil
}

// ended says that the caller's ctx has ended.
func ended(ctx context.Context) error {
	return fmt.Errorf("asking the embedding provider: %w", context.Cause(ctx))
}

// accept takes the dimension of the first vector for that of all, and refuses another. Unless the configuration states
// the dimension, the next vector decides anew: the one that decided may have been the wrong one.
func (p *Provider) accept(dimensions int) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.state.Dimensions
	switch before {
	case dimensions:
		return nil
	case 0:
		p.state.Dimensions = dimensions
		return nil
	}
	p.learn(p.config.Dimensions)
	return &Error{Kind: WrongDimension, Status: http.StatusOK, Message: fmt.Sprintf(
		"gave a vector of %d dimensions instead of %d: another model answers to this name; check EMBEDDINGS_URL and EMBEDDINGS_MODEL", dimensions, before)}
}

// learn takes a dimension for that of all vectors, 0 for none, and forgets those that have another. The caller holds mu.
func (p *Provider) learn(dimensions int) {
	if p.state.Dimensions != dimensions && p.cache != nil {
		p.cache.Purge()
	}
	p.state.Dimensions = dimensions
}
