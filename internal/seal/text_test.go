package seal_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

// The tests write and read the texts by themselves.

// proofHashes gives the hashes of a tlog-proof.
func proofHashes(t *testing.T, text string) (hashes [][]byte) {
	t.Helper()
	head, _, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" || !strings.HasPrefix(lines[1], "index ") {
		t.Fatalf("that is no tlog-proof: %q", text)
	}
	for _, line := range lines[2:] {
		hash, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(hash) != 32 {
			t.Fatalf("a line of a proof = %q, want a hash", line)
		}
		hashes = append(hashes, hash)
	}
	return hashes
}

// formatProof writes a tlog-proof.
func formatProof(index int, hashes [][]byte, checkpoint string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "c2sp.org/tlog-proof@v1\nindex %d\n", index)
	for _, hash := range hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(hash) + "\n")
	}
	return b.String() + "\n" + checkpoint
}

func bytesOf(hashes []chain.Hash) [][]byte {
	list := make([][]byte, len(hashes))
	for i := range hashes {
		list[i] = hashes[i][:]
	}
	return list
}

func hashesFrom(list [][]byte) []chain.Hash {
	hashes := make([]chain.Hash, len(list))
	for i, b := range list {
		hashes[i] = chain.Hash(b)
	}
	return hashes
}
