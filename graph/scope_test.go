package graph

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// Every field that a request can begin with has a rule, and every rule is of a field that there is.
func TestAccessCoversTheSchema(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			if found, ok := access[root.Name][field.Name]; !ok || found.scopes == 0 {
				t.Errorf("%s.%s has no rule, or one without a scope: say in scope.go who may ask for it", root.Name, field.Name)
			}
		}
	}
	for object, rules := range access {
		for name := range rules {
			if definition := schema.Types[object]; definition == nil || definition.Fields.ForName(name) == nil {
				t.Errorf("scope.go has a rule for %s.%s, which is not in the schema", object, name)
			}
		}
	}
}

// Every field that leads from an object to another has scopes, and every field of what gathers others' words but its
// name; and all that have scopes are there.
func TestWithinCoversTheSchema(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	names := []string{"id", "hash", "namespace", "key", "name"}
	for _, object := range schema.Types {
		if object.Kind != ast.Object || isRoot(object.Name) || isPage(object.Name) || strings.HasPrefix(object.Name, "__") {
			continue
		}
		gathers := object.Name == "Session" || object.Name == "Thread" || slices.Contains(object.Interfaces, "Component")
		for _, field := range object.Fields {
			_, listed := within[object.Name][field.Name]
			kind := schema.Types[field.Type.Name()].Kind
			if leads := kind != ast.Scalar && kind != ast.Enum; !listed && (leads || gathers && !slices.Contains(names, field.Name)) {
				t.Errorf("%s.%s has no scopes: say in scopewithin.go who may ask for it", object.Name, field.Name)
			}
		}
	}
	for object, fields := range within {
		for name := range fields {
			if definition := schema.Types[object]; definition == nil || definition.Fields.ForName(name) == nil {
				t.Errorf("scopewithin.go has %s.%s, which is not in the schema", object, name)
			}
		}
	}
}

// Each field of an object needs its scopes when it is executed, and one that leads on and is not listed is nobody's.
func TestScopesAreNeededWithin(t *testing.T) {
	t.Parallel()
	leads := ast.SelectionSet{&ast.Field{Name: "hash"}}
	asked := 0
	for object, fields := range within {
		for name, scopes := range fields {
			for _, scope := range scopes.Names() {
				caller := auth.Administrator()
				caller.Scopes &^= auth.ScopesOf([]string{scope})
				err := checkWithin(auth.WithCaller(t.Context(), caller), object, &ast.Field{Name: name, SelectionSet: leads})
				if want := "your token lacks the scope " + scope; fault.CodeOf(err) != fault.Forbidden || err.Error() != want {
					t.Errorf("%s.%s: %v, want FORBIDDEN %q", object, name, err, want)
				}
				asked++
			}
		}
	}
	if asked < 25 {
		t.Errorf("asked %d times only", asked)
	}
	err := checkWithin(auth.WithCaller(t.Context(), auth.Administrator()), "Session", &ast.Field{Name: "members", SelectionSet: leads})
	if fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("a field that is not listed: %v, want FORBIDDEN", err)
	}
}

// dummy writes some value of a type.
func dummy(schema *ast.Schema, of *ast.Type) string {
	if of.Elem != nil {
		return "[" + dummy(schema, of.Elem) + "]"
	}
	switch definition := schema.Types[of.NamedType]; {
	case definition.Kind == ast.InputObject:
		fields := []string{}
		for _, f := range definition.Fields {
			if f.Type.NonNull {
				fields = append(fields, f.Name+": "+dummy(schema, f.Type))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case definition.Kind == ast.Enum:
		return definition.EnumValues[0].Name
	case of.NamedType == "Int":
		return "1"
	case of.NamedType == "Hash":
		return `"` + chain.Sum([]byte("someone")).String() + `"`
	case of.NamedType == "Boolean":
		return "true"
	}
	return `"x"`
}

// asking writes an operation for a root field, with the arguments that it must have.
func asking(schema *ast.Schema, root *ast.Definition, field *ast.FieldDefinition) string {
	arguments := []string{}
	for _, a := range field.Arguments {
		if a.Type.NonNull {
			arguments = append(arguments, a.Name+": "+dummy(schema, a.Type))
		}
	}
	text := field.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	if kind := schema.Types[field.Type.Name()].Kind; kind != ast.Scalar && kind != ast.Enum {
		text += " { __typename }"
	}
	return strings.ToLower(root.Name) + " { " + text + " }"
}

// Of each field of the schema, a token that lacks one of its scopes is told which, even an administrator's.
func TestScopesAreNeeded(t *testing.T) {
	t.Parallel()
	h, schema := quiet(), generated.NewExecutableSchema(generated.Config{}).Schema()
	asked := 0
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			for _, scope := range access[root.Name][field.Name].scopes.Names() {
				caller := auth.Administrator()
				caller.Scopes &^= auth.ScopesOf([]string{scope})
				a := readAny(t, post(h, caller, requestBody(t, asking(schema, root, field), nil), "Accept", accept(root)))
				if want := "your token lacks the scope " + scope; a.code() != fault.Forbidden || a.message() != want {
					t.Errorf("%s.%s = %s %q, want FORBIDDEN %q", root.Name, field.Name, a.code(), a.message(), want)
				}
				asked++
			}
		}
	}
	if asked < 30 {
		t.Errorf("asked %d times only", asked)
	}
}

