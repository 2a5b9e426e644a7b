// Package endpointtest is what endpoints for tests have in common: a real HTTP server on loopback that speaks one call of
// the OpenAI API, and faults that can be switched on. What is right is up to the packages that use it.
package endpointtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Answer gives the right answer to the body of a request, or says why it takes no such request.
type Answer func(body []byte) (answer []byte, refusal string)

// Server is one endpoint. Safe for concurrent use.
type Server struct {
	http   *httptest.Server
	path   string
	model  string
	answer Answer
	over   chan struct{} // closed when the test ends

	mu       sync.Mutex
	key      string
	fault    Fault
	times    int           // how often the fault still happens; negative: until Mend
	mended   chan struct{} // closed by Mend
	requests []Request
}

// Request is what the server was asked.
type Request struct {
	Header http.Header
	Body   []byte
}

// New starts a server that has one model, and answers at one path below its base. It ends with the test.
func New(t testing.TB, path, model string, answer Answer) *Server {
	t.Helper()
	s := &Server{path: "/v1" + path, model: model, answer: answer, over: make(chan struct{}), mended: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.over)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// URL is its base address.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// RequireKey refuses requests without this key from now on.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Break lets each request end in a fault, until Mend.
func (s *Server) Break(f Fault) { s.BreakNext(-1, f) }

// BreakNext lets the next so many requests end in a fault.
func (s *Server) BreakNext(times int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.times = f, times
}

// Mend ends the fault, and lets requests that hang go on.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = nil
	close(s.mended)
	s.mended = make(chan struct{})
}

// Requests gives what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var asked struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(body, &asked) != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error")
		return
	}
	x := &Exchange{W: w, R: r, Body: body, server: s}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Header.Clone(), body})
	key, fault := s.key, s.fault
	x.mended = s.mended
	if fault != nil && s.times > 0 {
		if s.times--; s.times == 0 {
			s.fault = nil
		}
	}
	s.mu.Unlock()

	switch {
	case r.Method != http.MethodPost || r.URL.Path != s.path || asked.Model != s.model:
		refuse(w, http.StatusNotFound, "model_not_found")
	case key != "" && r.Header.Get("Authorization") != "Bearer "+key:
		refuse(w, http.StatusUnauthorized, "invalid_api_key")
	case fault != nil:
		fault(x)
	default:
		x.Answer()
	}
}

// refuse answers as OpenAI does.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "refused", "type": code, "code": code}})
}

// Exchange is one request, and the way to answer it.
type Exchange struct {
	W    http.ResponseWriter
	R    *http.Request
	Body []byte // of the request

	server *Server
	mended <-chan struct{}
}

// Answer answers rightly.
func (x *Exchange) Answer() { x.Change(func(right []byte) []byte { return right }) }

// Change answers with what it makes of the right answer.
func (x *Exchange) Change(change func(right []byte) []byte) {
	right, refusal := x.server.answer(x.Body)
	if refusal != "" {
		Says(http.StatusBadRequest, refusal)(x)
		return
	}
	x.W.Header().Set("Content-Type", "application/json")
	_, _ = x.W.Write(change(right))
}

// Wait waits until the client goes, the test ends or Mend is called, and says whether it was Mend.
func (x *Exchange) Wait() bool {
	select {
	case <-x.R.Context().Done():
		return false
	case <-x.server.over:
		return false
	case <-x.mended:
		return true
	}
}
