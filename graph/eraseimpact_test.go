package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const eraseImpactQuery = `query($h: Hash!) { eraseImpact(message: $h) {
	hash obstacle contents erasedBefore contentBytes attachmentsBytes ambientBytes lexicalVectors denseVectors searchTerms idempotencyKeys selections windows citedBy refs records } }`

type eraseImpact struct {
	Hash                                         string
	Obstacle                                     *string
	Contents, ErasedBefore                       int
	ContentBytes, AttachmentsBytes, AmbientBytes int
	LexicalVectors, DenseVectors, SearchTerms    int
	IdempotencyKeys, Selections, Windows         int
	CitedBy, Refs, Records                       int
}

func (a *api) eraseImpact(hash string) eraseImpact {
	a.t.Helper()
	var out struct{ EraseImpact eraseImpact }
	a.ask(eraseImpactQuery, object{"h": hash}, &out)
	return out.EraseImpact
}

// What is counted is what goes, of whom the caller sees, and counting does nothing.
func TestEraseImpact(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	first := a.append(message("s", "first"))[0]
	target := a.append(message("s", "the code of the safe", object{
		"attachments": object{"a": 1}, "ambient": object{"b": 2}, "idempotencyKey": "k", "refs": []object{{"type": "CONTEXT", "hash": first}},
	}))[0]
	a.append(message("s", "an answer", object{"refs": []object{{"type": "CONTEXT", "hash": target}}}))
	var selected struct{ RequestContext struct{ ID string } }
	a.ask(`mutation { requestContext(input: {query: "the code of the safe"}) { id } }`, nil, &selected)

	// Windows that hold it, share it, have put it aside, or have it in their history; and one that has nothing of it.
	holds, sees, aside, past, other := a.newWindow("holds", 1000, ""), a.newWindow("sees", 1000, ""), a.newWindow("aside", 1000, ""), a.newWindow("past", 1000, ""), a.newWindow("other", 1000, "")
	from := object{"source": target}
	a.mustWrite(holds, "GOAL", "Keep the code of the safe", from)
	var made struct{ CreateSegment struct{ ID string } }
	a.ask(`mutation($w: [ID!]!) { createSegment(name: "safe", windows: $w) { id } }`, object{"w": []string{sees, holds}}, &made)
	a.ask(`mutation($s: ID!, $i: WriteInput!) { writeToSegment(segment: $s, input: $i) { rejected } }`,
		object{"s": made.CreateSegment.ID, "i": object{"window": holds, "type": "GOAL", "content": "Open the safe at nine", "source": target}}, &struct{}{})
	a.mustWrite(aside, "KNOWLEDGE", "The code of the safe is long", from)
	a.ask(`mutation($w: ID!) { compressWindow(window: $w, target: 0) { ratio } }`, object{"w": aside}, &struct{}{})
	if left := a.window(aside); len(left.Items) != 0 {
		t.Fatalf("compressed, a window still holds %+v", left.Items)
	}
	if w := a.writeTo(past, "KNOWLEDGE", "nothing", from); w.Rejected == nil {
		t.Fatalf("nothing entered: %+v", w)
	}
	a.mustWrite(other, "GOAL", "Keep the code of the safe")

	before := a.eraseImpact(target)
	if before.LexicalVectors != 1 || before.SearchTerms == 0 {
		t.Errorf("%d vectors of words with %d terms, want one with some", before.LexicalVectors, before.SearchTerms)
	}
	want := eraseImpact{
		Hash: target, Contents: 1, ContentBytes: 20, AttachmentsBytes: 8, AmbientBytes: 8, LexicalVectors: 1, SearchTerms: before.SearchTerms,
		IdempotencyKeys: 1, Selections: 1, Windows: 4, CitedBy: 1, Refs: 1,
	}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("before: %s", diff)
	}
	if diff := cmp.Diff(want, a.eraseImpact(target)); diff != "" {
		t.Errorf("asked again: %s", diff)
	}
	erasure := a.erase(target, "why")
	obstacle := "ERASED_BEFORE"
	after := eraseImpact{Hash: target, Obstacle: &obstacle, ErasedBefore: 1, Selections: 1, CitedBy: 2, Refs: 1}
	if diff := cmp.Diff(after, a.eraseImpact(target)); diff != "" {
		t.Errorf("after: %s", diff)
	}
	if got := a.eraseImpact(erasure).Obstacle; got == nil || *got != "ERASURE" {
		t.Errorf("the obstacle of an ERASURE message is %v", got)
	}
	if r := a.try(eraseImpactQuery, object{"h": hashOf("nothing")}); len(r.Errors) != 1 || r.Errors[0].Extensions.Code != "NOT_FOUND" {
		t.Errorf("of nothing: %+v, want NOT_FOUND", r.Errors)
	}
}

