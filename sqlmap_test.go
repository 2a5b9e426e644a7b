//go:build sqlmap

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/internal/servertest"
)

// marker is where sqlmap puts what it injects.
const marker = "*"

// target is one string of a request.
type target struct{ name, request string }

// TestSQLMap runs sqlmap against every string that a request of the API can hold, each by itself in a request that is
// valid otherwise, and against the strings of requests around it. It takes a while: see .ci/sqlmap.sh.
func TestSQLMap(t *testing.T) {
	p := start(t, servertest.DataDir(t), "DEMO=1", "ADDRESS_RATE_LIMIT=0", "RATE_LIMIT=0")
	known := sample(t, p)
	streams, told := endings(t, p, known.Player)
	targets := append(stringArguments(t, p, streams, known), surroundings(p)...)
	targets = append(targets, some(asAgent(t, p, streams, known), len(targets)/4)...)
	if verdict, out := sqlmap(t.Context(), t.TempDir(), control(t, p)); verdict != "INJECTABLE" {
		t.Fatalf("of a server that is open to injection sqlmap finds %s:\n%s", verdict, out)
	}
	before := requests(t, p)
	var mu sync.Mutex
	var wait sync.WaitGroup
	found, next := 0, make(chan target)
	for range 2 {
		wait.Go(func() {
			for one := range next {
				verdict, out := sqlmap(t.Context(), t.TempDir(), one)
				mu.Lock()
				t.Logf("%-60s %s", one.name, verdict)
				if verdict != "nothing" {
					found++
					t.Errorf("%s: %s\n%s", one.name, verdict, out)
				}
				mu.Unlock()
			}
		})
	}
	for _, one := range targets {
		if pattern := os.Getenv("SQLMAP_ONLY"); pattern == "" || strings.Contains(one.name, pattern) {
			next <- one
		}
	}
	close(next)
	wait.Wait()
	_, metrics := p.GetAsAdmin("/metrics")
	if strings.Contains(metrics, `graphql_errors_total{code="INTERNAL"}`) {
		t.Errorf("some request ended in INTERNAL:\n%s", p.Output())
	}
	t.Logf("%d strings, %d requests, %d findings", len(targets), requests(t, p)-before-int(told.Load()), found)
}

// control is a string of a request to a server that puts it into SQL as it is, to see that sqlmap works.
func control(t *testing.T, p *servertest.Process) target {
	t.Helper()
	conn := connect(t, p.DatabaseURL())
	var mu sync.Mutex
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var body struct{ Variables struct{ X string } }
		var n int
		if err := json.NewDecoder(r.Body).Decode(&body); err == nil {
			err = conn.QueryRow(r.Context(), "SELECT count(*) FROM log.messages WHERE owner_id = '"+body.Variables.X+"'").Scan(&n)
			_, _ = fmt.Fprintf(w, `{"data":{"totalCount":%d,"error":%q}}`, n, fmt.Sprint(err))
		}
	}))
	t.Cleanup(open.Close)
	return target{"control", fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n\r\n%s",
		strings.TrimPrefix(open.URL, "http://"), `{"query":"{a}","variables":{"x":"a`+marker+`"}}`)}
}

// requests is how many the server has answered.
func requests(t *testing.T, p *servertest.Process) (n int) {
	t.Helper()
	_, metrics := p.GetAsAdmin("/metrics")
	for _, m := range regexp.MustCompile(`(?m)^http_requests_total\{.*\} (\d+)`).FindAllStringSubmatch(metrics, -1) {
		one, _ := strconv.Atoi(m[1])
		n += one
	}
	return n
}

func sqlmap(ctx context.Context, dir string, one target) (verdict, out string) {
	file := filepath.Join(dir, "request")
	if err := os.WriteFile(file, []byte(one.request), 0o600); err != nil {
		return err.Error(), ""
	}
	level := os.Getenv("SQLMAP_LEVEL")
	if level == "" {
		level = "1"
	}
	cmd := exec.CommandContext(ctx, "sqlmap", "-r", file, "--batch", "--ignore-stdin", "--disable-coloring", "--flush-session", "--output-dir", dir,
		"--dbms", "PostgreSQL", "--technique", "BEUST", "--level", level, "--risk", "1", "--timeout", "30", "--ignore-code", "*")
	text, _ := cmd.CombinedOutput()
	switch out = string(text); {
	case strings.Contains(out, "identified the following injection point"):
		return "INJECTABLE", out
	case strings.Contains(out, "all tested parameters do not appear to be injectable"):
		return "nothing", out
	}
	return "sqlmap did not test it", out
}

