package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
)

// guesser writes documents that name something at one place, and are valid otherwise.
type guesser struct {
	belongings
	schema *ast.Schema
	field  string // that is written
	agent  string // of whose events is asked; empty: one's own
	n      int
}

// besides are arguments without which a field looks at nothing, or at too much, though they may be left out.
var besides = map[string]bool{"whyNot.hash": true, "threadEvents.last": true}

// document names value at an argument.
func (g *guesser) document(a argument, value string) string {
	g.n++
	out := g.selection(a.via[len(a.via)-1].Type, 2)
	for i := len(a.via) - 1; i >= 0; i-- {
		f := a.via[i]
		g.field = f.Name
		var args []string
		for _, arg := range f.Arguments {
			if i == len(a.via)-1 && arg.Name == a.path[0] {
				args = append(args, arg.Name+": "+g.literal(arg.Name, arg.Type, a.path[1:], value))
			} else if arg.Type.NonNull && arg.DefaultValue == nil || besides[f.Name+"."+arg.Name] {
				args = append(args, arg.Name+": "+g.literal(arg.Name, arg.Type, nil, ""))
			}
		}
		call := f.Name
		if len(args) > 0 {
			call += "(" + strings.Join(args, ", ") + ")"
		}
		if i < len(a.via)-1 {
			out = " { " + out + " }"
		}
		out = call + out
	}
	return strings.ToLower(a.root) + " { " + out + " }"
}

// literal writes a value that has the one that is guessed at a path in it; with none it is a valid one.
func (g *guesser) literal(name string, typ *ast.Type, path []string, value string) string {
	if typ.Elem != nil {
		return "[" + g.literal(name, typ.Elem, path, value) + "]"
	}
	t := g.schema.Types[typ.Name()]
	if t.Kind != ast.InputObject {
		if value != "" && len(path) == 0 {
			return value
		}
		base, ok := g.base[g.field+"."+name]
		if g.agent != "" && name == "agent" {
			base, ok = g.agent, true
		}
		if !ok {
			base, ok = g.base[name]
		}
		if !ok {
			panic("nothing is known of " + name)
		}
		return strings.ReplaceAll(base, "$SESSION", sumOf("guess %d of %s", g.n, g.player).String())
	}
	var fields []string
	for _, f := range t.Fields {
		switch {
		case len(path) > 0 && f.Name == path[0]:
			fields = append(fields, f.Name+": "+g.literal(f.Name, f.Type, path[1:], value))
		case f.Type.NonNull && f.DefaultValue == nil:
			fields = append(fields, f.Name+": "+g.literal(f.Name, f.Type, nil, ""))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// own gives what the player may name at an argument of a query, false if there is nothing.
func (g *guesser) own(a argument) (string, bool) {
	name := a.path[len(a.path)-1]
	switch {
	case a.root != "Query" || len(a.path) > 1:
		return "", false
	case a.isCursor():
		return fmt.Sprintf("%q", g.keys.cursor(a)), true
	}
	own, ok := g.base[a.via[len(a.via)-1].Name+"."+name]
	if !ok {
		own, ok = g.base[name]
	}
	return own, ok
}

// moments are fields that tell when something was done, or hold what is derived from the tree of the whole log.
var moments = []string{"leafIndex", "proof", "state", "tookMs", "checked", "lastUsedAt"}

// selection asks for every field that needs no arguments, down to a depth. In fragments, fields are told apart that have
// the same name and another type elsewhere.
func (g *guesser) selection(typ *ast.Type, depth int) string {
	t := g.schema.Types[typ.Name()]
	switch t.Kind {
	case ast.Scalar, ast.Enum:
		return ""
	case ast.Interface, ast.Union:
		out, possible := " { __typename", g.schema.GetPossibleTypes(t)
		for _, p := range possible {
			out += " ... on " + p.Name + " {" + g.fields(p, min(depth, 1), differing(possible)) + " }"
		}
		return out + " }"
	}
	return " { __typename" + g.fields(t, depth, nil) + " }"
}

func (g *guesser) fields(t *ast.Definition, depth int, apart map[string]bool) (out string) {
	for _, f := range t.Fields {
		inner := g.schema.Types[f.Type.Name()]
		leaf := inner.Kind == ast.Scalar || inner.Kind == ast.Enum
		if slices.Contains(moments, f.Name) || strings.HasPrefix(f.Name, "__") || !leaf && depth == 0 || f.Name == "previous" ||
			slices.ContainsFunc(f.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil }) {
			continue
		}
		name := f.Name
		if apart[name] {
			name = t.Name + "_" + name + ": " + name
		}
		out += " " + name + g.selection(f.Type, depth-1)
	}
	return out
}

// differing gives the fields that have another type in another of these objects.
func differing(objects []*ast.Definition) map[string]bool {
	types, out := map[string]string{}, map[string]bool{}
	for _, o := range objects {
		for _, f := range o.Fields {
			if is, there := types[f.Name]; there && is != f.Type.String() {
				out[f.Name] = true
			}
			types[f.Name] = f.Type.String()
		}
	}
	return out
}

var (
	hexPattern  = regexp.MustCompile(`[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|\b\d{4}-\d\d-\d\d\b`)
)

// anonymous gives an answer with hashes and ids replaced by the order in which they come, and without what is random or
// tells the time.
func anonymous(t testing.TB, a answer) string {
	t.Helper()
	var body any
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	text, err := json.MarshalIndent(opened(body), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	out := hexPattern.ReplaceAllStringFunc(string(text), func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprint("id ", len(names))
		}
		return names[id]
	})
	if !strings.Contains(out, `"data"`) || strings.Contains(out, "a hash is 64") {
		t.Errorf("a document is not valid: %s", out)
	}
	return fmt.Sprint(a.status, " ", timePattern.ReplaceAllString(out, "time"))
}

// opened decodes global ids and cursors, so that what they hold is seen, and takes out what is random.
func opened(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if s, ok := inner.(string); ok && slices.Contains([]string{"preimage", "contentPreimage", "renderedSalt", "secret"}, name) {
				v[name] = fmt.Sprint(len(s) > 0)
				continue
			}
			v[name] = opened(inner)
		}
	case []any:
		for i := range v {
			v[i] = opened(v[i])
		}
	case string:
		if text, err := base64.RawURLEncoding.DecodeString(v); err == nil && hexPattern.Match(text) {
			return string(text)
		}
	}
	return value
}

