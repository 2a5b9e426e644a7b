package graph_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/overload"
)

// Who finds no place among those at work is told to come again; reads and writes do not keep each other out, and checks
// need no place.
func TestAdmission(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	places := graph.Admission{Reads: overload.New(1, 0), Writes: overload.New(1, 0), Searches: overload.New(1, 0)}
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
	const search = `mutation { requestContext(input: {query: "one"}) { receipt } }`
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
	leave, err := places.Reads.Enter(t.Context(), "")
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
	for name, query := range map[string]string{
		"a check":                        checks,
		"a check by an inline fragment":  `{ ... { verifyLog { valid } } }`,
		"a check by a fragment":          `{ ...f } fragment f on Query { a: verifyLog { valid } ... on Query { verifyLog { valid } } }`,
		"a search, which is a mutation":  search,
		"a write beside a search":        `mutation { requestContext(input: {query: "one"}) { receipt } upsertComponents(components: []) { hash } }`,
		"a search by an inline fragment": `mutation { ... { requestContext(input: {query: "one"}) { receipt } } }`,
	} {
		if _, code := ask(query, nil); code == "UNAVAILABLE" {
			t.Errorf("%s while there is no place for reads: %s", name, code)
		}
	}
	for name, query := range map[string]string{
		"a read beside a check":           `{ verifyLog { valid } sessions(first: 1) { totalCount } }`,
		"a read beside a skipped check":   `{ verifyLog @skip(if: true) { valid } sessions(first: 1) { totalCount } }`,
		"a read in a fragment, a check":   `{ ...f verifyLog { valid } } fragment f on Query { ... { sessions(first: 1) { totalCount } } }`,
		"a read whose alias is a check's": `{ verifyLog: sessions(first: 1) { totalCount } }`,
		"a write that goes on to read":    `mutation { appendMessages(messages: []) { hash ...f } } fragment f on Message { ... { session { hash } } }`,
	} {
		if w, code := ask(query, nil); w.Code != http.StatusServiceUnavailable || code != "UNAVAILABLE" {
			t.Errorf("%s that finds no place: %d %q, want 503 UNAVAILABLE", name, w.Code, code)
		}
	}
	leave()
	if leave, err = places.Searches.Enter(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for name, query := range map[string]string{
		"a search":                       search,
		"a search by an inline fragment": `mutation { ... { requestContext(input: {query: "one"}) { receipt } } }`,
		"a replay":                       `{ replayContext(id: "a") { identical } }`,
		"a selection into a window":      `mutation { selectIntoWindow(window: "a", input: {query: "one"}) { __typename } }`,
	} {
		if w, code := ask(query, nil); w.Code != http.StatusServiceUnavailable || code != "UNAVAILABLE" {
			t.Errorf("%s that finds no place: %d %q, want 503 UNAVAILABLE", name, w.Code, code)
		}
	}
	if _, code := writes(); code != "" {
		t.Errorf("a write while there is no place for searches: %s", code)
	}
	leave()
	if leave, err = places.Writes.Enter(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	defer leave()
	if w, code := writes(); w.Code != http.StatusServiceUnavailable || code != "UNAVAILABLE" {
		t.Errorf("a write that finds no place: %d %s, want 503 UNAVAILABLE", w.Code, code)
	}
	if _, code := ask(reads, nil); code != "" {
		t.Errorf("a read while there is no place for writes: %s", code)
	}
	if _, code := ask(search, nil); code != "" {
		t.Errorf("a search while there is no place for writes: %s", code)
	}
}

// slowReader is told what is free when an answer is written to it.
type slowReader struct {
	http.ResponseWriter
	wrote func()
}

func (s slowReader) Write(p []byte) (int, error) {
	s.wrote()
	return s.ResponseWriter.Write(p)
}

// Who reads slowly has no place any more: it is free before the first byte is written.
func TestPlaceIsFreeWhileTheAnswerIsRead(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	places := graph.Admission{Reads: overload.New(1, 0), Writes: overload.New(1, 0)}
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: slog.New(slog.DiscardHandler)},
		graph.Config{Log: slog.New(slog.DiscardHandler), Tokens: auth.NewAdminVerifier(auth.NewAdminToken()), Places: places})
	for name, r := range map[string]*http.Request{
		"POST":   httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ sessions { totalCount } }"}`)),
		"GET":    httptest.NewRequest(http.MethodGet, "/graphql?query=%7Bsessions%7BtotalCount%7D%7D", nil),
		"events": httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ sessions { totalCount } }"}`)),
	} {
		r.Header.Set("Content-Type", "application/json")
		if name == "events" {
			r.Header.Set("Accept", "text/event-stream")
		}
		found, w := false, httptest.NewRecorder()
		served.ServeHTTP(slowReader{w, func() {
			leave, err := places.Reads.Enter(t.Context(), "")
			if err == nil {
				found = true
				leave()
			}
		}}, r.WithContext(auth.WithCaller(t.Context(), auth.Administrator())))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"totalCount":0`) || !found {
			t.Errorf("%s: %d %s, a place was free: %t; want one while the answer is written", name, w.Code, w.Body, found)
		}
		leave, err := places.Reads.Enter(t.Context(), "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		leave()
	}
}

// Large answers that are not read yet leave room for others: one that finds none is dropped, and who leaves many unread is
// not asked what they want.
func TestLargeAnswersWait(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: slog.New(slog.DiscardHandler)},
		graph.Config{Log: slog.New(slog.DiscardHandler), Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	room := graph.Unread(served)
	administrator := auth.Administrator()
	who := string(administrator.Player[:])
	content := strings.Repeat("x", 300_000)
	ask := func(query, accept string) *httptest.ResponseRecorder {
		t.Helper()
		sent := object{"query": query}
		if strings.HasPrefix(query, "mutation") {
			sent["variables"] = object{"text": content}
		}
		body, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(string(body)))
		if accept == "GET" {
			r = httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(query), nil)
			accept = ""
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r.WithContext(auth.WithCaller(t.Context(), administrator)))
		return w
	}
	write := func(session string) string {
		return fmt.Sprintf(`mutation($text: String!) { appendMessages(messages: [{sessionHash: "%[1]s", ownerId: "%[2]s", content: $text}, {sessionHash: "%[1]s", ownerId: "%[2]s", content: $text}]) { content again: content } }`,
			hashOf("%s", session), hashOf("owner"))
	}
	read := func(session string) string {
		return fmt.Sprintf(`{ session(hash: "%s") { messages(last: 2) { edges { node { content again: content } } } } }`, hashOf("%s", session))
	}
	small := func(session string) string {
		return fmt.Sprintf(`{ session(hash: "%s") { messages(last: 2) { totalCount } } }`, hashOf("%s", session))
	}
	if w := ask(write("one"), ""); w.Code != http.StatusOK || w.Body.Len() < 4*len(content) {
		t.Fatalf("a large answer to a mutation: %d, %d bytes: %.300s", w.Code, w.Body.Len(), w.Body)
	}
	for _, accept := range []string{"", "GET", "text/event-stream", "application/graphql-response+json"} {
		if w := ask(read("one"), accept); w.Code != http.StatusOK || w.Body.Len() < 4*len(content) {
			t.Errorf("%q: %d, %d bytes: %.300s; want both messages", accept, w.Code, w.Body.Len(), w.Body)
		}
	}
	if !room.Take("", graph.MostUnread-1<<20) {
		t.Fatal("answers that were read keep their room")
	}
	for _, accept := range []string{"", "GET", "application/graphql-response+json"} {
		w := ask(read("one"), accept)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"UNAVAILABLE"`) || w.Body.Len() > 1000 {
			t.Errorf("%q without room: %d %v %.300s; want 503 UNAVAILABLE with Retry-After", accept, w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(read("one"), "text/event-stream"); !strings.Contains(w.Body.String(), `"UNAVAILABLE"`) || w.Body.Len() > 1000 {
		t.Errorf("events without room: %d %.300s, want UNAVAILABLE", w.Code, w.Body)
	}
	if w := ask(write("two"), ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "what it wrote is written") {
		t.Errorf("a mutation without room for its answer: %d %.300s; want 503, and to be told that it was done", w.Code, w.Body)
	}
	if w := ask(small("two"), ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"totalCount":2`) {
		t.Errorf("a small answer without room for large ones: %d %s, want the two messages that were written", w.Code, w.Body)
	}
	room.Give("", graph.MostUnread-1<<20)

	if !room.Take(who, graph.MostUnread/4*3) {
		t.Fatal("answers that were dropped keep room")
	}
	if w := ask(read("one"), ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more than somebody may leave unread: %d, want 503", w.Code)
	}
	if w := ask(write("three"), ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "nothing was done") {
		t.Errorf("who leaves many unread: %d %.300s, want 503 and nothing done", w.Code, w.Body)
	}
	administrator.Player = chain.Sum([]byte("another"))
	if w := ask(read("one"), ""); w.Code != http.StatusOK || w.Body.Len() < 4*len(content) {
		t.Errorf("somebody else then: %d, %d bytes: %.300s; want both messages", w.Code, w.Body.Len(), w.Body)
	}
	administrator = auth.Administrator()
	room.Give(who, graph.MostUnread/2)
	if w := ask(read("one"), ""); w.Code != http.StatusOK {
		t.Errorf("once some are read: %d %.300s, want 200", w.Code, w.Body)
	}
	room.Give(who, graph.MostUnread/4)
	if !room.Take("", graph.MostUnread) {
		t.Error("something is counted as unread, and nothing is")
	}
	room.Give("", graph.MostUnread)
	if w := ask(small("three"), ""); strings.Contains(w.Body.String(), "totalCount") {
		t.Errorf("what was refused: %s, want nothing written", w.Body)
	}
}
