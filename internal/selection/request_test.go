package selection

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

func TestRequestValidate(t *testing.T) {
	t.Parallel()
	one, tooMuch := 1, MaxTokenBudget+1
	for _, tt := range []struct {
		name   string
		change func(*Request)
		want   string // empty: well
	}{
		{"as it should be", func(*Request) {}, ""},
		{"least", func(r *Request) { r.Limit, r.Threshold, r.TokenBudget = 1, 0, &one }, ""},
		{"most", func(r *Request) { r.Limit, r.Threshold, r.Query = MaxLimit, 1, strings.Repeat("x", MaxQueryBytes) }, ""},
		{"blank", func(r *Request) { r.Query = "\t \n" }, "input.query: is empty"},
		{"long", func(r *Request) { r.Query = strings.Repeat("x", MaxQueryBytes+1) }, "input.query: has 65537 bytes; at most 65536"},
		{"NUL", func(r *Request) { r.Query = "a\x00" }, "input.query: holds the character U+0000"},
		{"limit 0", func(r *Request) { r.Limit = 0 }, "input.limit: 0 is outside of 1 to 200"},
		{"NaN", func(r *Request) { r.Threshold = math.NaN() }, "input.threshold: NaN is outside of 0 to 1"},
		{"infinite", func(r *Request) { r.Threshold = math.Inf(1) }, "input.threshold: +Inf is outside"},
		{"budget", func(r *Request) { r.TokenBudget = &tooMuch }, "input.tokenBudget: 1000001 is outside"},
		{"scope", func(r *Request) { r.Scope.Flags = make([]chain.Hash, MaxScopeEntries+1) }, "input.scope.flags: has 1001 entries; at most 1000"},
	} {
		r := Request{Query: "q", Limit: 5, Threshold: 0.7}
		tt.change(&r)
		err := r.Validate("input")
		if tt.want == "" && err != nil || tt.want != "" && (fault.CodeOf(err) != fault.BadUserInput || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s: Validate() = %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestScopeRecordKinds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	both := []chain.RefType{chain.RefAccountant, chain.RefSecretary}
	for _, tt := range []struct {
		name     string
		scope    Scope
		records  []chain.RefType
		messages bool
	}{
		{"everything", Scope{}, both, true},
		{"times", Scope{Since: &now, Until: &now}, both, true},
		{"a list", Scope{Owners: []chain.Hash{{}}}, nil, true},
		{"an empty list", Scope{Items: []chain.Hash{}}, nil, true},
		{"messages only", Scope{Types: []chain.RefType{chain.RefContext}}, nil, true},
		{"ledgers only", Scope{Types: []chain.RefType{chain.RefAccountant}}, both[:1], false},
	} {
		if got := tt.scope.RecordKinds(); !slices.Equal(got, tt.records) {
			t.Errorf("%s: RecordKinds() = %v, want %v", tt.name, got, tt.records)
		}
		if got := tt.scope.HasMessages(); got != tt.messages {
			t.Errorf("%s: HasMessages() = %v", tt.name, got)
		}
	}
}
