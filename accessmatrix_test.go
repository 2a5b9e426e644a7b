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
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
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
