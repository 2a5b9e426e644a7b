package graph

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	fastutf8 "github.com/segmentio/asm/utf8"

	"github.com/tzzr/context-manager/internal/fault"
)

// decode reads a body whose outline has passed. The error says if it was not JSON, or if a part is not an object.
func decode(body []byte) (*graphql.RawParams, error) {
	d := decoder{text: body, names: map[string]string{}}
	d.space()
	whole, err := d.value()
	if err != nil {
		return nil, err
	}
	if d.space(); d.at < len(body) {
		return nil, errNoJSON
	}
	parts, ok := whole.(map[string]any)
	if !ok {
		return nil, errNoJSON
	}
	params := &graphql.RawParams{}
	params.Query, _ = parts["query"].(string)
	params.OperationName, _ = parts["operationName"].(string)
	if params.Variables, err = objectPart(parts, "variables"); err != nil {
		return nil, err
	}
	params.Extensions, err = objectPart(parts, "extensions")
	return params, err
}

func objectPart(parts map[string]any, name string) (map[string]any, error) {
	object, ok := parts[name].(map[string]any)
	if !ok && parts[name] != nil {
		return nil, fault.Input(name, "is not an object")
	}
	return object, nil
}

// decoder makes Go values of JSON as encoding/json does: numbers as they are written, the last of several members of a name.
// Unlike it, it refuses what is not UTF-8 and halves of surrogate pairs. What anybody may send is decoded before it can be
// found wrong, and the decoders there are look at each byte of a long string two or three times, one after the other: they
// take four times as long for 16 MiB. How deep it nests, and how many values there are, the scanner has limited before.
type decoder struct {
	text  []byte
	at    int
	names map[string]string // of members, each made once
	plain []byte            // of a string with escapes
}

// mostNames is how many names of members are made once.
const mostNames = 256

func (d *decoder) space() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\n' || d.text[d.at] == '\t' || d.text[d.at] == '\r') {
		d.at++
	}
}

// next gives the byte that stands here after white space, 0 at the end.
func (d *decoder) next() byte {
	if d.space(); d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

func (d *decoder) value() (any, error) {
	switch c := d.next(); c {
	case '{':
		return d.object()
	case '[':
		return d.list()
	case '"':
		raw, err := d.string()
		return string(raw), err
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	default:
		return d.number()
	}
}

func (d *decoder) word(word string) error {
	if !bytes.HasPrefix(d.text[d.at:], []byte(word)) {
		return errNoJSON
	}
	d.at += len(word)
	return nil
}

// more steps over the opening bracket or the comma before the next element of a list or object, or over the bracket that
// closes it: then false.
func (d *decoder) more(first bool, closing byte) (bool, error) {
	if first {
		d.at++
		if d.next() == closing {
			d.at++
			return false, nil
		}
		return true, nil
	}
	switch d.next() {
	case closing:
		d.at++
		return false, nil
	case ',':
		d.at++
		return true, nil
	}
	return false, errNoJSON
}

func (d *decoder) list() (any, error) {
	list := []any{}
	for first := true; ; first = false {
		more, err := d.more(first, ']')
		if !more || err != nil {
			return list, err
		}
		element, err := d.value()
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
}

func (d *decoder) object() (any, error) {
	object := map[string]any{}
	for first := true; ; first = false {
		more, err := d.more(first, '}')
		if !more || err != nil {
			return object, err
		}
		name, err := d.name()
		if err != nil {
			return nil, err
		}
		if object[name], err = d.value(); err != nil {
			return nil, err
		}
	}
}

// name reads the name of a member, and the colon after it.
func (d *decoder) name() (string, error) {
	if d.next() != '"' {
		return "", errNoJSON
	}
	raw, err := d.string()
	if err != nil {
		return "", err
	}
	name, known := d.names[string(raw)]
	if !known {
		name = string(raw)
		if len(d.names) < mostNames {
			d.names[name] = name
		}
	}
	if d.next() != ':' {
		return "", errNoJSON
	}
	d.at++
	return name, nil
}

// string reads a string; what it gives holds until the next one is read.
func (d *decoder) string() ([]byte, error) {
	d.at++
	d.plain = d.plain[:0]
	for end := -1; ; {
		if end < d.at { // the next quote, unless it is known
			length := bytes.IndexByte(d.text[d.at:], '"')
			if length < 0 {
				return nil, errNoJSON
			}
			end = d.at + length
		}
		run := d.text[d.at:end]
		escape := bytes.IndexByte(run, '\\')
		if escape >= 0 {
			run = run[:escape]
		}
		if !isText(run) {
			return nil, errNoJSON
		}
		d.at += len(run)
		if escape < 0 {
			d.at++
			if len(d.plain) == 0 {
				return run, nil
			}
			d.plain = append(d.plain, run...)
			return d.plain, nil
		}
		d.plain = append(d.plain, run...)
		if err := d.escape(); err != nil {
			return nil, err
		}
	}
}

// short is what an escape of one letter stands for.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape, and puts what it stands for at the end of the string.
func (d *decoder) escape() error {
	if d.at+1 == len(d.text) {
		return errNoJSON
	}
	c := d.text[d.at+1]
	if c != 'u' {
		if short[c] == 0 {
			return errNoJSON
		}
		d.plain = append(d.plain, short[c])
		d.at += 2
		return nil
	}
	r, ok := d.unit()
	if utf16.IsSurrogate(r) {
		low, isUnit := d.unit()
		r, ok = utf16.DecodeRune(r, low), isUnit
		ok = ok && r != utf8.RuneError
	}
	if !ok {
		return errNoJSON
	}
	d.plain = utf8.AppendRune(d.plain, r)
	return nil
}

// unit reads `\u` and four hexadecimal digits.
func (d *decoder) unit() (r rune, ok bool) {
	if d.at+6 > len(d.text) || d.text[d.at] != '\\' || d.text[d.at+1] != 'u' {
		return 0, false
	}
	for _, c := range d.text[d.at+2 : d.at+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	d.at += 6
	return r, true
}

// number reads a number, whose text is kept.
func (d *decoder) number() (any, error) {
	from := d.at
	d.skip('-')
	ok := d.skip('0') || d.digits()
	if d.skip('.') {
		ok = ok && d.digits()
	}
	if ok && (d.skip('e') || d.skip('E')) {
		_ = d.skip('+') || d.skip('-')
		ok = d.digits()
	}
	if !ok {
		return nil, errNoJSON
	}
	return json.Number(d.text[from:d.at]), nil
}

func (d *decoder) skip(c byte) bool {
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *decoder) digits() bool {
	from := d.at
	for d.at < len(d.text) && '0' <= d.text[d.at] && d.text[d.at] <= '9' {
		d.at++
	}
	return d.at > from
}

// isText tells whether bytes are UTF-8 without control characters. It looks at eight at a time.
func isText(text []byte) bool {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	at, beyond := 0, uint64(0)
	for ; at+8 <= len(text); at += 8 {
		chunk := binary.LittleEndian.Uint64(text[at:])
		if (chunk-' '*each)&^chunk&highest != 0 { // one of them is less than a space
			return false
		}
		beyond |= chunk
	}
	for _, c := range text[at:] {
		if c < ' ' {
			return false
		}
		beyond |= uint64(c)
	}
	return beyond&highest == 0 || fastutf8.Valid(text)
}
