package memory

import (
	"regexp"
	"slices"
	"strings"
)

const (
	toolRun  = "the JSON of a tool's run"
	request  = "the JSON of a request to a model"
	response = "the JSON of a model's response"
	prompt   = "the JSON of a model's prompt"
	unseen   = "JSON that is nested too deep to be looked through"
)

type object map[string]any

// kind tells an object by the names that the chat APIs of OpenAI, Anthropic, Google and Ollama, their like, and the Model
// Context Protocol give their bodies; it is empty for what people say in JSON, such as a product.
func (o object) kind() string {
	switch {
	case o.isToolRun():
		return toolRun
	case o.isRequest():
		return request
	case o.isResponse():
		return response
	case o.isPrompt():
		return prompt
	}
	return ""
}

func (o object) isToolRun() bool {
	role := strings.ToLower(o.text("role"))
	switch {
	case o.isList("tool_calls"), o.isText("tool_call_id"), o.isText("tool_use_id"), role == "tool", role == "function":
		return true
	case isOneOf(o.isObject, "function_call", "functionCall", "function_response", "functionResponse", "toolUse", "toolResult"):
		return true
	case o.isText("name") && (o.isText("arguments") || o.isObject("arguments")), o.isText("action") && o.has("action_input"):
		return true
	case isOneOf(o.isText, "tool", "tool_name") && isOneOf(o.has, "arguments", "args", "input", "parameters", "result", "output"):
		return true
	case o.isText("jsonrpc") && isOneOf(o.has, "method", "result", "error"):
		return true
	}
	return o.isTypedRun() || o.isCall("name") || o.isCall("function")
}

// callTypes are types of what is run for a model, each of which some API gives an object of its own. Others end in _call as
// well, as that of a phone call.
var callTypes = []string{
	"function_call", "mcp_call", "web_search_call", "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
	"local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "mcp_approval_request",
}

func (o object) isTypedRun() bool {
	kind := strings.ReplaceAll(o.text("type"), "-", "_")
	run := strings.TrimSuffix(kind, "_output")
	switch {
	case slices.Contains(callTypes, run), kind == "function" && o.isObject("function"):
		return true
	case run == "tool_use", run == "tool_call", run == "tool_result":
		return true
	case strings.HasSuffix(run, "_tool_use"), strings.HasSuffix(run, "_tool_call"), strings.HasSuffix(run, "_tool_result"):
		return true
	}
	return strings.HasSuffix(run, "_call") && o.isText("call_id")
}

// callable is what a function may be called: it has no white space, as the name of a product often has.
var callable = regexp.MustCompile(`^[A-Za-z_][\w.:/-]*$`)

// isCall tells whether an object is a call of the function of this field, and nothing besides: the name of a function and what
// it is given, or what it may be given. With a price it is a product.
func (o object) isCall(field string) bool {
	if !callable.MatchString(o.text(field)) {
		return false
	}
	given := isOneOf(o.isObject, "parameters", "args", "input", "arguments", "input_schema", "inputSchema") || field == "function" && o.isText("arguments")
	for name := range o {
		switch name {
		case field, "parameters", "args", "input", "arguments", "input_schema", "inputSchema", "id", "call_id", "type", "index", "description", "strict":
		default:
			return false
		}
	}
	return given
}

// tuned tells whether an object says how a model is to sample.
func (o object) tuned() bool {
	return isOneOf(o.has, "max_tokens", "max_tokens_to_sample", "max_completion_tokens", "max_output_tokens", "num_predict", "n_predict", "temperature", "top_p", "top_k")
}

func (o object) isRequest() bool {
	switch {
	case o.anyOf("messages", func(m object) bool { return m.isText("role") }):
		return true
	case o.isList("messages") && (o.tuned() || o.isText("model") && (o.isEmpty("messages") || o.anyOf("messages", func(object) bool { return true }))):
		return true
	case o.anyOf("contents", func(m object) bool { return m.isList("parts") }):
		return true
	case o.isList("contents") && isOneOf(o.has, "systemInstruction", "system_instruction", "generationConfig", "generation_config"):
		return true
	case o.isText("prompt") && o.tuned():
		return true
	}
	return o.isText("model") && (o.has("prompt") || o.has("input") || o.isList("tools")) && !o.has("output")
}

func (o object) isResponse() bool {
	switch kind := o.text("type"); {
	case o.anyOf("choices", func(c object) bool {
		return c.isObject("message") || c.isObject("delta") || c.isText("text") && (c.has("finish_reason") || o.isText("model"))
	}):
		return true
	case strings.HasPrefix(o.text("object"), "chat.completion"), o.text("object") == "text_completion", o.text("object") == "response" && o.has("output"):
		return true
	case kind == "message" && o.isList("content") && o.has("stop_reason"), strings.HasPrefix(kind, "response."):
		return true
	case slices.Contains([]string{"message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "content_block_stop"}, kind):
		return true
	case o.isText("model") && o.has("done") && (o.isObject("message") || o.isText("response")):
		return true
	case o.anyOf("candidates", func(c object) bool { return c.isObject("content") }), o.isObject("usageMetadata"), o.isObject("promptFeedback"):
		return true
	case o.has("stopReason") && o.object("output").isObject("message"):
		return true
	}
	fails := o.object("error")
	return fails.isText("message") && (fails.isText("type") || fails.isText("status"))
}

func (o object) isPrompt() bool {
	role := strings.ToLower(o.text("role"))
	return (role == "system" || role == "developer") && o.has("content") || o.isObject("systemInstruction") || o.isObject("system_instruction")
}

func (o object) has(name string) bool      { _, ok := o[name]; return ok }
func (o object) text(name string) string   { text, _ := o[name].(string); return text }
func (o object) isText(name string) bool   { _, ok := o[name].(string); return ok }
func (o object) isList(name string) bool   { _, ok := o[name].([]any); return ok }
func (o object) isObject(name string) bool { _, ok := o[name].(map[string]any); return ok }

// object gives the object of a name, an empty one if it is none.
func (o object) object(name string) object { inner, _ := o[name].(map[string]any); return inner }

// isEmpty tells whether a list of this name has nothing.
func (o object) isEmpty(name string) bool { list, ok := o[name].([]any); return ok && len(list) == 0 }

// isOneOf tells whether any of these names is so.
func isOneOf(so func(name string) bool, names ...string) bool {
	return slices.ContainsFunc(names, so)
}

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
