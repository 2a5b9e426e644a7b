package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/servertest"
)

// Every string that an argument in graph/schema can hold is one that sqlmap is let loose on, by itself, in a request that is
// valid, for an administrator and for an agent who may ask.
func TestEveryStringIsATarget(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t), "DEMO=1", "RATE_LIMIT=0")
	there, known := map[string]string{}, sample(t, p)
	for _, one := range append(stringArguments(t, p, p.URL, known), asAgent(t, p, p.URL, known)...) {
		if strings.Count(one.request, marker) != 1 || there[one.name] != "" {
			t.Errorf("%s stands there twice, or has not one marker:\n%s", one.name, one.request)
		}
		there[one.name] = one.request
	}
	schema := schemaOf()
	for name, request := range there {
		if err := validRequest(schema, request); err != nil {
			t.Errorf("%s: the request is not valid: %v", name, err)
		}
	}
	written := writtenStrings(t)
	for _, name := range written {
		if there[name] == "" {
			t.Errorf("%s is no target", name)
		}
		if there[name+byAgent] == "" && !strings.HasPrefix(name, "Query.quarantines:") && !strings.HasPrefix(name, "Quarantine.") {
			t.Errorf("%s is no target of an agent's", name)
		}
		delete(there, name)
		delete(there, name+byAgent)
	}
	if len(written) < 100 {
		t.Errorf("%d strings are written down, want 100 at least", len(written))
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		t.Errorf("%s is not in the schema", name)
	}
}

// validRequest says what a server would have against a request of a target before it answers any of it.
func validRequest(schema *ast.Schema, request string) error {
	var body struct {
		Query     string
		Variables map[string]any
	}
	_, text, _ := strings.Cut(request, "\r\n\r\n")
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return err
	}
	document, errs := gqlparser.LoadQueryWithRules(schema, body.Query, rules.NewDefaultRules())
	if errs != nil {
		return errs
	}
	_, err := validator.VariableValues(schema, document.Operations[0], body.Variables)
	return err
}

// writtenStrings reads the schema as it is written, and names every string of an argument as targets are named.
func writtenStrings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("graph/schema/*.graphqls")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema: %v", err)
	}
	fields, inputs := map[string]ast.FieldList{}, map[string]ast.FieldList{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		document, err := parser.ParseSchema(&ast.Source{Name: file, Input: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range append(document.Definitions, document.Extensions...) {
			switch d.Kind {
			case ast.Object:
				fields[d.Name] = append(fields[d.Name], d.Fields...)
			case ast.InputObject:
				inputs[d.Name] = append(inputs[d.Name], d.Fields...)
			}
		}
	}
	var names []string
	var within func(path string, of *ast.Type)
	within = func(path string, of *ast.Type) {
		switch name := of.Name(); {
		case inputs[name] != nil:
			for _, f := range inputs[name] {
				within(path+"."+f.Name, f.Type)
			}
		case slices.Contains([]string{"String", "ID", "Hash", "Time", "JSON"}, name):
			names = append(names, path)
		}
	}
	for object, list := range fields {
		for _, f := range list {
			for _, a := range f.Arguments {
				within(object+"."+f.Name+": "+a.Name, a.Type)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Each route that lets somebody in is asked by targets, one for each string that it takes, and they are answered with success
// before sqlmap changes them.
func TestEveryRouteIsATarget(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t), "DEMO=1", "RATE_LIMIT=0", "HOOK_SECRETS="+hookSource+"="+hookSecret)
	m, router := readMatrix(t), http.NewServeMux()
	for pattern := range routesOf(m) {
		router.Handle(pattern, http.NotFoundHandler())
	}
	names, asked := map[string]bool{}, map[string]bool{}
	for _, one := range surroundings(t, p, sample(t, p)) {
		if strings.Count(one.request, marker) != 1 || names[one.name] {
			t.Errorf("%s stands there twice, or has not one marker:\n%s", one.name, one.request)
		}
		names[one.name] = true
		r := one.unchanged(t)
		_, pattern := router.Handler(r)
		route, _, _ := strings.Cut(one.name, ": ")
		if route != r.Method+" "+pattern {
			t.Errorf("%s asks %s %s", one.name, r.Method, pattern)
		}
		asked[route] = true
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		unbuilt := pattern == "/" && bytes.Contains(body, []byte("console not built"))
		if response.StatusCode/100 != 2 && !unbuilt || bytes.Contains(body, []byte(`"errors":`)) {
			t.Errorf("%s is answered with %d %.200s", one.name, response.StatusCode, body)
		}
	}
	for pattern, cases := range routesOf(m) {
		for _, c := range cases {
			if !slices.ContainsFunc(strings.Split(c.Method, " "), func(method string) bool { return asked[method+" "+pattern] }) {
				t.Errorf("%s has no target", c)
			}
		}
	}
	for _, name := range eventStrings(t) {
		if !names["POST /hooks/events: "+name] || !names["POST /hooks/events: "+name+bySignature] {
			t.Errorf("%s of an event is no target, or none that is signed", name)
		}
	}
	for _, name := range readByName(t) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(target string) bool { return strings.HasSuffix(target, ": "+name) }) {
			t.Errorf("what requests have as %s is no target", name)
		}
	}
}

// unchanged is the request of a target as it is before sqlmap changes it.
func (one target) unchanged(t *testing.T) *http.Request {
	t.Helper()
	head, body, _ := strings.Cut(strings.Replace(one.request, marker, "", 1), "\r\n\r\n")
	read, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head + "\r\n\r\n")))
	if err != nil {
		t.Fatalf("%s: %v", one.name, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), read.Method, "http://"+read.Host+read.RequestURI, strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", one.name, err)
	}
	r.Header = read.Header
	return r
}

