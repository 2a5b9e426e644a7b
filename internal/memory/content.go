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

// bodies gives what may be a body in its own right: all of a text, with or without a fence, and each line of a stream of events.
func bodies(content string) []string {
	content = strings.TrimSpace(content)
	if m := fenced.FindStringSubmatch(content); m != nil {
		content = m[1]
	}
	if !strings.HasPrefix(content, "data:") {
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

// technical says what a JSON value is if it is, or holds, something that is never kept. It is empty for everything else, what
// is not JSON included.
func technical(text []byte) string {
	switch first := firstByte(text); first {
	case '{':
		var o map[string]json.RawMessage
		if json.Unmarshal(text, &o) != nil {
			return ""
		}
		if why := object(o).kind(); why != "" {
			return why
		}
		for _, value := range o {
			if why := technical(value); why != "" {
				return why
			}
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return ""
		}
		for _, value := range list {
			if why := technical(value); why != "" {
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

type object map[string]json.RawMessage

const (
	toolRun  = "the JSON of a tool's run"
	request  = "the JSON of a request to a model"
	response = "the JSON of a model's response"
)

// kind tells an object by the names that the chat APIs of OpenAI, Anthropic and Google give their bodies.
func (o object) kind() string {
	switch kind := o.text("type"); {
	case o.is("tool_calls", '['), o.is("function_call", '{'), o.is("functionCall", '{'), o.is("functionResponse", '{'), o.is("tool_call_id", '"'), o.is("tool_use_id", '"'):
		return toolRun
	case kind == "tool_use", kind == "tool_result", kind == "function_call", kind == "function_call_output", kind == "function" && o.is("function", '{'):
		return toolRun
	case o.text("role") == "tool", o.text("role") == "function":
		return toolRun
	case o.is("name", '"') && (o.is("arguments", '"') || o.is("arguments", '{')):
		return toolRun
	case (o.is("tool", '"') || o.is("tool_name", '"')) && (o.has("arguments") || o.has("args") || o.has("input") || o.has("parameters") || o.has("result") || o.has("output")):
		return toolRun
	case o.is("messages", '[') && o.list("messages").any(func(m object) bool { return m.is("role", '"') }):
		return request
	case o.is("contents", '[') && o.list("contents").any(func(m object) bool { return m.is("parts", '[') }):
		return request
	case o.is("model", '"') && (o.has("prompt") || o.has("input") || o.is("tools", '[')) && !o.has("output"):
		return request
	case o.is("choices", '[') && o.list("choices").any(func(c object) bool {
		return c.is("message", '{') || c.is("delta", '{') || c.is("text", '"') && c.has("finish_reason")
	}):
		return response
	case strings.HasPrefix(o.text("object"), "chat.completion"), o.text("object") == "text_completion", o.text("object") == "response" && o.has("output"):
		return response
	case kind == "message" && o.is("content", '[') && o.has("stop_reason"):
		return response
	case o.is("candidates", '[') && o.list("candidates").any(func(c object) bool { return c.is("content", '{') }):
		return response
	}
	return ""
}

func (o object) has(name string) bool { _, ok := o[name]; return ok }

// is tells whether there is a value of this name that begins with this byte.
func (o object) is(name string, first byte) bool { return firstByte(o[name]) == first }

func (o object) text(name string) (text string) {
	_ = json.Unmarshal(o[name], &text)
	return text
}

type objects []object

func (o object) list(name string) (list objects) {
	var parts []json.RawMessage
	_ = json.Unmarshal(o[name], &parts)
	for _, part := range parts {
		var one object
		if json.Unmarshal(part, &one) == nil {
			list = append(list, one)
		}
	}
	return list
}

func (list objects) any(holds func(object) bool) bool {
	for _, o := range list {
		if holds(o) {
			return true
		}
	}
	return false
}
