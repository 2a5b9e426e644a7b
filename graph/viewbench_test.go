package graph_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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

// BenchmarkViewOverHTTP asks for a page of a thread, with all that the console shows of it, and for ranked context of the
// thread, by turns as an administrator and as a player who is a member of a number of sessions, among 10,000 messages in
// 500. It gives the medians, and their ratio: what authorization costs.
func BenchmarkViewOverHTTP(b *testing.B) {
	url := dbtest.New(b)
	log := slog.New(slog.DiscardHandler)
	store, err := db.Open(context.Background(), url, 8, log)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	hash := func(format string, args ...any) chain.Hash { return chain.Sum(fmt.Appendf(nil, format, args...)) }
	words := strings.Fields("the ferry to the island leaves at nine from the old harbour and a ticket costs fourteen euros unless it rains in the garden " +
		"where Marta keeps her letters beside the map of every station that the night train passes on its way to the sea")
	var drafts []chain.Draft
	for i := range 10_000 {
		session := i % 500
		var text []string
		for k := range 12 {
			text = append(text, words[(i*7+k*k*3+i/500*k)%len(words)])
		}
		d := chain.Draft{SessionHash: hash("s%d", session), OwnerID: hash("other%d", i%7), Content: strings.Join(text, " "), ThreadHash: new(hash("t%d", session/3))}
		for _, members := range []int{10, 50, 400} {
			if session < members {
				d.PlayerIDs = append(d.PlayerIDs, hash("in %d", members))
			}
		}
		drafts = append(drafts, d)
	}
	for chunk := range slices.Chunk(drafts, 1000) {
		if _, err := store.Append(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), "VACUUM ANALYZE"); err != nil {
		b.Fatal(err)
	}
	_ = conn.Close(b.Context())

	callers := map[string]auth.Caller{"": auth.Administrator()}
	for _, members := range []int{10, 50, 400} {
		name := fmt.Sprint(members, " sessions")
		callers[name] = auth.Caller{Player: hash("in %d", members), Role: auth.Client, Scopes: auth.Administrator().Scopes}
	}
	api := graph.NewHandler(&graph.Resolver{Store: store, Log: log}, graph.Config{Log: log, Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), callers[r.Header.Get("As")])))
	}))
	b.Cleanup(server.Close)
	ask := func(as, body string) time.Duration {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("As", as)
		began := time.Now()
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer w.Body.Close()
		text, err := io.ReadAll(w.Body)
		if err != nil || w.StatusCode != http.StatusOK || strings.Contains(string(text), `"errors"`) {
			b.Fatalf("%d %v %s", w.StatusCode, err, text)
		}
		return time.Since(began)
	}
	thread := hash("t0")
	for name, body := range map[string]string{
		"page": `{"query":"{ thread(hash: \"` + thread.String() + `\") { messageCount players { hash name } messages(first: 50) { totalCount pageInfo { endCursor hasNextPage } edges { cursor node { id hash sequence content createdAt role eventType owner { hash name } players { hash name } hashtags { hash name } refs { position type hash } integrity { state } } } } } }"}`,
		"context": `{"query":"mutation { requestContext(input: {query: \"when does the ferry leave the harbour\", threshold: 0.2, limit: 10, scope: {threads: [\"` +
			thread.String() + `\"]}}) { receipt rendered tokens items { score explanation { relevance lexical matchedTerms } source { ... on Message { hash content owner { name } } } } } }"}`,
	} {
		for _, members := range []int{10, 50, 400} {
			as := fmt.Sprint(members, " sessions")
			b.Run(fmt.Sprint(name, "/", members), func(b *testing.B) {
				var admin, player []time.Duration
				for b.Loop() {
					admin = append(admin, ask("", body))
					player = append(player, ask(as, body))
				}
				slices.Sort(admin)
				slices.Sort(player)
				a, p := admin[len(admin)/2], player[len(player)/2]
				b.ReportMetric(float64(a.Microseconds()), "administrator-µs")
				b.ReportMetric(float64(p.Microseconds()), "player-µs")
				b.ReportMetric(float64(p)/float64(a), "ratio")
			})
		}
	}
}
