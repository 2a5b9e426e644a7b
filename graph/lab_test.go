package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/graph/model"
)

const policyFields = `policy { version weights { name value default min max description } }`

type weight struct {
	Name, Description        string
	Value, Default, Min, Max float64
}

type stage struct {
	Name, Reason string
	In, Out      int
	Estimated    bool
}

type keptSelection struct {
	ID, Receipt string
	Request     json.RawMessage
	Player      *struct{ Hash string }
	Policy      struct {
		Version string
		Weights []weight
	}
	Stages []stage
	Items  []struct {
		Hash  string
		Score float64
	}
}

// What a selection was asked, the policy that ranked and its stages are told as they were kept, of each in a list too.
func TestSelectionsTellWhatWasAsked(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "The hotel is by the sea."), message("t", "The hotel has a safe."), message("t", "It rains."))
	input := object{
		"query": "Which hotel?", "threshold": 0.1, "limit": 1, "tokenBudget": 500, "player": hashOf("ply:ana"), "at": "2030-01-01T00:00:00Z",
		"scope": object{"sessions": []string{hashOf("s"), hashOf("t")}, "types": []string{"CONTEXT"}, "owners": nil, "since": "2000-01-01T00:00:00Z"},
	}
	id, _, _, _, _ := a.request(input)
	a.request(object{"query": "Rain?"})
	var out struct {
		Selections struct {
			TotalCount int
			PageInfo   struct {
				HasNextPage bool
				EndCursor   string
			}
			Edges []struct{ Node keptSelection }
		}
		RankingPolicy struct {
			Version string
			Weights []weight
		}
	}
	const fields = `id receipt player { hash } request { query scope { sessions types owners hashtags since until } player limit threshold tokenBudget previous at } ` + policyFields + ` stages { name in out estimated reason } items { hash score }`
	const list = `query($after: String) { selections(first: 1, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { ` + fields + ` } } } rankingPolicy { version weights { name value default min max description } } }`
	a.ask(list, nil, &out)
	if s := out.Selections; s.TotalCount != 2 || !s.PageInfo.HasNextPage || len(s.Edges) != 1 || !strings.Contains(string(s.Edges[0].Node.Request), `"query":"Rain?"`) {
		t.Fatalf("the latest first: %+v", s)
	}
	a.ask(list, object{"after": out.Selections.PageInfo.EndCursor}, &out)
	s := out.Selections.Edges[0].Node
	want := fmt.Sprintf(`{"query":"Which hotel?","scope":{"sessions":[%q,%q],"types":["CONTEXT"],"owners":null,"hashtags":null,"since":"2000-01-01T00:00:00Z","until":null},"player":%q,"limit":1,"threshold":0.1,"tokenBudget":500,"previous":null,"at":"2030-01-01T00:00:00Z"}`,
		hashOf("s"), hashOf("t"), hashOf("ply:ana"))
	if s.ID != id || out.Selections.PageInfo.HasNextPage || string(s.Request) != want {
		t.Errorf("the first: %s %s\nwant %s", s.ID, s.Request, want)
	}
	if diff := cmp.Diff(out.RankingPolicy.Weights, s.Policy.Weights); diff != "" || s.Policy.Version != out.RankingPolicy.Version || len(s.Policy.Weights) != 25 {
		t.Errorf("its policy is another than that in use: %s", diff)
	}
	if s.Player != nil {
		t.Errorf("an administrator's is of player %s", s.Player.Hash)
	}
	if len(s.Stages) != 7 || s.Stages[0].In != 3 || s.Stages[0].Out != 3 || s.Stages[6].Out != 1 || len(s.Items) != 1 {
		t.Errorf("stages %+v", s.Stages)
	}
	var one struct{ ContextSelection keptSelection }
	a.ask(`query($id: ID!) { contextSelection(id: $id) { `+fields+` } }`, object{"id": id}, &one)
	if diff := cmp.Diff(s, one.ContextSelection); diff != "" {
		t.Errorf("by its id it is another: %s", diff)
	}
}

// Weights are for once: what is tried is not kept, and what they may be is checked.
func TestTryContextOverHTTP(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "The hotel is by the sea."), message("t", "The hotel has a safe."), message("t", "It rains."))
	const document = `query($i: ContextRequestInput!, $w: [WeightInput!]) { tryContext(request: $i, weights: $w) { receipt preimage ` + policyFields + ` stages { name in out } items { hash score } } }`
	input := object{"query": "Which hotel has a safe?", "threshold": 0, "at": "2030-01-01T00:00:00Z"}
	try := func(weights ...object) (receipt string, s keptSelection) {
		t.Helper()
		var out struct {
			TryContext struct {
				keptSelection
				Preimage string
			}
		}
		a.ask(document, object{"i": input, "w": weights}, &out)
		receiptOf(t, out.TryContext.Preimage, out.TryContext.Receipt)
		return out.TryContext.Receipt, out.TryContext.keptSelection
	}
	plain, _ := try()
	if same, s := try(object{"name": "MIDDLE", "value": 0.26}); same != plain || s.Policy.Version != "lexical-v4" {
		t.Errorf("with a weight as it is: %s %s, want %s", same, s.Policy.Version, plain)
	}
	other, s := try(object{"name": "MIDDLE", "value": 1}, object{"name": "BEFORE_2", "value": 0})
	if other == plain || s.Policy.Version != "lexical-v4+weights" {
		t.Errorf("with others: %s %s", other, s.Policy.Version)
	}
	for _, w := range s.Policy.Weights {
		if asked := map[string]float64{"MIDDLE": 1, "BEFORE_2": 0}; w.Value != w.Default {
			if v, ok := asked[w.Name]; !ok || v != w.Value {
				t.Errorf("weight %+v", w)
			}
		}
	}
	var out struct{ Selections struct{ TotalCount int } }
	a.ask(`{ selections { totalCount } }`, nil, &out)
	if again, _ := try(); again != plain || out.Selections.TotalCount != 0 {
		t.Errorf("afterwards: %s and %d selections; want %s and none", again, out.Selections.TotalCount, plain)
	}
	for name, c := range map[string]struct {
		weights []object
		input   object
		part    string
	}{
		"too much": {[]object{{"name": "OWNER", "value": 3}}, input, "weights[0].value: 3 is outside of 0 to 2"},
		"twice":    {[]object{{"name": "OWNER", "value": 1}, {"name": "OWNER", "value": 1}}, input, "weights[1].name: owner is there twice"},
		"blank":    {nil, object{"query": " "}, "request.query: is empty"},
		"limit":    {nil, object{"query": "x", "limit": 201}, "request.limit: 201 is outside of 1 to 200"},
		"previous": {nil, object{"query": "x", "previous": "x"}, "request.previous: is not the id of a selection"},
	} {
		if r := a.try(document, object{"i": c.input, "w": c.weights}); len(r.Errors) != 1 || r.Errors[0].Extensions.Code != "BAD_USER_INPUT" || !strings.Contains(r.Errors[0].Message, c.part) {
			t.Errorf("%s: %+v, want %q", name, r.Errors, c.part)
		}
	}
}