// surroundings are strings of requests that are no arguments.
func surroundings(p *servertest.Process) []target {
	host := strings.TrimPrefix(p.URL, "http://")
	plain := func(name, line, header, body string) target {
		return target{name, fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n%s", line, host, header, body)}
	}
	const asks = "Content-Type: application/json"
	return []target{
		plain("the token of a request", "GET /graphql?query={__typename}", "Authorization: Bearer "+p.Token+marker, ""),
		plain("the cookie of a session", "GET /session", "Cookie: cm_session=abc"+marker, ""),
		plain("the token of a sign-in", "POST /session", asks, `{"token":"`+p.Token+marker+`"}`),
		plain("the path of a tile", "GET /tile/0/000"+marker, "Authorization: Bearer "+p.Token, ""),
		plain("the path of leaves", "GET /tile/entries/000"+marker, "Authorization: Bearer "+p.Token, ""),
		plain("a document", "POST /graphql", asks+"\r\nAuthorization: Bearer "+p.Token, `{"query":"{messages(first:1){totalCount}}`+marker+`"}`),
		plain("an operation's name", "POST /graphql", asks+"\r\nAuthorization: Bearer "+p.Token, `{"query":"query a{messages(first:1){totalCount}}","operationName":"a`+marker+`"}`),
		plain("a query by GET", "GET /graphql?query={messages(first:1){totalCount}}"+marker, "Authorization: Bearer "+p.Token, ""),
	}
}

// samples are values that the sample log knows.
type samples struct {
	Message, Session, Thread, Player, Flag, Record, Selection, Model string
}

func sample(t *testing.T, p *servertest.Process) samples {
	t.Helper()
	var data struct {
		Messages struct {
			Edges []struct {
				Node struct {
					Hash    string
					Session struct{ Hash string }
					Owner   struct{ Hash string }
				}
			}
		}
		Threads, Records, Components struct {
			Edges []struct{ Node struct{ Hash string } }
		}
		EmbeddingModels []struct{ Name string }
	}
	if err := p.Ask(t.Context(), `{messages(first:1){edges{node{hash session{hash} owner{hash}}}} threads(first:1){edges{node{hash}}}
		records(first:1){edges{node{hash}}} components(first:1,namespaces:[FLG]){edges{node{hash}}} embeddingModels{name}}`, nil, &data); err != nil {
		t.Fatal(err)
	}
	var asked struct{ RequestContext struct{ ID string } }
	if err := p.Ask(t.Context(), `mutation{requestContext(input:{query:"hello"}){id}}`, nil, &asked); err != nil {
		t.Fatal(err)
	}
	s := samples{Selection: asked.RequestContext.ID, Model: data.EmbeddingModels[0].Name}
	m := data.Messages.Edges[0].Node
	s.Message, s.Session, s.Player = m.Hash, m.Session.Hash, m.Owner.Hash
	s.Thread, s.Record, s.Flag = data.Threads.Edges[0].Node.Hash, m.Hash, m.Hash
	if len(data.Records.Edges) > 0 {
		s.Record = data.Records.Edges[0].Node.Hash
	}
	if len(data.Components.Edges) > 0 {
		s.Flag = data.Components.Edges[0].Node.Hash
	}
	return s
}

// asker makes requests of the schema.
type asker struct {
	schema  *ast.Schema
	streams string // where subscriptions are answered
	samples samples
	cursors map[string]string // by root field
}

// stringArguments gives a request for each string that an argument can hold, of fields that the token may ask for.
func stringArguments(t *testing.T, p *servertest.Process, streams string, known samples) []target {
	t.Helper()
	a := asker{generated.NewExecutableSchema(generated.Config{Resolvers: &graph.Resolver{}}).Schema(), streams, known, map[string]string{}}
	var all []target
	for _, root := range []*ast.Definition{a.schema.Query, a.schema.Mutation, a.schema.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			if strings.HasSuffix(field.Type.Name(), "Connection") && !a.cursor(t, p, field) {
				continue
			}
			for _, argument := range field.Arguments {
				for _, path := range a.strings(argument.Type, argument.Name, 0) {
					all = append(all, target{root.Name + "." + field.Name + ": " + path, a.request(p, root, field, path)})
				}
			}
		}
	}
	for _, definition := range slices.SortedFunc(maps.Values(a.schema.Types), func(x, y *ast.Definition) int { return strings.Compare(x.Name, y.Name) }) {
		if definition.Kind != ast.Object || definition == a.schema.Query || definition == a.schema.Mutation || definition == a.schema.Subscription || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		for _, field := range definition.Fields {
			for _, argument := range field.Arguments {
				if definition.Name == "Quarantine" { // no root field leads to one by its hash
					continue
				}
				if len(a.strings(argument.Type, argument.Name, 0)) > 0 {
					all = append(all, a.below(t, p, definition, field, argument))
				}
			}
		}
	}
	return all
}

