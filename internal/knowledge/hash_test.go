package knowledge_test

import (
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/chain/chaintest"
	"github.com/tzzr/context-manager/internal/knowledge"
)

func TestComputeHash(t *testing.T) {
	t.Parallel()
	kinds := map[string]chain.RefType{"ACCOUNTANT": chain.RefAccountant, "SECRETARY": chain.RefSecretary}
	for _, v := range chaintest.Records(t, "../../testdata/chain") {
		r := knowledge.Record{
			Kind: kinds[v.Record.Kind], Book: v.Record.Book, Title: v.Record.Title, Content: v.Record.Content,
			Data: v.Record.Data, Verified: v.Record.Verified,
		}
		if got := r.ComputeHash(); got != v.Hash {
			t.Errorf("%s: ComputeHash = %s, want %s", v.Name, got, v.Hash)
		}
	}
}
