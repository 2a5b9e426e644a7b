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
	for _, part := range bodies(content) {
		if why := technical([]byte(part)); why != "" {
			return rejected(field, why)
		}
	}
	return nil
}

func rejected(field, why string) error {
	return &fault.Error{Code: fault.ContentRejected, Field: field, Message: "is " + why + ", which is never kept: only what people and the assistant say to each other, and what was confirmed"}
}

// fenced is JSON as models write it, between two lines of back-ticks.
var fenced = regexp.MustCompile("(?s)^```[a-zA-Z]*\\s*\\n(.*?)\\n?```$")

// bodies gives what may be a body in its own right: all of a text, with or without a fence, and each event of a stream of them.
func bodies(content string) []string {
	content = strings.TrimSpace(content)
	if m := fenced.FindStringSubmatch(content); m != nil {
		content = strings.TrimSpace(m[1])
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

// technical says what a JSON text is if it is, or holds, something that is never kept. It is empty for everything else, what
// is not JSON included, and what nests deeper than any of these do. It takes time in proportion to the text.
func technical(text []byte) string {
	if first := firstByte(text); first != '{' && first != '[' || tooDeep(text) {
		return ""
	}
	var value any
	if json.Unmarshal(text, &value) != nil {
		return ""
	}
	return technicalValue(value)
}

func technicalValue(value any) string {
	switch v := value.(type) {
	case map[string]any:
		if why := object(v).kind(); why != "" {
			return why
		}
		for _, inner := range v {
			if why := technicalValue(inner); why != "" {
				return why
			}
		}
	case []any:
		for _, inner := range v {
			if why := technicalValue(inner); why != "" {
				return why
			}
		}
	}
	return ""
}

func firstByte(text []byte) byte {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// tooDeep tells whether brackets are open, in strings or not, deeper than the log takes JSON.
func tooDeep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '{', '[':
			if depth++; depth > chain.MaxJSONDepth {
				return true
			}
		case '}', ']':
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
)

// kind tells an object by the names that the chat APIs of OpenAI, Anthropic and Google give their bodies.
func (o object) kind() string {
	switch kind := o.text("type"); {
	case o.isList("tool_calls"), o.isObject("function_call"), o.isObject("functionCall"), o.isObject("functionResponse"), o.isText("tool_call_id"), o.isText("tool_use_id"):
		return toolRun
	case kind == "tool_use", kind == "tool_result", kind == "function_call", kind == "function_call_output", kind == "function" && o.isObject("function"):
		return toolRun
	case o.text("role") == "tool", o.text("role") == "function":
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
	case o.anyOf("candidates", func(c object) bool { return c.isObject("content") }):
		return response
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
