package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/internal/servertest"
	"github.com/vektah/gqlparser/v2/ast"
)

// marker is where sqlmap puts what it injects.
const marker = "*"

// target is one string of a request.
type target struct{ name, request string }

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
				if definition.Name == "Quarantine" && known.Quarantined == "" {
					continue
				}
				for _, path := range a.strings(argument.Type, argument.Name, 0) {
					all = append(all, a.below(t, p, definition, field, path))
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
	if err == nil && a.cursors[field.Name] == "" {
		t.Fatalf("%s has no cursor: it is empty", field.Name)
	}
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
	declared, given, variables := a.arguments(field, path)
	at, selection := p.URL, a.selection(field.Type, 0)
	if root == a.schema.Subscription {
		at, selection = a.streams, "{__typename}"
	}
	document := fmt.Sprintf("%s(%s){%s(%s)%s}", strings.ToLower(root.Name), declared, field.Name, given, selection)
	return post(at, p.Token, document, variables)
}

// arguments gives a field what it needs, and the string at path, which is marked.
func (a *asker) arguments(field *ast.FieldDefinition, path string) (declared, given string, variables map[string]any) {
	variables = map[string]any{}
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
		declared += "$" + argument.Name + ":" + argument.Type.String() + " "
		given += argument.Name + ":$" + argument.Name + " "
	}
	return declared, given, variables
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
		if field == "revokeToken" {
			return a.samples.Token + mark
		}
		if name == "window" || name == "windows" || field == "window" || field == "deleteWindow" {
			return a.samples.Window + mark
		}
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

// below asks for a field below the roots, by the thread, session, message, record or quarantine that has it.
func (a *asker) below(t *testing.T, p *servertest.Process, of *ast.Definition, field *ast.FieldDefinition, path string) target {
	t.Helper()
	at := map[string]string{
		"Thread": `thread(hash:"` + a.samples.Thread + `")`, "Session": `session(hash:"` + a.samples.Session + `")`, "Message": `message(hash:"` + a.samples.Message + `")`,
		"ContextWindow": `window(id:"` + a.samples.Window + `")`,
		"Quarantine":    `quarantine(message:"` + a.samples.Quarantined + `")`, "Record": `record(hash:"` + a.samples.Record + `")`,
	}[of.Name]
	if at == "" {
		t.Fatalf("%s.%s has a string argument, and no root field is known for it", of.Name, field.Name)
	}
	if strings.HasSuffix(field.Type.Name(), "Connection") {
		data := map[string]map[string]struct{ PageInfo struct{ EndCursor string } }{}
		if err := p.Ask(t.Context(), "{"+at+"{"+field.Name+"(first:1){pageInfo{endCursor}}}}", nil, &data); err != nil {
			t.Fatal(err)
		}
		for _, one := range data {
			a.cursors[field.Name] = one[field.Name].PageInfo.EndCursor
		}
		if path == "after" && a.cursors[field.Name] == "" {
			t.Fatalf("%s.%s has no cursor: it is empty", of.Name, field.Name)
		}
	}
	declared, given, variables := a.arguments(field, path)
	document := fmt.Sprintf("query(%s){%s{%s(%s)%s}}", declared, at, field.Name, given, a.selection(field.Type, 0))
	return target{of.Name + "." + field.Name + ": " + path, post(p.URL, p.Token, document, variables)}
}

// samples are values that the sample log knows.
type samples struct {
	Message, Session, Thread, Player, Flag, Record, Selection, Token string
	Window                                                           string
	Quarantined, Model                                               string // administrators' alone, "" for others
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
	var asked struct {
		RequestContext struct {
			ID    string
			Items []struct{ Hash string }
		}
	}
	if err := p.Ask(t.Context(), `mutation{requestContext(input:{query:"hello",threshold:0,scope:{types:[CONTEXT]}}){id items{hash}}}`, nil, &asked); err != nil {
		t.Fatal(err)
	}
	if len(asked.RequestContext.Items) == 0 {
		t.Fatal("nothing is selected")
	}
	s := samples{Selection: asked.RequestContext.ID, Quarantined: asked.RequestContext.Items[0].Hash, Model: data.EmbeddingModels[0].Name}
	m := data.Messages.Edges[0].Node
	s.Message, s.Session, s.Player = m.Hash, m.Session.Hash, m.Owner.Hash
	s.Thread, s.Record, s.Flag = data.Threads.Edges[0].Node.Hash, m.Hash, m.Hash
	if len(data.Records.Edges) > 0 {
		s.Record = data.Records.Edges[0].Node.Hash
	}
	if len(data.Components.Edges) > 0 {
		s.Flag = data.Components.Edges[0].Node.Hash
	}
	var made struct {
		CreateToken struct{ Token struct{ ID string } }
	}
	if err := p.Ask(t.Context(), `mutation($h:Hash!,$p:Hash!){quarantine(message:$h,reason:"a sample"){reason} createToken(input:{kind:AGENT,player:$p}){token{id}}}`,
		object{"h": s.Quarantined, "p": s.Player}, &made); err != nil {
		t.Fatal(err)
	}
	s.Token = made.CreateToken.Token.ID
	s.Window = useWindow(t, p)
	useRecord(t, p, s)
	return s
}

