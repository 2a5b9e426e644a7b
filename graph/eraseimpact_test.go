package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const eraseImpactQuery = `query($h: Hash!) { eraseImpact(message: $h) {
	hash obstacle contentBytes attachmentsBytes ambientBytes lexicalVectors denseVectors searchTerms idempotencyKeys selections windows citedBy refs records } }`

type eraseImpact struct {
	Hash                                         string
	Obstacle                                     *string
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
		Hash: target, ContentBytes: 20, AttachmentsBytes: 8, AmbientBytes: 8, LexicalVectors: 1, SearchTerms: before.SearchTerms,
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
	after := eraseImpact{Hash: target, Obstacle: &obstacle, Selections: 1, CitedBy: 2, Refs: 1}
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