func accept(root *ast.Definition) string {
	if root.Name == "Subscription" {
		return eventStream
	}
	return "application/json"
}

// readAny reads an answer, or the first event of a stream.
func readAny(t *testing.T, r *http.Response) answer {
	t.Helper()
	if !strings.HasPrefix(r.Header.Get("Content-Type"), eventStream) {
		return read(t, r)
	}
	return readEvent(t, r)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	own, other := chain.Sum([]byte("own")), component.DefaultHash("plu", "other")
	selected := model.GlobalID(selectionKind, "00000000-0000-0000-0000-000000000000")
	windowID := model.GlobalID(model.WindowKind, "00000000-0000-0000-0000-000000000000")
	player := auth.Caller{Player: own, Role: auth.Agent, Scopes: auth.AllScopes}
	for name, test := range map[string]struct {
		field string // of which type, and which
		args  map[string]any
		want  string // "": allowed; else how FORBIDDEN begins
	}{
		"own message":             {"Mutation.appendMessages", map[string]any{"messages": []chain.Draft{{OwnerID: own}}}, ""},
		"another's message":       {"Mutation.appendMessages", map[string]any{"messages": []chain.Draft{{OwnerID: own}, {OwnerID: other}}}, "messages[1].ownerId: is not your token's player"},
		"own selection":           {"Mutation.recordSelection", map[string]any{"message": chain.Draft{OwnerID: own}}, ""},
		"another's selection":     {"Mutation.recordSelection", map[string]any{"message": chain.Draft{OwnerID: other}}, "message.ownerId: is not your token's player"},
		"own preferences":         {"Mutation.requestContext", map[string]any{"input": model.ContextRequestInput{Player: &own}}, ""},
		"no preferences":          {"Mutation.requestContext", map[string]any{"input": model.ContextRequestInput{}}, ""},
		"another's preferences":   {"Mutation.requestContext", map[string]any{"input": model.ContextRequestInput{Player: &other}}, "input.player: is not your token's player"},
		"own component":           {"Mutation.upsertComponents", map[string]any{"components": []component.Draft{{Namespace: "plu", Key: "x", Hash: &own}}}, ""},
		"another's component":     {"Mutation.upsertComponents", map[string]any{"components": []component.Draft{{Namespace: "plu", Key: "other"}}}, "components[0].key: is not your token's player"},
		"another's, stated":       {"Mutation.upsertComponents", map[string]any{"components": []component.Draft{{Namespace: "plu", Key: "x", Hash: &other}}}, "components[0].hash: is not your token's player"},
		"a session's check":       {"Subscription.verificationProgress", map[string]any{"session": &other}, ""},
		"the log's check":         {"Subscription.verificationProgress", map[string]any{"session": (*chain.Hash)(nil)}, "session: is missing: only administrators"},
		"the log's check at once": {"Query.verifyLog", nil, "only administrators"},
		"records":                 {"Mutation.addRecords", nil, "only administrators"},
		"models":                  {"Query.embeddingModels", nil, "only administrators"},
		"a model's end":           {"Mutation.dropEmbeddingModel", nil, "only administrators"},
		"another tree":            {"Mutation.acceptTree", nil, "only administrators"},
		"a selection by its id":   {"Query.node", map[string]any{"id": selected}, ""},
		"a window by its id":      {"Query.node", map[string]any{"id": windowID}, ""},
		"own window":              {"Mutation.createWindow", map[string]any{"input": model.WindowInput{Agent: &own}}, ""},
		"one's window":            {"Mutation.createWindow", map[string]any{"input": model.WindowInput{}}, ""},
		"another's window":        {"Mutation.createWindow", map[string]any{"input": model.WindowInput{Agent: &other}}, "input.agent: is not your token's player"},
		"another's taste":         {"Mutation.selectIntoWindow", map[string]any{"input": model.ContextRequestInput{Player: &other}}, "input.player: is not your token's player"},
		"a judge's word":          {"Mutation.overruleJudgement", nil, "only administrators"},
	} {
		object, field, _ := strings.Cut(test.field, ".")
		condition := access[object][field].condition
		err := condition.check(player, test.args)
		if test.want == "" && err != nil || test.want != "" && (fault.CodeOf(err) != fault.Forbidden || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err := condition.check(auth.Administrator(), test.args); err != nil {
			t.Errorf("%s, for an administrator: %v, want nothing", name, err)
		}
	}
	reader := auth.Caller{Player: own, Role: auth.Client, Scopes: auth.LogRead}
	for _, id := range []string{selected, windowID} {
		if err := selectionsBySelectors(reader, map[string]any{"id": id}); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s by its id without context:select: %v, want FORBIDDEN", id, err)
		}
	}
}

