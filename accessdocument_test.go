package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"pgregory.net/rapid"
)

// writer draws valid documents from a schema.
type writer struct {
	*rapid.T
	schema *ast.Schema
	pools  map[string][]string
	around []string // fields, from the root
}

func (w *writer) chance(n, of int) bool { return rapid.IntRange(1, of).Draw(w.T, "chance") <= n }

func (w *writer) from(pool string) string {
	list := w.pools[pool]
	if len(list) == 0 {
		w.Fatalf("nothing is known of %s", pool)
	}
	return rapid.SampledFrom(list).Draw(w.T, pool)
}

// query draws a document of one or two fields.
func (w *writer) query() string {
	var names []string
	for _, f := range w.schema.Query.Fields {
		if !strings.HasPrefix(f.Name, "__") && !slices.Contains(commitments, f.Name) {
			names = append(names, f.Name)
		}
	}
	out := "query {"
	for i := range rapid.IntRange(1, 2).Draw(w.T, "roots") {
		f := w.schema.Query.Fields.ForName(rapid.SampledFrom(names).Draw(w.T, "root"))
		out += fmt.Sprintf(" r%d: ", i) + w.call(f, 4)
	}
	return out + " }"
}

// call draws a field with its arguments.
func (w *writer) call(f *ast.FieldDefinition, depth int) string {
	w.around = append(w.around, f.Name)
	defer func() { w.around = w.around[:len(w.around)-1] }()
	var args []string
	of := f.Arguments
	if f.Name == "eraseImpact" { // takes one of two
		of = ast.ArgumentDefinitionList{rapid.SampledFrom(of).Draw(w.T, "argument")}
	}
	for _, a := range of {
		if a.Type.NonNull && a.DefaultValue == nil || a.Name == "first" || f.Name == "eraseImpact" || w.chance(1, 3) {
			args = append(args, a.Name+": "+w.value(a.Name, a.Type))
		}
	}
	out := f.Name
	if len(args) > 0 {
		out += "(" + strings.Join(args, ", ") + ")"
	}
	return out + w.selection(f.Type, depth)
}

// selection draws fields.
func (w *writer) selection(typ *ast.Type, depth int) string {
	t := w.schema.Types[typ.Name()]
	switch t.Kind {
	case ast.Scalar, ast.Enum:
		return ""
	case ast.Interface, ast.Union:
		out, possible := " { __typename", w.schema.GetPossibleTypes(t)
		for _, p := range possible {
			if w.chance(1, 2) {
				out += " ... on " + p.Name + " {" + w.fields(p, depth-1, differing(possible)) + " }"
			}
		}
		return out + " }"
	}
	return " {" + w.fields(t, depth, nil) + " }"
}

func (w *writer) fields(t *ast.Definition, depth int, apart map[string]bool) string {
	out := " __typename"
	for _, f := range t.Fields {
		inner := w.schema.Types[f.Type.Name()]
		leaf := inner.Kind == ast.Scalar || inner.Kind == ast.Enum
		tells := f.Name == "edges" || f.Name == "node" || f.Name == "items" || f.Name == "dropped" || f.Name == "explanation"
		if strings.HasPrefix(f.Name, "__") || slices.Contains([]string{"leafIndex", "proof", "tookMs"}, f.Name) || slices.Contains(commitments, f.Name) || !leaf && depth <= 0 || !tells && !w.chance(1, 2) {
			continue
		}
		name := ""
		if apart[f.Name] {
			name = t.Name + "_" + f.Name + ": "
		}
		out += " " + name + w.call(f, depth-1)
	}
	return out
}

