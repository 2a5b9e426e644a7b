package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// matrix says who may ask for what, and what must come. See testdata/access/README.md.
type matrix struct {
	Callers  map[string]string // what each is
	Groups   map[string][]string
	Fields   []fieldCase
	Objects  map[string]objectCase
	Routes   []routeCase
	Commands map[string]string // how each gets at the log without a token
}

type expectation map[string]string // by caller or group

type fieldCase struct {
	Field, Case, Over, Document, At string
	Want                            expectation
}

func (c fieldCase) String() string { return strings.TrimSpace(c.Field + " " + c.Case + " " + c.Over) }

type routeCase struct {
	Route, Case, Method, Path, Body string
	Private                         bool // of a server with PRIVATE_LOG
	Want                            expectation
}

func (c routeCase) String() string { return strings.TrimSpace(c.Method + " " + c.Path + " " + c.Case) }

func readMatrix(t *testing.T) matrix {
	t.Helper()
	text, err := os.ReadFile("testdata/access/matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var m matrix
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// of gives what must come for each caller. What stands there for a caller by name holds before what stands for a group.
func (m matrix) of(t *testing.T, what fmt.Stringer, want expectation) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, outcome := range want {
		for _, caller := range m.Groups[name] {
			if _, known := m.Callers[caller]; !known || out[caller] != "" {
				t.Fatalf("%s: %q is no caller, or stands there twice", what, caller)
			}
			out[caller] = outcome
		}
	}
	for name, outcome := range want {
		if m.Groups[name] == nil {
			out[name] = outcome
		}
	}
	for name := range out {
		if _, known := m.Callers[name]; !known {
			t.Fatalf("%s: %q is no caller", what, name)
		}
	}
	if len(out) != len(m.Callers) {
		t.Fatalf("%s: expectations for %d callers, want %d", what, len(out), len(m.Callers))
	}
	return out
}

func schemaOf() *ast.Schema {
	return generated.NewExecutableSchema(generated.Config{Resolvers: &graph.Resolver{}}).Schema()
}

// Whatever can be asked for has an expectation, and whatever has one can be asked for.
func TestMatrixIsComplete(t *testing.T) {
	t.Parallel()
	m, schema := readMatrix(t), schemaOf()
	wanted := map[string]bool{}
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		for _, field := range root.Fields {
			wanted[root.Name+"."+field.Name] = false
		}
	}
	for _, kind := range schema.GetPossibleTypes(schema.Types["Node"]) {
		wanted["Query.node "+kind.Name] = false
	}
	for _, c := range m.Fields {
		object, name, _ := strings.Cut(c.Field, ".")
		if definition := schema.Types[object]; definition == nil || definition.Fields.ForName(name) == nil && name != "__typename" {
			t.Errorf("%s: there is no such field", c)
		}
		if _, err := parser.ParseQuery(&ast.Source{Input: c.Document}); err != nil {
			t.Errorf("%s: %v", c, err)
		}
		m.of(t, c, c.Want)
		wanted[c.Field] = true
		if key := c.Field + " " + c.Case; c.Field == "Query.node" {
			if _, ok := wanted[key]; !ok {
				t.Errorf("%s: there is no such kind of node", c)
			}
			wanted[key] = true
		}
	}
	for name, there := range wanted {
		if !there {
			t.Errorf("%s has no expectation in testdata/access/matrix.json", name)
		}
	}
	commands := reflect.TypeFor[commandLine]()
	for i := range commands.NumField() {
		f := commands.Field(i)
		if _, isCommand := f.Tag.Lookup("cmd"); isCommand {
			if m.Commands[strings.ToLower(f.Name)] == "" {
				t.Errorf("the command %s has no entry in testdata/access/matrix.json", strings.ToLower(f.Name))
			}
			delete(m.Commands, strings.ToLower(f.Name))
		}
	}
	for name := range m.Commands {
		t.Errorf("there is no command %s", name)
	}
}

