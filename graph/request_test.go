package graph

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

func agent() auth.Caller {
	return auth.Caller{Player: chain.Sum([]byte("agent")), Role: auth.Agent, Scopes: auth.DefaultScopes(auth.Agent)}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	h := quiet()
	json10 := `{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}}`
	tooDeep := `{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`
	large := func(query string, n int) string {
		return requestBody(t, query, map[string]any{"m": []any{map[string]any{"content": strings.Repeat("x", n)}}})
	}
	const appends = "mutation($m:[MessageInput!]!){appendMessages(messages:$m){hash}}"
	for name, test := range map[string]struct {
		method, body string
		header       []string
		status       int
		message      string
	}{
		"no body":             {"POST", "", nil, 400, "the body is not JSON"},
		"no JSON":             {"POST", "{", nil, 400, "the body is not JSON"},
		"two values":          {"POST", `{"query":"{__typename}"} {}`, nil, 400, "the body is not JSON"},
		"a batch":             {"POST", `[{"query":"{__typename}"}]`, nil, 400, "the body is not a JSON object with one request"},
		"a string":            {"POST", `"{__typename}"`, nil, 400, "the body is not a JSON object with one request"},
		"no query":            {"POST", `{}`, nil, 400, "query: is missing"},
		"query null":          {"POST", `{"query":null}`, nil, 400, "query: is missing"},
		"query a number":      {"POST", `{"query":1}`, nil, 400, "query: is not a string"},
		"variables a list":    {"POST", `{"query":"{__typename}","variables":[]}`, nil, 400, "variables: is not an object"},
		"extensions a string": {"POST", `{"query":"{__typename}","extensions":""}`, nil, 400, "extensions: is not an object"},
		"a form":              {"POST", "query={__typename}", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "the Content-Type is not application/json"},
		"plain text":          {"POST", `{"query":"{__typename}"}`, []string{"Content-Type", "text/plain"}, 415, "the Content-Type is not application/json"},
		"Latin-1":             {"POST", `{"query":"{__typename}"}`, []string{"Content-Type", "application/json; charset=iso-8859-1"}, 415, "the Content-Type is not application/json in UTF-8"},
		"another method":      {"PUT", `{"query":"{__typename}"}`, nil, 405, "the method is not GET or POST"},
		"variables nested":    {"POST", json10, nil, 400, "nests lists and objects deeper than 100 levels"},
		"nested very deep":    {"POST", tooDeep, nil, 400, "nests lists and objects deeper than 100 levels"},
		"twice the same name": {"POST", `{"query":"{__typename}","query":"{a}"}`, nil, 400, "query: is there twice"},
		"a name in capitals":  {"POST", `{"query":"{__typename}","Query":"{a}"}`, nil, 400, "query: is not written like this"},
		"a name with escapes": {"POST", `{"query":"{__typename}","qu\u0065ry":"{a}"}`, nil, 400, "names with escapes"},
		"no comma":            {"POST", `{"query":"{__typename}" "a":1}`, nil, 400, "the body is not JSON"},
		"a comma too many":    {"POST", `{"query":"{__typename}",}`, nil, 400, "the body is not JSON"},
		"brackets crossed":    {"POST", `{"query":"{__typename}","variables":{"a":[}]}`, nil, 400, "the body is not JSON"},
		"no JSON elsewhere":   {"POST", `{"query":"{__typename}","a":[1 2]}`, nil, 400, "the body is not JSON"},
		"a huge number":       {"POST", `{"query":"{__typename}","variables":{"a":` + strings.Repeat("9", 5000) + `}}`, nil, 400, "a number of 5000 characters; at most 2000"},
		"many values":         {"POST", `{"query":"{__typename}","variables":{"a":[` + strings.Repeat("1,", 60_000) + `1]}}`, nil, 400, "at most 50000 are allowed"},
		"10 MB, a query":      {"POST", large("query($m:JSON){__typename}", 10_000_000), nil, 413, "more than 1048576 bytes, which only mutations may have that append messages"},
		"10 MB, a look-alike": {"POST", large("mutation($m:[MessageInput!]!){appendMessages(messages:$m){hash} ...f} fragment f on Mutation{__typename}", 10_000_000), nil, 413, "more than 1048576 bytes"},
		"10 MB, query last":   {"POST", `{"variables":{"m":"` + strings.Repeat("x", 10_000_000) + `"},"query":"{__typename}"}`, nil, 413, "put it before the variables"},
		"10 MB, refused":      {"POST", large("{"+strings.Repeat("a ", 7500)+"}", 10_000_000), nil, 200, "7500 fields and fragments"},
		"10 MB, two":          {"POST", large(appends+" query q{__typename}", 10_000_000), nil, 413, "more than 1048576 bytes"},
		"10 MB, appended":     {"POST", large(appends, 10_000_000), nil, 200, "m[0].sessionHash: must be defined"},
		"17 MB":               {"POST", large(appends, 17<<20), nil, 413, "more than 16777216 bytes"},
		"an unknown operation": {"POST", `{"query":"query a{__typename} query b{__typename}","operationName":"c"}`, nil, 200,
			"operation c not found"},
		"a subscription": {"POST", `{"query":"subscription{messageAppended{hash}}"}`, nil, 200, "subscriptions come as a stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(test.method, "/graphql", strings.NewReader(test.body))
			r.Header.Set("Content-Type", "application/json")
			if test.header != nil {
				r.Header.Set(test.header[0], test.header[1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Administrator())))
			a := read(t, w.Result())
			if w.Code != test.status || a.code() != fault.BadUserInput || !strings.Contains(a.message(), test.message) {
				t.Errorf("%d %s %.300q, want %d BAD_USER_INPUT %q", w.Code, a.code(), a.message(), test.status, test.message)
			}
			if a.Data != nil {
				t.Errorf("data = %s, want none", a.Data)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	h := quiet()
	for name, test := range map[string]struct {
		values  url.Values
		status  int
		message string
	}{
		"a query":           {url.Values{"query": {"{__typename}"}}, 200, ""},
		"with variables":    {url.Values{"query": {"query($a:Boolean!){__typename @include(if:$a)}"}, "variables": {`{"a":true}`}}, 200, ""},
		"nothing":           {url.Values{}, 400, "query: is missing"},
		"variables no JSON": {url.Values{"query": {"{__typename}"}, "variables": {"x"}}, 400, "variables: is not a JSON object"},
		"variables a list":  {url.Values{"query": {"{__typename}"}, "variables": {"[]"}}, 400, "variables: is not a JSON object"},
		"a mutation":        {url.Values{"query": {"mutation{__typename}"}}, 405, "GET is for queries"},
		"a subscription":    {url.Values{"query": {"subscription{messageAppended{hash}}"}}, 200, "subscriptions come as a stream"},
	} {
		r := httptest.NewRequest("GET", "/graphql?"+test.values.Encode(), nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Administrator())))
		a := read(t, w.Result())
		if w.Code != test.status || !strings.Contains(a.message(), test.message) || (test.message == "") != (len(a.Errors) == 0) {
			t.Errorf("%s: %d %q, want %d %q", name, w.Code, a.message(), test.status, test.message)
		}
	}
}

func TestNegotiation(t *testing.T) {
	t.Parallel()
	h := quiet()
	for _, test := range []struct {
		accept, query string
		status        int
		media         string
	}{
		{"", "{__typename}", 200, "application/json"},
		{"*/*", "{__typename}", 200, "application/json"},
		{"application/graphql-response+json", "{__typename}", 200, "application/graphql-response+json"},
		{"application/graphql-response+json, application/json;q=0.9", "{__typename}", 200, "application/graphql-response+json"},
		{"application/json", "{nothing}", 200, "application/json"},
		{"application/graphql-response+json", "{nothing}", 400, "application/graphql-response+json"},
		{"application/graphql-response+json", "{", 400, "application/graphql-response+json"},
		{"application/graphql-response+json", nested(100, "a", "a"), 400, "application/graphql-response+json"},
	} {
		r := post(h, auth.Administrator(), requestBody(t, test.query, nil), "Accept", test.accept)
		if got := r.Header.Get("Content-Type"); r.StatusCode != test.status || got != test.media {
			t.Errorf("%.20s for %q = %d %s, want %d %s", test.query, test.accept, r.StatusCode, got, test.status, test.media)
		}
	}
}

func TestNobody(t *testing.T) {
	t.Parallel()
	gate := auth.NewGate(auth.NewAdminVerifier(auth.NewAdminToken()), auth.NewSessions())
	h := gate.Identify(quiet())
	seen := map[string]string{}
	for name, header := range map[string]string{"none": "", "wrong": "Bearer " + auth.NewAdminToken(), "malformed": "Bearer x"} {
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{__typename}"}`))
		r.Header.Set("Content-Type", "application/json")
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		a := read(t, w.Result())
		if w.Code != 401 || a.code() != fault.Unauthenticated || w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %s, want 401 UNAUTHENTICATED", name, w.Code, a.code())
		}
		if other, ok := seen[a.message()]; ok {
			t.Errorf("%s and %s get the same message %q", name, other, a.message())
		}
		seen[a.message()] = name
	}
}

