// Package endpoint is what clients of OpenAI-compatible endpoints have in common: how settings become a client, one
// request within its limits, what its failure means to whoever runs the server, and when to ask again. It knows no
// particular API, and keeps neither the key nor what was sent or answered.
package endpoint

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/tzzr/context-manager/internal/fault"
)

// MaxModel is how many bytes a model's name has at most.
const MaxModel = 200

// Service is a kind of endpoint.
type Service struct {
	Name    string                   // in the words of errors, such as "chat endpoint"
	Setting string                   // what its settings begin with, such as LLM
	Path    string                   // what the client adds to the base address, such as /chat/completions
	Answer  int64                    // bytes of an answer, at most
	Hint    func(said string) string // the service's own name for what a refusal, in lower case, says; nil: it has none
}

// Target is whom to ask, as settings give it.
type Target struct{ URL, Model, Key string }

// Check gives the target as it is used: the address is the base, without what the client adds.
//
// Faults: BAD_USER_INPUT that names the setting. It never shows the key, nor the address, since keys are put there by
// mistake.
func (s Service) Check(t Target) (Target, error) {
	address := strings.TrimSpace(t.URL)
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || strings.ContainsAny(address, "?#") {
		return Target{}, fault.Input(s.Setting+"_URL", "is not the address of any %s: it is like http://localhost:11434/v1, without user, key or ?", s.Name)
	}
	base := strings.TrimRight(address, "/")
	t.URL = strings.TrimRight(strings.TrimSuffix(base, s.Path), "/")
	t.Model, t.Key = strings.TrimSpace(t.Model), strings.TrimSpace(t.Key)
	if t.Model == "" || len(t.Model) > MaxModel || strings.ContainsFunc(t.Model, unprintable) {
		return Target{}, fault.Input(s.Setting+"_MODEL", "%.40q is no name of a model: it has 1 to %d bytes, all printable", t.Model, MaxModel)
	}
	if strings.ContainsFunc(t.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Target{}, fault.Input(s.Setting+"_KEY", "has characters that no key has: it is printable ASCII without spaces")
	}
	return t, nil
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f }

// Options make a client that asks a checked target. They stand in place of the library's defaults, which would read keys
// and addresses from variables that are not ours. The client tries once, follows no redirect, since texts and the key are
// for this target alone, and reads no more of an answer than Service.Answer.
func (s Service) Options(t Target) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(t.URL + "/"),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "context-manager"),
		option.WithHTTPClient(&http.Client{
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
				TLSHandshakeTimeout: 10 * time.Second,
				ForceAttemptHTTP2:   true,
				MaxIdleConnsPerHost: 8,
				IdleConnTimeout:     90 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			response, err := next(r)
			if err == nil && response.Body != nil {
				response.Body = http.MaxBytesReader(nil, response.Body, s.Answer) // the library reads without a bound
			}
			return response, err
		}),
	}
	if t.Key != "" {
		options = append(options, option.WithAPIKey(t.Key))
	}
	return options
}

// Send makes one request and gives the bytes of its answer: the library's own reading makes 0 of null. The error is that
// of ctx, if it ended first, which is no failure of the endpoint.
func (s Service) Send(ctx context.Context, limit time.Duration, now func() time.Time, request func(context.Context, ...option.RequestOption) error) ([]byte, *Failure, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var response *http.Response
	var body []byte
	err := request(limited, option.WithResponseInto(&response), option.WithResponseBodyInto(&body))
	switch {
	case response != nil && response.StatusCode != http.StatusOK:
		return nil, s.ofStatus(response, now()), nil
	case err == nil:
		return body, nil, nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	default:
		return nil, s.ofConnection(err, limited.Err() != nil, limit), nil
	}
}
