// Package providertest is an embedding provider for tests: a real HTTP server on loopback that speaks the OpenAI API,
// with vectors that need no model, and faults that can be switched on.
package providertest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// Model is the model that the server has, and the only one.
const Model = "test-embedding"

// Server is one provider. Safe for concurrent use.
type Server struct {
	http       *httptest.Server
	dimensions int
	over       chan struct{} // closed when the test ends

	mu       sync.Mutex
	key      string
	fault    Fault
	times    int           // how often the fault still happens; negative: until Mend
	mended   chan struct{} // closed by Mend
	requests []Request
}

// Request is what the server was asked.
type Request struct {
	Texts  []string
	Header http.Header
	Body   map[string]any // the whole request
}

// New starts a server whose vectors have so many dimensions. It ends with the test.
func New(t testing.TB, dimensions int) *Server {
	t.Helper()
	s := &Server{dimensions: dimensions, over: make(chan struct{}), mended: make(chan struct{})}
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
	return append([]Request(nil), s.requests...)
}

// Asked gives how often a text was sent.
func (s *Server) Asked(text string) int {
	n := 0
	for _, request := range s.Requests() {
		for _, one := range request.Texts {
			if one == text {
				n++
			}
		}
	}
	return n
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var asked struct {
		Input  []string `json:"input"`
		Model  string   `json:"model"`
		Format string   `json:"encoding_format"`
	}
	request := Request{Header: r.Header.Clone()}
	if json.Unmarshal(body, &asked) != nil || json.Unmarshal(body, &request.Body) != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error")
		return
	}
	request.Texts = asked.Input
	s.mu.Lock()
	s.requests = append(s.requests, request)
	key, fault := s.key, s.fault
	if fault != nil && s.times > 0 {
		if s.times--; s.times == 0 {
			s.fault = nil
		}
	}
	s.mu.Unlock()

	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || asked.Model != Model:
		refuse(w, http.StatusNotFound, "model_not_found")
	case key != "" && r.Header.Get("Authorization") != "Bearer "+key:
		refuse(w, http.StatusUnauthorized, "invalid_api_key")
	case fault != nil:
		fault(s, w, r, asked.Input)
	case len(asked.Input) == 0 || asked.Format != "float" || hasEmpty(asked.Input):
		refuse(w, http.StatusBadRequest, "invalid_request_error")
	default:
		s.answer(w, s.vectors(asked.Input, s.dimensions))
	}
}

func hasEmpty(texts []string) bool {
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			return true
		}
	}
	return false
}

// refuse answers as OpenAI does.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "refused", "type": code, "code": code}})
}

// embedding is one element of an answer; its vector is JSON.
type embedding struct {
	Object    string          `json:"object"`
	Index     int             `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

// vectors gives the elements of an answer, last first: clients go by the index.
func (s *Server) vectors(texts []string, dimensions int) []embedding {
	var all []embedding
	for i := len(texts) - 1; i >= 0; i-- {
		encoded, err := json.Marshal(Vector(texts[i], dimensions))
		if err != nil {
			panic(err) // finite numbers only
		}
		all = append(all, embedding{Object: "embedding", Index: i, Embedding: encoded})
	}
	return all
}

// answer writes by hand, since some faults are no JSON.
func (s *Server) answer(w http.ResponseWriter, all []embedding) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(all))
}

func encode(all []embedding) []byte {
	var b strings.Builder
	b.WriteString(`{"object":"list","model":"` + Model + `","usage":{"prompt_tokens":1,"total_tokens":1},"data":[`)
	for i, one := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"object":"embedding","index":`)
		index, _ := json.Marshal(one.Index)
		b.Write(index)
		b.WriteString(`,"embedding":`)
		b.Write(one.Embedding)
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// Vector gives the server's vector of a text, of length 1: the sum of four dimensions a word, so that texts are as close
// as they share words, whatever the case.
func (s *Server) Vector(text string) []float32 { return Vector(text, s.dimensions) }

// Vector is that of a server with so many dimensions.
func Vector(text string, dimensions int) []float32 {
	sums := make([]float64, dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		words = []string{text}
	}
	for _, word := range words {
		for part := range 4 {
			hash := fnv.New64a()
			_, _ = hash.Write([]byte{byte(part)})
			_, _ = io.WriteString(hash, word)
			// The signs let words that meet in a dimension cancel as often as they add.
			sum := hash.Sum64()
			sums[(sum>>8)%uint64(dimensions)] += 1 - 2*float64(sum>>7&1)
		}
	}
	length := 0.0
	for _, value := range sums {
		length += value * value
	}
	vector := make([]float32, dimensions)
	if length == 0 {
		vector[0] = 1
		return vector
	}
	for i, value := range sums {
		vector[i] = float32(value / math.Sqrt(length))
	}
	return vector
}
