package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

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