// cursor finds a cursor of a field. It tells whether there may be one: some fields are for administrators.
func (a *asker) cursor(t *testing.T, p *servertest.Process, field *ast.FieldDefinition) bool {
	t.Helper()
	data := map[string]struct{ PageInfo struct{ EndCursor string } }{}
	err := p.Ask(t.Context(), "{"+field.Name+"(first:1){pageInfo{endCursor}}}", nil, &data)
	if err != nil && (a.samples.Model != "" || !strings.Contains(err.Error(), "administrators")) {
		t.Fatalf("%s: %v", field.Name, err)
	}
	a.cursors[field.Name] = data[field.Name].PageInfo.EndCursor
	return err == nil
}

// strings gives the paths of strings within an argument.
func (a *asker) strings(of *ast.Type, path string, depth int) []string {
	definition := a.schema.Types[of.Name()]
	switch {
	case definition.Kind == ast.Scalar && !slices.Contains([]string{"Int", "Float", "Boolean"}, definition.Name):
		return []string{path}
	case definition.Kind != ast.InputObject || depth > 4:
		return nil
	}
	var paths []string
	for _, field := range definition.Fields {
		paths = append(paths, a.strings(field.Type, path+"."+field.Name, depth+1)...)
	}
	return paths
}

// request asks for a field with what it needs, and with the string at path, which is marked.
func (a *asker) request(p *servertest.Process, root *ast.Definition, field *ast.FieldDefinition, path string) string {
	variables, declared, given := map[string]any{}, []string{}, []string{}
	for _, argument := range field.Arguments {
		within, marked := strings.CutPrefix(path, argument.Name)
		marked = marked && (within == "" || within[0] == '.')
		if !marked && (!argument.Type.NonNull || argument.DefaultValue != nil) {
			continue
		}
		if !marked {
			within = "none"
		}
		variables[argument.Name] = a.value(field.Name, argument.Name, argument.Type, within)
		declared = append(declared, "$"+argument.Name+":"+argument.Type.String())
		given = append(given, argument.Name+":$"+argument.Name)
	}
	at, selection := p.URL, a.selection(field.Type, 0)
	if root == a.schema.Subscription {
		at, selection = a.streams, "{__typename}"
	}
	document := fmt.Sprintf("%s(%s){%s(%s)%s}", strings.ToLower(root.Name), strings.Join(declared, ","), field.Name, strings.Join(given, ","), selection)
	return post(at, p.Token, document, variables)
}

func post(at, token, document string, variables map[string]any) string {
	body := &bytes.Buffer{}
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(map[string]any{"query": document, "variables": variables})
	return fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n\r\n%s",
		strings.TrimPrefix(at, "http://"), token, strings.TrimSpace(body.String()))
}

