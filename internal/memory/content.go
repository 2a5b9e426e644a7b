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

// bodies gives what may be a body in its own right: all of a text, with or without a fence, and each event of a stream of them.
func bodies(content string) []string {
	content = trimmed(content)
	if m := fenced.FindStringSubmatch(content); m != nil {
		content = trimmed(m[1])
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

type object map[string]any

const (
	toolRun  = "the JSON of a tool's run"
	request  = "the JSON of a request to a model"
	response = "the JSON of a model's response"
	prompt   = "the JSON of a model's prompt"
	unseen   = "JSON that is nested too deep to be looked through"
)

// kind tells an object by the names that the chat APIs of OpenAI, Anthropic, Google and Ollama give their bodies.
func (o object) kind() string {
	switch kind, role := o.text("type"), strings.ToLower(o.text("role")); {
	case o.isList("tool_calls"), o.isObject("function_call"), o.isObject("functionCall"), o.isObject("functionResponse"), o.isText("tool_call_id"), o.isText("tool_use_id"):
		return toolRun
	case kind == "tool_use", kind == "tool_result", kind == "function_call", kind == "function_call_output", kind == "function" && o.isObject("function"):
		return toolRun
	case role == "tool", role == "function":
		return toolRun
	case o.isText("name") && (o.isText("arguments") || o.isObject("arguments")):
		return toolRun
	case (o.isText("tool") || o.isText("tool_name")) && (o.has("arguments") || o.has("args") || o.has("input") || o.has("parameters") || o.has("result") || o.has("output")):
		return toolRun
	case o.anyOf("messages", func(m object) bool { return m.isText("role") }):
		return request
	case o.anyOf("contents", func(m object) bool { return m.isList("parts") }):
		return request
	case o.isText("model") && (o.has("prompt") || o.has("input") || o.isList("tools")) && !o.has("output"):
		return request
	case o.anyOf("choices", func(c object) bool {
		return c.isObject("message") || c.isObject("delta") || c.isText("text") && c.has("finish_reason")
	}):
		return response
	case strings.HasPrefix(o.text("object"), "chat.completion"), o.text("object") == "text_completion", o.text("object") == "response" && o.has("output"):
		return response
	case kind == "message" && o.isList("content") && o.has("stop_reason"), kind == "content_block_delta" && o.isObject("delta"):
		return response
	case o.isText("model") && o.has("done") && (o.isObject("message") || o.isText("response")):
		return response
	case o.anyOf("candidates", func(c object) bool { return c.isObject("content") }):
		return response
	case (role == "system" || role == "developer") && o.has("content"):
		return prompt
	}
	return ""
}

func (o object) has(name string) bool      { _, ok := o[name]; return ok }
func (o object) text(name string) string   { text, _ := o[name].(string); return text }
func (o object) isText(name string) bool   { _, ok := o[name].(string); return ok }
func (o object) isList(name string) bool   { _, ok := o[name].([]any); return ok }
func (o object) isObject(name string) bool { _, ok := o[name].(map[string]any); return ok }

// anyOf tells whether a list of this name has an object that is so.
func (o object) anyOf(name string, so func(object) bool) bool {
	list, _ := o[name].([]any)
	for _, value := range list {
		if one, ok := value.(map[string]any); ok && so(one) {
			return true
		}
	}
	return false
}
