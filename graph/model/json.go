package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// UnmarshalJSON reads any JSON value. Numbers keep their digits; one that is not finite is refused. What else the log
// cannot hold is for chain.CheckJSON to refuse.
//
// The text is that of encoding/json without escapes for HTML, byte for byte, since fingerprints of idempotency keys are over it.
// Long strings are copied at once, where encoding/json looks at each character: anybody may send 16 MiB of them before they can
// be refused.
func UnmarshalJSON(v any) (chain.JSON, error) {
	scratch := scratches.Get().(*[]byte)
	w := jsonWriter{scratch: *scratch}
	defer func() {
		*scratch = w.scratch
		scratches.Put(scratch)
	}()
	w.text.Grow(sizeOfJSON(v))
	if err := w.value(v, 0); err != nil {
		return "", fault.New(fault.BadUserInput, "is not a JSON value")
	}
	return chain.JSON(w.text.String()), nil
}

// plainDepth is how deep values nest that are written here; no client can send deeper ones.
const plainDepth = 1000

type jsonWriter struct {
	text    strings.Builder
	scratch []byte
}

// scratches are what writers have needed.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

func (w *jsonWriter) value(v any, depth int) error {
	switch v := v.(type) {
	case string:
		return w.string(v)
	case map[string]any:
		if v != nil && depth < plainDepth {
			return w.object(v, depth+1)
		}
	case []any:
		if v != nil && depth < plainDepth {
			return w.list(v, depth+1)
		}
	}
	return w.other(v)
}

func (w *jsonWriter) object(members map[string]any, depth int) error {
	w.text.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			w.text.WriteByte(',')
		}
		if err := w.string(name); err != nil {
			return err
		}
		w.text.WriteByte(':')
		if err := w.value(members[name], depth); err != nil {
			return err
		}
	}
	w.text.WriteByte('}')
	return nil
}

func (w *jsonWriter) list(values []any, depth int) error {
	w.text.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			w.text.WriteByte(',')
		}
		if err := w.value(v, depth); err != nil {
			return err
		}
	}
	w.text.WriteByte(']')
	return nil
}

// other leaves a value to encoding/json.
func (w *jsonWriter) other(v any) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	w.text.WriteString(strings.TrimSuffix(text.String(), "\n"))
	return err
}

// escapes are what stands for bytes that strings of JSON do not hold as they are.
var escapes = func() (escapes [256]string) {
	for c := range ' ' {
		escapes[c] = fmt.Sprintf(`\u%04x`, c)
	}
	for c, letter := range map[byte]string{'"': `"`, '\\': `\`, '\b': "b", '\f': "f", '\n': "n", '\r': "r", '\t': "t"} {
		escapes[c] = `\` + letter
	}
	return escapes
}()

// unusual are the bytes that escapes or lineEnds begin with.
var unusual = func() (unusual [256]bool) {
	for c, escape := range escapes {
		unusual[c] = escape != "" || byte(c) == lineEnds[0]
	}
	return unusual
}()

// lineEnds are the characters that end a line in JavaScript, which encoding/json escapes: of three bytes each.
const lineEnds = "\u2028\u2029"

// hasLineEnd tells whether a string holds a lineEnd. Most have not even what these begin with, which is found faster.
func hasLineEnd(s string) bool {
	return strings.Contains(s, lineEnds[:2]) && (strings.Contains(s, lineEnds[:3]) || strings.Contains(s, lineEnds[3:]))
}

func (w *jsonWriter) string(s string) error {
	if !chain.IsUTF8(s) {
		return w.other(s)
	}
	w.text.WriteByte('"')
	if hasLineEnd(s) {
		w.lines(s)
	} else {
		w.runs(s)
	}
	w.text.WriteByte('"')
	return nil
}

// runs writes what is within a string that holds no lineEnds.
func (w *jsonWriter) runs(s string) {
	for s != "" {
		n := plain(s)
		w.text.WriteString(s[:n])
		for s = s[n:]; s != "" && escapes[s[0]] != ""; s = s[1:] {
			w.text.WriteString(escapes[s[0]])
		}
	}
}

// plain gives how many bytes at the beginning of a text need no escape.
func plain(s string) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 { // eight at a time
		eight := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quotes, slashes := eight^'"'*each, eight^'\\'*each
		if ((eight-' '*each)&^eight|(quotes-each)&^quotes|(slashes-each)&^slashes)&highest != 0 {
			break
		}
	}
	for i < len(s) && escapes[s[i]] == "" {
		i++
	}
	return i
}

// lines writes what is within a string that holds lineEnds: together first, since there may be one every three bytes.
func (w *jsonWriter) lines(s string) {
	text := w.scratch[:0]
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case !unusual[c]:
			text = append(text, c)
		case escapes[c] != "":
			text = append(text, escapes[c]...)
		case s[i+1] == lineEnds[1] && s[i+2]|1 == lineEnds[5]: // s is valid UTF-8, so all three are there
			text = append(text, '\\', 'u', '2', '0', '2', '8'+s[i+2]&1)
			i += 2
		default:
			text = append(text, c, s[i+1], s[i+2])
			i += 2
		}
	}
	w.text.Write(text)
	w.scratch = text
}

// sizeOfJSON is how many bytes a value takes at least.
func sizeOfJSON(v any) (size int) {
	switch v := v.(type) {
	case string:
		return len(v) + len(`""`)
	case map[string]any:
		for name, member := range v {
			size += len(name) + len(`"":,`) + sizeOfJSON(member)
		}
	case []any:
		for _, member := range v {
			size += 1 + sizeOfJSON(member)
		}
	}
	return size + len(`{}`)
}
