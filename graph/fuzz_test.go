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

	"github.com/vektah/gqlparser/v2"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
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
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: &graph.Resolver{}}).Schema()
	seed := func(query string) {
		body, _ := json.Marshal(map[string]any{"query": query, "variables": map[string]any{"n": 2}})
		f.Add("POST", body, asked, asked, "", byte(1))
		f.Add("POST", body, asked, "text/event-stream", "", byte(2))
		f.Add("GET", []byte{}, "", "application/graphql-response+json", "query="+url.QueryEscape(query)+"&variables={\"n\":1}", byte(3))
	}
	player := component.DefaultHash("ply", "ana")
	for _, query := range validSeeds(player) {
		if _, err := gqlparser.LoadQueryWithRules(schema, query, nil); err != nil {
			f.Fatalf("%s: %v", query, err)
		}
		seed(query)
	}
	seed("{a}")
	f.Add("POST", []byte(`[{"query":"{__typename}"}]`), asked, "*/*", "", byte(1))
	f.Add("POST", []byte(`{"query":"{__typename}"}`), "text/plain", "", "", byte(1))
	f.Add("POST", []byte(`{"query":"{__typename}"}`), asked+";charset=\"utf-8\"", "a;q=0,text/event-stream", "", byte(0))
	f.Add("PUT", []byte("\x00\xff"), "", "", "a;b=%zz", byte(0))
	callers := []auth.Caller{
		{}, // nobody
		auth.Administrator(),
		{Player: player, Role: auth.Agent, Scopes: auth.AllScopes},
		{Player: player, Role: auth.Client, Scopes: auth.DefaultScopes(auth.Client)},
	}
	f.Fuzz(func(t *testing.T, method string, body []byte, contentType, accept, query string, who byte) {
		if !slices.Contains([]string{"GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE"}, method) {
			method = "POST"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // ends streams
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, method, "/graphql", strings.NewReader(string(body)))
		r.URL.RawQuery = query
		r.Header["Content-Type"], r.Header["Accept"] = []string{contentType}, []string{accept}
		if by := callers[int(who)%len(callers)]; by.Role != "" {
			r = r.WithContext(auth.WithCaller(ctx, by))
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

// validSeeds are documents that the schema allows, and so reach the resolvers and the store: of each concept some, with what
// is not there.
func validSeeds(player chain.Hash) []string {
	const uuid = "3b241101-e2bb-4255-8caf-4136c566a962"
	quoted := func(text string) string { return `"` + text + `"` }
	hash, owner, conversation, entry := quoted(strings.Repeat("0a", 32)), quoted(player.String()), quoted("client:u:"+uuid), quoted("dqcvbzacbev6")
	window, selection := quoted(model.GlobalID(model.WindowKind, uuid)), quoted(model.GlobalID("ContextSelection", uuid))
	return []string{
		"{__typename}", `{messages(first:2,after:"x"){totalCount edges{cursor node{hash content refs{target{__typename}}}}}}`, "{message(hash:" + hash + "){hash}}",
		`{node(id:"bTox"){id __typename}}`, "mutation{appendMessages(messages:[{sessionHash:" + hash + ",ownerId:" + owner + `,content:"a",attachments:{a:[1e5]}}]){hash}}`,
		`mutation{requestContext(input:{query:"a",limit:3,scope:{since:"2026-01-01T00:00:00Z"}}){id rendered}}`, "subscription{verificationProgress{done}}", "{verifyLog{valid}}",
		"query a($n:Int=3){threads(first:$n){totalCount}} query b{sessions{totalCount}}", "{__schema{types{name}}}", "{seal{condition checkpoint{size} witnesses{name}} checkpoint{note} embeddingModels{name}}",
		`mutation{upsertComponents(components:[{namespace:FLG,key:"a",name:"b"}]){hash}}`, `mutation{addRecords(records:[{kind:ACCOUNTANT,book:"a",title:"a",content:"b"}]){hash}}`,
		"mutation{eraseMessage(hash:" + hash + `,reason:"a"){hash}}`, "mutation{createToken(input:{kind:AGENT,player:" + owner + "}){secret token{id state}}}",
		"subscription a($of:[Hash!]=[" + hash + "]){messageAppended(sessions:$of){hash thread{messageCount}}}", "{eraseImpact(message:" + hash + "){contents} tokens{edges{node{id}}}}",
		`{session(hash:` + hash + `){range(from:0,count:2){totalCount messages{hash}} marks{position} place(message:` + hash + `)} channels{name} overview{messages problems{code}}}`,
		`mutation{createWindow(input:{name:"a",capacity:1000}){id used level} offload(window:` + window + `,contents:["a"]){id}}`, "{windows(first:1){edges{node{items{content quality{score}} segments{name} tools{name}}}}}",
		`mutation{writeContext(input:{window:` + window + `,type:KNOWLEDGE,content:"a",key:"k",observedAt:"2026-01-01T00:00:00Z"}){quality{score} rejected}}`,
		`mutation{selectIntoWindow(window:` + window + `,input:{query:"a"}){id} compressWindow(window:` + window + `){ratio} createSegment(name:"a",windows:[` + window + `]){id}}`,
		`mutation{registerTools(window:` + window + `,tools:[{name:"t",description:"d",schema:{a:[null]}}]){name}}`, `{searchTools(window:` + window + `,query:"a"){name} scratchpadEntry(id:` + entry + `){content}}`,
		"{contextMetrics{contextWindowUsageAvg scratchpadReads}}", `mutation{startConversation(role:CLIENT,userId:"u"){id state history{content}}}`,
		`mutation{recordExchange(conversation:` + conversation + `,user:"u",assistant:"a",state:{a:{b:null}},idempotencyKey:"k"){turns} updateState(conversation:` + conversation + `,state:{a:1}){state}}`,
		`mutation{promptMessages(conversation:` + conversation + `,input:"i",rolePrompt:"r",rules:"s",tokenBudget:100,context:{query:"a",threshold:0}){role pieces}}`,
		`{conversations(role:ADMIN,userId:"u"){id} conversation(id:` + conversation + `){turns}}`, `mutation{deleteConversation(id:` + conversation + `,eraseLog:true,reason:"a"){id}}`,
		`{threadEvents(agent:"a",userId:"u",threadId:"t",last:20,keepImportant:3){content keptForImportance}}`, `{userThreads(agent:"a",userId:"u",first:2,threadId:"t"){threadId numEvents thread{hash}}}`,
		`{tryContext(request:{query:"a",threshold:0},weights:[{name:OWNER,value:0.5}]){items{score explanation{lexical}} stages{name in out} noticeDetails{code}}}`,
		`{whyNot(selection:` + selection + `,text:"a"){verdicts{kind}} replayContext(id:` + selection + `,logSize:NOW){identical causes{kind}}}`, "{selections(first:2){edges{node{receipt dropped{reason}}}} rankingPolicy{version}}",
		`mutation{recordSelection(selection:` + selection + `,message:{sessionHash:` + hash + `,ownerId:` + owner + `,content:"a"}){hash refs{type}}}`,
		`mutation{quarantine(message:` + hash + `,reason:"a"){reason} releaseQuarantine(message:` + hash + `,reason:"a"){reason}}`, "{quarantines(active:true){edges{node{reason selections{totalCount}}}}}",
	}
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
