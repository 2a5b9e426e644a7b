// Package llmtest is a model for tests: a real HTTP server on loopback that speaks the OpenAI API's chat completions, and
// judges and summarises by rules that a test gives. It reads requests as a stranger would: it knows what stands in them, and
// nothing of the package that sent them.
package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

// Model is the model that the server has, and the only one.
const Model = "test-chat"

// Server is one endpoint. Safe for concurrent use.
type Server struct {
	*endpointtest.Server

	mu        sync.Mutex
	judge     func(known, new string) (relation, reason string)
	summarise func(Asked) string
	wrap      func(content string) string
	forms     []string
	warm      bool
	finish    string
}

// New starts a server. To it texts are unrelated, unless one is the other, and a summary is the parts' contents, vital ones
// first, as many words of them as the budget has tokens to spare. It ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{judge: same, summarise: shortened, wrap: func(content string) string { return content }, forms: []string{"json_schema", "json_object"}, warm: true, finish: "stop"}
	s.Server = endpointtest.New(t, "/chat/completions", Model, s.answer)
	return s
}

func same(known, new string) (relation, reason string) {
	if known == new {
		return "agrees", "Both say the same."
	}
	return "unrelated", ""
}

func shortened(asked Asked) string {
	var first, rest []string
	for _, p := range asked.Parts {
		if p.Vital {
			first = append(first, strings.Fields(p.Content)...)
		} else {
			rest = append(rest, strings.Fields(p.Content)...)
		}
	}
	all := append(first, rest...)
	return strings.Join(all[:min(len(all), max(asked.Budget/2, len(first)))], " ")
}

// JudgeBy sets the rule by which it judges: relation is contradicts, agrees or unrelated.
func (s *Server) JudgeBy(rule func(known, new string) (relation, reason string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judge = rule
}

// SummariseBy sets the rule by which it summarises.
func (s *Server) SummariseBy(rule func(Asked) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summarise = rule
}

// Wrap sets what becomes of what it says before it is sent.
func (s *Server) Wrap(wrap func(content string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrap = wrap
}

// Knows sets which forms of answers it can be asked for, of json_schema and json_object, and whether it lets the
// temperature be chosen. It knows all of that unless told otherwise.
func (s *Server) Knows(temperature bool, forms ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warm, s.forms = temperature, forms
}

// Finish sets the reason with which its answers end: stop, unless told otherwise.
func (s *Server) Finish(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish = reason
}

// Pair is two texts that it is to compare.
type Pair struct {
	Name  string `json:"pair"`
	Known string `json:"known"`
	New   string `json:"new"`
}

// Part is something that it is to summarise.
type Part struct {
	Speaker string `json:"speaker"`
	Content string `json:"content"`
	Vital   bool   `json:"vital"`
}

// Asked is what it was asked.
type Asked struct {
	Rules       string // the system's message
	Data        string // the user's message, as it is
	Pairs       []Pair `json:"pairs"`
	Parts       []Part `json:"parts"`
	Budget      int    `json:"budget"`
	Again       string // what was wrong with an earlier answer; empty: it is asked for the first time
	Form        string // of the answer: json_schema, json_object or empty
	Strict      bool   // the schema is
	Schema      json.RawMessage
	Temperature *float64
}

// Asked gives what was asked so far.
func (s *Server) Asked() []Asked {
	var all []Asked
	for _, request := range s.Requests() {
		if asked, ok := read(request.Body); ok {
			all = append(all, asked)
		}
	}
	return all
}

// read takes a request apart.
func read(body []byte) (Asked, bool) {
	var request struct {
		Temperature *float64 `json:"temperature"`
		Messages    []struct{ Role, Content string }
		Format      struct {
			Type   string `json:"type"`
			Schema struct {
				Name   string          `json:"name"`
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if json.Unmarshal(body, &request) != nil {
		return Asked{}, false
	}
	var roles []string
	for _, m := range request.Messages {
		roles = append(roles, m.Role)
	}
	first := slices.Equal(roles, []string{"system", "user"})
	if !first && !slices.Equal(roles, []string{"system", "user", "assistant", "user"}) {
		return Asked{}, false
	}
	asked := Asked{Rules: request.Messages[0].Content, Data: request.Messages[1].Content,
		Form: request.Format.Type, Strict: request.Format.Schema.Strict, Schema: request.Format.Schema.Schema, Temperature: request.Temperature}
	if !first {
		asked.Again = request.Messages[3].Content
	}
	named := asked.Form != "json_schema" || request.Format.Schema.Name != "" && len(asked.Schema) > 0
	return asked, json.Unmarshal([]byte(asked.Data), &asked) == nil && named
}

// answer gives the right answer, or refuses as endpoints do.
func (s *Server) answer(body []byte) (answer []byte, refusal string) {
	asked, ok := read(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !ok || len(asked.Pairs) == 0 && len(asked.Parts) == 0:
		return nil, "this is no question"
	case asked.Temperature != nil && !s.warm:
		return nil, "Unsupported value: 'temperature' does not support 0 with this model."
	case asked.Form != "" && !slices.Contains(s.forms, asked.Form):
		return nil, "This response_format type is unavailable now: " + asked.Form
	}
	return completion(s.wrap(s.content(asked)), s.finish), ""
}

// content is what the model says. The caller holds mu.
func (s *Server) content(asked Asked) string {
	if len(asked.Pairs) == 0 {
		return encode(map[string]string{"summary": s.summarise(asked)})
	}
	var verdicts []map[string]string
	for i := len(asked.Pairs) - 1; i >= 0; i-- { // last first: clients go by the name
		p := asked.Pairs[i]
		relation, reason := s.judge(p.Known, p.New)
		verdicts = append(verdicts, map[string]string{"pair": p.Name, "relation": relation, "reason": reason})
	}
	return encode(map[string]any{"verdicts": verdicts})
}

// completion is an answer of the API.
func completion(content, finish string) []byte {
	return []byte(encode(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": content}}},
		"usage":   map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}))
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings alone
	}
	return string(text)
}
