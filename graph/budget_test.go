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
		layer = append(a.append(drafts[:20]...), a.append(drafts[20:]...)...) // as many values as a body may have
	}
	const nested = `messages(filter: {sessions: ["%s"]}, first: %d) { edges { node { refs { target { ... on Message { refs { target { ... on Message { hash } } } } } } } } }`
	got := a.try("{"+fmt.Sprintf(nested, hashOf("top"), 40)+"}", nil)
	if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" || !strings.Contains(got.Errors[0].Message, "more than 200000 values") || string(got.Data) != "null" {
		t.Errorf("half a million values: %.300s %+v; want a single BAD_USER_INPUT that says so, and no data", got.Data, got.Errors[:min(len(got.Errors), 3)])
	}
	var out struct {
		Messages struct {
			Edges []struct {
				Node struct {
					Refs []struct {
						Target struct {
							Refs []struct{ Target struct{ Hash string } }
						}
					}
				}
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

// Messages that are large fill an answer before there are many of them: a page ends early, and answers that take more than
// 32 MiB end.
func TestMostBytes(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var drafts []object
	for i := range 11 {
		drafts = append(drafts, message("large", long(chain.MaxContentBytes-i)))
	}
	hashes := a.append(drafts...)
	hashes = append(hashes, a.append(message("large", long(10), object{"attachments": long(chain.MaxContentBytes - 2), "ambient": long(chain.MaxContentBytes - 2)}))...)
	for i := range 6 {
		hashes = append(hashes, a.append(message("large", fmt.Sprint("last ", i), object{"attachments": long(chain.MaxContentBytes - 2)}))...)
	}
	var out struct {
		Messages struct {
			Edges    []struct{ Node struct{ Hash string } }
			PageInfo struct {
				HasNextPage bool
				EndCursor   string
			}
		}
	}
	page := `query($after: String) { messages(filter: {sessions: ["` + hashOf("large") + `"]}, first: 50, after: $after) { edges { node { hash content } } pageInfo { hasNextPage endCursor } } }`
	a.ask(page, nil, &out)
	first := len(out.Messages.Edges)
	if first < 13 || first > 16 || !out.Messages.PageInfo.HasNextPage {
		t.Errorf("a page has %d of %d messages, more: %t; want those of 16 MiB, and that there are more", first, len(hashes), out.Messages.PageInfo.HasNextPage)
	}
	a.ask(page, object{"after": out.Messages.PageInfo.EndCursor}, &out)
	if n := len(out.Messages.Edges); first+n != len(hashes) || out.Messages.PageInfo.HasNextPage {
		t.Errorf("the next has %d, more: %t; want the rest", n, out.Messages.PageInfo.HasNextPage)
	}
	var many strings.Builder
	for i := range 10 {
		fmt.Fprintf(&many, "a%d: session(hash: %q) { messages(last: 5) { edges { node { hash } } } } b%d: messages(first: 11) { edges { node { hash } } } ", i, hashOf("large"), i)
	}
	got := a.try("{"+many.String()+"}", nil)
	if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" || !strings.Contains(got.Errors[0].Message, "32 MiB") || string(got.Data) != "null" {
		t.Errorf("ten times 16 MiB: %.200s %+v; want a single BAD_USER_INPUT that says so", got.Data, got.Errors[:min(len(got.Errors), 3)])
	}
}

// What is sent is counted as well as what is read for it: a text that is read once may be asked for many times, and names are
// long if the client wants.
func TestMostText(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	long := func(of string, n int) string { return strings.Repeat(of, n/len(of)) }
	large := a.append(message("large", long("x", 900_000)), message("large", long("\x01", 150_000)), message("large", "small", object{"attachments": object{"a": long("y", 900_000)}}))
	var drafts []object
	for i := range 40 {
		drafts = append(drafts, cites("cites", fmt.Sprint(i), large))
	}
	a.append(drafts...)
	aliases := func(n int, field string, name ...string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "a%s%d: %s ", strings.Join(name, ""), i, field)
		}
		return out.String()
	}
	message := func(i int, fields string) string {
		return fmt.Sprintf(`{ message(hash: %q) { %s } }`, large[i], fields)
	}
	for name, query := range map[string]string{
		"a text by many names":  message(0, aliases(40, "content")),
		"a text of escapes":     message(1, aliases(40, "content")),
		"attachments":           message(2, aliases(40, "attachments")),
		"a target of many":      fmt.Sprintf(`{ session(hash: %q) { messages(first: 40) { edges { node { refs { target { ... on Message { content } } } } } } } }`, hashOf("cites")),
		"names of many letters": "{ " + aliases(6, "messages(first: 43) { edges { node { ...f } } }") + "} fragment f on Message { " + aliases(5, "hash", long("z", 40_000)) + "}",
	} {
		got := a.try(query, nil)
		if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" || !strings.Contains(got.Errors[0].Message, "32 MiB") || string(got.Data) != "null" {
			t.Errorf("%s: %.100s %+v; want a single BAD_USER_INPUT that names the limit", name, got.Data, got.Errors[:min(len(got.Errors), 3)])
		}
	}
	if got := a.try(message(0, aliases(30, "content")), nil); len(got.Errors) != 0 || len(got.Data) < 27_000_000 {
		t.Errorf("27 MB: %+v, %d bytes", got.Errors, len(got.Data))
	}
}
