// Package token counts what a text costs in the tokens of a language model. It only counts; budgets are kept by
// whoever packs.
package token

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/tzzr/context-manager/internal/fault"
)

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter func(text string) (int, error)

// DefaultEncoding is what is counted in unless asked otherwise.
const DefaultEncoding = string(tokenizer.O200kBase)

var defaultCounter = sync.OnceValues(func() (Counter, error) { return load(tokenizer.O200kBase) })

// Default gives the counter of DefaultEncoding. Its vocabulary is part of the binary and read once.
func Default() (Counter, error) { return defaultCounter() }

func load(encoding tokenizer.Encoding) (Counter, error) {
	codec, err := tokenizer.Get(encoding)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the vocabulary cannot be read")
	}
	return codec.Count, nil
}
