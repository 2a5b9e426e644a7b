package graph_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/overload"
)

// Who finds no place among those at work is told to come again; reads and writes do not keep each other out, and checks
// need no place.
func TestAdmission(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	places := graph.Admission{Reads: overload.New(1, 0), Writes: overload.New(1, 0)}
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: slog.New(slog.DiscardHandler)},
		graph.Config{Log: slog.New(slog.DiscardHandler), Tokens: auth.NewAdminVerifier(auth.NewAdminToken()), Places: places})
	ask := func(query string, variables any) (w *httptest.ResponseRecorder, code string) {
		t.Helper()
		body, err := json.Marshal(object{"query": query, "variables": variables})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(auth.WithCaller(t.Context(), auth.Administrator()), http.MethodPost, "/graphql", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w = httptest.NewRecorder()
		served.ServeHTTP(w, r)
		var out reply
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("status %d, no JSON: %s", w.Code, w.Body)
		}
		if len(out.Errors) > 0 {
			return w, out.Errors[0].Extensions.Code
		}
		return w, ""
	}
	const reads, checks = `{ sessions(first: 1) { totalCount } }`, `{ verifyLog { valid } }`
	writes := func() (*httptest.ResponseRecorder, string) {
		return ask(`mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }`, object{"m": []object{message("s", "one")}})
	}
	for range 3 { // places are given back
		if _, code := ask(reads, nil); code != "" {
			t.Fatalf("a read: %s", code)
		}
		if _, code := writes(); code != "" {
			t.Fatalf("a write: %s", code)
		}
	}
	leave, err := places.Reads.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, code := ask(reads, nil)
	if w.Code != http.StatusServiceUnavailable || code != "UNAVAILABLE" || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), `"data"`) {
		t.Errorf("a read that finds no place: %d %v %s, want 503, Retry-After and UNAVAILABLE", w.Code, w.Header(), w.Body)
	}
	if _, code := writes(); code != "" {
		t.Errorf("a write while there is no place for reads: %s", code)
	}
	if _, code := ask(checks, nil); code != "" {
		t.Errorf("a check while there is no place for reads: %s", code)
	}
	leave()
	if leave, err = places.Writes.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer leave()
	if w, code := writes(); w.Code != http.StatusServiceUnavailable || code != "UNAVAILABLE" {
		t.Errorf("a write that finds no place: %d %s, want 503 UNAVAILABLE", w.Code, code)
	}
	if _, code := ask(reads, nil); code != "" {
		t.Errorf("a read while there is no place for writes: %s", code)
	}
}
