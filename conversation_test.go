package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/memory"
)

// talk asks in the name of somebody, and gives the field's value; it fails unless the outcome has this code.
func (s *site) talk(t *testing.T, token, code, query string, variables object) any {
	t.Helper()
	r := s.ask(token, query, variables).reply(t)
	if r.code() != code {
		t.Fatalf("%s: %v, want %q", query, r.Errors, code)
	}
	for _, value := range r.Data {
		return value
	}
	return nil
}

const conversationFields = `{ id role userId history { role content } state createdAt lastActivity expiresAt session { hash length } }`

// The flow of the specification of conversations, over HTTP, once with the assistant for clients and once with that for
// administrators.
func TestConversationsOverHTTP(t *testing.T) {
	t.Parallel()
	clock := &hands{}
	s := newSite(t, true, config.Server{}, clock)
	began := time.Date(2026, 2, 8, 10, 0, 0, 0, time.UTC)
	for i, flow := range []struct {
		role, user, rolePrompt, rules string
		said                          [][2]string
		state                         object
		asked, found                  string
	}{
		{
			"CLIENT", "42", "Eres el asistente de la tienda.", "Solo hablas de productos del catálogo.",
			[][2]string{{"Quiero ver zapatillas, calzo el 43", "¿Alguna marca en particular?"}, {"Que no sea cara", "Tengo tres modelos"}},
			object{"current_category": "zapatillas", "cart_items": []int{12, 45}, "checkout_step": "address"},
			"¿qué número calzo?", "calzo el 43",
		},
		{
			"ADMIN", "1", "Eres el asistente de administración.", "Confirma antes de publicar.",
			[][2]string{{"Crea una camiseta, la referencia es CAM-7", "¿A qué precio?"}, {"A 19,99", "Borrador guardado"}},
			object{"current_product": 123, "draft_product": object{"name": "Camiseta", "price": 19.99}},
			"¿cuál era la referencia?", "CAM-7",
		},
	} {
		t.Run(flow.role, func(t *testing.T) {
			clock.set(began.Add(time.Duration(i) * 24 * time.Hour))
			agent := s.token(auth.Agent, playerOf(fmt.Sprint("asistente ", flow.role)), auth.AllScopes)
			ask := func(code, query string, variables object) any {
				t.Helper()
				return s.talk(t, agent, code, query, variables)
			}
			c := ask("", `mutation($r: ConversationRole!, $u: String!) { startConversation(role: $r, userId: $u) `+conversationFields+` }`, object{"r": flow.role, "u": flow.user}).(map[string]any)
			id := c["id"].(string)
			if !strings.HasPrefix(id, strings.ToLower(flow.role)+":"+flow.user+":") || c["session"] != nil || fmt.Sprint(c["history"]) != "[]" {
				t.Fatalf("started %v", c)
			}
			record := func(code, user, answer string, state any) any {
				return ask(code, `mutation($c: String!, $u: String!, $a: String!, $s: JSON) { recordExchange(conversation: $c, user: $u, assistant: $a, state: $s) `+conversationFields+` }`,
					object{"c": id, "u": user, "a": answer, "s": state})
			}
			for _, said := range flow.said {
				clock.set(clock.now().Add(20 * time.Minute)) // each renews it
				record("", said[0], said[1], nil)
			}
			c = ask("", `mutation($c: String!, $s: JSON!) { updateState(conversation: $c, state: $s) `+conversationFields+` }`, object{"c": id, "s": flow.state}).(map[string]any)
			if len(c["history"].([]any)) != 4 || c["expiresAt"] != clock.now().Add(30*time.Minute).Format(time.RFC3339Nano) || c["session"].(map[string]any)["length"] != 4.0 {
				t.Fatalf("after two exchanges: %v", c)
			}

			// What is never kept.
			for _, body := range []string{
				`{"tool_calls":[{"function":{"name":"buscar","arguments":"{}"}}]}`, `{"model":"m","messages":[{"role":"user","content":"hola"}]}`, `{"choices":[{"message":{"content":"hola"}}]}`,
			} {
				record("CONTENT_REJECTED", "hola", body, nil)
				record("CONTENT_REJECTED", body, "hola", nil)
				record("CONTENT_REJECTED", "hola", "hola", object{"ultimo": json.RawMessage(body)})
			}

			// The order of a prompt.
			prompt := func(code, input, more string) (roles []string, all string) {
				t.Helper()
				list, _ := ask(code, `mutation($c: String!, $i: String!, $p: String!, $r: String) { promptMessages(conversation: $c, input: $i, rolePrompt: $p, rules: $r`+more+`) { role content tokens pieces } }`,
					object{"c": id, "i": input, "p": flow.rolePrompt, "r": flow.rules}).([]any)
				for _, m := range list {
					m := m.(map[string]any)
					pieces := m["pieces"].([]any)
					if float64(len(pieces)) != m["tokens"] || fmt.Sprint(pieces...) != m["content"] {
						t.Errorf("%v tokens of %q are %q", m["tokens"], m["content"], pieces)
					}
					roles, all = append(roles, m["role"].(string)), all+m["content"].(string)+"\n"
				}
				return roles, all
			}
			for more, field := range map[string]string{
				", context: {query: \"x\", limit: 0}": "context.limit", ", context: {query: \"x\", tokenBudget: 0}": "context.tokenBudget", ", tokenBudget: 100, context: {query: \"x\", limit: 0}": "context.limit",
			} {
				r := s.ask(agent, `mutation($c: String!) { promptMessages(conversation: $c, input: "¿Y?", rolePrompt: "Eres"`+more+`) { role } }`, object{"c": id}).reply(t)
				if r.code() != "BAD_USER_INPUT" || !strings.Contains(fmt.Sprint(r.Errors), field+": ") {
					t.Errorf("%s: %v, want it to name %s", more, r.Errors, field)
				}
			}
			user := s.token(auth.Agent, memory.Person(memory.Role(strings.ToLower(flow.role)), flow.user), auth.AllScopes)
			s.talk(t, user, "", `query($c: String!) { conversation(id: $c) { id } }`, object{"c": id})
			s.talk(t, user, "NOT_FOUND", `mutation($c: String!) { promptMessages(conversation: $c, input: "¿Y?", rolePrompt: "Eres") { role } }`, object{"c": id})
			roles, all := prompt("", "¿Y entonces?", "")
			if got := strings.Join(roles, " "); got != "system system system user assistant user assistant user" {
				t.Errorf("roles are %s", got)
			}
			for _, part := range []string{flow.rolePrompt + "\n" + flow.rules + "\n", flow.said[0][0], flow.said[1][1] + "\n¿Y entonces?\n"} {
				if !strings.Contains(all, part) {
					t.Errorf("%q is not in %q", part, all)
				}
			}

			// What stands in the history does not come once more as context.
			everything := fmt.Sprintf(`, context: {query: %q, threshold: 0, limit: 20}`, flow.said[0][0])
			if roles, all = prompt("", "¿Y entonces?", everything); len(roles) != 8 || strings.Count(all, flow.said[0][0]) != 1 {
				t.Errorf("with the history as context: %s", all)
			}

			// What is in quarantine is in no prompt, wherever that takes it from.
			for _, turn := range ask("", `query($c: String!) { conversation(id: $c) { history { message { hash } } } }`, object{"c": id}).(map[string]any)["history"].([]any)[:1] {
				poison := turn.(map[string]any)["message"].(map[string]any)["hash"]
				s.talk(t, s.admin, "", `mutation($h: Hash!) { quarantine(message: $h, reason: "envenenado") { reason } }`, object{"h": poison})
				if _, all = prompt("", "¿Y entonces?", ""); strings.Contains(all, flow.said[0][0]) || !strings.Contains(all, flow.said[0][1]) {
					t.Errorf("with a turn in quarantine: %s", all)
				}
				s.talk(t, s.admin, "", `mutation($h: Hash!) { releaseQuarantine(message: $h, reason: "revisado") { reason } }`, object{"h": poison})
			}

			// The stable parts are the same to the byte, whatever was said since and however the same state is written.
			stable := func() string {
				list := ask("", `mutation($c: String!, $p: String!, $r: String) { promptMessages(conversation: $c, input: "¿Y?", rolePrompt: $p, rules: $r) { content } }`,
					object{"c": id, "p": flow.rolePrompt, "r": flow.rules}).([]any)
				return fmt.Sprintf("%q", list[:3])
			}
			update := func(state string) {
				ask("", `mutation($c: String!, $s: JSON!) { updateState(conversation: $c, state: $s) { id } }`, object{"c": id, "s": json.RawMessage(state)})
			}
			update(`{"z":{"talla":43,"b":[{"y":1,"x":"<a> & b"}]},"aa":1}`)
			first := stable()
			record("", "hola", "buenas", nil)
			if again := stable(); again != first {
				t.Errorf("after an exchange %s, before %s", again, first)
			}
			if update(`{"aa": 1, "z": {"b": [{"x": "<a> \u0026 b", "y": 1}], "talla": 43}}`); stable() != first {
				t.Errorf("after the same state, written otherwise, %s, before %s", stable(), first)
			}
			update(`{"z": null, "aa": null}`)

			// What falls out of the history is found again.
			for n := range 7 { // of which the history holds the last five
				record("", fmt.Sprint("otra pregunta ", max(2, n)), fmt.Sprint("otra respuesta ", max(2, n)), nil)
			}
			if _, all = prompt("", flow.asked, everything); strings.Count(all, flow.said[0][0]) != 1 || strings.Count(all, "otra pregunta 2") != 1 || strings.Count(all, "otra respuesta 6") != 1 {
				t.Errorf("with what fell out of the history, part of which it says itself: %s", all)
			}
			_, all = prompt("", flow.asked, "")
			if strings.Contains(all, flow.found) {
				t.Errorf("%q is still in the history: %s", flow.found, all)
			}
			context := fmt.Sprintf(`, context: {query: %q, threshold: 0, limit: 3}`, flow.asked)
			roles, all = prompt("", flow.asked, context)
			if !strings.Contains(all, flow.found) || roles[3] != "system" || roles[4] != "user" {
				t.Errorf("%q is not found: %s", flow.found, all)
			}
			leavesOutInOrder(t, func(code string, budget any) []promptLine {
				t.Helper()
				list := ask(code, `mutation($c: String!, $i: String!, $p: String!, $r: String, $b: Int) { promptMessages(conversation: $c, input: $i, rolePrompt: $p, rules: $r, tokenBudget: $b,
					context: {query: $i, threshold: 0, limit: 1}) { role content tokens } }`, object{"c": id, "i": flow.asked, "p": flow.rolePrompt, "r": flow.rules, "b": budget})
				return promptLines(list)
			})

			// Deleted, a fresh one takes its place.
			fresh := ask("", `mutation($c: String!) { deleteConversation(id: $c, eraseLog: true) `+conversationFields+` }`, object{"c": id}).(map[string]any)
			if fresh["id"] == id || fresh["userId"] != flow.user || fresh["role"] != flow.role {
				t.Errorf("fresh: %v", fresh)
			}
			if left := ask("", `query($c: String!) { conversation(id: $c) { id } }`, object{"c": id}); left != nil {
				t.Errorf("deleted, it is %v", left)
			}
			if again := ask("", `mutation($c: String!) { deleteConversation(id: $c, eraseLog: true) { id userId role history { content } } }`, object{"c": id}).(map[string]any); again["id"] == fresh["id"] || again["userId"] != flow.user || again["role"] != flow.role {
				t.Errorf("again: %v", again)
			}
			for _, never := range []string{"client:stranger:", "admin:stranger:"} {
				ask("NOT_FOUND", `mutation($c: String!) { deleteConversation(id: $c, eraseLog: true) { id } }`, object{"c": never + id[len(id)-36:]})
			}
			id = fresh["id"].(string)
			if _, all = prompt("", flow.asked, context); strings.Contains(all, flow.found) {
				t.Errorf("erased, it is found: %s", all)
			}

			s.crossesTheEnd(t, clock, agent, flow.role, flow.user)
		})
	}
}

