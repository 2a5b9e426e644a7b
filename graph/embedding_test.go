package graph_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings/provider"
	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

type embeddingModel struct {
	Name, Kind, State              string
	Dimensions                     *int
	Embedded, Outstanding, Refused int
	LastError                      *string
	CreatedAt                      *time.Time
}

const embeddingModels = `{ embeddingModels { name kind dimensions state embedded outstanding refused lastError createdAt } }`

func TestEmbeddingModels(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	models := func() []embeddingModel {
		t.Helper()
		var out struct{ EmbeddingModels []embeddingModel }
		a.ask(embeddingModels, nil, &out)
		return out.EmbeddingModels
	}
	a.append(message("s", "first"), message("s", "second"))
	if all := models(); len(all) != 1 || all[0].Kind != "LEXICAL" || all[0].State != "SERVING" || all[0].Embedded+all[0].Outstanding != 2 || all[0].LastError != nil {
		t.Errorf("without a provider: %+v", all)
	}
	server := providertest.New(t, 32)
	server.Break(endpointtest.Status(http.StatusUnauthorized, ""))
	err := a.store.StartEmbedder(t.Context(), db.EmbedderConfig{Model: providertest.Model, Open: func(name string) (db.Embedder, error) {
		return provider.New(provider.Config{URL: server.URL(), Model: name})
	}})
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, so func(m embeddingModel) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			all := models()
			if len(all) == 2 && so(all[0]) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("not in a minute: %s; %+v", what, all)
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-t.Context().Done():
			}
		}
	}
	until("the cause", func(m embeddingModel) bool {
		return m.Name == providertest.Model && m.Kind == "DENSE" && m.State == "BUILDING" && m.Dimensions == nil && m.CreatedAt == nil &&
			m.LastError != nil && *m.LastError == "the embedding provider answered 401 (server_error): check EMBEDDINGS_KEY"
	})
	for name, code := range map[string]string{"lexical-v2": "CONFLICT", "nothing": "NOT_FOUND", "a\x00": "BAD_USER_INPUT"} {
		r := a.try(`mutation($n: String!) { dropEmbeddingModel(name: $n) { name } }`, object{"n": name})
		if len(r.Errors) != 1 || r.Errors[0].Extensions.Code != code {
			t.Errorf("dropping %q: %+v, want %s", name, r.Errors, code)
		}
	}
}

func TestDropEmbeddingModel(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	if _, err := a.store.Pool().Exec(t.Context(), "SELECT embedding.add_dense('old', 'old', 3, '[1,0,0]')"); err != nil {
		t.Fatal(err)
	}
	var out struct{ DropEmbeddingModel []embeddingModel }
	a.ask(`mutation { dropEmbeddingModel(name: "old") { name kind } }`, nil, &out)
	if want := []embeddingModel{{Name: "lexical-v2", Kind: "LEXICAL"}}; !cmp.Equal(out.DropEmbeddingModel, want) {
		t.Errorf("what is left is %+v, want %+v", out.DropEmbeddingModel, want)
	}
}

func TestEmbeddingModelsAreForAdministrators(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	log := slog.New(slog.DiscardHandler)
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: log}, graph.Config{Log: log, Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	for _, role := range []auth.Role{auth.Agent, auth.Client, auth.Hook, ""} {
		as := &api{t: t, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Caller{Player: chain.Sum([]byte("owner")), Role: role})))
		})}
		for _, operation := range []string{embeddingModels, `mutation { dropEmbeddingModel(name: "old") { name } }`} {
			r := as.try(operation, nil)
			if len(r.Errors) != 1 || r.Errors[0].Extensions.Code != "FORBIDDEN" {
				t.Errorf("as %q: errors = %+v, want FORBIDDEN", role, r.Errors)
			}
		}
	}
}
