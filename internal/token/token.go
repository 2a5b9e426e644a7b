// Package token counts what a text costs in the tokens of a language model. It only counts; budgets are kept by
// whoever packs.
package token

import (
	"crypto/sha256"
	"strings"
	"sync"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/tiktoken-go/tokenizer"

	"github.com/tzzr/context-manager/internal/fault"
)

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter func(text string) (int, error)

// DefaultEncoding is what is counted in unless asked otherwise.
const DefaultEncoding = string(tokenizer.O200kBase)

var (
	defaultCodec = sync.OnceValues(func() (tokenizer.Codec, error) {
		codec, err := tokenizer.Get(tokenizer.O200kBase)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "the vocabulary cannot be read")
		}
		return codec, nil
	})
	defaultCounter = sync.OnceValues(func() (Counter, error) {
		codec, err := defaultCodec()
		if err != nil {
			return nil, err
		}
		f := newFast(codec)
		return remembering(func(text string) (int, error) {
			if !utf8.ValidString(text) {
				return codec.Count(readable(text))
			}
			return f.count(readable(text)), nil
		}, false)
	})
)

// Named gives the counter of an encoding, such as cl100k_base. Vocabularies are part of the binary.
//
// Faults: BAD_USER_INPUT for one that is not known; it names the field encoding.
func Named(encoding string) (Counter, error) {
	if encoding == "" || encoding == DefaultEncoding {
		return Default()
	}
	if known, ok := named.Load(encoding); ok {
		return known.(Counter), nil
	}
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return nil, fault.Input("encoding", "%q is not known: o200k_base, cl100k_base, p50k_base, p50k_edit and r50k_base are", encoding)
	}
	count, err := remembering(func(text string) (int, error) { return codec.Count(readable(text)) }, true)
	if err == nil {
		named.Store(encoding, count)
	}
	return count, err
}

// named holds the counters of other encodings that were asked for, each a Counter.
var named sync.Map

// Default gives the counter of DefaultEncoding. Its vocabulary is part of the binary and read once.
func Default() (Counter, error) { return defaultCounter() }

// readable replaces a character that the codec passes over, DEL, which then would cost nothing, by another control character.
// The encoding splits a text in the same way at both, and has no token that joins either to another character.
func readable(text string) string { return strings.ReplaceAll(text, "\x7f", "\x02") }

// The same messages are counted for one request after another, so the counts of short texts are remembered. Where counting is slow,
// those of their words are, too, since most of what is new is said in words that came before.
const (
	remembered      = 50_000 // texts, at about 100 bytes each, and as many words
	maxRemember     = 4 << 10
	maxRememberWord = 32
)

func remembering(count Counter, slow bool) (Counter, error) {
	known, err := lru.New[[sha256.Size]byte, int](remembered)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the memory of counts cannot be made")
	}
	words, err := lru.New[string, int](remembered)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the memory of counts cannot be made")
	}
	one := func(text string) (n int, err error) {
		if len(text) > maxRemember {
			return count(text)
		}
		key := sha256.Sum256([]byte(text))
		if n, ok := known.Get(key); ok {
			return n, nil
		}
		if slow {
			n, err = byWords(text, words, count)
		} else {
			n, err = count(text)
		}
		if err == nil {
			known.Add(key, n)
		}
		return n, err
	}
	return func(text string) (int, error) { return byItems(text, one) }, nil
}

// byWords counts a text by the stretches between the places where it can be cut, and remembers what short ones have.
func byWords(text string, words *lru.Cache[string, int], count Counter) (total int, err error) {
	for text != "" {
		word := text[:cut(text, 1)]
		n, ok := words.Get(word)
		if !ok {
			if n, err = count(word); err != nil {
				return 0, err
			}
			if len(word) <= maxRememberWord {
				words.Add(strings.Clone(word), n)
			}
		}
		total, text = total+n, text[len(word):]
	}
	return total, nil
}

// byItems counts a list by its items, each up to the end of its line: those are remembered. No token reaches over a line's
// end to a dash, since the encodings split a text there before anything else: see TestByItems.
func byItems(text string, count Counter) (total int, err error) {
	for text != "" {
		item := text
		if end := strings.Index(text, "\n- "); end >= 0 {
			item = text[:end+1]
		}
		n, err := count(item)
		if err != nil {
			return 0, err
		}
		total, text = total+n, text[len(item):]
	}
	return total, nil
}