// introspection asks for what clients ask for to learn a schema: types nine wrappers deep.
func introspection() string {
	of := "kind name" + strings.Repeat(" ofType{kind name", 9) + strings.Repeat("}", 9)
	value := "name description type{" + of + "} defaultValue isDeprecated deprecationReason"
	return `{__schema{description queryType{name} mutationType{name} subscriptionType{name}
		types{...full} directives{name description isRepeatable locations args(includeDeprecated:true){` + value + `}}}}
		fragment full on __Type{kind name description specifiedByURL isOneOf
		fields(includeDeprecated:true){name description args(includeDeprecated:true){` + value + `} type{` + of + `} isDeprecated deprecationReason}
		inputFields(includeDeprecated:true){` + value + `} interfaces{` + of + `}
		enumValues(includeDeprecated:true){name description isDeprecated deprecationReason} possibleTypes{` + of + `}}`
}

func TestIntrospection(t *testing.T) {
	t.Parallel()
	h := quiet()
	for name, query := range map[string]string{
		"the usual":   introspection(),
		"a type":      `{__type(name:"Query"){name}}`,
		"by fragment": `{...f} fragment f on Query{...{s:__schema{queryType{name}}}}`,
	} {
		a := read(t, post(h, auth.Administrator(), requestBody(t, query, nil)))
		if len(a.Errors) > 0 || len(a.Data) == 0 {
			t.Errorf("%s: an administrator gets %q, want data", name, a.message())
		}
		r := post(h, agent(), requestBody(t, query, nil))
		if a := read(t, r); r.StatusCode != 403 || a.code() != fault.Forbidden || a.message() != "introspection is for administrators" {
			t.Errorf("%s: an agent gets %d %s %q, want 403 FORBIDDEN", name, r.StatusCode, a.code(), a.message())
		}
	}
	if a := read(t, post(h, agent(), requestBody(t, "{__typename}", nil))); len(a.Errors) > 0 {
		t.Errorf("__typename for an agent = %q, want data", a.message())
	}
}

