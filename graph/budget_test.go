package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

// cites gives a message that was sent with others.
func cites(session, content string, others []string) object {
	refs := make([]object, len(others))
	for i, hash := range others {
		refs[i] = object{"hash": hash, "type": "CONTEXT"}
	}
	return message(session, content, object{"refs": refs})
}

// Lists that are long within one another end an answer before they are gone through: 40 messages, each sent with 40 that
// were each sent with 300, are half a million.
func TestMostValues(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var drafts []object
	for i := range 300 {
		drafts = append(drafts, message("base", fmt.Sprint("base ", i)))
	}
	layer := a.append(drafts...)
	for _, session := range []string{"middle", "top"} {
		drafts = nil
		for i := range 40 {
			drafts = append(drafts, cites(session, fmt.Sprint(session, i), layer))
		}
		layer = a.append(drafts...)
	}
	const nested = `messages(filter: {sessions: ["%s"]}, first: %d) { edges { node { refs { target { ... on Message { refs { target { ... on Message { hash } } } } } } } } }`
	got := a.try("{"+fmt.Sprintf(nested, hashOf("top"), 40)+"}", nil)
	if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" || !strings.Contains(got.Errors[0].Message, "more than 200000 values") || string(got.Data) != "null" {
		t.Errorf("half a million values: %.300s %+v; want a single BAD_USER_INPUT that says so, and no data", got.Data, got.Errors[:min(len(got.Errors), 3)])
	}
	var out struct {
		Messages struct {
			Edges []struct {
				Node struct{ Refs []struct{ Target struct{ Refs []struct{ Target struct{ Hash string } } } } }
			}
		}
	}
	a.ask("{"+fmt.Sprintf(nested, hashOf("top"), 4)+"}", nil, &out)
	if found := out.Messages.Edges[3].Node.Refs[39].Target.Refs[299].Target.Hash; found == "" {
		t.Error("150,000 values came incomplete")
	}
	// What is counted is the answer, not each field of it.
	var many strings.Builder
	for i := range 5 {
		fmt.Fprintf(&many, "a%d: "+nested, i, hashOf("top"), 4)
	}
	if got := a.try("{"+many.String()+"}", nil); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" {
		t.Errorf("five times 150,000 values: %+v, want a single BAD_USER_INPUT", got.Errors[:min(len(got.Errors), 3)])
	}
	// A mutation says that it was carried out.
	got = a.try(`mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { refs { target { ... on Message { refs { target { ... on Message { refs { hash type } } } } } } } } }`,
		object{"m": []object{cites("most", "one", layer)}})
	if len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "is written") {
		t.Errorf("a mutation: %+v, want an error that says that it wrote", got.Errors[:min(len(got.Errors), 3)])
	}
	if rows, err := a.store.SessionsByHash(t.Context(), []chain.Hash{chain.Sum([]byte("most"))}); err != nil || len(rows) != 1 {
		t.Errorf("the message was not written: %v %v", rows, err)
	}
}
