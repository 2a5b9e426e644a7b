package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of a body's JSON, of a WebSocket's message too. Values and bytes are what decoding costs, so a larger body may have
// fewer values.
const (
	MaxValues       = 50_000 // values, names included, in a body of at most MaxBody
	valuesPerMiB    = 2_000  // fewer for each MiB of a larger one
	ValuesPerObject = 3      // as which an object counts, besides what it holds: each is compared with all fields of its type
	EscapesPerValue = 8      // escapes in strings count as a value
	MaxDigits       = 2000   // of a number, as it is written
)

// mostValues is how many values a body of a size may have.
func mostValues(size int) int {
	if size <= MaxBody {
		return MaxValues
	}
	return MaxValues - size/(1<<20)*valuesPerMiB
}

// bodyNesting is how deep a body nests: variables stand in the body, and values in them.
const bodyNesting = MaxNesting + 2

// envelope is a request's body, taken apart but not decoded: each part is JSON as it was sent, nil if it was not.
type envelope struct {
	query, operationName, variables, extensions []byte
}

// part gives where the part of a name is kept, nil if a request has none of that name.
func (e *envelope) part(name string) *[]byte {
	switch name {
	case "query":
		return &e.query
	case "operationName":
		return &e.operationName
	case "variables":
		return &e.variables
	case "extensions":
		return &e.extensions
	}
	return nil
}

// errCut is what scanners give where the text ends too early.
var errCut = errors.New("unexpected end of JSON input")

// openEnvelope takes a body apart in one pass that allocates nothing, whatever it holds, and checks all limits that need no
// decoding. What it lets through need not be JSON. Of a body that is cut off, errCut comes with the parts before.
func openEnvelope(body []byte, most int) (envelope, error) {
	var e envelope
	s := scanner{text: body, most: most, left: most, deepest: bodyNesting}
	s.space()
	if s.at == len(body) {
		return e, errCut
	}
	if body[s.at] != '{' {
		return e, fault.New(fault.BadUserInput, "the body is not a JSON object with one request; batches are not served")
	}
	s.at++
	for first := true; ; first = false {
		s.space()
		switch {
		case s.at == len(body):
			return e, errCut
		case body[s.at] == '}':
			return e, s.end()
		case first:
		case body[s.at] != ',':
			return e, errNoJSON
		default:
			s.at++
			s.space()
		}
		if err := s.member(&e); err != nil {
			return e, err
		}
	}
}

// member reads a name and its value.
func (s *scanner) member(e *envelope) error {
	from := s.at
	if err := s.string(); err != nil {
		return err
	}
	name := string(s.text[from+1 : s.at-1])
	if strings.ContainsRune(name, '\\') {
		return fault.New(fault.BadUserInput, "the body has names with escapes")
	}
	s.space()
	if s.at == len(s.text) {
		return errCut
	}
	if s.text[s.at] != ':' {
		return errNoJSON
	}
	s.at++
	s.space()
	from = s.at
	if err := s.value(); err != nil {
		return err
	}
	part := e.part(name)
	if part == nil {
		for _, known := range []string{"query", "operationName", "variables", "extensions"} {
			if strings.EqualFold(name, known) { // decoders differ on whether that is the same name
				return fault.Input(known, "is not written like this")
			}
		}
		return nil
	}
	if *part != nil {
		return fault.Input(name, "is there twice")
	}
	*part = s.text[from:s.at]
	return nil
}

var errNoJSON = fault.New(fault.BadUserInput, "the body is not JSON")

// scanner finds where JSON values end. It takes constant time for each byte, and no memory.
type scanner struct {
	text    []byte
	at      int
	most    int // values that may come
	left    int // of them, that may still come
	deepest int // levels of lists and objects that may be open
	escapes int // in strings
	steps   int // bytes looked at, for tests
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
		s.steps++
	}
}

// end checks that nothing comes after the object.
func (s *scanner) end() error {
	s.at++
	s.space()
	if s.at < len(s.text) {
		return errNoJSON
	}
	return nil
}