// refusing are arguments at which all that is hidden or invented is BAD_USER_INPUT: the first takes refs to what its caller
// sees, the others take none and no players. At any other the store must have been asked.
var refusing = []string{"Mutation.appendMessages(messages.refs.hash)", "Mutation.recordSelection(message.refs.hash)", "Mutation.promptMessages(context.scope.players)"}

// forbiddenToPlayers is what testdata/access/arguments.json says of arguments at which a player is told that, whatever is named.
const forbiddenToPlayers = "FORBIDDEN to players"

// A thing that is hidden and one that does not exist are answered alike, wherever they can be named: for a client and for
// an agent with every scope; and what is one's own is found there. testdata/access/arguments.json says where they cannot
// be, and why.
func TestHiddenIsAsInvented(t *testing.T) {
	t.Parallel()
	var known map[string]string
	text, err := os.ReadFile("testdata/access/arguments.json")
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		t.Fatal(err)
	}
	schema := schemaOf()
	all := map[string]bool{}
	for _, a := range arguments(schema) {
		all[a.String()] = true
		if known[a.String()] == "" {
			t.Errorf("%s has no entry in testdata/access/arguments.json", a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !all[name] {
			t.Errorf("%s of testdata/access/arguments.json is no argument", name)
		}
	}
	players := map[string]chain.Hash{"client out": cleo, "agent out": dan}
	for _, fenced := range []bool{true, false} {
		s := newStage(t, newSite(t, fenced, config.Server{}))
		own := map[string]belongings{}
		for name, player := range players {
			own[name] = s.belongings(player)
		}
		secret := newSecret(s.site)
		for _, of := range own {
			s.append(of.citing()) // so that lists have something before and after what is hidden, whichever way they go
		}
		for name := range players {
			t.Run(fmt.Sprintf("%s, fenced %t", name, fenced), func(t *testing.T) {
				t.Parallel()
				s := s.with(t)
				g := &guesser{belongings: own[name], schema: schema}
				token := s.callers[name].token
				for _, a := range arguments(schema) {
					if known[a.String()] != "alike" && known[a.String()] != forbiddenToPlayers {
						continue // TestMatrixOfFields listens; the others say why they differ
					}
					asked, forbidden := false, true
					if ofEvents(a) {
						g.agent = `"hal"`
					}
					for kind, pair := range secret.pairs(a) {
						var told [2]string
						for i, value := range pair {
							answer := s.ask(token, g.document(a, `"`+value+`"`), nil)
							told[i] = strings.ReplaceAll(anonymous(t, answer), value, "what was asked for")
							code := answer.reply(t).code()
							asked, forbidden = asked || code != "BAD_USER_INPUT", forbidden && code == "FORBIDDEN"
						}
						if told[0] != told[1] {
							t.Errorf("%s, %s: a hidden one and an invented one differ (-hidden +invented), by\n%s\n%s", a, kind, g.document(a, pair[0]), cmp.Diff(told[0], told[1]))
						}
					}
					g.agent = ""
					if !asked && !slices.Contains(refusing, a.String()) {
						t.Errorf("%s: whatever is named there is BAD_USER_INPUT: the store is never asked, by\n%s", a, g.document(a, `"…"`))
					}
					if only := known[a.String()] == forbiddenToPlayers; forbidden != only && (only || name == "agent out") { // a client may do less
						t.Errorf("%s: whatever is named there is FORBIDDEN: %t, but testdata/access/arguments.json says %q", a, forbidden, known[a.String()])
					}
					if value, ok := g.own(a); ok && !forbidden {
						r := s.ask(token, g.document(a, value), nil).reply(t)
						if r.code() != "" || r.Data[a.via[0].Name] == nil {
							t.Errorf("%s: one's own, %s, is answered %+v", a, value, r)
						}
					}
				}
			})
		}
	}
}