// routesOf gives what the matrix, which has each route and method, expects to be answered with success for somebody, by route.
func routesOf(m matrix) map[string][]routeCase {
	open := map[string][]routeCase{}
	for _, c := range m.Routes {
		for _, want := range c.Want {
			if strings.HasPrefix(want, "2") {
				open[c.Route] = append(open[c.Route], c)
				break
			}
		}
	}
	return open
}

// eventStrings names the fields of an event that are no numbers, and the ids that are looked for within its payload.
func eventStrings(t *testing.T) (names []string) {
	t.Helper()
	event := reflect.TypeFor[ingest.Event]()
	for i := range event.NumField() {
		if f := event.Field(i); f.Type.Kind() != reflect.Int {
			names = append(names, f.Tag.Get("json"))
		}
	}
	text, err := os.ReadFile("internal/ingest/event.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range regexp.MustCompile(`jsontext\.Value +.json:"(\w+)"`).FindAllSubmatch(text, -1) {
		names = append(names, string(tag[1]))
	}
	if len(names) < 13 {
		t.Errorf("an event holds %q, want 13 strings at least", names)
	}
	return names
}

// compared are headers that are compared with words, parsed into numbers or addresses, and go no further.
var compared = []string{
	"Accept", "Accept-Encoding", "Content-Type", "If-None-Match", "Origin", "Sec-Fetch-Site", "Sec-WebSocket-Key", "Sec-WebSocket-Version",
	"Upgrade", "X-Forwarded-For", "X-Forwarded-Proto",
}

