package memory

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// CheckTurn says whether something that was said may be kept; the fault names the field. CONTENT_REJECTED is for what
// was not said by anybody: a tool's run, or a model's request or response, as JSON.
func CheckTurn(field, content string) error {
	if strings.TrimSpace(content) == "" {
		return fault.Input(field, "is empty")
	}
	if err := chain.CheckText(field, &content, MaxTurnBytes); err != nil {
		return err
	}
	if why := technical(content, 0); why != "" {
		return rejected(field, why)
	}
	return nil
}

func rejected(field, why string) error {
	return &fault.Error{Code: fault.ContentRejected, Field: field, Message: "is " + why + ", which is never kept: only what people and the assistant say to each other, and what was confirmed"}
}

// fenced is JSON as models write it: within back-ticks or tildes, after whatever names the language.
var fenced = regexp.MustCompile("(?s)^(?:`{3,}|~{3,})[^\n{\\[]*(.*?)(?:`{3,}|~{3,})$")

// marks are what models write around the calls of tools that they give as text.
var marks = regexp.MustCompile(`(?i)</?(?:tool_calls?|tool_use|tool_response|tool_result|function_calls?)>|<\|python_tag\|>|<\|tool_call\|>|\[TOOL_CALLS\]`)

// bodies gives what may be a body in its own right: all of a text, with or without a fence or marks of a tool's call, and each
// event of a stream of them.
func bodies(content string) []string {
	content = unmarked(trimmed(content))
	if m := fenced.FindStringSubmatch(content); m != nil {
		content = unmarked(trimmed(m[1]))
	}
	if !strings.HasPrefix(content, "data:") && !strings.HasPrefix(content, "event:") {
		return []string{content}
	}
	var parts []string
	for line := range strings.Lines(content) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
			parts = append(parts, strings.TrimSpace(data))
		}
	}
	return parts
}

// trimmed is a text without the byte order mark that some tools put before it, and without white space.
func trimmed(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\ufeff"))
}

// unmarked is a text that begins with a mark without any; every other text is as it was.
func unmarked(text string) string {
	if at := marks.FindStringIndex(text); at == nil || at[0] != 0 {
		return text
	}
	return trimmed(marks.ReplaceAllString(text, " "))
}

// mostQuoted is how many JSON texts may stand within one another as strings: each costs a pass over what is left.
const mostQuoted = 8

// technical says what a text is if it is JSON that is, or holds, something that is never kept, in strings that are JSON
// themselves as well, or that is nested too deep to be looked through. It is empty for everything else, what is not JSON
// included. It takes time in proportion to the text.
func technical(text string, quoted int) string {
	for _, part := range bodies(text) {
		if part == "" || !strings.ContainsRune("{[\"", rune(part[0])) {
			continue
		}
		if quoted > mostQuoted || tooDeep(part) {
			return unseen
		}
		if why := technicalValues(part, quoted); why != "" {
			return why
		}
	}
	return ""
}

// technicalValues looks at JSON values one after the other, as lines or not. If words follow, it is talk about them.
func technicalValues(text string, quoted int) (found string) {
	from := json.NewDecoder(strings.NewReader(text))
	for {
		at := from.InputOffset()
		var value any
		if err := from.Decode(&value); err != nil {
			rest := trimmed(text[at:])
			if rest != "" && !strings.ContainsRune("{[\"", rune(rest[0])) {
				return ""
			}
			return found
		}
		if found == "" {
			found = technicalValue(value, quoted)
		}
	}
}

func technicalValue(value any, quoted int) string {
	switch v := value.(type) {
	case map[string]any:
		if why := object(v).kind(); why != "" {
			return why
		}
		for _, inner := range v {
			if why := technicalValue(inner, quoted); why != "" {
				return why
			}
		}
	case []any:
		for _, inner := range v {
			if why := technicalValue(inner, quoted); why != "" {
				return why
			}
		}
	case string:
		return technical(v, quoted+1)
	}
	return ""
}

// tooDeep tells whether brackets are open, but for those in strings, deeper than the log takes JSON.
func tooDeep(text string) bool {
	depth, within := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			within = !within
		case within:
			if c == '\\' {
				i++
			}
		case c == '{', c == '[':
			if depth++; depth > chain.MaxJSONDepth {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}
