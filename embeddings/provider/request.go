package provider

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
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
	if err := ctx.Err(); err != nil {
		return nil, ended(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.mu.Lock()
	p.state.Requests++
	p.mu.Unlock()

	var response *http.Response
	var body []byte
	// The library's own reading of an answer makes 0 of null, so the bytes are read here.
	_, err := p.service.New(limited, openai.EmbeddingNewParams{
		Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
		Model:          p.config.Model,
		EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
	}, option.WithResponseInto(&response), option.WithResponseBodyInto(&body))

	var vectors [][]float32
	var failure *Error
	switch {
	case response != nil && response.StatusCode != http.StatusOK:
		failure = p.ofStatus(response)
	case err == nil:
		vectors, failure = parse(body, len(texts))
	case ctx.Err() != nil:
		return nil, ended(ctx)
	default:
		failure = ofConnection(err, limited.Err() != nil, limit)
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

// passing are statuses below 500 that say nothing of the request.
var passing = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusFailedDependency, http.StatusTooEarly}

// ofStatus gives the error of an answer that is none.
func (p *Provider) ofStatus(response *http.Response) *Error {
	status := response.StatusCode
	e := &Error{Status: status, RetryAfter: retryAfter(response.Header, p.now())}
	advice := ""
	code, tooLong := said(response)
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind, advice = RateLimited, "too many requests, or the quota is used up"
	case slices.Contains(passing, status), status >= 500:
		e.Kind, advice = Failing, "look at its own log"
	case status == http.StatusUnauthorized:
		e.Kind, advice = Denied, "check EMBEDDINGS_KEY"
	case status == http.StatusPaymentRequired:
		e.Kind, advice = Denied, "the account that EMBEDDINGS_KEY belongs to has no credit"
	case status == http.StatusForbidden:
		e.Kind, advice = Denied, "the key may not use the model; check EMBEDDINGS_KEY and EMBEDDINGS_MODEL"
	case status == http.StatusNotFound:
		e.Kind, advice = NotFound, "it has no such model or address; check EMBEDDINGS_MODEL, and EMBEDDINGS_URL, which often ends in /v1"
	case status == http.StatusMethodNotAllowed, status < 400:
		e.Kind, advice = NotFound, "this is no embeddings endpoint; check EMBEDDINGS_URL"
	default:
		e.Kind, advice = Refused, "it does not take the request"
		e.tooLong = tooLong || status == http.StatusRequestEntityTooLarge
	}
	e.Message = fmt.Sprintf("answered %d%s: %s", status, code, advice)
	return e
}

// codes are what an administrator should see of a provider's own words. Anything else that it writes may repeat a text,
// or the key.
var codes = []string{
	"invalid_api_key", "insufficient_quota", "rate_limit_exceeded", "billing_hard_limit_reached", "account_deactivated",
	"model_not_found", "unsupported_country_region_territory", "context_length_exceeded", "string_above_max_length", "server_error",
}

// longWords are how providers say that a text is too long; few have a code for it.
var longWords = []string{
	"context length", "context_length", "context size", "maximum length", "max_length", "above_max_length", "too long", "too many tokens", "too large",
}

// said gives the provider's own code for an error, if it is one of the list, and whether it says that a text is too long.
func said(response *http.Response) (code string, tooLong bool) {
	content, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return "", false
	}
	words := strings.ToLower(string(content))
	tooLong = slices.ContainsFunc(longWords, func(word string) bool { return strings.Contains(words, word) })
	var answer struct {
		Error struct {
			Code any `json:"code"`
			Type any `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(content, &answer) != nil {
		return "", tooLong
	}
	for _, value := range []any{answer.Error.Code, answer.Error.Type} {
		if word, ok := value.(string); ok && slices.Contains(codes, word) {
			return " (" + word + ")", tooLong
		}
	}
	return "", tooLong
}

// ofConnection gives the error of a request without a whole answer. What a peer sent is not repeated.
func ofConnection(err error, late bool, limit time.Duration) *Error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Error{Kind: Unusable, Message: fmt.Sprintf("gave an answer of more than %d bytes; check EMBEDDINGS_URL", tooLarge.Limit)}
	}
	if late {
		return &Error{Kind: TimedOut, Message: fmt.Sprintf("did not answer within %s", limit)}
	}
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) {
		return &Error{Kind: TimedOut, Message: "did not answer in time"}
	}
	why := "the connection broke off"
	operation, isOperation := errors.AsType[*net.OpError](err)
	name, isName := errors.AsType[*net.DNSError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isName:
		why = fmt.Sprintf("the host %s is not known; check EMBEDDINGS_URL", name.Name)
	case isOperation && operation.Op == "dial":
		why = operation.Error() + "; check that it runs, and EMBEDDINGS_URL"
	case isCertificate:
		why = "its certificate is not trusted here"
	case errors.Is(err, http.ErrSchemeMismatch):
		why = "it speaks http, not https; check EMBEDDINGS_URL"
	}
	return &Error{Kind: Unreachable, Message: "cannot be reached: " + why}
}

// retryAfter reads how long a provider asks to wait, as seconds or a date, or in milliseconds as OpenAI gives them.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := units(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := header.Get("Retry-After")
	if wait, ok := units(value, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), MaxRetryAfter)
	}
	return 0
}

func units(value string, unit time.Duration) (time.Duration, bool) {
	number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(number) || number < 0 {
		return 0, false
	}
	return time.Duration(min(number, float64(MaxRetryAfter/unit)) * float64(unit)), true
}
