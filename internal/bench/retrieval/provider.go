package retrieval

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// Dimensions of the dense vectors that are measured.
const Dimensions = 384

// wordDimensions is how many dimensions a word touches.
const wordDimensions = 24

// provider is an endpoint of embeddings whose vectors are near where texts share words, so that there is something to
// find. It stands in for a model, whose own time is not measured here.
type provider struct {
	server *http.Server
	url    string
}

// startProvider serves the API of embeddings on a port of its own.
func startProvider() (*provider, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", embed)
	p := &provider{&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, "http://" + listener.Addr().String() + "/v1"}
	go func() { _ = p.server.Serve(listener) }() // until it is closed
	return p, nil
}

func (p *provider) stop() { _ = p.server.Close() }

// embed answers one request: a text or a list of them.
func embed(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var texts []string
	if json.Unmarshal(asked.Input, &texts) != nil {
		texts = make([]string, 1)
		if err := json.Unmarshal(asked.Input, &texts[0]); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	type embedding struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	list := make([]embedding, len(texts))
	for i, text := range texts {
		list[i] = embedding{"embedding", i, vectorOf(text)}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": asked.Model, "data": list,
		"usage": map[string]int{"prompt_tokens": 0, "total_tokens": 0}})
}

// vectorOf gives a text's vector, of length 1: the sum of its words', with some noise that each text has to itself.
func vectorOf(text string) []float32 {
	sum := make([]float64, Dimensions)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		scatter(sum, word, wordDimensions, 1/(1+math.Exp(4-float64(len(word))))) // the short ones are the common ones
	}
	scatter(sum, text, Dimensions, 0.3)
	length := 0.0
	for _, x := range sum {
		length += x * x
	}
	vector := make([]float32, Dimensions)
	for i, x := range sum {
		vector[i] = float32(x / math.Sqrt(length))
	}
	return vector
}

// scatter adds a number of random values, the same for the same text.
func scatter(sum []float64, text string, values int, weight float64) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	random := rand.New(rand.NewPCG(hash.Sum64(), 0))
	for range values {
		sum[random.IntN(len(sum))] += weight * random.NormFloat64()
	}
}