// readByName finds the headers and the parameters of addresses that the server reads, but for those that are compared alone.
func readByName(t *testing.T) (names []string) {
	t.Helper()
	reads := regexp.MustCompile(`(?:Header(?:\.Get\(|\.Values\(|\[)|Query\(\)(?:\.Get\(|\[)|sequenceIn\(asked, )"([\w-]+)"`)
	for _, pattern := range []string{"*.go", "graph/*.go", "web/*.go", "internal/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range reads.FindAllSubmatch(text, -1) {
				names = append(names, string(found[1]))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range append([]string{"Authorization", "Idempotency-Key", "after", "session"}, compared...) {
		if !slices.Contains(names, name) {
			t.Errorf("nothing seems to read %s", name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(compared, name) })
}

// Whose secret signs events.
const hookSource, hookSecret = "webchat", "a secret of a test"

// bySignature ends the names of what is signed instead of coming with a token.
const bySignature = ", signed"

// surroundings are strings of requests that are no arguments, each by the method and route that it is sent to.
func surroundings(t *testing.T, p *servertest.Process, known samples) []target {
	t.Helper()
	const asks, messages = "Content-Type: application/json", "{messages(first:1){totalCount}}"
	by, all := "Authorization: Bearer "+p.Token, []target(nil)
	add := func(name, path, body string, headers ...string) {
		all = append(all, plain(p.URL, name, path, body, headers...))
	}
	add("GET /graphql: Authorization", "/graphql?query={__typename}", "", by+marker)
	add("GET /graphql: query", "/graphql?query="+messages+marker, "", by)
	add("GET /graphql: operationName", "/graphql?query=query%20a"+messages+"&operationName=a"+marker, "", by)
	add("GET /graphql: variables", "/graphql?query=query($h:Hash!){message(hash:$h){hash}}&variables={%22h%22:%22"+known.Message+marker+"%22}", "", by)
	add("GET /graphql: extensions", "/graphql?query="+messages+"&extensions={%22a%22:%22b"+marker+"%22}", "", by)
	add("POST /graphql: query", "/graphql", `{"query":"`+messages+marker+`"}`, asks, by)
	add("POST /graphql: operationName", "/graphql", `{"query":"query a`+messages+`","operationName":"a`+marker+`"}`, asks, by)
	add("POST /graphql: extensions", "/graphql", `{"query":"`+messages+`","extensions":{"a":"b`+marker+`"}}`, asks, by)
	add("GET /session: Cookie", "/session", "", "Cookie: "+signedIn(t, p)+marker)
	add("POST /session: token", "/session", `{"token":"`+p.Token+marker+`"}`, asks)
	add("DELETE /session: Cookie", "/session", "", "Cookie: "+cookieMark+"abc"+marker)
	for _, path := range []string{"/0*/000.p/1", "/0/000*.p/1", "/0/000.p/1*", "/entries*/000.p/1", "/entries/000*.p/1", "/entries/000.p/1*"} {
		add("GET /tile/: "+strings.ReplaceAll(path, "*", "…"), "/tile"+strings.ReplaceAll(path, "*", marker), "", by)
	}
	for _, path := range []string{"/metrics", "/readyz", "/checkpoint", "/log.pub"} {
		add("GET "+path+": Authorization", path, "", by+marker)
	}
	add("GET /healthz: a parameter", "/healthz?a=b"+marker, "")
	add("GET /: path", "/threads"+marker, "")

	agent := newToken(t, p, object{"kind": "AGENT", "player": known.Player, "scopes": []string{"log:read", "verify"}})
	for _, who := range []string{"", byAgent} {
		if who == byAgent {
			by = "Authorization: Bearer " + agent
		}
		add("GET /export: session"+who, "/export?session="+known.Session+marker, "", by)
		add("GET /stretch: session"+who, "/stretch?session="+known.Session+marker+"&after=0", "", by)
		add("GET /stretch: after"+who, "/stretch?session="+known.Session+"&after=0"+marker, "", by)
		add("GET /stretch: upto"+who, "/stretch?session="+known.Session+"&after=0&upto=9"+marker, "", by)
	}
	return append(all, events(t, p, known.Player)...)
}

// plain is a request with a string that is marked. The name begins with its method.
func plain(at, name, path, body string, headers ...string) target {
	method, _, _ := strings.Cut(name, " ")
	headers = append([]string{method + " " + path + " HTTP/1.1", "Host: " + strings.TrimPrefix(at, "http://")}, headers...)
	return target{name, strings.Join(headers, "\r\n") + "\r\n\r\n" + body}
}

// signedIn gives the cookie of a new session of the console.
func signedIn(t *testing.T, p *servertest.Process) string {
	t.Helper()
	response, err := http.Post(p.URL+"/session", "application/json", strings.NewReader(`{"token":"`+p.Token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	cookie, _, _ := strings.Cut(response.Header.Get("Set-Cookie"), ";")
	return cookie
}

// events are strings of what is told from outside, with a hook's token and signed.
func events(t *testing.T, p *servertest.Process, player string) (all []target) {
	t.Helper()
	const asks, route = "Content-Type: application/json", "POST /hooks/events: "
	by, signed := "Authorization: Bearer "+newToken(t, p, object{"kind": "HOOK", "player": player}), signing(t, p)
	add := func(at, name, body string, headers ...string) {
		all = append(all, plain(at, route+name, "/hooks/events", body, append(headers, asks)...))
	}
	for _, name := range []string{"source", "agent", "user_id", "channel", "thread_id", "event_type", "role", "tags", "content", "payload",
		"created_at", "frontend_message_id", "backend_message_id"} {
		add(p.URL, name, eventWith(name), by)
		add(signed, name+bySignature, eventWith(name), "X-Signature-Timestamp: now", "X-Signature-256: signed")
	}
	add(p.URL, "Authorization", eventWith(""), by+marker)
	add(p.URL, "Idempotency-Key", eventWith(""), by, "Idempotency-Key: hello"+marker)
	add(signed, "X-Signature-Timestamp", eventWith(""), "X-Signature-Timestamp: now"+marker, "X-Signature-256: signed")
	add(signed, "X-Signature-256", eventWith(""), "X-Signature-Timestamp: now", "X-Signature-256: signed"+marker)
	return all
}

// eventWith is an event that holds all that it may, and of ids the one that is marked: what has an id is CONFLICT if it is told otherwise.
func eventWith(marked string) string {
	mark := func(name, text string) string {
		if name == marked {
			text += marker
		}
		return text
	}
	payload := object{"a": mark("payload", "b")}
	if strings.HasSuffix(marked, "_message_id") {
		payload[marked] = mark(marked, "hello")
	}
	text, _ := json.Marshal(object{
		"source": mark("source", hookSource), "agent": mark("agent", "hello"), "user_id": mark("user_id", "hello"), "channel": mark("channel", "hello"),
		"thread_id": mark("thread_id", "hello"), "event_type": mark("event_type", "message"), "role": mark("role", "user"), "importance": 1,
		"tags": []string{mark("tags", "hello")}, "content": mark("content", "hello"), "payload": payload, "created_at": mark("created_at", "2025-01-01T00:00:00Z"),
	})
	return string(text)
}

// signing stands before a server, and puts the time for "now" and the signature for "signed", so that sqlmap's changes are signed
// when they are sent.
func signing(t *testing.T, p *servertest.Process) (at string) {
	t.Helper()
	to, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		body, _ := io.ReadAll(r.In.Body) // what is not whole, the server refuses
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
		h := r.Out.Header
		stamp := strings.Replace(h.Get("X-Signature-Timestamp"), "now", fmt.Sprint(time.Now().Unix()), 1)
		mac := hmac.New(sha256.New, []byte(hookSecret))
		_, _ = fmt.Fprintf(mac, "%s.%s", stamp, body)
		h.Set("X-Signature-Timestamp", stamp)
		h.Set("X-Signature-256", strings.Replace(h.Get("X-Signature-256"), "signed", "sha256="+hex.EncodeToString(mac.Sum(nil)), 1))
	}})
	t.Cleanup(server.Close)
	return server.URL
}
