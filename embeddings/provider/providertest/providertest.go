// Package providertest is an embedding provider for tests: a real HTTP server on loopback that speaks the OpenAI API,
// with vectors that need no model, and faults that can be switched on.
package providertest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

// Model is the model that the server has, and the only one.
const Model = "test-embedding"

// Server is one provider. Safe for concurrent use.
type Server struct {
	*endpointtest.Server
	dimensions int
}

// Fault answers a request in the server's place, wrongly. endpointtest has more of them.
type Fault = endpointtest.Fault

// Request is what the server was asked.
type Request struct {
	Texts  []string
	Header http.Header
	Body   map[string]any // the whole request
}

// New starts a server whose vectors have so many dimensions. It ends with the test.
func New(t testing.TB, dimensions int) *Server {
	t.Helper()
	s := &Server{dimensions: dimensions}
	s.Server = endpointtest.New(t, "/embeddings", Model, func(body []byte) ([]byte, string) {
		texts, format := read(body)
		if len(texts) == 0 || format != "float" || hasEmpty(texts) {
			return nil, "this is no list of texts"
		}
		return encode(vectors(texts, dimensions)), ""
	})
	return s
}

// Requests gives what was asked so far.
func (s *Server) Requests() []Request {
	var all []Request
	for _, request := range s.Server.Requests() {
		one := Request{Header: request.Header}
		one.Texts, _ = read(request.Body)
		if err := json.Unmarshal(request.Body, &one.Body); err != nil {
			panic(err) // the server has looked
		}
		all = append(all, one)
	}
	return all
}

// read gives the texts of a request, and the form in which it wants their vectors.
func read(body []byte) (texts []string, format string) {
	var asked struct {
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}
	if json.Unmarshal(body, &asked) != nil {
		return nil, ""
	}
	return asked.Input, asked.Format
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

func hasEmpty(texts []string) bool {
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			return true
		}
	}
	return false
}

// embedding is one element of an answer; its vector is JSON.
type embedding struct {
	Object    string          `json:"object"`
	Index     int             `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

// vectors gives the elements of an answer, last first: clients go by the index.
func vectors(texts []string, dimensions int) []embedding {
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

// encode writes by hand, since some faults are no JSON.
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
