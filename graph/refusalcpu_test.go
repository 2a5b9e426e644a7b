package graph_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// refused is a request that the store has to be asked for, or whose caller may not ask.
type refused struct {
	caller    auth.Caller
	query     string
	variables any
	code      string // what the answer names: of the error, or of the outcome
}

// refusals are requests of as much as anybody may send, which pass all that is looked at before the store.
func refusals(t *testing.T, a *api) map[string]refused {
	t.Helper()
	player := auth.Caller{Player: chain.Sum([]byte("stranger")), Role: auth.Agent, Scopes: auth.AllScopes}
	reader := player
	reader.Scopes = auth.LogRead
	a.append(message("others", "theirs"))
	id, large := a.newWindow("small", 8000, ""), a.newWindow("large", 2_000_000, "")
	const (
		add    = `mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }`
		record = `mutation($r: [RecordInput!]!) { addRecords(records: $r) { hash } }`
		try    = `query($r: ContextRequestInput!) { tryContext(request: $r) { __typename } }`
		write  = `mutation($i: WriteInput!) { writeContext(input: $i) { rejected } }`
	)
	filled := func(of string) string { return strings.Repeat(of, (1<<20-1000)/len(of)) }
	most := func(text string) string { return text[:min(len(text), 261_996)] } // of what is written, in whole characters of up to four bytes
	content := func(kind, text string) refused {
		text = most(text)
		return refused{auth.Administrator(), write, object{"i": object{"window": id, "type": kind, "content": text}}, "CONTEXT_WINDOW_EXCEEDED"}
	}
	// counted has so few pieces that it might fit into a window of so many tokens, and so many tokens that it does not.
	counted := func(text string, capacity int) refused {
		return refused{auth.Administrator(), write, object{"i": object{"window": a.windowIn("o200k_base", capacity), "type": "KNOWLEDGE", "content": text}}, "CONTEXT_WINDOW_EXCEEDED"}
	}
	messages := func(session string, keys bool) []object {
		list := make([]object, 950)
		for i := range list {
			list[i] = message(session, long(15_500), object{"ownerId": player.Player.String()})
			if keys {
				list[i]["idempotencyKey"] = fmt.Sprint(i)
			}
		}
		return list
	}
	// ambient puts as much into a field of JSON of each message.
	ambient := func(list []object, text string) []object {
		for i := range list[:950] {
			list[i]["content"], list[i]["ambient"] = "x", object{"a": text}
		}
		return list
	}
	state := uint32(1)
	random := func(alphabet string) string {
		text := make([]byte, 1<<20-1000)
		for i := range text {
			state = state*1664525 + 1013904223
			text[i] = alphabet[int(state>>16)%len(alphabet)]
		}
		return string(text)
	}
	small := make([]object, 5000)
	for i := range small {
		small[i] = object{"sessionHash": hashOf("others"), "ownerId": player.Player.String(), "content": "x"}
	}
	referring := make([]object, 11) // to as many as a body may hold
	for i := range referring {
		refs := make([]object, 600)
		for j := range refs {
			refs[j] = object{"hash": hashOf("%d %d", i, j), "type": "CONTEXT"}
		}
		referring[i] = message("own", "x", object{"ownerId": player.Player.String(), "refs": refs})
	}
	offloaded := func(contents ...string) refused {
		return refused{auth.Administrator(), `mutation($w: ID!, $c: [String!]!) { offload(window: $w, contents: $c) { id } }`, object{"w": large, "c": contents}, "is empty"}
	}
	all := map[string]refused{
		"offload: one is empty":   offloaded(random("abcdefghijklmnopqrstuvwxyz"), ""),
		"content: prose":          content("USER_MESSAGE", filled("The quick brown fox jumps over the lazy dogs. ")),
		"content: short words":    content("KNOWLEDGE", filled("a b ")),
		"content: one letter":     content("KNOWLEDGE", filled("a")),
		"content: letters":        content("KNOWLEDGE", random("abcdefghijklmnopqrstuvwxyz")),
		"content: words":          content("KNOWLEDGE", random("abcdefghijklmnopqrstuvwxyz     ")),
		"content: digits":         content("KNOWLEDGE", random("0123456789")),
		"content: dots":           counted(filled(".")[:261_000]+" and on", 2_000),
		"content: beyond ASCII":   content("USER_MESSAGE", filled("é")),
		"content: Chinese":        content("USER_MESSAGE", filled("漢字仮名")),
		"content: punctuation":    content("USER_MESSAGE", random("!@#$%^*()-=[];:,./?")),
		"counted: letters":        counted(random("abcdefghijklmnopqrstuvwxyz")[:245_000], 100_000),
		"counted: capitals":       counted(random("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[:195_000], 100_000),
		"counted: words":          counted(random("abcdefghijklmnopqrstuvwxyz     ")[:235_000], 100_000),
		"counted: digits":         counted(random("0123456789")[:261_000], 67_000),
		"counted: punctuation":    counted("so "+random("!@#$%^*()-=[];:,./?")[:175_000], 100_000),
		"counted: one letter":     counted(strings.Repeat("a", 255_000)+random("abcdefghijklmnopqrstuvwxyz")[:1_960], 32_700),
		"counted, small: blanks":  counted("so"+strings.Repeat(" ", 256_000)+random("abcdefghijklmnopqrstuvwxyz")[:1_440], 2_560),
		"content: without words":  {auth.Administrator(), write, object{"i": object{"window": large, "type": "KNOWLEDGE", "content": most(random(",.;:!?()-"))}}, "it has no words"},
		"append: others' session": {player, add, object{"m": messages("others", false)}, "NOT_FOUND"},
		"append: with keys": {player, add, object{"m": append(messages("own", true), message("others", "x", object{
			"ownerId": player.Player.String(), "idempotencyKey": "k"}))}, "NOT_FOUND"},
		"append: not the head":      {player, add, object{"m": append(messages("own", false), message("own", "x", object{"ownerId": player.Player.String(), "prevHash": hashOf("x")}))}, "CONFLICT"},
		"append: no such ref":       {player, add, object{"m": append(messages("own", false), message("more", "x", object{"ownerId": player.Player.String(), "refs": []object{{"hash": hashOf("x"), "type": "CONTEXT"}}}))}, "BAD_USER_INPUT"},
		"append: JSON":              {player, add, object{"m": ambient(messages("others", false), long(15_400))}, "NOT_FOUND"},
		"append: JSON beyond ASCII": {player, add, object{"m": ambient(messages("others", false), "x"+strings.Repeat("é", 7700))}, "NOT_FOUND"},
		"append: JSON of one line":  {player, add, object{"m": ambient(messages("others", false), "x"+strings.Repeat("…", 5130))}, "NOT_FOUND"},
		"append: JSON, not the head": {player, add, object{"m": append(ambient(messages("own", false), "x"+strings.Repeat("é", 7700)),
			message("own", "x", object{"ownerId": player.Player.String(), "prevHash": hashOf("x")}))}, "CONFLICT"},
		"append: JSON, no such ref": {player, add, object{"m": append(ambient(messages("own", false), "x"+strings.Repeat("é", 7700)),
			message("more", "x", object{"ownerId": player.Player.String(), "refs": []object{{"hash": hashOf("x"), "type": "CONTEXT"}}}))}, "BAD_USER_INPUT"},
		"append: refs":              {player, add, object{"m": referring}, "names nothing of type CONTEXT"},
		"append: without the scope": {reader, add, object{"m": small}, "FORBIDDEN"},
		"records: no administrator": {player, record, object{"r": slices.Repeat([]object{{"kind": "ACCOUNTANT", "book": "b", "title": "t", "content": "c"}}, 4000)}, "FORBIDDEN"},
		"a query without the scope": {reader, try, object{"r": object{"query": "x", "filter": object{"sessions": slices.Repeat([]string{hashOf("x")}, 12_000)}}}, "FORBIDDEN"},
	}
	for _, encoding := range []string{"cl100k_base", "p50k_base", "r50k_base"} {
		for name, text := range map[string]string{
			"letters": random("abcdefghijklmnopqrstuvwxyz")[:205_000], "capitals": random("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[:170_000],
			"digits": random("0123456789")[:261_000], "words": random("abcdefghijklmnopqrstuvwxyz     ")[:200_000],
		} {
			capacity := 100_000
			if name == "digits" {
				capacity = 79_000
			}
			all[encoding+": "+name] = refused{auth.Administrator(), write, object{"i": object{"window": a.windowIn(encoding, capacity), "type": "KNOWLEDGE", "content": text}}, "CONTEXT_WINDOW_EXCEEDED"}
		}
	}
	// What an operation asks for at its root is refused one by one.
	many := func(name, call string, n int, variables string, values object, code string) {
		var b strings.Builder
		fmt.Fprintf(&b, "mutation(%s) {", variables)
		for i := range n {
			fmt.Fprintf(&b, " a%d: %s", i, call)
		}
		all[name] = refused{auth.Administrator(), b.String() + " }", values, code}
	}
	letters := random("abcdefghijklmnopqrstuvwxyz")
	input := func(capacity, bytes int) object {
		return object{"i": object{"window": a.windowIn("o200k_base", capacity), "type": "KNOWLEDGE", "content": letters[:bytes]}}
	}
	many("20 roots: one long text", `writeContext(input: $i) { rejected }`, 20, "$i: WriteInput!", input(100_000, 245_000), "one field only")
	many("2 roots: one long text", `writeContext(input: $i) { rejected }`, 2, "$i: WriteInput!", input(100_000, 245_000), "one field only")
	many("21 roots", `writeContext(input: $i) { rejected }`, 21, "$i: WriteInput!", input(100, 1_000), "at most 20")
	many("20 roots: one text", `writeContext(input: $i) { rejected }`, 20, "$i: WriteInput!", input(1_900, 4_750), "CONTEXT_WINDOW_EXCEEDED")
	many("20 roots: not the head", `appendMessages(messages: $m) { hash }`, 20, "$m: [MessageInput!]!", object{"m": []object{message("others", letters[:4_500], object{"prevHash": hashOf("x")})}}, "CONFLICT")
	c, err := a.store.StartConversation(t.Context(), memory.Client, "42", auth.Administrator().Player)
	if err != nil {
		t.Fatal(err)
	}
	conversation := c.ID.String()
	prompt := func(name string, role string, budget int) {
		all[name] = refused{auth.Administrator(), `mutation($c: String!, $r: String!, $b: Int) { promptMessages(conversation: $c, input: "?", rolePrompt: $r, tokenBudget: $b) { role } }`,
			object{"c": conversation, "r": role, "b": budget}, "CONTEXT_WINDOW_EXCEEDED"}
	}
	prompt("prompt: letters", letters[:261_000], 1)
	prompt("prompt: letters, nearly", letters[:261_000], 100_000)
	all["prompt: too long"] = refused{auth.Administrator(), `mutation($c: String!, $r: String!) { promptMessages(conversation: $c, input: "?", rolePrompt: $r, rules: $r) { role } }`,
		object{"c": conversation, "r": letters[:261_000]}, "BAD_USER_INPUT"}
	tools := func(name string, n, bytes int, code string) {
		list := make([]object, n)
		for i := range list {
			list[i] = object{"name": fmt.Sprint("t", i), "description": "x", "schema": object{"a": letters[i*100 : i*100+bytes]}}
		}
		all[name] = refused{auth.Administrator(), `mutation($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t) { name } }`, object{"w": id, "t": list}, code}
	}
	tools("tools: shown, too many letters", 16, 60_000, "BAD_USER_INPUT")
	tools("tools: shown, no room", 4, 60_000, "CONTEXT_WINDOW_EXCEEDED")
	// full has no room for what is written next, and much that it is compared with.
	full := a.newWindow("full", 1_200_000, "")
	for filling := true; filling; {
		var out struct{ WriteContext *struct{ Rejected *string } }
		got := a.try(write, object{"i": object{"window": full, "type": "GOAL", "content": random("abcdefghijklmnopqrstuvwxyz     ")[:255_000]}})
		if err := json.Unmarshal(got.Data, &out); err != nil {
			t.Fatal(err)
		}
		filling = len(got.Errors) == 0
	}
	for name, text := range map[string]string{
		"letters": random("abcdefghijklmnopqrstuvwxyz")[:262_000], "capitals": random("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[:262_000],
		"words": random("abcdefghijklmnopqrstuvwxyz     ")[:262_000],
	} {
		all["full: "+name] = refused{auth.Administrator(), write, object{"i": object{"window": full, "type": "KNOWLEDGE", "content": text}}, "CONTEXT_WINDOW_EXCEEDED"}
	}
	all["full: irrelevant"] = refused{auth.Administrator(), write, object{"i": object{"window": full, "type": "KNOWLEDGE", "content": "Quetzalcoatl Quetzalcoatl."}}, "irrelevant"}
	blanks := "so" + strings.Repeat(" ", 256_000) + random("abcdefghijklmnopqrstuvwxyz")[:5_330] // whose tokens are 16 long, and might be 24
	all["p50k_base: blanks"] = refused{auth.Administrator(), write, object{"i": object{"window": a.windowIn("p50k_base", 16_000), "type": "KNOWLEDGE", "content": blanks}}, "CONTEXT_WINDOW_EXCEEDED"}
	return all
}

// windowIn makes a window whose tokens are of an encoding.
func (a *api) windowIn(encoding string, capacity int) string {
	a.t.Helper()
	var out struct{ CreateWindow struct{ ID string } }
	a.ask(`mutation($i: WindowInput!) { createWindow(input: $i) { id } }`, object{"i": object{"name": fmt.Sprint(encoding, capacity), "capacity": capacity, "encoding": encoding}}, &out)
	return out.CreateWindow.ID
}

// What the store refuses, and whoever may not ask, costs no more than other refusals: see TestRefusalsCostLittle, whose limit and
// measure these are.
func TestRefusalsOfTheStoreCostLittle(t *testing.T) {
	a, limit := newAPI(t), graph.RefusalLimit(t)
	log := slog.New(slog.DiscardHandler)
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: log}, graph.Config{Log: log, Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	all := refusals(t, a)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of := all[name]
		body, err := json.Marshal(object{"query": of.query, "variables": of.variables})
		if err != nil {
			t.Fatal(err)
		}
		text := string(body) // not copied where the CPU time is measured
		send := func() string {
			r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(text))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), of.caller)))
			return w.Body.String()
		}
		if got := send(); !strings.Contains(got, of.code) {
			t.Errorf("%s: %.300s, want %s", name, got, of.code)
		}
		if used := graph.PerCall(t, limit/2, func() { send() }); used > limit {
			t.Errorf("%s: it costs %v of CPU time, want at most %v", name, used, limit)
		} else if testing.Verbose() {
			t.Logf("%-30s %v", name, used)
		}
	}
}
