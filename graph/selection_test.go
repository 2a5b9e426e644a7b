package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/graph/model"
)

const replayFields = `{ identical untold differences causes { kind message alone messages { hash } }
	original { id receipt previous { id } unchangedTokens notices rendered }
	selection { receipt preimage embeddingModel denseModel tokens unchangedTokens notices rendered
		items { position source { ... on Message { hash content } } } dropped { reason source { __typename } } } }`

type replayed struct {
	Identical           bool
	Untold, Differences []string
	Causes              []struct {
		Kind, Message string
		Alone         *bool
		Messages      []struct{ Hash string }
	}
	Original struct {
		ID, Receipt, Rendered string
		Previous              *struct{ ID string }
		UnchangedTokens       int
		Notices               []string
	}
	Selection struct {
		Receipt, Preimage, EmbeddingModel, Rendered string
		DenseModel                                  *string
		Tokens, UnchangedTokens                     int
		Notices                                     []string
		Items                                       []struct {
			Source struct{ Hash, Content string }
		}
	}
}

func (a *api) request(input object) (id, rendered string, tokens, unchanged int, notices []string) {
	a.t.Helper()
	var out struct {
		RequestContext struct {
			ID, Rendered            string
			Tokens, UnchangedTokens int
			Notices                 []string
		}
	}
	a.ask(`mutation($i: ContextRequestInput!) { requestContext(input: $i) { id rendered tokens unchangedTokens notices } }`, object{"i": input}, &out)
	s := out.RequestContext
	return s.ID, s.Rendered, s.Tokens, s.UnchangedTokens, s.Notices
}

func (a *api) replay(id string) replayed {
	a.t.Helper()
	var out struct{ ReplayContext replayed }
	a.ask(`query($id: ID!) { replayContext(id: $id) `+replayFields+` }`, object{"id": id}, &out)
	return out.ReplayContext
}

func TestReplayContext(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hashes := a.append(message("s", "The hotel is by the sea."), message("t", "The hotel has a safe."), message("t", "It rains."))
	id, rendered, tokens, _, _ := a.request(object{"query": "Which hotel has a safe?", "threshold": 0.3})
	next, _, _, unchanged, _ := a.request(object{"query": "Which hotel has a safe, and rain?", "threshold": 0, "previous": id})
	a.append(message("t", "Which hotel has a safe?"))
	r := a.replay(next)
	receiptOf(t, r.Selection.Preimage, r.Selection.Receipt)
	if !r.Identical || len(r.Causes)+len(r.Differences)+len(r.Untold) > 0 || r.Selection.Receipt != r.Original.Receipt || r.Selection.Rendered != r.Original.Rendered {
		t.Errorf("replay = %+v, want it identical", r)
	}
	if r.Original.ID != next || r.Original.Previous == nil || r.Original.Previous.ID != id || r.Original.UnchangedTokens != tokens || unchanged != tokens ||
		r.Selection.UnchangedTokens != tokens || !strings.HasPrefix(r.Selection.Rendered, rendered) {
		t.Errorf("with a previous: %+v; want %d tokens unchanged of %q", r, tokens, rendered)
	}
	a.erase(hashes[1], "asked for")
	r = a.replay(id)
	if r.Identical || len(r.Causes) != 1 || r.Causes[0].Kind != "ERASED" || r.Causes[0].Alone != nil || len(r.Differences) == 0 ||
		len(r.Causes[0].Messages) != 1 || r.Causes[0].Messages[0].Hash != hashes[1] || strings.Contains(r.Selection.Rendered, "safe") {
		t.Errorf("after an erasure: %+v", r)
	}
	receiptOf(t, r.Selection.Preimage, r.Selection.Receipt)
}

func TestNoticesOfAnEmptySelection(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "The hotel is by the sea."))
	for want, input := range map[string]object{
		"Nothing in the log or the records reaches the threshold of 0.7": {"query": "submarine propulsion reactors"},
		"fits into the budget of 1 tokens":                               {"query": "hotel by the sea", "tokenBudget": 1},
	} {
		id, rendered, _, _, notices := a.request(input)
		if rendered != "" || len(notices) != 1 || !strings.Contains(notices[0], want) {
			t.Errorf("%v: rendered %q, notices %q, want %q", input, rendered, notices, want)
		}
		if r := a.replay(id); !r.Identical || !slices.Equal(r.Selection.Notices, notices) {
			t.Errorf("%v: replay = %+v", input, r)
		}
	}
	if _, rendered, _, _, notices := a.request(object{"query": "hotel by the sea"}); rendered == "" || len(notices) != 0 {
		t.Errorf("rendered %q with notices %q", rendered, notices)
	}
}

