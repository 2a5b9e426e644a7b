package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/memory"
)

// hard is text that JSON has to escape, or must not.
const hard = "a \"b\" \\ / <c> & \x01\x7f\t\n é 🙂 \u2028 \u00a0"

// Lists that are written at once are the same to the byte as those whose objects are resolved one by one, which the fields
// that are not plain bring about.
func TestPlainLists(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	boss := auth.Administrator().Player
	c, err := a.store.StartConversation(t.Context(), memory.Client, "42", boss)
	if err != nil {
		t.Fatal(err)
	}
	empty := c.ID.String()
	if c, err = a.store.StartConversation(t.Context(), memory.Client, "42", boss); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := a.store.RecordExchange(t.Context(), c.ID, db.Exchange{User: fmt.Sprint(i, hard), Assistant: hard, State: memory.State{"k": json.RawMessage(`"<é>"`)}}, boss); err != nil {
			t.Fatal(err)
		}
	}
	prompt := `mutation($c: String!, $t: String!) { list: promptMessages(conversation: $c, input: $t, rolePrompt: $t) { %s } }`
	history := `query($c: String!) { conversation(id: $c) { list: history { %s } } }`
	said := `mutation($m: [MessageInput!]!) { list: appendMessages(messages: $m) { %s } }`
	messages := make([]object, 6)
	for i := range messages { // said again, they are answered the same
		messages[i] = message("plain", fmt.Sprint(i), object{"idempotencyKey": fmt.Sprint("plain ", i)})
	}
	list := func(id, query, fields string) []map[string]json.RawMessage {
		t.Helper()
		var out struct {
			List         []map[string]json.RawMessage
			Conversation struct{ List []map[string]json.RawMessage }
		}
		variables := object{"c": id}
		switch query {
		case prompt:
			variables["t"] = hard
		case said:
			variables = object{"m": messages}
		}
		a.ask(fmt.Sprintf(query, fields), variables, &out)
		return append(out.List, out.Conversation.List...)
	}
	for _, test := range []struct{ query, more, fields string }{
		{prompt, "pieces", "role content tokens"},
		{prompt, "pieces", "__typename a: content b: content content n: tokens"},
		{prompt, "pieces", "role @skip(if: false) content @include(if: false) ... on PromptMessage { tokens role }"},
		{history, "message { hash }", "role content at"},
		{said, "role", "hash"},
		{said, "session { hash }", "a: hash prevHash sequence createdAt __typename ... on Message { sequence } b: createdAt @skip(if: true)"},
		{said, "role", "hash ... on Node { id } ... on ContextSource { ... on Message { sequence } }"},
		{said, "role", "... on Node { ... on Message { hash } } ...F } } fragment F on ContextSource { ... on Message { prevHash"},
		{history, "message { hash }", "... on Turn { x: at y: __typename } at role @include(if: false)"},
	} {
		got, want := list(c.ID.String(), test.query, test.fields), list(c.ID.String(), test.query, test.fields+" more: "+test.more)
		if len(got) != len(want) || len(got) < 6 {
			t.Errorf("%s: %d objects, want %d", test.fields, len(got), len(want))
			continue
		}
		for i := range got {
			delete(want[i], "more")
			if fmt.Sprintf("%s", got[i]) != fmt.Sprintf("%s", want[i]) {
				t.Errorf("%s: object %d is %s, want %s", test.fields, i, got[i], want[i])
			}
		}
	}
	if got := a.try(fmt.Sprintf(history, "role"), object{"c": empty}); !strings.Contains(string(got.Data), `"list":[]`) {
		t.Errorf("a history of nothing: %s %+v", got.Data, got.Errors)
	}
	// What is asked for many times counts as often.
	var many strings.Builder
	for i := range 95 {
		fmt.Fprintf(&many, "a%d: content ", i)
	}
	got := a.try(`mutation($c: String!, $r: String!) { promptMessages(conversation: $c, input: "?", rolePrompt: $r) { `+many.String()+`} }`,
		object{"c": c.ID.String(), "r": strings.Repeat(`" `, 120_000)})
	if len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "32 MiB") || string(got.Data) != "null" {
		t.Errorf("a role by many names: %.100s %+v; want a single error that names the limit", got.Data, got.Errors)
	}
}