// table gives the fields by what comes for whom, as docs/authorization.md has it. Streams are as on a WebSocket.
func (m matrix) table(t *testing.T) string {
	t.Helper()
	columns := []string{"client in", "client out", "agent in", "agent out", "admin"}
	fields := map[string][]string{}
	var order []string
	for _, c := range m.Fields {
		if c.Over == "websocket" {
			continue
		}
		want := m.of(t, c, c.Want)
		row := "|"
		for _, column := range columns {
			row += " " + want[column] + " |"
		}
		name := "`" + c.Field[strings.Index(c.Field, ".")+1:] + "`"
		if !slices.Contains([]string{"Query", "Mutation", "Subscription"}, strings.Split(c.Field, ".")[0]) {
			name = "`" + c.Field + "`"
		}
		if c.Case != "" {
			name += " " + c.Case
		}
		if fields[row] == nil {
			order = append(order, row)
		}
		fields[row] = append(fields[row], name)
	}
	out := "| " + strings.Join(columns, " | ") + " | fields |\n|" + strings.Repeat("---|", len(columns)+1) + "\n"
	for _, row := range order {
		out += row + " " + strings.Join(fields[row], ", ") + " |\n"
	}
	return out
}

// The table in the documentation is that of the data.
func TestMatrixInTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/authorization.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := readMatrix(t).table(t); !strings.Contains(string(text), want) {
		t.Errorf("docs/authorization.md does not hold this table:\n%s", want)
	}
}

// methods are those that each route is asked by.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Each route has an expectation for each method.
func TestMatrixHasEachRoute(t *testing.T) {
	t.Parallel()
	m, there := readMatrix(t), map[string]bool{}
	s := newSite(t, true, config.Server{})
	for _, r := range routes(httpd.New(httpd.NewMetrics(), s.Log), s.Instance, auth.NewTokens(s.admin, s.DB, nil, s.Log), config.Server{}, httpd.NewMetrics(), s.Log) {
		for _, method := range methods {
			there[method+" "+r.pattern] = false
		}
	}
	for _, c := range m.Routes {
		m.of(t, c, c.Want)
		list := strings.Split(c.Method, " ")
		for _, method := range list {
			if _, ok := there[method+" "+c.Route]; !ok {
				t.Errorf("%s: there is no such route, or method", c)
			}
			there[method+" "+c.Route] = true
		}
	}
	for name, has := range there {
		if !has {
			t.Errorf("%s has no expectation in testdata/access/matrix.json", name)
		}
	}
}

// grounds are what a server may stand on: a database with row-level security, one where the store is alone, and one with the
// logins of a Postgres of the server's own, which might lack a right that a superuser has.
var grounds = map[string]func(testing.TB, config.Server) *site{
	"fenced true":  func(t testing.TB, cfg config.Server) *site { return newSite(t, true, cfg) },
	"fenced false": func(t testing.TB, cfg config.Server) *site { return newSite(t, false, cfg) },
	"own logins":   ownSite,
}

// Every field for every caller, over HTTP.
func TestMatrixOfFields(t *testing.T) {
	t.Parallel()
	for name, open := range grounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := readMatrix(t), newStage(t, open(t, config.Server{}))
			for _, agent := range []chain.Hash{ben, dan} { // whose channels the clients do not see
				own := says(agent, "channel of "+agent.String(), "on a channel")
				own.Channel = ptr("chat")
				s.append(own)
			}
			for _, c := range m.Fields {
				t.Run(c.String(), func(t *testing.T) {
					t.Parallel()
					for name, want := range m.of(t, c, c.Want) {
						if got := s.with(t).outcome(c, s.callers[name]); got != want {
							t.Errorf("%s: %s, want %s", name, got, want)
						}
					}
				})
			}
		})
	}
}

// Every route and method for every caller.
func TestMatrixOfRoutes(t *testing.T) {
	t.Parallel()
	for name, open := range grounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := readMatrix(t)
			public, private := newRouteStage(t, open(t, config.Server{})), newRouteStage(t, open(t, config.Server{PrivateLog: true}))
			for _, c := range m.Routes {
				s := public
				if c.Private {
					s = private
				}
				for name, want := range m.of(t, c, c.Want) {
					for _, method := range strings.Split(c.Method, " ") {
						s.askRoute(c, method, name, want)
					}
				}
			}
		})
	}
}