// Who appended for another player stands in what the hash covers.
func TestActingForOthers(t *testing.T) {
	t.Parallel()
	admin, owner, master := auth.Administrator().Player, chain.Sum([]byte("owner")), chain.Sum([]byte("master"))
	by := "; by " + admin.String()
	text := func(s string) *string { return &s }
	for name, test := range map[string]struct {
		draft  chain.Draft
		master *chain.Hash
		source *string
		err    string
	}{
		"own":                 {chain.Draft{OwnerID: admin}, nil, nil, ""},
		"no master":           {chain.Draft{OwnerID: owner, Source: text("app")}, &admin, text("app" + by), ""},
		"no source":           {chain.Draft{OwnerID: owner}, &admin, text(by), ""},
		"is the master":       {chain.Draft{OwnerID: owner, MasterPlayer: &admin}, &admin, text(by), ""},
		"another master":      {chain.Draft{OwnerID: owner, MasterPlayer: &master}, &master, text(by), ""},
		"another, and source": {chain.Draft{OwnerID: owner, MasterPlayer: &master, Source: text("app")}, &master, text("app" + by), ""},
		"source just fits":    {chain.Draft{OwnerID: owner, Source: text(strings.Repeat("x", 187))}, &admin, text(strings.Repeat("x", 187) + by), ""},
		"source is too long":  {chain.Draft{OwnerID: owner, Source: text(strings.Repeat("x", 188))}, nil, nil, "messages[0].source: has 188 bytes; at most 187 are allowed"},
		"own, by another":     {chain.Draft{OwnerID: admin, Source: text("; by " + master.String())}, nil, nil, "messages[0].source: ends in"},
		"by two":              {chain.Draft{OwnerID: owner, Source: text("; by " + master.String())}, nil, nil, "messages[0].source: ends in"},
	} {
		ctx := auth.WithCaller(t.Context(), auth.Administrator())
		given := []chain.Draft{test.draft}
		got, err := actingFor(ctx, given, messageField)
		if test.err != "" {
			if fault.CodeOf(err) != fault.BadUserInput || !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", name, err, test.err)
			}
			continue
		}
		if err != nil || show(got[0].MasterPlayer) != show(test.master) || show(got[0].Source) != show(test.source) {
			t.Errorf("%s: %s %s %v, want %s %s", name, show(got[0].MasterPlayer), show(got[0].Source), err, show(test.master), show(test.source))
		}
		if !slices.EqualFunc(given, []chain.Draft{test.draft}, func(a, b chain.Draft) bool { return a.Fingerprint() == b.Fingerprint() }) {
			t.Errorf("%s: the caller's own draft was changed", name)
		}
	}
	ctx := auth.WithCaller(t.Context(), auth.Caller{Player: owner, Role: auth.Agent})
	if got, err := actingFor(ctx, []chain.Draft{{OwnerID: owner}}, messageField); err != nil || got[0].MasterPlayer != nil || got[0].Source != nil {
		t.Errorf("an agent's own draft = %+v, %v, want it as it is", got, err)
	}
}

func show[T any](v *T) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(*v)
}

// readEvent reads the first event of a stream that has ended.
func readEvent(t *testing.T, r *http.Response) answer {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, event, _ := strings.Cut(string(text), "data: ")
	event, _, _ = strings.Cut(event, "\n")
	var a answer
	if err := json.Unmarshal([]byte(event), &a); err != nil {
		t.Fatalf("the stream %.200q has no event: %v", text, err)
	}
	return a
}

// What is written without its fields being resolved is looked at by nobody.
func TestPlainFieldsNeedNoScope(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for object, of := range map[string]plain{"PromptMessage": model.PromptMessage{}, "Turn": model.Turn{}, "Message": model.Message{}} {
		found := 0
		for _, field := range schema.Types[object].Fields {
			if _, ok := of.Plain(field.Name); !ok {
				continue
			}
			found++
			if scopes, listed := within[object][field.Name]; scopes != part || listed || field.Type.Elem != nil {
				t.Errorf("%s.%s is plain, and needs %v", object, field.Name, scopes)
			}
		}
		if found == 0 {
			t.Errorf("nothing of %s is plain", object)
		}
	}
}
