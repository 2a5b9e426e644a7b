//go:build sqlmap

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/servertest"
)

// asAgent gives requests with the token of an agent, who sees what their sessions hold, and no more.
func asAgent(t *testing.T, p *servertest.Process, streams string, known samples) []target {
	t.Helper()
	var made struct{ CreateToken struct{ Secret string } }
	if err := p.Ask(t.Context(), "mutation($p:Hash!){createToken(input:{kind:AGENT,player:$p,"+
		"scopes:[\"log:read\",\"log:append\",\"context:select\",\"memory:write\",\"verify\",\"tokens:manage\",\"erase\"]}){secret}}", object{"p": known.Player}, &made); err != nil {
		t.Fatal(err)
	}
	admin := p.Token
	p.Token = made.CreateToken.Secret
	defer func() { p.Token = admin }()
	var asked struct{ RequestContext struct{ ID string } }
	if err := p.Ask(t.Context(), `mutation{requestContext(input:{query:"hello"}){id}}`, nil, &asked); err != nil {
		t.Fatal(err)
	}
	known.Selection, known.Quarantined, known.Model = asked.RequestContext.ID, "", ""
	all := stringArguments(t, p, streams, known)
	for i := range all {
		all[i].name += ", by an agent"
	}
	return all
}

// some gives that many of the targets, evenly spread, and all subscriptions: the others are walked with another token, too.
// SQLMAP_ALL=1 takes all.
func some(all []target, many int) (taken []target) {
	every := max(1, len(all)/many)
	for i, one := range all {
		if i%every == 0 || strings.HasPrefix(one.name, "Subscription") || os.Getenv("SQLMAP_ALL") != "" {
			taken = append(taken, one)
		}
	}
	return taken
}

// endings serves subscriptions as answers that end, with the first event. A message brings that about if nothing else
// does, so that what delays a subscription delays its answer. It counts these messages.
func endings(t *testing.T, p *servertest.Process, player string) (at string, told *atomic.Int64) {
	t.Helper()
	told = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		forward, err := http.NewRequestWithContext(ctx, r.Method, p.URL+r.URL.RequestURI(), r.Body)
		if err == nil {
			forward.Header = r.Header.Clone()
			forward.Header.Del("Accept-Encoding")
			forward.Header.Set("Accept", "text/event-stream")
			err = firstEvent(w, forward, func() {
				if _, err := p.Append(ctx, object{"sessionHash": hashOf("heard"), "threadHash": hashOf("heard"), "ownerId": player, "content": "heard"}); err == nil {
					told.Add(1)
				}
			})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, told
}

// firstEvent answers with what comes up to the end of the first event. As long as none comes it nudges.
func firstEvent(w http.ResponseWriter, r *http.Request, nudge func()) error {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				nudge()
			}
		}
	}()
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		_, _ = fmt.Fprintln(w, lines.Text())
		if strings.HasPrefix(lines.Text(), "data:") {
			break
		}
	}
	close(done)
	<-ended
	return nil
}
