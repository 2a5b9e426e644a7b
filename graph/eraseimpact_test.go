package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const eraseImpactQuery = `query($h: Hash!) { eraseImpact(message: $h) {
	hash obstacle contentBytes attachmentsBytes ambientBytes lexicalVectors denseVectors searchTerms idempotencyKeys selections citedBy refs records } }`

type eraseImpact struct {
	Hash                                         string
	Obstacle                                     *string
	ContentBytes, AttachmentsBytes, AmbientBytes int
	LexicalVectors, DenseVectors, SearchTerms    int
	IdempotencyKeys, Selections                  int
	CitedBy, Refs, Records                       int
}

func (a *api) eraseImpact(hash string) eraseImpact {
	a.t.Helper()
	var out struct{ EraseImpact eraseImpact }
	a.ask(eraseImpactQuery, object{"h": hash}, &out)
	return out.EraseImpact
}

// What is counted is what goes, and counting does nothing.
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

	before := a.eraseImpact(target)
	if before.LexicalVectors != 1 || before.SearchTerms == 0 {
		t.Errorf("%d vectors of words with %d terms, want one with some", before.LexicalVectors, before.SearchTerms)
	}
	want := eraseImpact{
		Hash: target, ContentBytes: 20, AttachmentsBytes: 8, AmbientBytes: 8, LexicalVectors: 1, SearchTerms: before.SearchTerms,
		IdempotencyKeys: 1, Selections: 1, CitedBy: 1, Refs: 1,
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