// useRecord lets the record be selected by who asks, and cited in a session of the player's.
func useRecord(t *testing.T, p *servertest.Process, s samples) {
	t.Helper()
	var record struct {
		Record struct{ Title, Content string }
	}
	if err := p.Ask(t.Context(), "query($h:Hash!){record(hash:$h){title content}}", object{"h": s.Record}, &record); err != nil {
		t.Fatal(err)
	}
	var done struct {
		RequestContext struct{ Items []struct{ Hash string } }
	}
	if err := p.Ask(t.Context(), `mutation($q:String!,$m:MessageInput!){requestContext(input:{query:$q,threshold:0,limit:200,scope:{types:[ACCOUNTANT,SECRETARY]}}){items{hash}} appendMessages(messages:[$m]){hash}}`,
		object{"q": record.Record.Title + " " + record.Record.Content, "m": object{
			"sessionHash": hashOf("cites a record"), "ownerId": s.Player, "content": "with a record",
			"refs": []object{{"hash": s.Record, "type": "SECRETARY"}},
		}}, &done); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(done.RequestContext.Items, func(item struct{ Hash string }) bool { return item.Hash == s.Record }) {
		t.Fatal("the record is not selected")
	}
}

// useWindow makes a window of who asks, with two of what it lists, so that there are cursors.
func useWindow(t *testing.T, p *servertest.Process) string {
	t.Helper()
	var made struct{ CreateWindow struct{ ID string } }
	if err := p.Ask(t.Context(), `mutation{createWindow(input:{name:"hello"}){id}}`, nil, &made); err != nil {
		t.Fatal(err)
	}
	if err := p.Ask(t.Context(), `mutation($w:ID!){offload(window:$w,contents:["hello","and again"]){id}}`, object{"w": made.CreateWindow.ID}, &struct{}{}); err != nil {
		t.Fatal(err)
	}
	return made.CreateWindow.ID
}

// newToken makes a token as TokenInput has it.
func newToken(t *testing.T, p *servertest.Process, of object) string {
	t.Helper()
	var made struct{ CreateToken struct{ Secret string } }
	if err := p.Ask(t.Context(), "mutation($of:TokenInput!){createToken(input:$of){secret}}", object{"of": of}, &made); err != nil {
		t.Fatal(err)
	}
	return made.CreateToken.Secret
}

// byAgent ends the names of what an agent asks.
const byAgent = ", by an agent"

// asAgent gives requests with the token of an agent, who sees what their sessions hold, and no more.
func asAgent(t *testing.T, p *servertest.Process, streams string, known samples) []target {
	t.Helper()
	admin := p.Token
	p.Token = newToken(t, p, object{"kind": "AGENT", "player": known.Player,
		"scopes": []string{"log:read", "log:append", "context:select", "memory:write", "verify", "tokens:manage", "erase"}})
	defer func() { p.Token = admin }()
	var asked struct{ RequestContext struct{ ID string } }
	if err := p.Ask(t.Context(), `mutation{requestContext(input:{query:"hello"}){id}}`, nil, &asked); err != nil {
		t.Fatal(err)
	}
	var seen struct {
		Threads struct {
			Edges []struct{ Node struct{ Hash string } }
		}
	}
	if err := p.Ask(t.Context(), "{threads(first:1){edges{node{hash}}}}", nil, &seen); err != nil {
		t.Fatal(err)
	}
	useRecord(t, p, known)
	known.Window = useWindow(t, p)
	known.Thread = seen.Threads.Edges[0].Node.Hash
	known.Selection, known.Quarantined, known.Model = asked.RequestContext.ID, "", ""
	all := stringArguments(t, p, streams, known)
	for i := range all {
		all[i].name += byAgent
	}
	return all
}
