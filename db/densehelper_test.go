package db_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings/provider"
	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/chain"
)

// endpoint is an embeddings endpoint of several models, and for all of them some words mean the same.
type endpoint struct {
	url    string
	models map[string]*providertest.Server
}

var sameWords = strings.NewReplacer("zorble", "hotel", "mimsy", "sea", "tove", "booked")

// newEndpoint starts one; the models have these dimensions.
func newEndpoint(t *testing.T, dimensions map[string]int) *endpoint {
	t.Helper()
	e := &endpoint{models: map[string]*providertest.Server{}}
	for name, n := range dimensions {
		e.models[name] = providertest.New(t, n)
	}
	server := httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(server.Close)
	e.url = server.URL + "/v1"
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return // the client has gone
	}
	model, known := e.models[body["model"].(string)]
	if !known {
		http.Error(w, `{"error": {"code": "model_not_found"}}`, http.StatusNotFound)
		return
	}
	body["model"] = providertest.Model
	input := body["input"].([]any)
	for i := range input {
		input[i] = sameWords.Replace(input[i].(string))
	}
	encoded, _ := json.Marshal(body)
	request, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, model.URL()+"/embeddings", bytes.NewReader(encoded))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text)
}

// config embeds with a model of the endpoint, quickly, and leaves it time to answer.
func (e *endpoint) config(model string) db.EmbedderConfig {
	return e.within(model, 20*time.Second)
}

// within is config for a provider that has to answer in that time, and for queries in as long.
func (e *endpoint) within(model string, limit time.Duration) db.EmbedderConfig {
	return db.EmbedderConfig{Model: model, Open: func(name string) (db.Embedder, error) {
		return provider.New(provider.Config{URL: e.url, Model: name, RequestLimit: limit, QueryLimit: limit, QueryPause: time.Millisecond})
	}}.WithPace(10*time.Millisecond, time.Minute)
}

// embeds gives a store that embeds, with the logins of a Postgres that is the server's own.
func embeds(t *testing.T, url string, config db.EmbedderConfig) *db.DB {
	t.Helper()
	store := openOwn(t, url)
	if err := store.StartEmbedder(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return store
}

// model gives what a store says of a model; a zero one if it does not know it.
func model(t *testing.T, store *db.DB, name string) db.EmbeddingModel {
	t.Helper()
	models, err := store.EmbeddingModels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if m.Name == name {
			return m
		}
	}
	return db.EmbeddingModel{}
}

// untilServing waits until a model serves with nothing outstanding, and then it must have embedded so many.
func untilServing(t *testing.T, store *db.DB, name string, embedded int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s serves and has %d", name, embedded), func() bool {
		m := model(t, store, name)
		if m.Embedded > embedded {
			t.Fatalf("%+v, want %d embedded", m, embedded)
		}
		_, by, _ := nearest(t, store, name)
		return m.State == db.ModelServing && m.Outstanding == 0 && m.Embedded == embedded && m.LastError == "" && by == name
	})
}

// many gives drafts of messages that share no two words.
func many(n int, word string) []chain.Draft {
	drafts := make([]chain.Draft, n)
	for i := range drafts {
		drafts[i] = draft(fmt.Sprint("s", i%5), fmt.Sprintf("%s%d said unique%d", word, i, i))
	}
	return drafts
}

// nearest gives the message or record that is nearest to a text, and by which model; 0 if no model can say.
func nearest(t *testing.T, store *db.DB, text string) (id int64, model, notice string) {
	t.Helper()
	hits, model, notice, err := store.Nearest(t.Context(), text, scopeOfAll, nil, nil, 5)
	if err != nil {
		t.Fatalf("Nearest() = %v", err)
	}
	if len(hits) == 0 {
		return 0, model, notice
	}
	return hits[0].ID, model, notice
}