// A verdict is given of a hash or of a text, and of a selection that is there.
func TestWhyNotOverHTTP(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hashes := a.append(message("s", "The hotel is by the sea."), message("t", "The hotel has a safe."), message("t", "It rains."))
	id, _, _, _, _ := a.request(object{"query": "Which hotel has a safe?", "threshold": 0, "limit": 1, "scope": object{"sessions": []string{hashOf("t")}}})
	const document = `query($s: ID!, $h: Hash, $t: String) { whyNot(selection: $s, hash: $h, text: $t) { verdicts { hash kind stage message position rank score tokens near explanation { relevance matchedTerms } source { __typename ... on Message { content } } } } }`
	type verdicts struct {
		WhyNot struct {
			Verdicts []struct {
				Hash, Kind, Stage, Message string
				Position                   int
				Source                     *struct{ Content string }
			}
		}
	}
	for hash, want := range map[string]string{hashes[0]: "OUT_OF_SCOPE IN_SCOPE", hashes[1]: "SELECTED ", hashes[2]: "OVER_LIMIT SELECTED", hashOf("none"): "UNKNOWN "} {
		var out verdicts
		a.ask(document, object{"s": id, "h": hash}, &out)
		if v := out.WhyNot.Verdicts; len(v) != 1 || v[0].Kind+" "+v[0].Stage != want || v[0].Hash != hash || v[0].Message == "" || (v[0].Source == nil) != (want == "UNKNOWN ") {
			t.Errorf("%s: %+v, want %s", hash, v, want)
		}
	}
	var out verdicts
	a.ask(document, object{"s": id, "t": "by the sea"}, &out)
	if v := out.WhyNot.Verdicts; len(v) == 0 || v[0].Hash != hashes[0] || v[0].Kind != "OUT_OF_SCOPE" {
		t.Errorf("by text: %+v", v)
	}
	unknown := model.GlobalID("ContextSelection", "00000000-0000-0000-0000-000000000000")
	for name, c := range map[string]struct {
		variables object
		code      string
	}{
		"neither":           {object{"s": id}, "BAD_USER_INPUT"},
		"both":              {object{"s": id, "h": hashes[0], "t": "x"}, "BAD_USER_INPUT"},
		"a blank text":      {object{"s": id, "t": " "}, "BAD_USER_INPUT"},
		"a long text":       {object{"s": id, "t": strings.Repeat("x", 64<<10+1)}, "BAD_USER_INPUT"},
		"no id":             {object{"s": "x", "h": hashes[0]}, "BAD_USER_INPUT"},
		"no such selection": {object{"s": unknown, "h": hashes[0]}, "NOT_FOUND"},
		"nor for a text":    {object{"s": unknown, "t": "x"}, "NOT_FOUND"},
	} {
		if r := a.try(document, c.variables); len(r.Errors) != 1 || r.Errors[0].Extensions.Code != c.code {
			t.Errorf("%s: %+v, want %s", name, r.Errors, c.code)
		}
	}
}

// A list of selections takes the same few statements whatever its length, and so does a verdict on many.
func TestSelectionListStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for i := range 20 {
		a.append(message(fmt.Sprint("s", i%4), fmt.Sprintf("The hotel number %d is by the sea.", i)))
	}
	for range 10 {
		a.request(object{"query": "Which hotel?", "threshold": 0})
	}
	counts := map[int]int64{}
	for _, first := range []int{1, 10} {
		before := a.counter.n.Load()
		var out struct {
			Selections struct {
				Edges []struct{ Node keptSelection }
			}
		}
		a.ask(`query($first: Int!) { selections(first: $first) { totalCount edges { node { request { query } policy { version } stages { out } items { hash score source { ... on Message { content } } } dropped { reason } } } } }`, object{"first": first}, &out)
		if len(out.Selections.Edges) != first {
			t.Fatalf("a list of %d has %d", first, len(out.Selections.Edges))
		}
		counts[first] = a.counter.n.Load() - before
	}
	if counts[1] != counts[10] || counts[10] > 6 {
		t.Errorf("statements by length: %v, want the same and at most 6", counts)
	}
	t.Logf("statements: %v", counts)
}
