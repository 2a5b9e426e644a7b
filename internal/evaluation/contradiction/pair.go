// Package contradiction measures how well a judge tells which texts contradict each other, on pairs that people have
// labelled. It never judges by itself.
package contradiction

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// Pair is two texts, and whether they contradict each other.
type Pair struct {
	Known       string `json:"known"`
	New         string `json:"new"`
	Contradicts bool   `json:"contradicts"`
	Kind        string `json:"kind"`     // what the pair is about, such as "number"
	Language    string `json:"language"` // such as "en", or "en-es" of a pair across languages
}

// The most that a file and a line may have.
const (
	maxPairs = 100_000
	maxLine  = 1 << 20
)

// readPairs reads a pair from each line that is not empty. name stands for the file in errors.
//
// Faults: BAD_USER_INPUT, with the line and the field.
func readPairs(name string, file io.Reader) ([]Pair, error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	var pairs []Pair
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		if len(line) == 0 {
			continue
		}
		p, err := readPair(line)
		if err != nil {
			return nil, fault.Input(fmt.Sprintf("%s, line %d", name, number), "%s", err)
		}
		if pairs = append(pairs, p); len(pairs) > maxPairs {
			return nil, fault.Input(name, "has more than %d pairs", maxPairs)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fault.Input(fmt.Sprintf("%s, line %d", name, number+1), "is longer than 1 MiB")
	} else if err != nil {
		return nil, fault.Wrap(err, fault.BadUserInput, "%s: %s", name, err)
	}
	if len(pairs) == 0 {
		return nil, fault.Input(name, "has no pairs")
	}
	return pairs, nil
}

// readPair reads a pair whose fields are all there, and are all that is there.
func readPair(line []byte) (Pair, error) {
	var fields map[string]jsontext.Value
	if !utf8.Valid(line) {
		return Pair{}, errors.New("is not UTF-8")
	}
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		return Pair{}, errors.New(`is no JSON object such as {"known": "…", "new": "…", "contradicts": true, "kind": "number", "language": "en"}`)
	}
	var p Pair
	for _, f := range []struct {
		name, want string
		to         any
	}{
		{"known", "a text", &p.Known},
		{"new", "a text", &p.New},
		{"contradicts", "true or false", &p.Contradicts},
		{"kind", "a word", &p.Kind},
		{"language", "a word", &p.Language},
	} {
		content, ok := fields[f.name]
		if !ok {
			return Pair{}, fmt.Errorf("field %q is missing", f.name)
		}
		if err := json.Unmarshal(content, f.to); err != nil || content.Kind() == 'n' {
			return Pair{}, fmt.Errorf("field %q must be %s", f.name, f.want)
		}
		if text, ok := f.to.(*string); ok && strings.TrimSpace(*text) == "" {
			return Pair{}, fmt.Errorf("field %q must not be empty", f.name)
		}
		delete(fields, f.name)
	}
	for name := range fields {
		return Pair{}, fmt.Errorf("field %q is not known", name)
	}
	return p, nil
}