// A document that was checked for an administrator, and is in the cache, is not for everybody.
func TestIntrospectionFromCache(t *testing.T) {
	t.Parallel()
	h := quiet()
	body := requestBody(t, `{__type(name:"Query"){name}}`, nil)
	for range 2 {
		if a := read(t, post(h, auth.Administrator(), body)); len(a.Errors) > 0 {
			t.Fatal(a.message())
		}
	}
	if a := read(t, post(h, agent(), body)); a.code() != fault.Forbidden {
		t.Errorf("an agent gets %s %s, want FORBIDDEN", a.code(), a.Data)
	}
}

// What a console or an agent may well ask for passes the guard; the answer is not looked at.
func TestLargeRequestsPass(t *testing.T) {
	t.Parallel()
	message := `hash prevHash sequence session{hash length} thread{hash} owner{hash name} players{hash name} masterPlayer{hash name}
		role eventType importance channel source content attachments hashtags{hash key name} flag{hash key} masterItem{hash name}
		items{hash name} location{hash name} ambient createdAt integrity{state preimage}
		refs{position type hash target{__typename ... on Message{hash content owner{name}} ... on Record{hash title text:content}}}`
	var lookUps strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lookUps, "m%d:message(hash:%q){hash content} ", i, strings.Repeat("0", 64))
	}
	check := checker()
	for name, query := range map[string]string{
		"a page of a thread": `{thread(hash:"` + strings.Repeat("0", 64) + `"){messages(first:200){edges{cursor node{` + message + `}} pageInfo{endCursor hasNextPage}}}}`,
		"threads with pages": `{threads(first:50){edges{node{hash messages(first:50){edges{node{hash content createdAt owner{name}}}}}}}}`,
		"50 look-ups":        "{" + lookUps.String() + "}",
	} {
		if message := check(t, query); message != "" {
			t.Errorf("%s: %q, want it let through", name, message)
		}
	}
}

// checker gives what an administrator is told of a document before it is executed, "" if nothing.
func checker() func(t *testing.T, query string) string {
	e := executor.New(generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{}}))
	e.Use(guard{cache: newDocumentCache()})
	return func(t *testing.T, query string) string {
		ctx := graphql.StartOperationTrace(auth.WithCaller(t.Context(), auth.Administrator()))
		if _, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: query}); len(errs) > 0 {
			return errs[0].Message
		}
		return ""
	}
}

func TestReplyCutsData(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		exchange   exchange
		text, want string
	}{
		{exchange{}, `{"errors":[],"data":null}`, `{"errors":[]}`},
		{exchange{began: true}, `{"errors":[],"data":null}`, `{"errors":[],"data":null}`},
		{exchange{stream: true}, `{"errors":[],"data":null}`, `{"errors":[],"data":null}`},
		{exchange{}, `{"data":{}}`, `{"data":{}}`},
	} {
		w := httptest.NewRecorder()
		n, err := io.WriteString(&reply{ResponseWriter: w, exchange: &test.exchange}, test.text)
		if err != nil || n != len(test.text) || w.Body.String() != test.want {
			t.Errorf("reply of %s = %s (%d, %v), want %s", test.text, w.Body, n, err, test.want)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("reply of %s is not JSON: %s", test.text, w.Body)
		}
	}
}

var _ http.Flusher = (*reply)(nil)
