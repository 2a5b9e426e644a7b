package chain_test

import (
	"bytes"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/chain/chaintest"
)

func TestGoldenVectors(t *testing.T) {
	t.Parallel()
	vectors := chaintest.Vectors(t, "../../testdata/chain")
	if len(vectors) < 60 {
		t.Fatalf("there are %d vectors, want the whole set", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			preimage := chain.ContentPreimage(v.Salt, *v.Content, *v.Attachments, v.Ambient)
			if v.ContentPreimage != nil && !bytes.Equal(preimage, v.ContentPreimage) {
				t.Errorf("ContentPreimage = %x, want %x", preimage, v.ContentPreimage)
			}
			equal(t, "content digest", chain.Sum(preimage), v.ContentDigest)
			equal(t, "RefsDigest", chain.RefsDigest(v.Refs), v.RefsDigest)
			if got := v.Message.Preimage(); !bytes.Equal(got, v.Preimage) {
				t.Errorf("Preimage = %x, want %x", got, v.Preimage)
			}
			equal(t, "ComputeHash", v.ComputeHash(), v.Hash)
			equal(t, "IDDigest", chain.IDDigest(v.ID, v.Hash), v.IDDigest)
		})
	}
}

// No two vectors may have the same hash: each differs from all others in what it says.
func TestGoldenVectorsDiffer(t *testing.T) {
	t.Parallel()
	// These say nothing but what another says, in other sessions.
	same := map[string]bool{
		"event type MESSAGE": true, "importance 0": true, "no ambient": true, "first of three": true, "second of three": true,
		"a late sequence": true,
	}
	seen := make(map[chain.Hash]string)
	for _, v := range chaintest.Vectors(t, "../../testdata/chain") {
		m := v.Message
		m.SessionHash, m.Sequence, m.PrevHash = chain.Hash{}, 1, nil
		m.ContentDigest = chain.Sum(chain.ContentPreimage(make([]byte, chain.SaltBytes), *m.Content, *m.Attachments, m.Ambient))
		hash := m.ComputeHash()
		if other, twice := seen[hash]; twice && !same[v.Name] {
			t.Errorf("%q and %q have the same hash", other, v.Name)
		}
		seen[hash] = v.Name
	}
}

func equal(t *testing.T, what string, got, want chain.Hash) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %s, want %s", what, got, want)
	}
}
