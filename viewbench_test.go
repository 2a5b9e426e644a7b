package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
)

// BenchmarkViewOverHTTP asks a whole server for a page of a thread, with all that the console shows of it, and for ranked context of
// the thread, and of all that the caller sees, by turns with the administrator's token and with that of a player who is a member of a number of sessions, among 10,000
// messages in 500. It gives the medians, and their ratio: what authorization costs, but for
// context of all, where who sees less has less to search: there the player of 400 sessions comes near.
func BenchmarkViewOverHTTP(b *testing.B) {
	s := newSite(b, true, config.Server{})
	words := strings.Fields("the ferry to the island leaves at nine from the old harbour and a ticket costs fourteen euros unless it rains in the garden " +
		"where Marta keeps her letters beside the map of every station that the night train passes on its way to the sea")
	var drafts []chain.Draft
	for i := range 10_000 {
		session := i % 500
		var text []string
		for k := range 12 {
			text = append(text, words[(i*7+k*k*3+i/500*k)%len(words)])
		}
		d := chain.Draft{SessionHash: sumOf("s%d", session), OwnerID: sumOf("other%d", i%7), Content: strings.Join(text, " "), ThreadHash: new(sumOf("t%d", session/3))}
		for _, members := range []int{10, 50, 400} {
			if session < members {
				d.PlayerIDs = append(d.PlayerIDs, sumOf("in %d", members))
			}
		}
		drafts = append(drafts, d)
	}
	for chunk := range slices.Chunk(drafts, 1000) {
		if _, err := s.Append(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	conn := connect(b, s.database)
	until(b, conn, "sealed", "SELECT (NOT EXISTS (SELECT FROM seal.outbox))::INT")
	if _, err := conn.Exec(b.Context(), "VACUUM ANALYZE"); err != nil {
		b.Fatal(err)
	}
	ask := func(token, body string) time.Duration {
		began := time.Now()
		a := s.send(http.MethodPost, "/graphql", token, []byte(body), "Content-Type: application/json")
		took := time.Since(began)
		if a.status != http.StatusOK || strings.Contains(string(a.body), `"errors"`) {
			b.Fatalf("%d %s", a.status, a.body)
		}
		return took
	}
	thread := sumOf("t0")
	context := func(scope string) string {
		return `{"query":"mutation { requestContext(input: {query: \"when does the ferry leave the harbour\", threshold: 0.2, limit: 10` + scope +
			`}) { receipt rendered tokens items { score explanation { relevance lexical matchedTerms } source { ... on Message { hash content owner { name } } } } } }"}`
	}
	for name, body := range map[string]string{
		"page":          `{"query":"{ thread(hash: \"` + thread.String() + `\") { messageCount players { hash name } messages(first: 50) { totalCount pageInfo { endCursor hasNextPage } edges { cursor node { id hash sequence content createdAt role eventType owner { hash name } players { hash name } hashtags { hash name } refs { position type hash } integrity { state } } } } } }"}`,
		"context":       context(`, scope: {threads: [\"` + thread.String() + `\"]}`),
		"whole context": context(""),
	} {
		for _, members := range []int{10, 50, 400} {
			token := s.token(auth.Client, sumOf("in %d", members), 0)
			b.Run(fmt.Sprint(name, "/", members), func(b *testing.B) {
				var admin, player []time.Duration
				for n := 0; b.Loop(); n++ { // each as often after itself as after the other
					for _, first := range []bool{n%2 == 0, n%2 != 0} {
						if first {
							admin = append(admin, ask(s.admin, body))
						} else {
							player = append(player, ask(token, body))
						}
					}
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