// newRouteStage fills a site with what routes are asked for.
func newRouteStage(t *testing.T, s *site) *stage {
	t.Helper()
	st := &stage{site: s}
	st.peopleAndThings()
	st.cast()
	record := s.record(knowledge.Draft{Kind: chain.RefSecretary, Book: "book", Title: "the tides", Content: "high at noon"})[0]
	citing := says(eve, "shared", "what an export tells besides", ana, ben)
	citing.Refs = []chain.Ref{{Type: chain.RefContext, Hash: st.message.Hash}, {Type: chain.RefSecretary, Hash: record.Hash}}
	s.append(citing)
	st.sealAll()
	return st
}

// askRoute asks as one of the matrix's callers.
func (s *stage) askRoute(c routeCase, method, who, want string) {
	s.t.Helper()
	path := strings.ReplaceAll(c.Path, "$SESSION", s.message.SessionHash.String())
	got := s.send(method, path, s.callers[who].token, []byte(strings.ReplaceAll(c.Body, "$TOKEN", s.callers[who].token)), "Content-Type: application/json")
	if who == "session" && method == http.MethodDelete && got.status == http.StatusNoContent {
		s.callers[who] = caller{ana, s.signIn(s.callers["client in"].token)} // it has signed out
	}
	status := strconv.Itoa(got.status)
	if c.Route == "/" && status == "503" && bytes.Contains(s.send("GET", path, "", nil).body, []byte("console not built")) {
		status = "200" // built or not, it is for everybody
	}
	if status != want {
		s.t.Errorf("%s %s %s for %s: %s %.100s, want %s", method, path, c.Case, who, status, got.body, want)
	}
}

// soon polls for half a minute.
func (s *site) soon(what string, right func() bool) {
	s.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); <-ticker.C {
		if right() {
			return
		}
	}
	s.t.Fatalf("not within half a minute: %s", what)
}

// with is the stage in a test within the one that it was made in.
func (s *stage) with(t *testing.T) *stage {
	inner := *s
	site := *s.site
	site.t = t
	inner.site = &site
	return &inner
}

// outcome is what a caller gets, in the matrix's words.
func (s *stage) outcome(c fieldCase, by caller) string {
	s.t.Helper()
	doc, variables := s.filled(c, by)
	request := object{"query": c.Document, "variables": variables}
	at := c.At
	if at == "" {
		at = doc.Operations[0].SelectionSet[0].(*ast.Field).Name
	}
	switch {
	case c.Over == "events":
		return s.stream(s.events(by.token, request), at)
	case c.Over == "websocket":
		return s.stream(s.frames(by.token, request), at)
	}
	a := s.ask(by.token, c.Document, variables)
	if a.status == http.StatusUnauthorized {
		return "401"
	}
	return outcomeOf(a.reply(s.t), at)
}

// filled gives a case's document, and the values of its variables for a caller.
func (s *stage) filled(c fieldCase, by caller) (*ast.QueryDocument, object) {
	s.t.Helper()
	doc, err := parser.ParseQuery(&ast.Source{Input: c.Document})
	if err != nil {
		s.t.Fatal(err)
	}
	variables := object{}
	for _, v := range doc.Operations[0].VariableDefinitions {
		value, ok := s.values[v.Variable]
		if !ok {
			s.t.Fatalf("%s: nothing is known of $%s", c, v.Variable)
		}
		variables[v.Variable] = value(by)
	}
	return doc, variables
}

// outcomeOf says what stands at a path of a reply.
func outcomeOf(r reply, path string) string {
	if code := r.code(); code != "" {
		return code
	}
	var value any = r.Data
	for _, name := range strings.Split(path, ".") {
		switch in := value.(type) {
		case map[string]any:
			value = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return "empty"
			}
			value = in[i]
		default:
			return "null"
		}
	}
	switch v := value.(type) {
	case nil:
		return "null"
	case []any:
		if len(v) == 0 {
			return "empty"
		}
	case map[string]any:
		if edges, ok := v["edges"].([]any); ok && len(edges) == 0 {
			return "empty"
		}
		if v["totalCount"] == 0.0 {
			return "empty"
		}
	case float64:
		if v == 0 {
			return "empty"
		}
	case bool:
		if !v {
			return "empty"
		}
	}
	return "ok"
}