// value makes a value of a type. The string at the path within it is marked: "" is the value itself, "none" nothing.
func (a *asker) value(field, name string, of *ast.Type, within string) any {
	if of.Elem != nil {
		return []any{a.value(field, name, of.Elem, within)}
	}
	definition := a.schema.Types[of.Name()]
	switch definition.Kind {
	case ast.InputObject:
		object := map[string]any{}
		for _, f := range definition.Fields {
			rest, marked := strings.CutPrefix(within, "."+f.Name)
			marked = marked && (rest == "" || rest[0] == '.')
			if !marked {
				rest = "none"
			}
			if marked || f.Type.NonNull && f.DefaultValue == nil {
				object[f.Name] = a.value(field, f.Name, f.Type, rest)
			}
		}
		return object
	case ast.Enum:
		return definition.EnumValues[0].Name
	}
	mark := ""
	if within == "" {
		mark = marker
	}
	switch definition.Name {
	case "Int":
		return 1
	case "Float":
		return 0.5
	case "Boolean":
		return true
	case "JSON":
		return map[string]any{"a": "b" + mark}
	case "Time":
		return "2027-01-01T00:00:00Z" + mark
	case "Hash":
		if field == "messageAppended" {
			return hashOf("heard") + mark
		}
		return a.hash(name) + mark
	case "ID":
		return a.samples.Selection + mark
	}
	switch {
	case name == "after" || name == "before":
		return a.cursors[field] + mark
	case field == "dropEmbeddingModel":
		return a.samples.Model + mark
	}
	return "hello" + mark
}

func (a *asker) hash(name string) string {
	name = strings.ToLower(name)
	for part, hash := range map[string]string{"session": a.samples.Session, "thread": a.samples.Thread, "player": a.samples.Player, "owner": a.samples.Player, "flag": a.samples.Flag} {
		if strings.Contains(name, part) {
			return hash
		}
	}
	return a.samples.Message
}

// selection asks for what a type has.
func (a *asker) selection(of *ast.Type, depth int) string {
	definition := a.schema.Types[of.Name()]
	if definition.Kind == ast.Scalar || definition.Kind == ast.Enum {
		return ""
	}
	fields := []string{"__typename"}
	for _, f := range definition.Fields {
		if strings.HasPrefix(f.Name, "__") || slices.ContainsFunc(f.Arguments, func(x *ast.ArgumentDefinition) bool { return x.Type.NonNull && x.DefaultValue == nil }) {
			continue
		}
		kind := a.schema.Types[f.Type.Name()].Kind
		nested := f.Name == "edges" || f.Name == "node" || f.Name == "pageInfo" || depth == 0 && kind == ast.Object && !strings.HasSuffix(f.Type.Name(), "Connection")
		if kind == ast.Scalar || kind == ast.Enum || nested && depth < 3 {
			fields = append(fields, f.Name+a.selection(f.Type, depth+1))
		}
	}
	return "{" + strings.Join(fields, " ") + "}"
}

// below asks for a field below the roots, by the thread, session or message that has it.
func (a *asker) below(t *testing.T, p *servertest.Process, of *ast.Definition, field *ast.FieldDefinition, argument *ast.ArgumentDefinition) target {
	t.Helper()
	at := map[string]string{
		"Thread": `thread(hash:"` + a.samples.Thread + `")`, "Session": `session(hash:"` + a.samples.Session + `")`, "Message": `message(hash:"` + a.samples.Message + `")`,
	}[of.Name]
	if at == "" {
		t.Fatalf("%s.%s has a string argument, and no root field is known for it", of.Name, field.Name)
	}
	data := map[string]map[string]struct{ PageInfo struct{ EndCursor string } }{}
	if err := p.Ask(t.Context(), "{"+at+"{"+field.Name+"(first:1){pageInfo{endCursor}}}}", nil, &data); err != nil {
		t.Fatal(err)
	}
	for _, one := range data {
		a.cursors[field.Name] = one[field.Name].PageInfo.EndCursor
	}
	document := fmt.Sprintf("query($x:%s){%s{%s(%s:$x)%s}}", argument.Type, at, field.Name, argument.Name, a.selection(field.Type, 0))
	return target{of.Name + "." + field.Name + ": " + argument.Name, post(p.URL, p.Token, document, map[string]any{"x": a.value(field.Name, argument.Name, argument.Type, "")})}
}