// What stands first in a prompt is the same to the byte from whichever server of a database gives it, so that a provider's
// cache holds whomever a load balancer asks.
func TestPromptsBeginAlikeOnEveryServer(t *testing.T) {
	t.Parallel()
	one := newSite(t, true, config.Server{})
	other := siteOn(t, one.database, one.dir, true, config.Server{})
	agent := one.token(auth.Agent, playerOf("asistente"), auth.AllScopes)
	started := one.talk(t, agent, "", `mutation { startConversation(role: CLIENT, userId: "42") { id } }`, nil)
	id := started.(map[string]any)["id"]
	prompt := func(s *site) (body string) {
		return string(s.ask(agent, `mutation($c: String!) { promptMessages(conversation: $c, input: "¿Y?", rolePrompt: "Eres el \"asistente\" <1>", rules: "Solo\ncatálogo \u2028 🙂") { role content tokens } }`,
			object{"c": id}).body)
	}
	for i, state := range []string{`{"z": 1, "a": {"y": 1.50, "x": "<é>"}, "big": 12345678901234567890}`, `{"a": {"x": "<é>", "y": 1.50}, "m": [1, null, true]}`, `{"aa": "\u00e9\u2028", "b": 1e3}`} {
		writer, reader := one, other
		if i%2 == 1 {
			writer, reader = other, one
		}
		writer.talk(t, agent, "", `mutation($c: String!, $s: JSON!) { updateState(conversation: $c, state: $s) { id } }`, object{"c": id, "s": json.RawMessage(state)})
		before := prompt(writer)
		if got := prompt(reader); got != before || !strings.Contains(got, "Current State: ") {
			t.Errorf("with the state %d: one server gives\n%s\nthe other\n%s", i, before, got)
		}
		reader.talk(t, agent, "", `mutation($c: String!, $u: String!) { recordExchange(conversation: $c, user: $u, assistant: "Sí") { id } }`, object{"c": id, "u": fmt.Sprint("Y ", i)})
		// The history grows behind what stands first: role, rules and state.
		first := func(body string) string {
			end := strings.Index(body, `,{"role":"user"`)
			return body[:max(0, end)]
		}
		for _, s := range []*site{one, other} {
			if got := prompt(s); first(got) != first(before) || first(got) == "" || got == before {
				t.Errorf("after an exchange: a server begins with\n%s\nbefore it was\n%s", got, before)
			}
		}
	}
}