func TestRecordSelection(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "The hotel is by the sea."), message("s", "The hotel has a safe."))
	var records struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation { addRecords(records: [{kind: ACCOUNTANT, book: "ledger", title: "Hotel", content: "980 euros"}]) { hash } }`, nil, &records)
	var asked struct {
		RequestContext struct {
			ID    string
			Items []struct {
				Type   string
				Source struct{ Hash string }
			}
		}
	}
	a.ask(`mutation { requestContext(input: {query: "Which hotel?", threshold: 0}) { id items { type source { ... on Message { hash } ... on Record { hash } } } } }`, nil, &asked)
	id, items := asked.RequestContext.ID, asked.RequestContext.Items
	if len(items) != 3 {
		t.Fatalf("items = %+v, want both messages and the record", items)
	}
	type written struct {
		Hash, Content string
		Refs          []struct {
			Position   int
			Type, Hash string
			Target     struct {
				Typename string `json:"__typename"`
			}
		}
	}
	record := func(m object) written {
		t.Helper()
		var out struct{ RecordSelection written }
		a.ask(`mutation($s: ID!, $m: MessageInput!) { recordSelection(selection: $s, message: $m) { hash content refs { position type hash target { __typename } } } }`, object{"s": id, "m": m}, &out)
		return out.RecordSelection
	}
	draft := message("answers", "The one by the sea.", object{"idempotencyKey": "once"})
	first := record(draft)
	if len(first.Refs) != 3 || first.Content != "The one by the sea." {
		t.Fatalf("recorded = %+v", first)
	}
	for i, ref := range first.Refs {
		if ref.Position != i+1 || ref.Hash != items[i].Source.Hash || ref.Type != items[i].Type || ref.Target.Typename == "" {
			t.Errorf("ref %d = %+v, want %+v", i, ref, items[i])
		}
	}
	if diff := cmp.Diff(first, record(draft)); diff != "" {
		t.Errorf("with the same key: %s", diff)
	}
	const mutation = `mutation($s: ID!, $m: MessageInput!) { recordSelection(selection: $s, message: $m) { hash } }`
	unknown := model.GlobalID("ContextSelection", "00000000-0000-0000-0000-000000000000")
	for name, c := range map[string]struct {
		selection  string
		message    object
		code, part string
	}{
		"refs of its own":      {id, message("answers", "x", object{"refs": []object{{"hash": items[0].Source.Hash, "type": "CONTEXT"}}}), "BAD_USER_INPUT", "message.refs: "},
		"no content":           {id, message("answers", ""), "BAD_USER_INPUT", "message.content: is empty"},
		"another head":         {id, message("answers", "x", object{"prevHash": hashOf("other")}), "CONFLICT", "message"},
		"another with its key": {id, message("answers", "y", object{"idempotencyKey": "once"}), "CONFLICT", "message"},
		"no such selection":    {unknown, message("answers", "x"), "NOT_FOUND", "there is no such selection"},
		"no id":                {"x", message("answers", "x"), "BAD_USER_INPUT", "selection: is not the id of a selection"},
	} {
		r := a.try(mutation, object{"s": c.selection, "m": c.message})
		if len(r.Errors) != 1 || r.Errors[0].Extensions.Code != c.code || !strings.Contains(r.Errors[0].Message, c.part) || strings.Contains(r.Errors[0].Message, "messages[0]") {
			t.Errorf("%s: %+v, want %s with %q", name, r.Errors, c.code, c.part)
		}
	}
	for query, code := range map[string]string{
		fmt.Sprintf(`{ replayContext(id: %q) { identical } }`, unknown):                               "NOT_FOUND",
		`{ replayContext(id: "x") { identical } }`:                                                    "BAD_USER_INPUT",
		fmt.Sprintf(`mutation { requestContext(input: {query: "x", previous: %q}) { id } }`, unknown): "NOT_FOUND",
		`mutation { requestContext(input: {query: "x", previous: "x"}) { id } }`:                      "BAD_USER_INPUT",
	} {
		if r := a.try(query, nil); len(r.Errors) != 1 || r.Errors[0].Extensions.Code != code {
			t.Errorf("%s: %+v, want %s", query, r.Errors, code)
		}
	}
}

// A request, one that continues another, and a replay take the same few statements whatever the log holds.
func TestSelectionStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	counts := map[int][3]int64{}
	for _, size := range []int{20, 200} {
		for i := range size {
			a.append(message(fmt.Sprint("s", i%9), fmt.Sprintf("The hotel number %d is by the sea.", i), object{"ownerId": hashOf("owner %d", i)}))
		}
		var n [3]int64
		count := func(i int, f func()) {
			before := a.counter.n.Load()
			f()
			n[i] = a.counter.n.Load() - before
		}
		var id, next string
		a.request(object{"query": "Anything", "threshold": 0}) // so that all has search vectors
		count(0, func() { id, _, _, _, _ = a.request(object{"query": "Which hotel?", "threshold": 0}) })
		count(1, func() {
			next, _, _, _, _ = a.request(object{"query": "Which hotel by the sea?", "threshold": 0, "previous": id})
		})
		count(2, func() {
			if r := a.replay(next); !r.Identical {
				t.Errorf("replay = %+v", r)
			}
		})
		counts[size] = n
	}
	if counts[20] != counts[200] {
		t.Errorf("statements by size: %v, want the same", counts)
	}
	t.Logf("statements of a request, one that continues it, and a replay: %v", counts)
}
