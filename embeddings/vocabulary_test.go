package embeddings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// However many words it meets, a vocabulary remembers no more than it may, and forgets none in the wrong way.
func TestVocabularyForgets(t *testing.T) {
	t.Parallel()
	documents := NewDocuments()
	documents.Document(strings.Repeat("x", longestWord+1) + " " + strings.Repeat("y", 3000))
	if known := len(documents.words.known); known != 0 {
		t.Errorf("%d words are remembered that are data", known)
	}
	for round := range 2 {
		for n := 0; n < 5*maxVocabulary; n += 500 {
			var text strings.Builder
			for i := range 500 {
				fmt.Fprintf(&text, "word%dish and others ", n+i)
			}
			made := documents.Document(text.String())
			if n%20_000 == 0 && !cmp.Equal(made, Lexical{}.Document(text.String())) {
				t.Fatalf("round %d: the passages of words from %d on are not Lexical's", round, n)
			}
			if known := len(documents.words.known) + len(documents.words.older); known > 2*maxVocabulary {
				t.Fatalf("%d words are remembered, want at most %d", known, 2*maxVocabulary)
			}
		}
	}
}
