package graph_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
)

// BenchmarkPrompt asks for the prompt of one of 100,000 live conversations of ten turns, over HTTP, as the assistant does, by
// turns with the bare SQL that reads one. It gives the medians and the 95th percentiles, and the ratio of these.
func BenchmarkPrompt(b *testing.B) {
	const conversations = 100_000
	url := dbtest.New(b)
	log := slog.New(slog.DiscardHandler)
	store, err := db.Open(context.Background(), url, 8, log)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	assistant := chain.Sum([]byte("assistant"))
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(b.Context(), `INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, history, state, created_at, last_activity, expires_at)
		SELECT c.id, 'client', i::TEXT, encode(sha256(('p' || i)::BYTEA), 'hex'), $1, encode(sha256(c.id::BYTEA), 'hex'),
			(SELECT jsonb_agg(jsonb_build_object('role', CASE t % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'at', now(), 'message', encode(sha256((i || '/' || t)::BYTEA), 'hex'),
				'content', 'turn ' || t || ' of conversation ' || i || ', about the ferry that leaves the old harbour at nine and what a ticket costs')) FROM generate_series(1, 10) AS t),
			'{"current_category": "ferries", "cart_items": [12, 45]}', now(), now(), now() + INTERVAL '1 day'
		FROM generate_series(1, $2) AS i CROSS JOIN LATERAL (SELECT 'client:' || i || ':00000000-0000-4000-8000-' || lpad(i::TEXT, 12, '0') AS id) c`, assistant, conversations); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), "VACUUM ANALYZE"); err != nil {
		b.Fatal(err)
	}
	caller := auth.Caller{Player: assistant, Role: auth.Agent, Scopes: auth.AllScopes}
	api := graph.NewHandler(&graph.Resolver{Store: store, Log: log}, graph.Config{Log: log, Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), caller)))
	}))
	b.Cleanup(server.Close)
	id := func() string {
		i := rand.IntN(conversations) + 1
		return fmt.Sprintf("client:%d:00000000-0000-4000-8000-%012d", i, i)
	}
	prompt := func() {
		body := `{"query":"mutation($c: String!, $i: String!, $r: String!) { promptMessages(conversation: $c, input: $i, rolePrompt: $r, tokenBudget: 2000) { role content tokens } }","variables":{"c":"` + id() +
			`","i":"when does it leave?","r":"You sell tickets."}}`
		w, err := http.Post(server.URL, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer w.Body.Close()
		text, err := io.ReadAll(w.Body)
		if err != nil || strings.Count(string(text), `"role"`) != 13 {
			b.Fatalf("%d %v %s", w.StatusCode, err, text)
		}
	}
	bare := func() {
		var history, state string
		if err := conn.QueryRow(b.Context(), "SELECT history, state FROM memory.conversations WHERE id = $1 AND expires_at > now()", id()).Scan(&history, &state); err != nil {
			b.Fatal(err)
		}
	}
	took := func(f func()) time.Duration {
		began := time.Now()
		f()
		return time.Since(began)
	}
	var prompts, reads []time.Duration
	for b.Loop() {
		prompts, reads = append(prompts, took(prompt)), append(reads, took(bare))
	}
	slices.Sort(prompts)
	slices.Sort(reads)
	at := func(list []time.Duration, share float64) float64 {
		return float64(list[int(float64(len(list)-1)*share)].Microseconds())
	}
	b.ReportMetric(at(prompts, 0.5), "prompt-p50-µs")
	b.ReportMetric(at(prompts, 0.95), "prompt-p95-µs")
	b.ReportMetric(at(reads, 0.5), "read-p50-µs")
	b.ReportMetric(at(reads, 0.95), "read-p95-µs")
	b.ReportMetric(at(prompts, 0.95)/at(reads, 0.95), "ratio-p95")
}