// Of a conversation, all that both have said is counted, before its erasure and after it; the erasures say why.
func TestEraseImpactOfConversation(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var started struct{ StartConversation struct{ ID string } }
	a.ask(`mutation { startConversation(role: CLIENT, userId: "42") { id } }`, nil, &started)
	id := started.StartConversation.ID
	a.ask(`mutation($c: String!) { recordExchange(conversation: $c, user: "hola", assistant: "buenas") { id } }`, object{"c": id}, &struct{}{})
	const impact = `query($c: String, $m: Hash) { eraseImpact(conversation: $c, message: $m) { hash obstacle contents erasedBefore contentBytes } }`
	type counted struct {
		Hash                                 string
		Obstacle                             *string
		Contents, ErasedBefore, ContentBytes int
	}
	ask := func() counted {
		var out struct{ EraseImpact counted }
		a.ask(impact, object{"c": id}, &out)
		return out.EraseImpact
	}
	if diff := cmp.Diff(counted{Hash: hashOf("%s", id), Contents: 2, ContentBytes: 10}, ask()); diff != "" {
		t.Errorf("before: %s", diff)
	}
	const erase = `mutation($c: String!, $e: Boolean, $r: String) { deleteConversation(id: $c, eraseLog: $e, reason: $r) { id } }`
	for name, c := range map[string]struct {
		document string
		with     object
		code     string
	}{
		"a reason for nothing": {erase, object{"c": id, "e": false, "r": "why"}, "BAD_USER_INPUT"},
		"an empty reason":      {erase, object{"c": id, "e": true, "r": ""}, "BAD_USER_INPUT"},
		"a long reason":        {erase, object{"c": id, "e": true, "r": long(1025)}, "BAD_USER_INPUT"},
		"of nothing":           {impact, object{}, "BAD_USER_INPUT"},
		"of both":              {impact, object{"c": id, "m": hashOf("m")}, "BAD_USER_INPUT"},
		"of none":              {impact, object{"c": "client:42:01234567-89ab-4cde-8f01-23456789abcd"}, "NOT_FOUND"},
	} {
		if r := a.try(c.document, c.with); len(r.Errors) != 1 || r.Errors[0].Extensions.Code != c.code {
			t.Errorf("%s: %+v, want %s", name, r.Errors, c.code)
		}
	}
	a.ask(erase, object{"c": id, "e": true, "r": "asked for"}, &struct{}{})
	before := "ERASED_BEFORE"
	if diff := cmp.Diff(counted{Hash: hashOf("%s", id), Obstacle: &before, ErasedBefore: 2}, ask()); diff != "" {
		t.Errorf("after: %s", diff)
	}
	var said struct {
		Messages struct {
			Edges []struct{ Node struct{ Content string } }
		}
	}
	a.ask(`query($s: Hash!) { messages(filter: {sessions: [$s], eventTypes: [ERASURE]}) { edges { node { content } } } }`, object{"s": hashOf("%s", id)}, &said)
	if len(said.Messages.Edges) != 2 || said.Messages.Edges[0].Node.Content != "asked for" || said.Messages.Edges[1].Node.Content != "asked for" {
		t.Errorf("the erasures are %+v", said.Messages.Edges)
	}
}