// string skips a string.
func (s *scanner) string() error {
	if s.at == len(s.text) {
		return errCut
	}
	if s.text[s.at] != '"' {
		return errNoJSON
	}
	for at, end := s.at+1, -1; ; {
		if end < at { // the quote that ends it, unless it is escaped
			next := bytes.IndexByte(s.text[at:], '"')
			if next < 0 {
				s.steps += len(s.text) - s.at
				return errCut
			}
			end = at + next
		}
		escape := bytes.IndexByte(s.text[at:end], '\\')
		if escape < 0 {
			s.steps += end - s.at
			s.at = end + 1
			return nil
		}
		at += escape + 2
		if s.escapes++; s.escapes%EscapesPerValue == 0 {
			if s.left--; s.left < 0 {
				return s.errManyValues()
			}
		}
	}
}

// value skips a value: to the end of its text, or to where all that it opened is closed.
func (s *scanner) value() error {
	text, at, left, depth := s.text, s.at, s.left, 0
	defer func() { s.left = left }()
	for ; at < len(text); at++ {
		s.steps++
		switch text[at] {
		case ' ', '\n', '\t', '\r':
			continue
		case '{', '[':
			if depth++; depth >= s.deepest {
				return fault.New(fault.BadUserInput, "the body nests lists and objects deeper than %d levels; at most as many are allowed in a value", MaxNesting)
			}
			if left--; text[at] == '{' {
				left -= ValuesPerObject - 1
			}
			if left < 0 {
				return s.errManyValues()
			}
			continue
		case '}', ']':
			depth--
		case ',', ':':
			if depth == 0 {
				return errNoJSON
			}
			continue
		default:
			if left--; left < 0 {
				return s.errManyValues()
			}
			s.at, s.left = at, left
			if err := s.scalar(); err != nil {
				return err
			}
			at, left = s.at-1, s.left
		}
		if depth < 0 {
			return errNoJSON
		}
		if depth == 0 {
			s.at = at + 1
			return nil
		}
	}
	s.at = at
	return errCut
}

func (s *scanner) scalar() error {
	if s.text[s.at] == '"' {
		return s.string()
	}
	return s.word()
}

// errManyValues is for bodies that hold too many values; names count too.
func (s *scanner) errManyValues() error {
	return fault.New(fault.BadUserInput, "the body has too many values: at most %d are allowed in one of its size, names included, where an object counts as %d and %d escapes in strings as one", s.most, ValuesPerObject, EscapesPerValue)
}

// word skips a number, or true, false or null.
func (s *scanner) word() error {
	for i := s.at; ; i++ {
		if i < len(s.text) && !endsWord(s.text[i]) {
			s.steps++
			continue
		}
		if i-s.at > MaxDigits {
			return fault.New(fault.BadUserInput, "the body has a number of %d characters; at most %d are allowed", i-s.at, MaxDigits)
		}
		if i == s.at {
			return errNoJSON
		}
		s.at = i
		return nil
	}
}

func endsWord(c byte) bool {
	switch c {
	case ' ', '\n', '\t', '\r', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// text gives a part that must be a string: false if there is none.
func text(name string, part []byte) (string, bool, error) {
	if part == nil || string(part) == "null" {
		return "", false, nil
	}
	if part[0] != '"' {
		return "", false, fault.Input(name, "is not a string")
	}
	var decoded string
	if err := json.Unmarshal(part, &decoded); err != nil {
		return "", false, errNoJSON
	}
	return decoded, true, nil
}

// body gives the parts of a body as one: what no transport reads is left out. The error says if it was not JSON.
func (e envelope) body(sent []byte) ([]byte, error) {
	if !json.Valid(sent) {
		return nil, errNoJSON
	}
	for name, part := range map[string][]byte{"variables": e.variables, "extensions": e.extensions} {
		if part != nil && part[0] != '{' && string(part) != "null" {
			return nil, fault.Input(name, "is not an object")
		}
	}
	body := make([]byte, 0, len(e.query)+len(e.operationName)+len(e.variables)+len(e.extensions)+64)
	body = append(append(body, `{"query":`...), e.query...)
	for _, part := range []struct {
		name string
		text []byte
	}{{`,"operationName":`, e.operationName}, {`,"variables":`, e.variables}, {`,"extensions":`, e.extensions}} {
		if part.text != nil {
			body = append(append(body, part.name...), part.text...)
		}
	}
	return append(body, '}'), nil
}
