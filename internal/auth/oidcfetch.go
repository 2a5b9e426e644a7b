package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// What is fetched from a provider. A token that no known key has signed makes go-oidc fetch the keys anew; anybody can
// send such tokens, so what was fetched, or that nothing was, holds for fetchAgain.
const (
	fetchLimit = 5 * time.Second
	fetchAgain = time.Second
	fetchBytes = 1 << 20
)

// errFetch is that the provider did not answer with what it was asked for.
var errFetch = errors.New("cannot fetch from the OpenID provider")

// fetcher fetches JSON objects by GET, each address once in a while. Safe for concurrent use.
type fetcher struct {
	from http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	last map[string]*fetched
}

type fetched struct {
	at   time.Time
	body []byte
	err  error
}

func newFetcher(from http.RoundTripper) *fetcher {
	return &fetcher{from: from, now: time.Now, last: map[string]*fetched{}}
}

// RoundTrip gives the answer, if it is a JSON object, and errFetch for all else.
func (f *fetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	last, ok := f.last[r.URL.String()]
	f.mu.Unlock()
	if !ok || f.now().Sub(last.at) >= fetchAgain {
		last = f.fetch(r)
		f.mu.Lock()
		f.last[r.URL.String()] = last // few: the two addresses of the provider, and where they lead
		f.mu.Unlock()
	}
	if last.err != nil {
		return nil, last.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(last.body)), ContentLength: int64(len(last.body)),
	}, nil
}

func (f *fetcher) fetch(r *http.Request) *fetched {
	got := &fetched{at: f.now()}
	response, err := f.from.RoundTrip(r)
	if err != nil {
		got.err = fmt.Errorf("%w: %w", errFetch, err)
		return got
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		got.err = fmt.Errorf("%w: %s", errFetch, response.Status)
		return got
	}
	got.body, err = io.ReadAll(io.LimitReader(response.Body, fetchBytes+1))
	var object map[string]json.RawMessage
	switch {
	case err != nil:
		got.err = fmt.Errorf("%w: %w", errFetch, err)
	case len(got.body) > fetchBytes:
		got.err = fmt.Errorf("%w: more than %d bytes", errFetch, fetchBytes)
	case json.Unmarshal(got.body, &object) != nil:
		got.err = fmt.Errorf("%w: no JSON object", errFetch)
	}
	return got
}
