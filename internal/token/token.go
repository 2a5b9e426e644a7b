// Package token counts what a text costs in the tokens of a language model. It only counts; budgets are kept by
// whoever packs.
package token

import (
	"crypto/sha256"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/tiktoken-go/tokenizer"

	"github.com/tzzr/context-manager/internal/fault"
)

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter func(text string) (int, error)

// DefaultEncoding is what is counted in unless asked otherwise.
const DefaultEncoding = string(tokenizer.O200kBase)

var defaultCodec = sync.OnceValues(func() (tokenizer.Codec, error) { return readCodec(DefaultEncoding) })

func readCodec(encoding string) (tokenizer.Codec, error) {
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the vocabulary cannot be read")
	}
	return codec, nil
}

// named holds the counters that were asked for by encoding, each made once.
var named sync.Map

// Named gives the counter of an encoding, such as cl100k_base. Vocabularies are part of the binary, and read when they are asked for.
//
// Faults: BAD_USER_INPUT for one that is not known; it names the field encoding.
func Named(encoding string) (Counter, error) {
	if encoding == "" {
		encoding = DefaultEncoding
	}
	made, ok := named.Load(encoding)
	if !ok {
		if splitOf(tokenizer.Encoding(encoding)) == nil {
			return nil, fault.Input("encoding", "%q is not known: o200k_base, cl100k_base, p50k_base, p50k_edit and r50k_base are", encoding)
		}
		made, _ = named.LoadOrStore(encoding, sync.OnceValues(func() (Counter, error) { return newCounter(encoding) }))
	}
	return made.(func() (Counter, error))()
}

// Default gives the counter of DefaultEncoding.
func Default() (Counter, error) { return Named(DefaultEncoding) }

func newCounter(encoding string) (Counter, error) {
	if encoding == string(tokenizer.P50kEdit) { // which differs in tokens that no text has
		return Named(string(tokenizer.P50kBase))
	}
	read := defaultCodec
	if encoding != DefaultEncoding {
		read = func() (tokenizer.Codec, error) { return readCodec(encoding) }
	}
	codec, err := read()
	if err != nil {
		return nil, err
	}
	decoding, err := readCodec(encoding) // of its own: a codec that has decoded keeps megabytes for that
	if err != nil {
		return nil, err
	}
	f := newFast(tokenizer.Encoding(encoding), decoding)
	return remembering(func(text string) (int, error) {
		if !utf8.ValidString(text) {
			return codec.Count(readable(text))
		}
		return f.count(readable(text)), nil
	})
}

// readable replaces a character that the codec passes over, DEL, which then would cost nothing, by another control character.
// The encoding splits a text in the same way at both, and has no token that joins either to another character.
func readable(text string) string { return strings.ReplaceAll(text, "\x7f", "\x02") }

// The same messages are counted for one request after another, so the counts of short texts are remembered.
const (
	remembered  = 32_768 // texts, at about 110 bytes each
	maxRemember = 4 << 10
)

// textKey is half of a text's SHA-256, for two thirds of the memory: to find two texts of one key takes 2^64 tries.
type textKey [sha256.Size / 2]byte

func remembering(count Counter) (Counter, error) {
	known, err := lru.New[textKey, int32](remembered)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the memory of counts cannot be made")
	}
	one := func(text string) (int, error) {
		if len(text) > maxRemember {
			return count(text)
		}
		sum := sha256.Sum256([]byte(text))
		key := textKey(sum[:])
		if n, ok := known.Get(key); ok {
			return int(n), nil
		}
		n, err := count(text)
		if err == nil {
			known.Add(key, int32(n)) // a short text has few
		}
		return n, err
	}
	return func(text string) (int, error) { return byItems(text, one) }, nil
}

// byItems counts a list by its items, each up to the end of its line, and those by what stands before the first colon and behind it:
// the parts are remembered.
func byItems(text string, count Counter) (total int, err error) {
	for text != "" {
		item := text[:itemEnd(text)]
		lead := leadEnd(item)
		for _, part := range []string{item[:lead], item[lead:]} {
			if part == "" {
				continue
			}
			n, err := count(part)
			if err != nil {
				return 0, err
			}
			total += n
		}
		text = text[len(item):]
	}
	return total, nil
}

// longestLead is how far the colon of an item is looked for, in bytes.
const longestLead = 256

// leadEnd gives where the lead of an item ends, behind a colon before a blank; 0: it has none. No token reaches over such an end, since
// a blank begins a piece, if it is not within a run of blanks.
func leadEnd(item string) int {
	if !strings.HasPrefix(item, "- ") {
		return 0
	}
	return strings.Index(item[:min(len(item), longestLead)], ": ") + 1
}

// itemEnd gives where the first item of a list ends: before a dash that begins a line, behind a line that does not end in a blank. No
// token reaches over such an end to a dash, since the encodings split a text there before anything else: see TestByItems.
func itemEnd(text string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], "\n- ")
		if i < 0 {
			return len(text)
		}
		from += i + 1
		if last, _ := utf8.DecodeLastRuneInString(text[:from-1]); from > 1 && !unicode.IsSpace(last) {
			return from
		}
	}
}
