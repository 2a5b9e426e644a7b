package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
)

// A token with one scope gets what that scope produces, and from there nowhere: a mutation that asks for more does
// nothing at all.
func TestOneScopeLeadsNowhere(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	lena := component.DefaultHash("plu", "lena")
	session, thread := chain.Sum([]byte("session")), chain.Sum([]byte("thread"))
	g.upsertForTest(object{"namespace": "PLU", "key": "lena", "name": "Lena", "preferences": []string{"tea"}})
	before, err := g.store.Append(t.Context(), []chain.Draft{{SessionHash: session, ThreadHash: &thread, OwnerID: lena, Content: "the harbour"}})
	if err != nil {
		t.Fatal(err)
	}
	g.as(g.token, `mutation($m: Hash!) { quarantine(message: $m, reason: "why") { reason } }`, object{"m": before[0].Hash})
	g.as(g.token, `mutation($m: Hash!) { releaseQuarantine(message: $m, reason: "why") { reason } }`, object{"m": before[0].Hash})
	values := object{
		"m": before[0].Hash, "s": session, "p": lena,
		"d": object{"sessionHash": session, "threadHash": thread, "ownerId": lena, "content": "more",
			"refs": []object{{"hash": before[0].Hash, "type": "CONTEXT"}}},
	}
	const message = "session { hash } |session { messages(first: 200) { edges { node { content } } } }|thread { messages { edges { node { content } } } }|" +
		"citedBy { totalCount }|refs { target { __typename } }|owner { preferences }|players { description }|integrity { erasure { hash } }|hashtags { data }"
	for _, test := range []struct{ scopes, kind, document, own, edges string }{
		{"log:append", "AGENT", `mutation($d: MessageInput!) { appendMessages(messages: [$d]) { … } }`,
			"hash prevHash sequence content owner { hash name } refs { hash position } integrity { preimage state }", message},
		{"erase", "AGENT", `mutation($m: Hash!) { eraseMessage(hash: $m, reason: "why") { … } }`, "", message},
		{"context:select", "AGENT", `mutation { requestContext(input: {query: "harbour", threshold: 0}) { … } }`,
			"rendered items { hash score owner { name } source { ... on Message { content } } } dropped { hash reason }",
			"items { source { ... on Message { session { messages { edges { node { content } } } } } } }|dropped { source { __typename } }|items { owner { preferences } }"},
		{"tokens:manage", "AGENT", `query { tokens { edges { node { … } } } }`,
			"note player { hash name } creator { hash }", "player { preferences }|player { data }|creator { description }"},
		{"memory:write", "AGENT", `mutation { upsertComponents(components: [{namespace: PLU, key: "lena"}]) { … } }`,
			"hash name key", "description|data|... on Player { preferences }"},
		{"log:append", "ADMIN", `mutation($m: Hash!) { quarantine(message: $m, reason: "why") { … } }`,
			"", "message { content }|message { session { messages { edges { node { content } } } } }|event { content }|selections { totalCount }"},
		{"log:append", "ADMIN", `mutation($m: Hash!) { releaseQuarantine(message: $m, reason: "why") { … } }`,
			"reason placedBy { hash } release { by { hash } at }", "release { event { hash } }|message { hash }"},
	} {
		token := g.create(g.token, object{"kind": test.kind, "player": lena, "scopes": []string{test.scopes}}).Secret
		ask := func(fields string) (string, string) {
			t.Helper()
			document, sent := strings.Replace(test.document, "…", fields, 1), object{}
			for name, value := range values {
				if strings.Contains(document, "$"+name+":") {
					sent[name] = value
				}
			}
			_, got := g.as(token, document, sent)
			if len(got.Errors) == 0 {
				return "", string(got.Data)
			}
			return code(got) + " " + got.Errors[0].Message, string(got.Data)
		}
		if test.own != "" {
			if refused, data := ask(test.own); refused != "" {
				t.Errorf("%s %s: %s: %s %s, want it", test.scopes, test.document, test.own, refused, data)
			}
		}
		for edge := range strings.SplitSeq(test.edges, "|") {
			count := g.messages()
			if refused, data := ask(edge); refused != "FORBIDDEN your token lacks the scope log:read" || contains(data, "harbour") || contains(data, "tea") {
				t.Errorf("%s %s: %s: %q %s, want FORBIDDEN for log:read", test.scopes, test.document, edge, refused, data)
			}
			if now := g.messages(); now != count {
				t.Errorf("%s: %s: there are %d messages after what was refused, and %d before", test.scopes, edge, now, count)
			}
		}
	}
	// What is left out is not asked for.
	token := g.create(g.token, object{"kind": "AGENT", "player": lena, "scopes": []string{"log:append"}}).Secret
	_, got := g.as(token, `mutation($d: MessageInput!, $no: Boolean!) { appendMessages(messages: [$d]) { hash session @include(if: $no) { hash } ...f @skip(if: true) } }
		fragment f on Message { thread { hash } }`, object{"d": values["d"], "no": false})
	if len(got.Errors) > 0 {
		t.Errorf("what @include and @skip leave out: %+v, want it done", got.Errors)
	}
}

func (g *guarded) upsertForTest(draft object) {
	g.t.Helper()
	if _, got := g.as(g.token, `mutation($c: [ComponentInput!]!) { upsertComponents(components: $c) { hash } }`, object{"c": []object{draft}}); len(got.Errors) > 0 {
		g.t.Fatalf("%+v", got.Errors)
	}
}

// messages counts what is in the log, audits apart.
func (g *guarded) messages() int {
	g.t.Helper()
	_, got := g.as(g.token, `{ messages(filter: {eventTypes: [MESSAGE, ERASURE]}) { totalCount } }`, nil)
	var data struct{ Messages struct{ TotalCount int } }
	if err := json.Unmarshal(got.Data, &data); err != nil {
		g.t.Fatal(err)
	}
	return data.Messages.TotalCount
}