// value draws a literal.
func (w *writer) value(name string, typ *ast.Type) string {
	if typ.Elem != nil {
		var list []string
		for range rapid.IntRange(0, 2).Draw(w.T, "entries") {
			list = append(list, w.value(name, typ.Elem))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	switch t := w.schema.Types[typ.Name()]; {
	case t.Kind == ast.InputObject:
		var fields []string
		for _, f := range t.Fields {
			if f.Type.NonNull && f.DefaultValue == nil || w.chance(1, 4) {
				fields = append(fields, f.Name+": "+w.value(f.Name, f.Type))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case t.Kind == ast.Enum:
		return rapid.SampledFrom(t.EnumValues).Draw(w.T, name).Name
	case name == "after" || name == "before":
		return w.cursor()
	case t.Name == "Hash":
		return w.hash(name)
	case t.Name == "ID":
		return w.id(name)
	case t.Name == "Int":
		return fmt.Sprint(rapid.IntRange(0, 6).Draw(w.T, name))
	case t.Name == "Float":
		return rapid.SampledFrom([]string{"0", "0.01", "0.2", "0.7"}).Draw(w.T, name)
	case t.Name == "Boolean":
		return fmt.Sprint(rapid.Bool().Draw(w.T, name))
	case t.Name == "Time":
		return fmt.Sprintf("%q", longAgo.Add(time.Duration(rapid.IntRange(-1, 130).Draw(w.T, name))*time.Second).Format(time.RFC3339))
	case t.Name == "JSON":
		return "{}"
	case name == "userId":
		return w.from("user")
	case name == "agent":
		return w.from("agent")
	case name == "threadId":
		return w.from("event thread")
	case name == "conversation" || name == "id":
		return w.from("conversation")
	}
	n := rapid.IntRange(1, 4).Draw(w.T, "words")
	var text []string
	for range n {
		text = append(text, w.from(rapid.SampledFrom([]string{"word", "word", "hidden word"}).Draw(w.T, "kind")))
	}
	return fmt.Sprintf("%q", strings.Join(text, " "))
}

// hash draws what a name stands for, mostly.
func (w *writer) hash(name string) string {
	kind := map[string]string{
		"message": "message", "sessions": "session", "session": "session", "threads": "thread", "thread": "thread", "players": "player",
		"owners": "player", "player": "player", "component": "player", "hashtags": "thing", "items": "thing", "locations": "thing",
		"verifySession": "session", "eraseMessage": "message", "whyNot": "message", "record": "record",
	}
	if pool := kind[name]; pool != "" && w.chance(9, 10) {
		return w.from(pool)
	}
	if pool := kind[w.around[len(w.around)-1]]; name == "hash" && pool != "" && w.chance(9, 10) {
		return w.from(pool)
	}
	return w.from("Hash")
}

func (w *writer) id(name string) string {
	switch name {
	case "previous":
		return w.from("selection")
	case "window":
		return w.from("window")
	}
	switch w.around[len(w.around)-1] {
	case "contextSelection", "replayContext", "requestContext", "tryContext", "whyNot":
		return w.from("selection")
	case "revokeToken":
		return w.from("token")
	case "window":
		return w.from("window")
	case "scratchpadEntry":
		return w.from("entry")
	}
	return w.from("ID")
}

// cursor draws one of the list that the field is, if that has any that could tell something.
func (w *writer) cursor() string {
	list := w.around[len(w.around)-1]
	if list == "messages" && len(w.around) > 1 {
		list = "thread.messages"
		if slices.Contains(w.around, "session") || slices.Contains(w.around, "sessions") {
			list = "session.messages"
		}
	}
	if list == "citedBy" && (slices.Contains(w.around, "record") || slices.Contains(w.around, "records")) {
		list = "record.citedBy"
	}
	if list == "scratchpad" || list == "operations" {
		list = "window." + list
	}
	if len(w.pools["cursor "+list]) == 0 {
		return `"bm90aGluZw"`
	}
	return w.from("cursor " + list)
}

// mutation draws one that leaves the worlds alike: a request for context, also into a window, or what is refused.
func (w *writer) mutation() string {
	field := func(name string) string { return w.call(w.schema.Mutation.Fields.ForName(name), 4) }
	hidden := rapid.SampledFrom(w.pools["hidden message"]).Draw(w.T, "hidden")
	switch rapid.IntRange(0, 16).Draw(w.T, "mutation") {
	case 16:
		return "mutation { r: " + field("selectIntoWindow") + " }"
	case 14:
		return "mutation { offload(window: " + w.from("window") + `, contents: [""]) { id } }`
	case 15:
		return "mutation { removeFromWindow(window: " + w.from("window") + ", items: [" + w.from("entry") + "]) { id } }"
	case 12:
		return "mutation { p: " + field("promptMessages") + " }"
	case 13:
		return "mutation { updateState(conversation: " + w.from("changed conversation") + ", state: {tool_calls: []}) { id } }"
	case 0:
		return "mutation { eraseMessage(hash: " + hidden + `, reason: "why") { hash } }`
	case 1:
		return "mutation { revokeToken(id: " + w.from("token") + ") { id } }"
	case 2:
		return "mutation { createToken(input: {kind: AGENT, player: " + w.from("stranger") + "}) { secret } }"
	case 3: // refused for its last message at the latest
		return "mutation { appendMessages(messages: [{sessionHash: " + w.from("own session") + `, content: "x", ownerId: ` + w.from("me") + ", threadHash: " + w.from("thread") +
			", playerIds: [" + w.from("player") + "], prevHash: " + w.from("message") + ", refs: [{type: CONTEXT, hash: " + w.from("message") + "}]}, {sessionHash: " + w.from("own session") +
			`, content: "x", ownerId: ` + w.from("me") + ", refs: [{type: CONTEXT, hash: " + hidden + "}]}]) { hash } }"
	case 4:
		return "mutation { recordSelection(selection: " + w.from("selection") + ", message: {sessionHash: " + w.from("own session") + `, content: "x", ownerId: ` + w.from("me") + ", refs: [{type: CONTEXT, hash: " + hidden + "}]}) { hash } }"
	case 5:
		return "mutation { upsertComponents(components: [{namespace: PLY, key: " + rapid.SampledFrom([]string{`"ana"`, `"ben"`, `"cleo"`, `"nobody"`}).Draw(w.T, "key") + `, description: "` + w.from("word") + `"}]) { hash name description } }`
	}
	return "mutation { r: " + field("requestContext") + " }"
}
