package graph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
)

// codes are what clients may be told.
var codes = []string{
	"BAD_USER_INPUT", "NOT_FOUND", "UNAUTHENTICATED", "FORBIDDEN", "CONFLICT", "CONTEXT_WINDOW_EXCEEDED", "CONTENT_REJECTED", "RATE_LIMITED", "UNAVAILABLE",
}

// FuzzHandler sends requests of all kinds to the API over a log: it never panics, answers 5xx only with 503, and always
// in GraphQL's form, without what is internal.
func FuzzHandler(f *testing.F) {
	log := slog.New(slog.DiscardHandler)
	store, err := db.Open(context.Background(), dbtest.New(f), 4, log)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(store.Close)
	handler := graph.NewHandler(&graph.Resolver{Store: store, Log: log}, graph.Config{Log: log, Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	const asked = "application/json"
	hash := strings.Repeat("0a", 32)
	for _, query := range []string{
		"{__typename}", "{a}", "{messages(first:2,after:\"x\"){totalCount edges{cursor node{hash content refs{target{__typename}}}}}}", `{message(hash:"` + hash + `"){hash}}`,
		`{node(id:"bTox"){id __typename}}`, `mutation{appendMessages(messages:[{sessionHash:"` + hash + `",ownerId:"` + hash + `",content:"a",attachments:{a:[1e5]}}]){hash}}`,
		`mutation{requestContext(input:{query:"a",limit:3,scope:{since:"2026-01-01T00:00:00Z"}}){id rendered}}`, "subscription{verificationProgress{done}}", "{verifyLog{valid}}",
		"query a($n:Int=3){threads(last:$n){totalCount}} query b{sessions{totalCount}}", "{__schema{types{name}}}", "{seal{size} checkpoint{note} embeddingModels{name}}",
		`mutation{upsertComponents(components:[{namespace:FLG,key:"a",name:"b"}]){hash}}`, `mutation{addRecords(records:[{ledger:ACCOUNTANT,title:"a",text:"b"}]){hash}}`,
		`mutation{eraseMessage(hash:"` + hash + `",reason:"a"){hash}}`, `mutation{createToken(input:{kind:AGENT,player:"` + hash + `"}){token}}`,
	} {
		body, _ := json.Marshal(map[string]any{"query": query, "variables": map[string]any{"n": 2}})
		f.Add("POST", body, asked, asked, "", true)
		f.Add("POST", body, asked, "text/event-stream", "", true)
		f.Add("GET", []byte{}, "", "application/graphql-response+json", "query="+url.QueryEscape(query)+"&variables={\"n\":1}", true)
	}
	f.Add("POST", []byte(`[{"query":"{__typename}"}]`), asked, "*/*", "", true)
	f.Add("POST", []byte(`{"query":"{__typename}"}`), "text/plain", "", "", true)
	f.Add("POST", []byte(`{"query":"{__typename}"}`), asked+";charset=\"utf-8\"", "a;q=0,text/event-stream", "", false)
	f.Add("PUT", []byte("\x00\xff"), "", "", "a;b=%zz", false)
	f.Fuzz(func(t *testing.T, method string, body []byte, contentType, accept, query string, known bool) {
		if !slices.Contains([]string{"GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE"}, method) {
			method = "POST"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // ends streams
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, method, "/graphql", strings.NewReader(string(body)))
		r.URL.RawQuery = query
		r.Header["Content-Type"], r.Header["Accept"] = []string{contentType}, []string{accept}
		if known {
			r = r.WithContext(auth.WithCaller(ctx, auth.Administrator()))
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		switch media := w.Header().Get("Content-Type"); {
		case media == "text/event-stream":
			for lines := bufio.NewScanner(w.Body); lines.Scan(); {
				if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					checkAnswer(t, text)
				}
			}
		case media == "application/json", media == "application/graphql-response+json":
			checkAnswer(t, w.Body.String())
		default:
			t.Errorf("%d with Content-Type %q: %.200s", w.Code, media, w.Body)
		}
	})
}

func checkAnswer(t *testing.T, text string) {
	t.Helper()
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	var errs []struct {
		Message    string
		Extensions map[string]any
	}
	if answer["errors"] != nil {
		if err := json.Unmarshal(answer["errors"], &errs); err != nil || len(errs) == 0 {
			t.Fatalf("the errors are %s: %v", answer["errors"], err)
		}
	}
	if errs == nil && answer["data"] == nil {
		t.Errorf("neither data nor errors: %.300s", text)
	}
	for _, e := range errs {
		if code, _ := e.Extensions["code"].(string); e.Message == "" || len(e.Message) > 600 || len(e.Extensions) != 1 || !slices.Contains(codes, code) {
			t.Errorf("error %+v, want a message and a code that clients know", e)
		}
	}
}
