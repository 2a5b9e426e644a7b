package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// api is the API over a database of its own, asked as the administrator.
type api struct {
	t       testing.TB
	store   *db.DB
	url     string
	handler http.Handler
	counter *statements
}

// statements counts what the store sends to the database for requests, and not what it does of its own.
type statements struct{ n atomic.Int64 }

// TraceQueryStart counts what requests do, but for what each new connection of the pool asks once: the numbers of types.
func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if _, err := auth.From(ctx); err == nil && !strings.HasPrefix(data.SQL, "SELECT to_regtype(") {
		s.n.Add(1)
	}
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart is one of the methods by which statements that are sent together are seen.
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery counts them.
func (s *statements) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchQueryData) {
	if _, err := auth.From(ctx); err == nil {
		s.n.Add(1)
	}
}

// TraceBatchEnd sees their end.
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func newAPI(t testing.TB) *api {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	a := &api{t: t, url: dbtest.New(t), counter: &statements{}}
	var err error
	if a.store, err = db.Open(context.Background(), a.url, 8, log, db.WithTracer(a.counter)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.store.Close)
	tokens := auth.NewAdminVerifier(auth.NewAdminToken())
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: log}, graph.Config{Log: log, Tokens: tokens})
	a.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Administrator())))
	})
	return a
}

type reply struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct{ Code string }
	}
}

// try asks, and gives whatever comes.
func (a *api) try(query string, variables any) reply {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		a.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(a.t.Context(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	var out reply
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		a.t.Fatalf("status %d, no JSON: %s", w.Code, w.Body)
	}
	return out
}

// ask asks, reads the data into out, and fails the test on any error.
func (a *api) ask(query string, variables, out any) {
	a.t.Helper()
	got := a.try(query, variables)
	if len(got.Errors) > 0 {
		a.t.Fatalf("errors: %+v\nof %s", got.Errors, query)
	}
	if err := json.Unmarshal(got.Data, out); err != nil {
		a.t.Fatalf("%v: %s", err, got.Data)
	}
}

func hashOf(format string, args ...any) string {
	return chain.Sum(fmt.Appendf(nil, format, args...)).String()
}

type object = map[string]any

// append writes messages and gives their hashes.
func (a *api) append(messages ...object) []string {
	a.t.Helper()
	var out struct{ AppendMessages []struct{ Hash string } }
	a.ask(`mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }`, object{"m": messages}, &out)
	hashes := make([]string, len(out.AppendMessages))
	for i, m := range out.AppendMessages {
		hashes[i] = m.Hash
	}
	return hashes
}

func message(session, content string, more ...object) object {
	m := object{"sessionHash": hashOf("%s", session), "ownerId": hashOf("owner"), "content": content}
	for _, o := range more {
		for k, v := range o {
			m[k] = v
		}
	}
	return m
}

func long(n int) string { return strings.Repeat("x", n) }

func contains(s, part string) bool { return strings.Contains(s, part) }
